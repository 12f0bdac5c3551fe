"""Debian's Linux kernel as a guest: gets it from script/fetch-linux-guest and boots it with one of its workloads."""
import pathlib
import subprocess

from machine import GuestError, Machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_NETWORK = 3


class NoNetwork(GuestError):
    """The guest cannot be fetched because there is no network: a test says skipped."""


def fetch(vmlinux=True):
    """The paths that script/fetch-linux-guest prints, as a dictionary (VERSION, VMLINUZ, INITRD, VMLINUX, …)."""
    command = [str(ROOT / "script" / "fetch-linux-guest")] + (["--vmlinux"] if vmlinux else [])
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode == NO_NETWORK:
        raise NoNetwork("the Linux guest cannot be fetched: no network")
    if result.returncode:
        raise GuestError("script/fetch-linux-guest failed")
    return dict(line.split("=", 1) for line in result.stdout.splitlines())


def boot(paths, workload, cpus=2, elf=False, extra=(), ready_within=60):
    """Boots the guest and waits for its READY line; elf=True boots the vmlinux ELF itself through PVH."""
    machine = Machine(kernel=paths["VMLINUX" if elf else "VMLINUZ"], initrd=paths["INITRD"], cpus=cpus,
                      memory=1024 if elf else 512,
                      append=f"console=ttyS0 quiet nokaslr workload={workload}", extra=extra)
    try:
        machine.boot_seconds = machine.wait_serial(f"ringside-guest: ready workload={workload}", ready_within)
        return machine
    except BaseException:
        machine.close()
        raise
