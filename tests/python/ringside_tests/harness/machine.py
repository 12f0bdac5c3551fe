"""A QEMU guest for a test: starts it in a folder of its own, reads its serial port, ends it by its process id."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from ringside_tests.harness.qmp import Qmp
from ringside_tests.harness import limits

GUEST_ENDED = 33  # the status of a QEMU that the bundled kernel ends through isa-debug-exit (demo/kernel/core/panic.h)
BASE = ["qemu-system-x86_64", "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults"]


def tcg(single_step=False):
    """QEMU's words for TCG. single_step: with one instruction a translated block, so that a stop is precise to the
    instruction."""
    if not single_step:
        return ["-accel", "tcg"]
    version = subprocess.run([BASE[0], "--version"], check=False, text=True, stdout=subprocess.PIPE).stdout
    found = re.search(r"version (\d+)\.(\d+)", version)
    if found and (int(found.group(1)), int(found.group(2))) >= (8, 1):
        return ["-accel", "tcg,one-insn-per-tb=on"]
    return ["-accel", "tcg", "-singlestep"]


def single_step_base():
    """BASE with TCG that way."""
    return [BASE[0], *tcg(single_step=True), *BASE[3:]]


class GuestError(Exception):
    """The guest did not start, or ended too early."""


def end_process(process, grace=limits.SOON):
    """Ends a child by its own process id: SIGTERM, then SIGKILL."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def exit_on_signals():
    """Lets SIGTERM and SIGHUP unwind the program as Ctrl-C does, so that guests are ended on any exit."""
    def leave(number, _):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


class Machine:
    """A running QEMU with a gdb socket and two QMP sockets, in a private temporary folder; the second (`monitor`) is
    for the program under test.

    kernel, append, initrd: as in QEMU's options. cpus: vCPUs. memory: MiB. extra: further QEMU arguments.
    base: QEMU and the options that every guest gets.
    """

    def __init__(self, kernel, append, initrd=None, cpus=2, memory=512, extra=(), base=BASE):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ringside-guest-"))
        self.gdb = str(self.folder / "gdb")
        self.monitor = str(self.folder / "monitor")
        self._qmp_path = str(self.folder / "qmp")
        self._serial = self.folder / "serial"
        command = [*base, "-smp", str(cpus), "-m", str(memory), "-kernel", str(kernel), "-append", append,
                          "-serial", f"file:{self._serial}",
                          "-chardev", f"socket,id=stub,path={self.gdb},server=on,wait=off", "-gdb", "chardev:stub",
                          "-qmp", f"unix:{self._qmp_path},server=on,wait=off",
                          "-qmp", f"unix:{self.monitor},server=on,wait=off"]
        if initrd:
            command += ["-initrd", str(initrd)]
        self._log = open(self.folder / "qemu.log", "wb")
        self._started = time.monotonic()
        try:
            self.process = subprocess.Popen(command + list(extra), stdin=subprocess.DEVNULL, stdout=self._log,
                                            stderr=self._log)
            self.qmp = Qmp(self._qmp_path)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if hasattr(self, "qmp"):
            self.qmp.close()
        if hasattr(self, "process"):
            end_process(self.process)
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def serial(self):
        """The guest's output to its serial port so far."""
        try:
            return self._serial.read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def wait_serial(self, text, seconds):
        """Waits until the serial port has shown the text; returns the seconds since QEMU's start."""
        end = time.monotonic() + seconds
        while text not in self.serial():
            if self.process.poll() is not None:
                raise GuestError(f"QEMU ended with status {self.process.returncode} before '{text}': {self._tail()}")
            if time.monotonic() > end:
                raise GuestError(f"no '{text}' on the serial port within {seconds:g} s: {self._tail()}")
            time.sleep(0.02)
        return time.monotonic() - self._started

    def registers(self):
        """The register text of every vCPU. Equal twice in a row means that nothing ran in between."""
        return self.qmp.hmp("info registers -a")

    def advances(self, seconds):
        """Whether any vCPU's registers change within that many seconds."""
        end = time.monotonic() + seconds
        first = self.registers()
        while time.monotonic() < end:
            time.sleep(0.02)
            if self.registers() != first:
                return True
        return False

    def _tail(self):
        log = (self.folder / "qemu.log").read_text(errors="replace")
        return (self.serial()[-400:] + log[-400:]).strip() or "it printed nothing"


def private_environment(folder):
    """An environment whose home and temporary folder are the given one, so that parallel runs share nothing."""
    return {**os.environ, "TMPDIR": str(folder), "HOME": str(folder)}
