#!/usr/bin/env python3
"""`ringside record -- COMMAND` with a real QEMU and the bundled kernel: how it ends, and that the recording is whole.

    launch_test.py --ringside PROGRAM --kernel ELF [CASE …]

Each case starts a guest of its own. Exit status: 0 all cases are as they should be, 1 not.
"""
import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import launched, limits, machine, program, qmp

SAMPLING = "ringside: sampling"
READY = "ringside-demo: ready"
RAISED = -12  # --host-priority's nice value
WORKLOAD, FEW = "chains_round", 5  # a function, and samples of it


class Failed(Exception):
    """A check that failed; the message describes it."""


class Case:
    """One launch: a folder, ringside with QEMU under it, and what is asked of both. Ends both on any exit."""

    def __init__(self, options, folder, seconds=0):
        self.ringside, self.folder = options.ringside, folder
        self.recording, self.pid_file = folder / "ringside.data", folder / "qemu.pid"
        self.qemu = machine.BASE + ["-smp", "1", "-m", "256", "-serial", f"file:{folder}/serial", "-pidfile",
                                    str(self.pid_file), "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
                                    "-kernel", options.kernel, "-append", f"workload=chains seconds={seconds}"]
        self._run = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._run:
            self._run.__exit__()

    def start(self, command, *options):
        self._run = program.Program([self.ringside, "record", "-o", str(self.recording), *options, "--", *command],
                                    self.folder / "log", machine.private_environment(self.folder))

    @property
    def pid(self):
        return self._run.process.pid

    def said(self):
        return self._run.said()

    def wait_sampling(self):
        """Waits until it samples, and there is something to read back."""
        if not self._run.wait_said(SAMPLING, limits.STEP):
            raise Failed(f"ringside does not sample; it said: {self.said()[-600:]}")
        launched.wait_for_samples(FEW, WORKLOAD, self.ringside, self.recording, limits.STEP)

    def qemu_pid(self):
        return int(self.pid_file.read_text())

    def qemu_runs(self):
        """Whether this case's QEMU is there (a zombie is not)."""
        return any("qemu-system" in name_of(pid) for pid in self._run.left_over())

    def left(self):
        """Processes that ringside has left."""
        return self._run.left_over()

    def ends(self):
        """ringside's exit status, at its end."""
        return self._run.wait_end(limits.STEP)

    def end(self, status=0, says=()):
        """Waits for ringside's end and checks its exit status and what it said."""
        ended = self.ends()
        if ended is None:
            raise Failed(f"ringside does not end; it said: {self.said()[-600:]}")
        if ended != status:
            raise Failed(f"exit status {ended} instead of {status}; it said: {self.said()[-600:]}")
        for text in says:
            if text not in self.said():
                raise Failed(f"it does not say {text!r}, but: {self.said()[-600:]}")

    def no_qemu_left(self):
        if left := self._run.wait_nothing_left(limits.SOON):
            raise Failed(f"processes are left: {[name_of(pid) for pid in left]}")

    def recorded(self):
        """Reads the recording back; it must be complete and hold stacks of the workload."""
        deadline = limits.step_end()
        if (count := launched.samples_in(WORKLOAD, self.ringside, self.recording, deadline)) < FEW:
            raise Failed(f"{count} samples of the workload, at least {FEW} wanted")
        report = launched.read_back(self.ringside, deadline, "report", "--header", "-i", str(self.recording))
        if incomplete := re.search(r"(?i).*(incomplete|cut off|truncated recording).*", report):
            raise Failed(f"the recording is not complete: {incomplete.group(0)}")


def read(path):
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""


def name_of(pid):
    """A process's command, empty when it has ended."""
    try:
        command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        return command.replace(b"\0", b" ").decode(errors="replace")[:80]
    except OSError:
        return ""


def wait_for(what, condition):
    if not limits.wait_until(condition):
        raise Failed(f"{what}: not within {limits.STEP:g} s")


def ctrl_c(options, folder):
    """Ctrl-C goes to ringside and QEMU: both end, the recording is complete."""
    with Case(options, folder) as case:
        case.start(case.qemu)
        case.wait_sampling()
        os.killpg(case.pid, signal.SIGINT)
        case.end()
        case.no_qemu_left()
        case.recorded()


