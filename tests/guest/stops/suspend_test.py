#!/usr/bin/env python3
"""Suspends ringside as Ctrl-Z does (SIGTSTP) while it samples by stops, and lets it go on (SIGCONT), many times.

While ringside is suspended the guest must run. Afterwards ringside samples on; ticks that came due meanwhile are lost
with a reason. --launched: ringside has started QEMU, and the signal goes to ringside alone.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

from ringside_tests.harness import guest_options, launched, limits, machine
from ringside_tests.harness.qmp import Qmp

REASON = "ringside was suspended"


def state_of(pid):
    """The letter of a process in /proc: T is suspended."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def advances(qmp):
    first = qmp.hmp("info registers -a")
    return limits.wait_until(lambda: qmp.hmp("info registers -a") != first)


def suspend(process, qmp, recording):
    """One round: what went wrong, or nothing."""
    os.kill(process.pid, signal.SIGTSTP)
    if not limits.wait_until(lambda: state_of(process.pid) == "T"):
        return "ringside does not suspend itself"
    try:
        if (status := qmp.status()) != "running":
            return f"the guest is {status} while ringside is suspended"
        if not advances(qmp):
            return "the guest says it runs, and its registers do not change"
        time.sleep(0.05)  # ticks come due
    finally:
        os.kill(process.pid, signal.SIGCONT)
    size = recording.stat().st_size
    if not limits.wait_until(lambda: recording.stat().st_size > size):
        return "ringside does not sample on"
    return None


def judge(options, folder, process, qmp, said):
    """Failures, as lines, of ringside in that process, which samples."""
    recording = pathlib.Path(folder) / "ringside.data"
    chance = random.Random(options.seed)
    failures = []
    for number in range(options.rounds):
        time.sleep(chance.uniform(0, 0.03))
        if wrong := suspend(process, qmp, recording):
            failures.append(f"round {number}: {wrong}")
            qmp.command("cont")
        if process.poll() is not None:
            return [*failures, f"ringside ended; it said: {said()[-600:]}"]
    process.terminate()
    if not limits.wait_until(lambda: process.poll() is not None):
        return [*failures, "ringside does not end"]
    if process.returncode:
        failures.append(f"ringside ended with status {process.returncode}; it said: {said()[-600:]}")
    report = launched.read_back(options.ringside, limits.step_end(), "report", "--header", "-i", str(recording))
    if not re.search(rf"[\d,]+ .*{REASON}", report):
        failures.append(f"no tick is lost because {REASON}: {report[:1500]}")
    return failures


class Recording:
    """`ringside record` in a process group of its own. Its session has a leader who could continue it: SIGTSTP does
    nothing to what nobody would continue."""

    def __init__(self, options, folder, *arguments):
        self.log = pathlib.Path(folder) / "log"
        command = [options.ringside, "record", "-F", "2000", "-o", os.path.join(folder, "ringside.data"), *arguments]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0,
                                            env=machine.private_environment(folder))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def said(self):
        return self.log.read_text(errors="replace")

    def samples(self):
        return limits.wait_until(lambda: "ringside: sampling" in self.said() or self.process.poll() is not None)


def run_attached(options, guest, folder):
    with Recording(options, folder, *guest_options.attach_options(options, guest), "--kernel", options.kernel) as ringside:
        if not ringside.samples():
            return [f"ringside does not sample; it said: {ringside.said()[-600:]}"]
        failures = judge(options, folder, ringside.process, guest.qmp, ringside.said)
    return failures if guest.advances(limits.STEP) else [*failures, "the guest does not run afterwards"]


def run_launched(options, folder):
    socket, pid_file = os.path.join(folder, "qmp"), pathlib.Path(folder) / "qemu.pid"
    qemu = [*machine.BASE, "-smp", str(options.cpus), "-m", "256", "-serial", f"file:{folder}/serial", "-kernel",
            options.kernel, "-append", options.append, "-chardev", f"socket,id=test,path={socket},server=on,wait=off",
            "-mon", "chardev=test,mode=control", "-pidfile", str(pid_file)]
    with Recording(options, folder, "--engine", "gdb", "--", *qemu) as ringside:
        try:
            if not ringside.samples():
                return [f"ringside does not sample; it said: {ringside.said()[-600:]}"]
            with Qmp(socket) as qmp:
                return judge(options, folder, ringside.process, qmp, ringside.said)
        finally:
            launched.end_qemu(pid_file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--launched", action="store_true", help="ringside starts QEMU")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.launched:
        return guest_options.check(options, "suspend", run_attached)
    return guest_options.check_in_folder("suspend", lambda folder: run_launched(options, folder))


if __name__ == "__main__":
    sys.exit(main())
