#!/usr/bin/env python3
"""A guest is reset, migrated, saved, given a vCPU or killed while it is recorded: nothing hangs, the guest goes on, and
the counts add up.

    fault_test.py --ringside PROGRAM --kernel ELF --engine tcg|gdb|qmp [--plugin FILE] [CASE …]

Each case boots a guest of its own. Exit status: 0 all cases are as they should be, 1 not.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import sys
import tempfile
import time

from ringside_tests.harness import folded, launched, limits, machine, program
from ringside_tests.judges import report_totals

WORKLOAD = "chains_round"
FEW = 5  # samples of it
READY = "ringside-demo: ready"


class Failed(Exception):
    """A check that failed; the message describes it."""


class Case:
    """A guest, and a ringside that records it."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.recording = folder / "ringside.data"
        self.ring = folder / "ring"

    def boot(self, smp="2"):
        extra = ["-plugin", f"{self.options.plugin},ring={self.ring}"] if self.options.engine == "tcg" else []
        base = [word for word in machine.BASE if word != "-no-reboot"]
        guest = machine.Machine(self.options.kernel, "workload=chains seconds=0", cpus=smp, memory=128, extra=extra,
                                base=base)
        try:
            guest.wait_serial(READY, limits.STEP)
        except BaseException:
            guest.close()
            raise
        return guest

    def record(self, guest, *options):
        attach_options = {"tcg": ["--ring", str(self.ring), "--qmp", guest.monitor], "gdb": ["--gdb", guest.gdb],
                  "qmp": ["--qmp", guest.monitor, "--leave-stub"]}[self.options.engine]
        run = program.Program([self.options.ringside, "record", *attach_options, "--kernel", self.options.kernel, "-o",
                               str(self.recording), *options], self.folder / "log",
                              machine.private_environment(self.folder).items())
        if not run.wait_said("ringside: sampling", limits.STEP):
            run.__exit__()
            raise Failed(f"ringside does not sample; it said: {run.said()[-600:]}")
        self.began = time.monotonic()
        time.sleep(0.5)
        return run

    def ended(self, run, status=0):
        code = run.wait_end(limits.STEP)
        if code is None:
            raise Failed(f"ringside does not end; it said: {run.said()[-600:]}")
        if code != status:
            raise Failed(f"ringside ended with {code}, not {status}; it said: {run.said()[-600:]}")

    def stop(self, run):
        """Ends the recording by SIGINT once it has a sample of the workload from after this call, and a few in all."""
        now = time.monotonic() - self.began + 0.2  # by the recording's clock, at the latest
        end = limits.step_end()
        while self.last_sample_of_workload() < now:
            if time.monotonic() > end:
                raise Failed(f"no sample of the workload after {now:.1f} s from the start")
            time.sleep(0.3)
        self.wait_for_samples()
        os.kill(run.process.pid, signal.SIGINT)
        self.ended(run)

    def goes_on(self, guest):
        if not guest.qmp.wait_status("running", limits.SOON) or not guest.advances(limits.SOON):
            raise Failed(f"the guest does not go on: {guest.qmp.status()}")

    def report(self):
        """Checks that the recording can be read and its counts add up; returns the statistics."""
        report, stacks, failures = report_totals.read(self.options.ringside, self.recording, limits.step_end())
        if failures:
            raise Failed("; ".join(failures))
        if folded.samples_in(WORKLOAD, stacks) < FEW:
            raise Failed(f"hardly any sample of the workload: {stacks[:5]}")
        return report_totals.statistics(report)

    def wait_for_samples(self):
        launched.wait_for_samples(FEW, WORKLOAD, self.options.ringside, self.recording, limits.STEP)

    def not_run(self):
        """How many ticks were lost because the host did not run the vCPU."""
        report = launched.read_back(self.options.ringside, limits.step_end(), "report", "--header", "--stdio", "-i",
                                    str(self.recording))
        found = re.search(r"([\d,]+)\s+[\d.]+%\s+vCPU not run by the host", report)
        return int(found.group(1).replace(",", "")) if found else 0

    def last_sample_of_workload(self):
        """Its time, in seconds from the start of the recording."""
        text = launched.read_back(self.options.ringside, limits.step_end(), "export", "--format", "json-lines", "-i",
                                  str(self.recording), "-o", "-")
        times = [json.loads(line)["time_ns"] for line in text.splitlines() if WORKLOAD in line]
        return max(times, default=0) / 1e9


def reboot(case):
    """The guest is reset; what it does after it has booted again is recorded, too."""
    with case.boot() as guest, case.record(guest, "--interval", "2") as run:
        end = limits.step_end()
        guest.qmp.command("system_reset")
        while guest.serial().count(READY) < 2:
            if time.monotonic() > end:
                raise Failed("the guest does not boot again")
            time.sleep(0.05)
        case.stop(run)
        case.goes_on(guest)
        case.report()


def migration(case):
    """The guest is migrated into a file: it stands still afterwards, until its user lets it go on."""
    with case.boot() as guest, case.record(guest) as run:
        guest.qmp.command("migrate", uri=f"exec:cat > {case.folder}/state")
        if not guest.qmp.wait_status("postmigrate", limits.STEP):
            raise Failed(f"the migration does not end: {guest.qmp.status()}")
        time.sleep(0.5)
        guest.qmp.command("cont")
        case.stop(run)
        case.goes_on(guest)
        case.report()