def duration(options, folder):
    """Sampling ends, and ringside stays with the guest until QEMU ends by itself."""
    with Case(options, folder, seconds=3) as case:
        case.start(case.qemu, "--after", READY, "--duration", "1")
        wait_for("the end of sampling", lambda: "runs on" in case.said())
        if not case.qemu_runs():
            raise Failed("QEMU did not outlive the recording")
        recorded = case.recording.stat().st_size
        case.end(status=machine.GUEST_ENDED, says=["samples are in"])
        if "ringside-demo: measured" not in read(folder / "serial"):
            raise Failed(f"the guest did not come to its end: {read(folder / 'serial')[-300:]}")
        if case.recording.stat().st_size != recorded:
            raise Failed("the recording grew after sampling had ended")
        case.no_qemu_left()
        case.recorded()


def make_wrapper(options, folder):
    """A Makefile that starts QEMU with paths relative to its own folder."""
    with Case(options, folder, seconds=0) as case:
        (folder / "os").mkdir()
        (folder / "os" / "kernel.elf").symlink_to(options.kernel)
        words = ["kernel.elf" if word == options.kernel else f"'{word}'" for word in case.qemu]
        (folder / "os" / "Makefile").write_text(f"qemu: kernel.elf\n\t{' '.join(words)}\n")
        case.start(["make", "-C", str(folder / "os"), "qemu"], "--after", READY, "--samples", "50", "--then-quit")
        case.end()
        case.no_qemu_left()
        case.recorded()


def own_stub(options, folder):
    """The command line has a gdb stub already: the gdb engine uses it, and it is free again afterwards."""
    with Case(options, folder) as case:
        case.start([*case.qemu, "-gdb", f"unix:{folder}/own,server=on,wait=off"], "--engine", "gdb", "--after", READY,
                   "--samples", "50", "--then-quit")
        case.end(says=[f"{folder}/own"])
        case.no_qemu_left()
        case.recorded()


def qmp_engine(options, folder):
    """--engine qmp: through a monitor of ringside's own, beside the user's."""
    with Case(options, folder) as case:
        case.start([*case.qemu, "-qmp", f"unix:{folder}/qmp,server=on,wait=off"], "--engine", "qmp",
                   "--after", READY, "--samples", "50", "--then-quit")
        with qmp.Qmp(f"{folder}/qmp") as monitor:
            monitor.status()
        case.end(says=["through the monitor"])
        case.no_qemu_left()
        case.recorded()


def tcg_engine(options, folder):
    """--engine tcg: the plugin, and the stub stays the user's."""
    with Case(options, folder) as case:
        case.start([*case.qemu, "-gdb", f"unix:{folder}/own,server=on,wait=off"], "--engine", "tcg",
                   "--after", READY, "--samples", "50", "--then-quit")
        case.end(says=["through the TCG plugin"])
        case.no_qemu_left()
        case.recorded()


def nice_values(pid):
    """Those of all threads of a process."""
    return {os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in os.listdir(f"/proc/{pid}/task")}


def may_raise():
    """Whether this user may raise a priority."""
    return not subprocess.run(["nice", "-n", str(RAISED), "true"], capture_output=True, stdin=subprocess.DEVNULL).stderr


def host_priority(options, folder):
    """--host-priority: QEMU's threads have it while they are recorded, and what they had before afterwards."""
    with Case(options, folder) as case:
        case.start(case.qemu, "--host-priority", "--after", READY, "--duration", "4")
        if not may_raise():
            return case.end(status=125, says=["CAP_SYS_NICE"])
        case.wait_sampling()
        if (nices := nice_values(case.qemu_pid())) != {RAISED}:
            raise Failed(f"QEMU's threads have the nice values {nices}: {case.said()}")
        wait_for("the priority before", lambda: nice_values(case.qemu_pid()) == {os.nice(0)})
        if not case.qemu_runs():
            raise Failed("QEMU has ended with the recording")
        os.kill(case.qemu_pid(), signal.SIGTERM)
        case.end(says=[f"has the nice value {RAISED} while it is recorded"])
        case.recorded()


def starts_stopped(options, folder):
    """-S: ringside waits for the user, resumes nothing itself, and samples from the user's continue on."""
    with Case(options, folder) as case:
        case.start([*case.qemu, "-S", "-qmp", f"unix:{folder}/qmp,server=on,wait=off"], "--duration", "3",
                   "--then-quit")
        with qmp.Qmp(f"{folder}/qmp") as monitor:
            time.sleep(3)  # of which nothing counts
            if (status := monitor.status()) not in ("prelaunch", "paused"):
                raise Failed(f"the guest is {status} before its user's continue")
            monitor.command("cont")
        case.end()
        case.no_qemu_left()
        case.recorded()


