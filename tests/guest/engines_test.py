#!/usr/bin/env python3
"""Each engine tells the same of one guest: the shares of the hottest functions, and complete stacks.

    engines_test.py --ringside PROGRAM (--kernel ELF [--workload NAME] | --linux [--arch NAME]) [--cpus 2] [--busy 20000]

One guest is sampled by the engines in turn, in short recordings, so that what else the machine does hits all alike.
A host that has too little time bends profiles (docs/busy-hosts.md): the plugin loses ticks for which a vCPU was
kept waiting, the other engines cannot tell. So those sample at long intervals, and a share's standard error is shown as
it follows from how the recordings differ. A recording has the version of QEMU, whichever engine made it.

Where shares are apart, those of the recordings count that do not say themselves that the host has bent them. Where those are
too few, others are made.

Exit status: 0 they agree, 1 not, 2 wrong usage, 77 the Linux guest cannot be fetched, or the host is too busy.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import every_engine, folded, launched, limits, linux_guest, machine
from ringside_tests.judges import engines_agree, findings


def boot(options, folder):
    """The guest, and the kernel file that ringside gets."""
    if not options.linux:
        return every_engine.boot_bundled(options, folder), options.kernel
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    # In a folder of its own, so that no vmlinux lies beside the file.
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")
    return every_engine.boot_linux(options, folder, paths), kernel


def check_version(options, guest, recording, deadline):
    """Error GuestError where a recording does not have the version of the QEMU that ran its guest."""
    program = guest.process.args[0]
    printed = subprocess.run([program, "--version"], stdout=subprocess.PIPE, text=True, check=True, timeout=limits.STEP).stdout
    version = re.search(r"version ([0-9.]+)", printed)[1]
    header = launched.read_back(options.ringside, deadline, "report", "--header", "-i", str(recording))
    if not re.search(rf"^# QEMU +: {re.escape(version)}$", header, re.MULTILINE):
        raise machine.GuestError(f"{recording.name} is of QEMU {version}, and reports: {header[:800]}")


def sample(options, guest, kernel, folder, deadline):
    """The engines' measures, until each has the samples or the time is over: of all recordings, and of those that do not say
    that they are bent; and what the others say."""
    measures = {engine: engines_agree.Measure() for engine in options.engines}
    silent = {engine: engines_agree.Measure() for engine in options.engines}
    bent = None
    until = ["--samples", str(options.slice), "--duration", f"{options.seconds:g}"]
    longest = 0.0
    while time.monotonic() + 1.5 * longest < deadline and any(one.samples < options.busy for one in measures.values()):
        start = time.monotonic()
        # An engine that has enough goes on: what the others measure later, it shall measure as well.
        for engine, measure in measures.items():
            recording = every_engine.record(options, engine, guest, kernel, folder, deadline, until)
            if not measure.samples:
                check_version(options, guest, recording, deadline)
            stacks = folded.parse(launched.folded_text(options.ringside, recording, deadline))
            lines = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i",
                                       str(recording), "-o", "-")
            samples = list(map(json.loads, lines.splitlines()))
            measure.add(stacks, samples)
            if said := launched.says_bent(options.ringside, recording, deadline):
                bent = said
            else:
                silent[engine].add(stacks, samples)
            if options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(recording, options.keep / f"{engine}-{len(measure.shares)}.data")
        longest = max(longest, time.monotonic() - start)
    return measures, silent, bent


def judge(options, measures, silent, bent, found):
    """Takes what is wrong into the Findings."""
    found.add(*engines_agree.check_stacks(measures, options.complete))
    shares = engines_agree.check_shares(measures, options.points)
    if shares and bent and all(measure.samples >= options.busy / 2 for measure in silent.values()):
        bent, shares = None, engines_agree.check_shares(silent, options.points)
    if shares:
        found.excuse(bent, shares, "and no recording says that its shares are bent")


def run(options, folder, deadline):
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    guest, kernel = boot(options, folder)
    with guest:
        measures, silent, bent = sample(options, guest, kernel, folder, deadline)
    print("\n".join(engines_agree.table(measures)))
    few = [line for engine, measure in measures.items() for line in engines_agree.check_count(engine, measure, options.busy)]
    found = findings.Findings(options.ringside, deadline)
    if few:  # each recording has ended in time, so that only more of them would have helped
        found.excuse(launched.BENT, few, "")
    else:
        judge(options, measures, silent, bent, found)
    return found.verdict()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--kernel", type=os.path.abspath, help="the bundled kernel")
    parser.add_argument("--linux", action="store_true", help="Debian's kernel, of which ringside gets the vmlinuz")
    parser.add_argument("--workload", help="default: chains, with --linux mixed")
    parser.add_argument("--busy", type=int, default=20000, help="busy samples wanted of each engine (default 20000)")
    parser.add_argument("--slice", type=int, default=1000, help="samples of one recording (default 1000)")
    parser.add_argument("--seconds", type=float, default=10, help="a recording ends then at the latest (default 10)")
    parser.add_argument("--points", type=float, default=2.0, help="how far shares may be apart")
    parser.add_argument("--complete", type=float, default=99.0, help="percent of the stacks")
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the recordings in this folder")
    options = parser.parse_args()
    if options.linux == bool(options.kernel):
        parser.error("give --kernel or --linux")
    if not options.linux and options.arch != "amd64":
        parser.error("the bundled kernel is for amd64")
    options.workload = options.workload or ("mixed" if options.linux else "chains")
    options.engines = options.engines or every_engine.default_engines(options.arch)
    return options


if __name__ == "__main__":
    sys.exit(launched.truthful("ringside-engines-", parse_options(), run))
