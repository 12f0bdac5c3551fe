#!/usr/bin/env python3
"""Profiles the bundled kernel's processes and compares each with the truth of its program.

    processes_test.py --ringside PROGRAM --kernel ELF --truth FILE --programs FOLDER [--engine tcg] [--cpus 2]

The kernel runs one program twice and another beside it on each vCPU, and says at the end which process was which. Every
process must have its program's name, shares and stacks, and kernel-only and user-only samples must be the whole, both of
one recording and of recordings of only the one or the other.

A recording whose shares are wrong has to say itself that the host has bent them; then all are made again.
Exit status: 0 the profile tells the truth, 1 it does not or something failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

from ringside_tests.harness import folded, launched, limits, machine
from ringside_tests.judges import findings, report_totals
from ringside_tests.judges.processes import process_truth

LEAST_SECONDS = 3  # that the guest works: a busy host takes a second to begin
PROCESS = re.compile(r"ringside-demo: process vcpu=(\d+) pid=(\d+) name=(\S+)")


def record(options, folder, deadline, seconds, *more):
    """Records until the guest has ended by itself; returns the recording and what the guest said of its processes."""
    qemu = machine.BASE + ["-smp", str(options.cpus), "-m", "256", "-serial", "stdio", *options.qemu_option,
                           "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(options.kernel),
                           "-append", f"workload=user seconds={seconds:g}"]
    how = ["--engine", options.engine, "--interval", f"{options.interval:g}ms", "--after", "ringside-demo: ready",
           *more, *options.record_option]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    said = (folder / "record.log").read_text(errors="replace")
    processes = {int(pid): (int(vcpu), name) for vcpu, pid, name in PROCESS.findall(said)}
    if len(processes) != 3 * options.cpus:
        raise launched.Failed(f"the guest tells of {len(processes)} processes: {said[-800:]}")
    return recording, processes


def stacks_of(options, recording, deadline, *more):
    """No stacks where the host was so slow that the recording had ended before ringside found any process."""
    try:
        return folded.parse(launched.folded_text(options.ringside, recording, deadline, *more))
    except launched.Failed as error:
        if "no sample says which process it belongs to" in str(error):
            return []
        raise


def working_stacks(options, recording, deadline, *more):
    return process_truth.working(stacks_of(options, recording, deadline, *more))


def room_of_share(options, samples):
    """Points that the share of the kernel may be off: four standard deviations where there are few samples."""
    return max(options.points, 4 * 100 * (0.24 * 3 / max(samples, 1)) ** 0.5)


def check_processes(options, recording, processes, deadline, found):
    truth = process_truth.parse(options.truth.read_text())
    functions = process_truth.kernel_functions(options.kernel)
    charged = 0
    for pid, (vcpu, name) in sorted(processes.items()):
        program = truth[name]
        stacks = working_stacks(options, recording, deadline, "--pid", str(pid))
        charged += folded.samples(stacks)
        whole = folded.samples(working_stacks(options, recording, deadline, "--cpu", str(vcpu)))
        named = folded.samples(working_stacks(options, recording, deadline, "--pid", str(pid), "--comm", name))
        summary, shares, wrong = process_truth.check_process(program, stacks, whole, options.points, functions.__contains__)
        if named != folded.samples(stacks):
            wrong.append(f"{named} of {folded.samples(stacks)} samples have the program's name")
        others = [truth[other] for other in truth if other != name]
        wrong += process_truth.check_absent(program, others, stacks)
        print("\n    ".join([f"pid {pid}, vCPU {vcpu}, {name}:", *summary]))
        found.add_shares([f"pid {pid} ({name}): {line}" for line in shares], recording)
        found.add(*(f"pid {pid} ({name}): {line}" for line in wrong))
    whole = folded.samples(working_stacks(options, recording, deadline))
    # Samples of no process: from before the page was known, and between two processes.
    if charged < 0.99 * whole or charged > whole:
        found.add(f"{charged} of {whole} samples are charged to the processes")


def check_halves(options, recording, deadline, found):
    """Kernel and user samples of one recording are all of them."""
    whole, kernel, user = (folded.samples(stacks_of(options, recording, deadline, *how))
                           for how in ((), ("-k",), ("-u",)))
    print(f"{whole} samples, {kernel} of the kernel and {user} of user code")
    if kernel + user != whole:
        found.add(f"{kernel} kernel and {user} user samples are not {whole}")
    # 40 parts of a hundred are spent in system calls.
    kernel, user = (folded.samples(working_stacks(options, recording, deadline, how)) for how in ("-k", "-u"))
    worked = kernel + user
    if abs(100 * kernel / max(worked, 1) - 40) > room_of_share(options, worked):
        found.add_shares([f"{kernel} of {worked} samples are the kernel's, not 40 %"], recording)


def check_only(options, folder, deadline, flag, part, found):
    """A recording of only the kernel or only user code: what is left out is skipped, not failed."""
    recording, _ = record(options, folder, deadline, max(options.seconds / 3, LEAST_SECONDS), flag)
    report = launched.read_back(options.ringside, deadline, "report", "--header", "--stdio", *report_totals.OPTIONS, "-i",
                              str(recording))
    stacks = stacks_of(options, recording, deadline)
    found.add(*report_totals.check(report, stacks))
    numbers = report_totals.statistics(report)
    taken, skipped = numbers["sampled"], numbers["skipped"]
    share = 100 * taken / max(taken + skipped, 1)
    print(f"{flag}: {taken} sampled, {skipped} skipped: {share:.2f} %")
    if abs(share - part) > room_of_share(options, taken + skipped):
        found.add_shares([f"{flag}: {share:.2f} % of the ticks were sampled, not {part} %"], recording)
    other = folded.samples(stacks_of(options, recording, deadline, "-u" if flag == "-k" else "-k"))
    if numbers["failed"] or other:
        found.add(f"{flag}: {numbers['failed']} samples failed, {other} are of what was not asked for")


def check_unknown(options, folder, deadline, found):
    """Without the program files processes are told apart, and their stacks are whole."""
    recording, processes = record(options, folder, deadline, max(options.seconds / 3, LEAST_SECONDS))
    for pid, (_, name) in sorted(processes.items()):
        stacks = stacks_of(options, recording, deadline, "--pid", str(pid))
        unnamed = folded.samples(stacks_of(options, recording, deadline, "--pid", str(pid), "--comm", "<unknown>"))
        if not stacks or unnamed != folded.samples(stacks):
            found.add(f"without files: pid {pid} ({name}): {unnamed} of {folded.samples(stacks)} samples are <unknown>'s")
        # A kernel's stack alone: somewhere in the entry, or from before the pages were found.
        whole = [(stack, count) for stack, count in stacks if stack[0].startswith("<unknown:0x4")]
        if folded.samples(whole) < 0.95 * folded.samples(stacks):
            found.add(f"without files: pid {pid} ({name}): {folded.samples(whole)} of {folded.samples(stacks)} stacks begin in "
                      "user code")


def run(options, folder, deadline):
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("compute", "syscaller"):
        shutil.copy(options.programs / f"{name}.elf", programs / name)
    recording, processes = record(options, folder, deadline, options.seconds, "--programs", str(programs))
    found = findings.Findings(options.ringside, deadline)
    check_processes(options, recording, processes, deadline, found)
    check_halves(options, recording, deadline, found)
    check_only(options, folder, deadline, "-k", 40, found)
    check_only(options, folder, deadline, "-u", 60, found)
    check_unknown(options, folder, deadline, found)
    return found.verdict()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path, help="demo/truth/programs/user.txt")
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="where compute.elf and syscaller.elf are")
    parser.add_argument("--engine", default="tcg")
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=12, help="how long the guest works (default 12)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    parser.add_argument("--interval", type=float, default=2.0, help="milliseconds between samples (default 2)")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")
    parser.add_argument("--qemu-option", action="append", default=[], help="a further option of QEMU")
    return parser.parse_args()


def main():
    return launched.truthful("ringside-processes-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
