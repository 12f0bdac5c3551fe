"""Boots the bundled kernel in QEMU; the process never outlives the `with` block."""
import subprocess

EXIT_SUCCESS = 33  # kernel/core/panic.h
EXIT_PANIC = 35


def command(elf: str, workload: str, vcpus: int, seconds: int, *more: str) -> list[str]:
    return ["qemu-system-x86_64", "-accel", "tcg", "-m", "128", "-smp", str(vcpus), "-display", "none", "-no-reboot",
            "-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", elf,
            "-append", f"workload={workload} seconds={seconds}", *more]


class Guest:
    def __init__(self, *arguments, **options):
        self._command = command(*arguments)
        self._options = options

    def __enter__(self) -> subprocess.Popen:
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                         **self._options)
        return self._process

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._process.stdout.close()
