#!/usr/bin/env python3
"""Profiles one workload of the bundled kernel with ringside and compares the profile with the workload's truth.

    truth_test.py --ringside PROGRAM --kernel ELF --truth FILE --workload NAME --cpus N

Works in a temporary folder of its own; ends what it started on any exit.
A recording whose shares are wrong has to say itself that the host has bent them; then another one is made.
Exit status: 0 the profile tells the truth, 1 it does not or something failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import os
import pathlib
import sys

from ringside_tests.harness import every_engine, folded, launched, limits, machine
from ringside_tests.judges import report_totals, truth


def record(options, folder, deadline):
    """Records some more samples than are needed, for a few may be lost."""
    samples = ["--samples", str(options.busy + options.busy // 50)]
    if options.text:
        with every_engine.boot_bundled(options, folder) as guest:
            return every_engine.record(options, "qmp", guest, options.kernel, folder, deadline, samples)
    base = machine.single_step_base() if options.single_step else machine.BASE
    qemu = base + ["-smp", str(options.cpus), "-m", "256", "-serial", "stdio",
                           "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(options.kernel),
                           "-append", f"workload={options.workload} seconds=0"]
    how = [*samples, "--interval", f"{options.interval:g}ms", "--after", "ringside-demo: ready", *options.record_option]
    return launched.record(options.ringside, how, qemu, folder, deadline)


def run(options, folder, deadline):
    recording = record(options, folder, deadline)
    profile = launched.folded_text(options.ringside, recording, deadline)
    of_vcpus = launched.folded_text(options.ringside, recording, deadline, "--per-cpu")
    report = launched.read_back(options.ringside, deadline, "report", "--header", "--stdio", *report_totals.OPTIONS, "-i", str(recording))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        name = f"{options.workload}-{options.kernel.stem}-{options.cpus}"
        (options.keep / f"{name}.folded").write_text(profile)
        (options.keep / f"{name}.per-cpu.folded").write_text(of_vcpus)
        (options.keep / f"{name}.report").write_text(report)
    expected = options.truth.read_text()
    status = truth.compare(expected, profile, options.busy, options.points)
    found = {status, truth.compare_vcpus(expected, of_vcpus, options.cpus, options.points)} - {0}
    for line in report_totals.check(report, folded.parse(profile)):
        print(f"FAILED: {line}")
        found.add(1)
    if found == {truth.SHARES_ONLY} and (bent := launched.how_bent(report)):
        return bent
    return "the recording is wrong" + (", and does not say so" if found == {truth.SHARES_ONLY} else "") if found else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--busy", type=int, default=10000, help="busy samples wanted (default 10000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    parser.add_argument("--interval", type=float, default=1.0, help="milliseconds between samples (default 1)")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--single-step", action="store_true",
                     help="one instruction a translated block: stops do not skid to the next block")
    limits.add_option(parser)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the folded profile and the report in this folder")
    parser.add_argument("--tries", type=int, default=1, help="recordings at most, where those before say that they are bent")
    way.add_argument("--text", action="store_true", help="sample by what the monitor prints")
    parser.set_defaults(engines=("qmp",))  # of every_engine: the guest gets no plugin
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")
    return parser.parse_args()


def main():
    return launched.truthful("ringside-truth-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