def run_job(guest, name, tries=1, **arguments):
    """Runs a job of QEMU's to its end; again where it fails, up to that many times."""
    for left in reversed(range(tries)):
        try:
            return run_job_once(guest, name, **arguments)
        except Failed:
            if left == 0:
                raise
            time.sleep(0.2)


def run_job_once(guest, name, **arguments):
    """Runs a job of QEMU's to its end."""
    guest.qmp.command(name, **{"job-id": "job", **arguments})
    end = limits.step_end()
    while (job := guest.qmp.command("query-jobs")[0])["status"] != "concluded":
        if time.monotonic() > end:
            raise Failed(f"{name} does not end")
        time.sleep(0.02)
    guest.qmp.command("job-dismiss", id="job")
    if "error" in job:
        raise Failed(f"{name}: {job['error']}")


def snapshot(case):
    """The guest's state is saved into a disk image, as savevm does, and brought back."""
    size, image = 256 << 20, f"{case.folder}/disk.qcow2"
    with case.boot() as guest, case.record(guest, "--interval", "2") as run:
        run_job(guest, "blockdev-create", options={"driver": "file", "filename": image, "size": 0})
        guest.qmp.command("blockdev-add", driver="file", filename=image, **{"node-name": "file"})
        run_job(guest, "blockdev-create", options={"driver": "qcow2", "file": "file", "size": size}, tries=25)
        guest.qmp.command("blockdev-add", driver="qcow2", file="file", **{"node-name": "disk"})
        for name in ("snapshot-save", "snapshot-load"):
            run_job(guest, name, tag="here", vmstate="disk", devices=["disk"])
            # Loading leaves a guest standing that stood when it was saved.
            if guest.qmp.status() != "running":
                guest.qmp.command("cont")
        case.stop(run)
        case.goes_on(guest)
        case.report()


def hotplug(case):
    """A vCPU is plugged in."""
    with case.boot(smp="1,maxcpus=2") as guest, case.record(guest) as run:
        slot = next(slot for slot in guest.qmp.command("query-hotpluggable-cpus") if "qom-path" not in slot)
        guest.qmp.command("device_add", driver=slot["type"], id="plugged", **slot["props"])
        if len(guest.qmp.command("query-cpus-fast")) != 2:
            raise Failed("the vCPU was not plugged in")
        case.stop(run)
        case.goes_on(guest)
        case.report()


def qemu_killed(case):
    """The recording holds the samples taken until then."""
    with case.boot() as guest, case.record(guest, "--interval", "2") as run:
        case.wait_for_samples()
        os.kill(guest.process.pid, signal.SIGKILL)
        case.ended(run)
        case.report()


def ringside_killed(case):
    """The guest goes on, and can be recorded again."""
    with case.boot() as guest:
        with case.record(guest) as run:
            run.kill_alone()
            case.goes_on(guest)
        with case.record(guest, "--samples", "100", *limits.ENOUGH_TIME, "--interval", "2") as run:
            case.ended(run)
        case.goes_on(guest)
        case.report()


def stalled(case):
    """QEMU does not answer while the recording is ended: the guest goes on when QEMU does."""
    with case.boot() as guest:
        for seconds in (0.3, 1.5):  # ringside waits for a second
            with case.record(guest, "-F", "5000", "--stack-bytes", "8192") as run:
                case.wait_for_samples()
                os.kill(guest.process.pid, signal.SIGSTOP)
                os.kill(run.process.pid, signal.SIGINT)
                time.sleep(seconds)
                os.kill(guest.process.pid, signal.SIGCONT)
                case.ended(run)
                case.goes_on(guest)
        case.report()


def overrun(case):
    """A ringside that is stopped for a while: samples are lost, or not due, and the counts say so."""
    with case.boot() as guest, case.record(guest, "-F", "5000", "--stack-bytes", "8192") as run:
        os.kill(run.process.pid, signal.SIGSTOP)
        time.sleep(4)
        if case.options.engine == "tcg":
            case.goes_on(guest)
        os.kill(run.process.pid, signal.SIGCONT)
        case.stop(run)
        case.goes_on(guest)
        lost = case.report().get("lost", 0) - case.not_run()
        if lost < 500:
            raise Failed(f"of some 20,000 ticks a second in 4 s only {lost} are told as lost to ringside")


CASES = {case.__name__.replace("_", "-"): case
         for case in (reboot, migration, snapshot, hotplug, qemu_killed, ringside_killed, stalled, overrun)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("--plugin", type=os.path.abspath)
    parser.add_argument("--engine", required=True, choices=["tcg", "gdb", "qmp"])
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all when none is given")
    options = parser.parse_args()
    if options.engine == "tcg" and not options.plugin:
        parser.error("--engine tcg needs --plugin")
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"no case {unknown[0]}")
    machine.exit_on_signals()
    failed = 0
    for name in options.cases or CASES:
        began, error = time.monotonic(), None
        with tempfile.TemporaryDirectory(prefix="ringside-fault-") as folder:
            try:
                CASES[name](Case(options, pathlib.Path(folder)))
            except (Failed, launched.Failed, machine.GuestError, OSError, ValueError) as failure:
                error = failure
        failed += bool(error)
        print(f"{name:<16} {time.monotonic() - began:5.1f} s  {f'FAILED: {error}' if error else 'ok'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
