"""A new gdb for every sample: the script that is in every kernel debugging guide."""
import subprocess


def sample(machine, vmlinux):
    """Takes one sample; returns (events meanwhile, what gdb printed)."""
    command = ["gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex", "set pagination off",
               "-ex", f"file {vmlinux}", "-ex", f"target remote {machine.gdb}", "-ex", "thread apply all bt"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as process:
        try:
            printed = process.communicate(timeout=120)[0]
        finally:
            process.kill()
    return machine.qmp.take_events(), printed