def qemu_crashes(options, folder):
    """QEMU crashes: ringside says so, fails, and keeps what it has."""
    with Case(options, folder) as case:
        case.start(case.qemu)
        case.wait_sampling()
        os.kill(case.qemu_pid(), signal.SIGSEGV)
        case.end(status=128 + signal.SIGSEGV, says=["QEMU", str(case.recording)])
        if not re.search(r"(?i)killed|SIGSEGV|segmentation|signal 11", case.said()):
            raise Failed(f"it does not say how QEMU ended, but: {case.said()[-600:]}")
        case.no_qemu_left()
        case.recorded()


def sigterm(options, folder):
    """SIGTERM to ringside: it completes the recording and leaves the guest running."""
    with Case(options, folder) as case:
        case.start([*case.qemu, "-qmp", f"unix:{folder}/qmp,server=on,wait=off"])
        case.wait_sampling()
        os.kill(case.pid, signal.SIGTERM)
        case.end()
        case.recorded()
        with qmp.Qmp(f"{folder}/qmp") as monitor:
            first = monitor.hmp("info registers -a")
            wait_for("the guest runs on", lambda: monitor.hmp("info registers -a") != first)
            if (status := monitor.status()) != "running":
                raise Failed(f"the guest is {status} after ringside's end")
        os.kill(case.qemu_pid(), signal.SIGKILL)
        case.no_qemu_left()


def early_sigterm(options, folder):
    """SIGTERM to ringside in the first moments: a QEMU that it has started has ended, or is named by its process or its
    wrapper's."""
    for number, delay in enumerate((0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6)):
        inside = folder / str(number)
        inside.mkdir()
        with Case(options, inside) as case:
            case.start(["timeout", str(int(limits.STEP)), *case.qemu] if number % 2 else case.qemu)
            time.sleep(delay)
            os.kill(case.pid, signal.SIGTERM)
            if case.ends() is None:
                raise Failed(f"ringside does not end; it said: {case.said()[-600:]}")
            time.sleep(delay)  # QEMU takes as long to start as without a signal
            if (left := case.left()) and not any(f"process {pid}" in case.said() for pid in left):
                raise Failed(f"after {delay} s {[name_of(pid) for pid in left]} is left, and ringside says: {case.said()[-300:]}")


def sigint_alone(options, folder):
    """A supervisor's SIGINT, which QEMU does not get: ringside ends with a whole recording, the guest runs on."""
    with Case(options, folder) as case:
        case.start(case.qemu)
        case.wait_sampling()
        os.kill(case.pid, signal.SIGINT)
        case.end()
        if not case.qemu_runs():
            raise Failed("QEMU has ended with ringside")
        case.recorded()


def wrapper_by_path(options, folder):
    """A wrapper that starts QEMU by its path: noticed soon, and sampled through what QEMU offers, if it does."""
    wrapper = folder / "boot.sh"
    wrapper.write_text(f'#!/bin/sh\n{shutil.which("qemu-system-x86_64")} "$@"\n')
    wrapper.chmod(0o755)
    for name, offer in (("gdb", ["-gdb", "unix:stub,server=on,wait=off"]),
                        ("qmp", ["-qmp", "unix:monitor,server=on,wait=off"])):
        (folder / name).mkdir()
        with Case(options, folder / name) as case:
            case.start(["sh", "-c", 'cd "$0" && exec "$@"', str(case.folder), str(wrapper), *case.qemu[1:], *offer],
                       "--duration", "1", "--then-quit")
            case.end(says=[f"the {name} engine", "by its path", "better: start QEMU through PATH"])
            case.recorded()
    (folder / "none").mkdir()
    with Case(options, folder / "none") as case:
        case.start([str(wrapper), *case.qemu[1:]])
        wait_for("the answer", lambda: "add -s there" in case.said())
        if not case.qemu_runs():
            raise Failed("the guest does not run on")


CASES = {case.__name__.replace("_", "-"): case
         for case in (ctrl_c, duration, make_wrapper, own_stub, qmp_engine, tcg_engine, host_priority, starts_stopped, qemu_crashes, sigterm,
                      early_sigterm, sigint_alone, wrapper_by_path)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all when none is given")
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"no case {unknown[0]}")
    machine.exit_on_signals()
    failed = 0
    for name in options.cases or CASES:
        began, error = time.monotonic(), None
        with tempfile.TemporaryDirectory(prefix="ringside-launch-") as folder:
            try:
                CASES[name](options, pathlib.Path(folder))
            except (Failed, launched.Failed, qmp.QmpError, OSError, ValueError, subprocess.SubprocessError) as problem:
                error = problem
        verdict = "ok" if error is None else f"FAILED: {error}"
        print(f"{name:16} {time.monotonic() - began:5.1f} s  {verdict}", flush=True)
        failed += error is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
