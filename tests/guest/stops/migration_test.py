#!/usr/bin/env python3
"""A guest is migrated to a second QEMU while it is recorded by an engine that stops it for samples.

    migration_test.py --ringside PROGRAM --kernel ELF --engine gdb|monitor|lent|qmp[,…] [--rounds N] [CASE …]

gdb: by the stub; monitor: by the monitor's text; lent: from the monitor by the stub that nobody uses; qmp: by a stub that
QEMU opens. With several engines the rounds take turns. Without --rounds the cases must all be right. With it, the case
`moves` is run so many times, and what became of the guests is counted: right, the destination left paused, an abort of
QEMU, a double run.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import collections
import os
import pathlib
import random
import signal
import sys
import tempfile
import time

from ringside_tests.harness import folded, launched, limits, machine, program, qmp
from ringside_tests.judges import migrations, report_totals

READY = "ringside-demo: ready"
WORKLOAD = "chains_round"
MEMORY = 128
SLOW = 20_000  # bytes a second: most of the memory is zeros
QUESTIONS = 2  # in little more than a second: through a stub each one is a stop
ENGINES = ("gdb", "monitor", "lent", "qmp")


class Failed(Exception):
    """A check that failed; the message describes it."""


class Case:
    """A source, a destination, and a ringside that records one of them."""

    def __init__(self, options, engine, folder):
        self.options, self.engine, self.folder = options, engine, folder
        self.recording = folder / "ringside.data"

    def boot(self, *extra):
        guest = machine.Machine(self.options.kernel, "workload=chains seconds=0", cpus=2, memory=MEMORY, extra=extra)
        if self.engine == "qmp":
            guest.qmp.hmp("gdbserver none")
        return guest

    def source(self):
        guest = self.boot()
        try:
            guest.wait_serial(READY, limits.STEP)
        except BaseException:
            guest.close()
            raise
        return guest

    def destination(self):
        return self.boot("-incoming", f"unix:{self.folder}/incoming")

    def record(self, guest, *arguments):
        attach = {"gdb": ["--gdb", guest.gdb], "monitor": ["--qmp", guest.monitor, "--leave-stub"]}.get(
            self.engine, ["--qmp", guest.monitor])
        return program.Program([self.options.ringside, "record", *attach, "--kernel", self.options.kernel, "-o",
                                str(self.recording), *arguments], self.folder / "log",
                               machine.private_environment(self.folder).items())

    def says(self, run, text):
        if not run.wait_said(text, limits.STEP):
            raise Failed(f"ringside does not say '{text}' but: {run.said()[-600:]}")

    def migrate(self, guest, slow=False):
        if slow:
            guest.qmp.command("migrate-set-parameters", **{"max-bandwidth": SLOW})
        guest.qmp.command("migrate", uri=f"unix:{self.folder}/incoming")

    def is_over(self, guest):
        return guest.qmp.command("query-migrate").get("status") in ("completed", "failed", "cancelled")

    def ended(self, run):
        code = run.wait_end(limits.STEP)
        if code != 0:
            raise Failed(f"ringside ended with {code}, not 0; it said: {run.said()[-600:]}")

    def report(self):
        """Checks that the recording is whole, and has samples."""
        _, stacks, failures = report_totals.read(self.options.ringside, self.recording, limits.step_end())
        if failures:
            raise Failed("; ".join(failures))
        if folded.samples_in(WORKLOAD, stacks) < 1:
            raise Failed(f"no sample of the workload: {stacks[:5]}")

    def samples(self):
        return folded.samples_in(WORKLOAD, folded.parse(launched.folded_text(self.options.ringside, self.recording,
                                                                             limits.step_end())))

    def outcome(self, source, destination):
        """The guests' states, for migrations.judge()."""
        if source.process.poll() is not None:
            return migrations.Outcome(None, False, destination.qmp.status(), destination.advances(limits.SOON))
        before = source.registers()
        runs_there = destination.advances(limits.SOON)
        time.sleep(0.2)
        return migrations.Outcome(source.qmp.status(), source.registers() != before, destination.qmp.status(), runs_there)


def moves(case):
    """The recording ends in order, and the guest runs at the destination only. Returns the verdict."""
    with case.source() as source, case.destination() as destination, case.record(source, "-F", str(case.options.rate)) as run:
        case.says(run, "ringside: sampling")
        time.sleep(random.uniform(0.3, 0.9))
        case.migrate(source)
        end, verdicts = limits.step_end(), []
        try:
            while not case.is_over(source) and time.monotonic() < end:
                time.sleep(0.02)
            for _ in range(3):  # as soon as it has ended, and later
                time.sleep(0.2)
                verdicts.append(migrations.judge(case.outcome(source, destination)))
        except (qmp.QmpError, OSError):  # QEMU has closed the connection
            if not limits.wait_until(lambda: source.process.poll() is not None):
                raise
            verdicts.append(migrations.ABORT)
        if verdicts[-1] == migrations.RIGHT:
            case.ended(run)
            said = run.said()
            if said.count("migrates the guest") > 1 or "the guest has moved" not in said:
                raise Failed(f"ringside does not say once that the guest moves: {said[-600:]}")
            case.report()
            verdicts.append(migrations.judge(case.outcome(source, destination)))
        return next((verdict for verdict in verdicts if verdict != migrations.RIGHT), migrations.RIGHT)


def moves_rightly(case):
    if (verdict := moves(case)) != migrations.RIGHT:
        raise Failed(verdict)


