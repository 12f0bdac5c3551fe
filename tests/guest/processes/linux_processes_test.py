#!/usr/bin/env python3
"""Profiles Debian's own programs in a Linux guest: whose time each sample is, and stacks from _start into the kernel.

    linux_processes_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--engines tcg,gdb,qmp] [--append pti=on]
                            [--compat i386] [--workload libc_calls]

Ringside gets QEMU's command line and nothing else: the kernel is at a random address, and no symbols are given (but with
--know vmlinux). The reference is the guest's own /proc, read before the recording, and the programs' files.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges.processes import joined_stacks, libc_calls, process_list

WORKLOAD = "programs"
PROGRAMS = ("dash", "dd", "md5sum", "nc.traditional")
COMPAT_PROGRAMS = ("dash", "md5sum", "nc.traditional")  # with --compat; its dd stays as it is
WITHOUT_RULES = "busybox"
COMPLETE_PERCENT, NAMED_PERCENT = 95.0, 90.0
UNKNOWN_PERCENT = 1.0  # of the samples, of a process not known, in kernel mode and in user mode
FIRST_PERCENT = 5.0  # the same, before the first known one


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def add_compat_userland(options, paths, folder):
    """Puts programs and libraries of --compat's architecture into the guest, in the place of its own programs."""
    other = pathlib.Path(linux_guest.fetch(vmlinux=False, arch=options.compat, userland=True)["USERLAND"])
    added = folder / "added"
    shutil.copytree(other / "usr/lib", added / "usr/lib", symlinks=True)
    (added / "usr/bin").mkdir()
    for program in COMPAT_PROGRAMS:
        shutil.copy(other / "usr/bin" / program, added / "usr/bin")
    user_program.add_userland(paths, folder, added)


def check_compat(processes):
    """That the guest did run 32-bit code, by where the kernel maps it."""
    wide = {process.name: any(mapping.end > 1 << 32 for mapping in process.mappings)
            for process in processes.values() if process.mappings}
    return [f"{program} is {'64-bit' if wide.get(program) else 'not running'}" for program in COMPAT_PROGRAMS
            if wide.get(program, True)] + ([] if wide.get("dd") else ["dd is no 64-bit program"])


def record(options, engine, paths, folder, deadline):
    """Returns the recording and what the guest's serial port said."""
    # A folder of its own, so that no vmlinux lies beside the file.
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")
    words = " ".join([linux_guest.append(paths, options.workload), f"tell={options.settle}", *options.append])
    qemu = linux_guest.base(paths, options.cpu) + [
        "-smp", str(options.cpus), "-m", "512", "-serial", "stdio", "-kernel", str(kernel), "-initrd",
        paths["USERLAND_INITRD"], "-append", words]
    how = ["--engine", engine, "--samples", str(options.samples), "--interval", f"{options.interval:g}ms", "--after",
           linux_guest.READY, *options.record_option]
    if options.know == "vmlinux":
        how += ["--kernel", paths["VMLINUX"]]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    return recording, (folder / "record.log").read_text(errors="replace")


def check_identity(options, processes, samples):
    found = joined_stacks.identity(processes, samples)
    unknown, wrong = sum(found.unknown.values()), sum(found.wrong.values())
    print(f"  {found.samples} samples, {found.first} before the first with a process; of the others "
          f"{percent(found.samples - found.first - unknown, found.samples - found.first):.2f} % with one (without: "
          f"{dict(found.unknown)}), {wrong} of the processes wrong, {found.later} of later kernel workers")
    for what, count in found.wrong.most_common(options.show):
        print(f"  {count:5} {what}")
    failures = []
    if found.samples < options.samples * 0.8:
        failures.append(f"{found.samples} samples, {options.samples} wanted")
    if wrong:
        failures.append(f"{wrong} samples are charged to a process that is not so")
    if percent(found.first, found.samples) > FIRST_PERCENT:
        failures.append(f"{found.first} samples before the first with a process")
    if percent(found.unknown["kernel"], found.samples) > UNKNOWN_PERCENT:
        failures.append(f"{found.unknown['kernel']} kernel samples without a process")
    if percent(found.unknown["user"], found.samples) > UNKNOWN_PERCENT:
        failures.append(f"{found.unknown['user']} user samples without a process")
    return failures


def check_stacks(options, what, verdict, wanted, named_percent=None):
    """wanted: so many samples at least. named_percent: of the frames, instead of the option."""
    named_percent = options.named if named_percent is None else named_percent
    complete, named = percent(verdict.complete, verdict.samples), percent(verdict.named, verdict.frames)
    wrong = sum(verdict.wrong.values())
    print(f"  {what}: {verdict.samples} samples, {complete:.2f} % complete; {verdict.frames} user frames, {named:.2f} % "
          f"named, {wrong} wrong")
    for reason, count in verdict.reasons.most_common(options.show):
        print(f"  {count:5} incomplete: {reason}; for example")
        print("            " + "\n            ".join(joined_stacks.describe(verdict.examples[reason])))
    for path, count in verdict.unnamed.most_common(options.show):
        print(f"  {count:5} frames without a name in {path or 'code of no file'}")
    for text, count in verdict.wrong.most_common(options.show):
        print(f"  {count:5} {text}")
    failures = []
    if verdict.samples < wanted:
        failures.append(f"{what}: {verdict.samples} samples, {wanted} wanted")
    if complete < options.complete:
        failures.append(f"{what}: {complete:.2f} % of the stacks are complete, {options.complete:g} % wanted")
    if named < named_percent:
        failures.append(f"{what}: {named:.2f} % of the user frames have names, {named_percent:g} % wanted")
    if wrong:
        failures.append(f"{what}: {wrong} user frames are wrong")
    return failures


