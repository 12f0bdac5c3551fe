#!/usr/bin/env python3
"""Ringside reads the bundled kernel's rings live, by each way in and whatever becomes of the guest meanwhile.

    ways_test.py --ringside PROGRAM --kernel ELF [CASE …]

Each case boots a guest of its own. Exit status: 0 all cases are as they should be, 1 not.
"""
import argparse
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

from ringside_tests.harness import folded, launched, limits, machine, program, qmp
from ringside_tests.harness.ports import free_port
from ringside_tests.judges import report_totals

READY = "ringside-demo: ready"
WORKLOAD = "chains_round"
ENOUGH = 200  # samples
OPTIONS = "workload=chains seconds=0 sampling=nmi ring=65536"


class Failed(Exception):
    """A check that failed; the message describes it."""


class Case:
    """A guest, and a ringside that records it."""

    def __init__(self, options, folder):
        self.options, self.folder, self.recording = options, folder, folder / "ringside.data"

    def boot(self, append=OPTIONS, extra=(), ready=READY):
        base = [word for word in machine.BASE if word != "-no-reboot"]
        guest = machine.Machine(self.options.kernel, append, cpus=3, memory=128, extra=extra, base=base)
        try:
            guest.wait_serial(ready, limits.STEP)
        except BaseException:
            guest.close()
            raise
        return guest

    def record(self, *options):
        run = program.Program([self.options.ringside, "record", *([] if "--serial" in options else ["--engine", "ring"]),
                               "--kernel", self.options.kernel, "-o",
                               str(self.recording), *options], self.folder / "log",
                              machine.private_environment(self.folder).items())
        try:
            end = limits.step_end()
            while not self.recording.exists() and run.process.poll() is None:
                if time.monotonic() > end:
                    raise Failed(f"ringside makes no recording; it said: {run.said()[-600:]}")
                time.sleep(0.02)
        except BaseException:
            run.__exit__()
            raise
        return run

    def ended(self, run, status=0):
        ended = run.wait_end(limits.STEP)
        if ended != status:
            raise Failed(f"ringside ended with {ended}; it said: {run.said()[-600:]}")

    def interrupted(self, run):
        os.kill(run.process.pid, signal.SIGINT)
        self.ended(run)

    def samples(self):
        """How many are of the workload, as far as the recording has come."""
        text = launched.folded_text(self.options.ringside, self.recording, limits.step_end())
        return folded.samples_in(WORKLOAD, folded.parse(text))

    def wait_for_samples(self, more_than):
        end = limits.step_end()
        while self.samples() <= more_than:
            if time.monotonic() > end:
                raise Failed(f"no more than {more_than} samples")
            time.sleep(0.2)

    def report(self, needs=ENOUGH * 9 // 10, by_stub=False):
        """Checks that there are samples, that the counts add up, and that the guest did not stand still. by_stub: a look
        at its registers has stopped it."""
        text, _, failures = report_totals.read(self.options.ringside, self.recording, limits.step_end())
        if failures:
            raise Failed("; ".join(failures))
        if self.samples() < needs:
            raise Failed(f"{self.samples()} samples of the workload, {needs} wanted")
        if not by_stub and not re.search(r"guest stood still\s+0 ns", text):
            raise Failed("the guest stood still")
        return report_totals.statistics(text)


def monitor(case):
    """Through the monitor's Unix socket, while another client has one of its own."""
    with case.boot() as guest, case.record("--qmp", guest.monitor, "-n", str(2 * ENOUGH)) as run:
        case.ended(run)
        case.report()
        if "torn" in run.said():
            raise Failed(f"ringside says that the guest's own stacks may be torn: {run.said()[-600:]}")


def stub(case):
    """Through the gdb stub: the connection stops the guest for a moment, and samples do not."""
    with case.boot() as guest, case.record("--gdb", guest.gdb, "-n", str(2 * ENOUGH)) as run:
        case.ended(run)
        case.report(by_stub=True)


def tcp(case):
    """Through a monitor that listens on TCP."""
    address = f"127.0.0.1:{free_port()}"
    with case.boot(extra=["-qmp", f"tcp:{address},server=on,wait=off"]), \
            case.record("--qmp", address, "-n", str(2 * ENOUGH)) as run:
        case.ended(run)
        case.report()


def serial(case):
    """From a socket that the guest's serial port writes to, where a daemon of the kernel's drains the rings."""
    line = case.folder / "line"
    append = "workload=chains seconds=0 sampling=nmi ring=65536 drain=com2"
    with case.boot(append, ["-serial", f"unix:{line},server=on,wait=off"]), \
            case.record("--serial", str(line), "-n", str(2 * ENOUGH)) as run:
        case.ended(run)
        case.report()


def fifo(case):
    """From a FIFO, as from a serial device."""
    line = case.folder / "line"
    os.mkfifo(line)
    with open(os.open(line, os.O_RDWR), "wb"):
        append = "workload=chains seconds=0 sampling=timer ring=65536 drain=com2"
        with case.boot(append, ["-chardev", f"file,id=line,path={line}", "-serial", "chardev:line"]) as guest, \
                case.record("--serial", str(line)) as run:
            case.wait_for_samples(ENOUGH)
            guest.qmp.command("quit")
            case.interrupted(run)
            case.report()


def paused(case):
    """The guest stands still when ringside comes, and is let go on later."""
    with case.boot() as guest:
        guest.qmp.command("stop")
        with case.record("--qmp", guest.monitor) as run:
            if not run.wait_said("paused", limits.STEP):
                raise Failed(f"ringside does not say that the guest is paused: {run.said()[-600:]}")
            guest.qmp.command("cont")
            case.wait_for_samples(ENOUGH)
            case.interrupted(run)
            case.report()


def reboot(case):
    """The guest is reset: its kernel begins anew, with other rings."""
    with case.boot() as guest, case.record("--qmp", guest.monitor) as run:
        case.wait_for_samples(ENOUGH)
        guest.qmp.command("system_reset")
        end = limits.step_end()
        while guest.serial().count(READY) < 2:
            if time.monotonic() > end:
                raise Failed("the guest does not boot again")
            time.sleep(0.05)
        time.sleep(1)  # all from before the reset is written by now
        case.wait_for_samples(case.samples() + 5 * ENOUGH)
        case.interrupted(run)
        case.report(5 * ENOUGH)


def overrun(case):
    """Ringside is suspended for longer than the rings last: the samples that they lose are counted."""
    with case.boot(append=f"{OPTIONS.replace('65536', '1024')} rate=5000") as guest, \
            case.record("--qmp", guest.monitor) as run:
        case.wait_for_samples(ENOUGH)
        os.kill(run.process.pid, signal.SIGSTOP)
        time.sleep(2)
        os.kill(run.process.pid, signal.SIGCONT)
        case.wait_for_samples(case.samples())
        case.interrupted(run)
        lost = case.report().get("lost", 0)
        if lost < ENOUGH:  # some rings full: how many thousands it takes in 2 s depends on the host
            raise Failed(f"of the samples of 2 s only {lost} are lost")


def none(case):
    """A kernel without rings: ringside says what is missing."""
    with case.boot(append="workload=chains seconds=0") as guest, \
            case.record("--qmp", guest.monitor, "--duration", "1") as run:
        case.ended(run, status=1)
        if "no rings were found in the guest's memory" not in run.said():
            raise Failed(f"ringside does not say that there are no rings: {run.said()[-600:]}")


def killed(case):
    """QEMU is killed: the samples until then are there."""
    with case.boot() as guest, case.record("--qmp", guest.monitor) as run:
        case.wait_for_samples(ENOUGH)
        os.kill(guest.process.pid, signal.SIGKILL)
        case.ended(run)
        case.report()


def switched(case):
    """The guest's sampling is switched off and on while it runs, by keys."""
    with case.boot() as guest, case.record("--qmp", guest.monitor) as run:
        case.wait_for_samples(ENOUGH)
        guest.qmp.hmp("sendkey b")
        counts = [case.samples()]
        end = limits.step_end()
        while counts[-1:] != counts[-2:-1]:
            if time.monotonic() > end:
                raise Failed(f"samples come after it was switched off: {counts}")
            time.sleep(1)
            counts.append(case.samples())
        guest.qmp.hmp("sendkey a")
        case.wait_for_samples(counts[-1] + ENOUGH)
        case.interrupted(run)
        case.report()


CASES = {case.__name__: case for case in (monitor, stub, tcp, serial, fifo, paused, reboot, overrun, none, killed, switched)}


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
        with tempfile.TemporaryDirectory(prefix="ringside-ways-") as folder:
            try:
                CASES[name](Case(options, pathlib.Path(folder)))
            except (Failed, launched.Failed, machine.GuestError, qmp.QmpError, OSError, ValueError) as failure:
                error = failure
        failed += bool(error)
        print(f"{name:<16} {time.monotonic() - began:5.1f} s  {f'FAILED: {error}' if error else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