def cancelled(case):
    """Sampling goes on."""
    with case.source() as source, case.destination(), case.record(source) as run:
        case.says(run, "ringside: sampling")
        case.migrate(source, slow=True)
        case.says(run, "migrates the guest")
        source.qmp.take_events()
        time.sleep(1)
        stops = [name for name, _ in source.qmp.take_events() if name == "STOP"]
        if len(stops) > QUESTIONS:
            raise Failed(f"the guest was stopped {len(stops)} times in a second while it was migrated")
        source.qmp.command("migrate_cancel")
        case.says(run, "the guest goes on")
        before = case.samples()
        if not limits.wait_until(lambda: case.samples() > before + 3, 0.3):
            raise Failed("the guest is not sampled after its migration was cancelled")
        os.kill(run.process.pid, signal.SIGINT)
        case.ended(run)
        if not source.qmp.wait_status("running", limits.SOON) or not source.advances(limits.SOON):
            raise Failed(f"the guest does not run: {source.qmp.status()}")
        case.report()


def killed(case):
    """ringside is killed during the migration: nobody resumes the guest where it was."""
    with case.source() as source, case.destination() as destination, case.record(source) as run:
        case.says(run, "ringside: sampling")
        case.migrate(source, slow=True)
        case.says(run, "migrates the guest")
        source.qmp.command("migrate-set-parameters", **{"max-bandwidth": 1 << 30})
        if not limits.wait_until(lambda: case.is_over(source), 0.02):
            raise Failed("the migration does not end")
        run.kill_alone()
        time.sleep(1)
        if (verdict := migrations.judge(case.outcome(source, destination))) != migrations.RIGHT:
            raise Failed(verdict)


def incoming(case):
    """ringside waits at the destination: it neither starts the guest before it has come nor keeps it from running."""
    with case.source() as source, case.destination() as destination, case.record(destination) as run:
        case.says(run, "ringside: sampling")
        case.says(run, "waits for a migration to bring the guest")
        time.sleep(0.5)
        if (status := destination.qmp.status()) != "inmigrate":
            raise Failed(f"the destination is {status} before the guest has come")
        case.migrate(source)
        case.says(run, "the guest goes on")
        launched.wait_for_samples(3, WORKLOAD, case.options.ringside, case.recording, limits.STEP)
        os.kill(run.process.pid, signal.SIGINT)
        case.ended(run)
        case.report()
        if (verdict := migrations.judge(case.outcome(source, destination))) != migrations.RIGHT:
            raise Failed(verdict)


def launched_destination(case):
    """The same where ringside starts the destination; by the engine that it is told to take."""
    engine = "gdb" if case.engine == "gdb" else "qmp"
    monitor = f"{case.folder}/launched"
    qemu = [*machine.BASE, "-smp", "2", "-m", str(MEMORY), "-kernel", case.options.kernel, "-append", "workload=chains seconds=0",
            "-serial", "null", "-qmp", f"unix:{monitor},server=on,wait=off", "-incoming", f"unix:{case.folder}/incoming"]
    command = [case.options.ringside, "record", "--engine", engine, "-o", str(case.recording), "--", *qemu]
    with case.source() as source, program.Program(command, case.folder / "log",
                                                  machine.private_environment(case.folder).items()) as run:
        case.says(run, "waits for a migration to bring the guest")
        with qmp.Qmp(monitor) as destination:
            time.sleep(0.5)
            if (status := destination.status()) != "inmigrate":
                raise Failed(f"the destination is {status} before the guest has come")
            case.migrate(source)
            case.says(run, "the guest goes on")
            launched.wait_for_samples(3, WORKLOAD, case.options.ringside, case.recording, limits.STEP)
            if not source.qmp.wait_status("postmigrate", limits.SOON):
                raise Failed(f"the source is {source.qmp.status()}")
            destination.command("quit")
        case.ended(run)
        case.report()


CASES = {"moves": moves_rightly, "cancelled": cancelled, "killed": killed, "incoming": incoming,
         "launched": launched_destination}


def in_folder(case, options, engine):
    """Runs the case: its result, and its failure or None."""
    with tempfile.TemporaryDirectory(prefix="ringside-migration-") as folder:
        try:
            return case(Case(options, engine, pathlib.Path(folder))), None
        except (Failed, launched.Failed, machine.GuestError, qmp.QmpError, OSError, ValueError) as failure:
            return None, failure


def run_cases(options):
    failed = 0
    for name in options.cases or CASES:
        for engine in options.engine:
            began = time.monotonic()
            _, error = in_folder(CASES[name], options, engine)
            failed += bool(error)
            print(f"{name:<10} {engine:<8} {time.monotonic() - began:5.1f} s  {f'FAILED: {error}' if error else 'ok'}",
                  flush=True)
    return 1 if failed else 0


def count_rounds(options):
    counts = collections.Counter()
    for number in range(options.rounds):
        engine = options.engine[number % len(options.engine)]
        verdict, error = in_folder(moves, options, engine)
        verdict = verdict or f"failed: {error}"
        counts[verdict.partition(":")[0].partition(" (")[0]] += 1
        print(f"{number + 1:3} {engine:<8} {verdict}", flush=True)
    print(", ".join(f"{verdict}: {count}" for verdict, count in sorted(counts.items())))
    return 0 if set(counts) <= {migrations.RIGHT, migrations.LEFT_PAUSED} else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("--engine", required=True, type=lambda text: text.split(","))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--rate", type=int, default=1000, help="samples a second (default 1000)")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all when none is given")
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES] + [e for e in options.engine if e not in ENGINES]:
        parser.error(f"no case or engine {unknown[0]}")
    machine.exit_on_signals()
    return count_rounds(options) if options.rounds else run_cases(options)


if __name__ == "__main__":
    sys.exit(main())