def check_without_rules(options, processes, files, samples):
    stops, wrong = joined_stacks.judge_without_rules(processes, files, samples)
    total = sum(stops.values())
    print(f"  {WITHOUT_RULES}: {total} samples: " + ", ".join(f"{stop} {count}" for stop, count in stops.most_common()))
    failures = [f"{WITHOUT_RULES}: {count} times: {what}" for what, count in wrong.items()]
    if total < options.samples / 50:
        failures.append(f"{WITHOUT_RULES}: {total} samples")
    other = total - stops[joined_stacks.NO_RULE] - stops[joined_stacks.END]
    if not stops[joined_stacks.NO_RULE] or percent(other, total) > 100 - options.complete:
        failures.append(f"{WITHOUT_RULES}: {other} of {total} stacks end neither at their end nor with "
                        f"'{joined_stacks.NO_RULE}'")
    return failures


def check_libc_calls(options, processes, files, known):
    failures = []
    for program in libc_calls.PROGRAMS:
        of_program = [sample for sample in known if sample.get("comm") == program]
        # musl's functions have names only where it exports them.
        failures += check_stacks(options, program, joined_stacks.judge(processes, files, of_program),
                                 options.samples / 2 / len(libc_calls.PROGRAMS), named_percent=0)
        line, wrong = libc_calls.check(program, [sample for sample in of_program if not joined_stacks.why_incomplete(
            files, processes[sample["pid"]], sample)])
        print(f"  {line}")
        failures += wrong
    return failures


def check(options, processes, files, samples):
    taken = [sample for sample in samples if sample.get("disposition") == "sampled"]
    failures = check_identity(options, processes, taken) + (check_compat(processes) if options.compat else [])
    known = [sample for sample in taken if sample.get("pid") in processes]
    if options.workload == libc_calls.WORKLOAD:
        return failures + check_libc_calls(options, processes, files, known)
    for program in PROGRAMS:
        for level in ("kernel", "user"):
            of_program = [sample for sample in known if sample.get("comm") == program and sample["level"] == level]
            if level == "kernel" or of_program:
                verdict = joined_stacks.judge(processes, files, of_program)
                failures += check_stacks(options, f"{program}, {level} mode", verdict,
                                         options.samples / 100 if level == "kernel" else 0)
    busybox = [sample for sample in known if sample.get("comm") == WITHOUT_RULES]
    failures += check_without_rules(options, processes, files, busybox)
    return failures


def run(options, folder):
    paths = linux_guest.fetch(vmlinux=options.know == "vmlinux", arch=options.arch, userland=True)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    if options.compat:
        add_compat_userland(options, paths, folder)
    if options.workload == libc_calls.WORKLOAD:
        libc_calls.add(paths, folder)
    deadline = time.monotonic() + options.limit
    files = process_list.Files(paths["USERLAND"])
    failures = []
    for engine in options.engines.split(","):
        here = folder / engine
        here.mkdir()
        recording, serial = record(options, engine, paths, here, deadline)
        text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "--demangle", "none",
                                  "-i", str(recording), "-o", "-")
        if options.keep:
            shutil.copytree(here, pathlib.Path(options.keep) / engine, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("vmlinuz"))
        compat = [f"with {options.compat} programs"] if options.compat else []
        print(" ".join([f"{options.arch}, {engine}", *compat, *options.append]) + ":")
        samples = [json.loads(line) for line in text.splitlines()]
        failures += [f"{engine}: {line}" for line in check(options, process_list.parse(serial), files, samples)]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--compat", choices=["i386"], help="the architecture of most programs, where the guest's kernel "
                        "also runs those of another one")
    parser.add_argument("--workload", choices=[WORKLOAD, libc_calls.WORKLOAD], default=WORKLOAD, help="Debian's programs "
                        "(default), or a program of ours that calls several C libraries (amd64)")
    parser.add_argument("--engines", default="tcg", help="such as tcg,gdb,qmp: one after the other (default tcg)")
    parser.add_argument("--cpu", help="QEMU's CPU model, such as max (default: the architecture's usual one)")
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--append", action="append", default=[], help="a further word of the kernel's command line")
    parser.add_argument("--know", choices=["vmlinux", "vmlinuz"], default="vmlinuz",
                        help="what ringside may know of the kernel: its ELF file, for a kernel without BTF, or only the "
                             "file that boots (default)")
    parser.add_argument("--settle", type=int, default=3, help="guest seconds that the programs have been at work (default 3)")
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--interval", type=float, default=3, help="ms between samples (default 3)")
    parser.add_argument("--complete", type=float, default=COMPLETE_PERCENT, help="percent of the stacks")
    parser.add_argument("--named", type=float, default=NAMED_PERCENT, help="percent of the user frames")
    limits.add_option(parser)
    parser.add_argument("--show", type=int, default=5, help="so many classes of what is wrong (default 5)")
    parser.add_argument("--keep", help="a folder for the recordings and the logs")
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
