#!/usr/bin/env python3
"""Processes by the roots of their page tables, as the user names them, in a kernel that ringside knows nothing of.

    roots_test.py --ringside PROGRAM --kernel ELF --truth FILE --programs FOLDER [--busy 3000] [--engine tcg]

The bundled kernel runs one program twice and another beside it. QEMU's monitor tells the roots; --process names two of
them and --user-elf the program of the rest, and each process must have its program's shares and user stacks. The
kernel's stacks stand on those, but for the first ones and those from which a thread is about to be switched away, when
the page tables are another process's already. With the tcg engine the guest is started again for ringside: with one
vCPU all page tables are where they were before.

A recording whose shares are wrong has to say itself that the host has bent them; then another one is made.
Exit status: 0 the profile tells the truth, 1 it does not or something failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import os
import pathlib
import sys

from ringside_tests.harness import folded, launched, limits, machine, page_table_roots
from ringside_tests.judges import findings
from ringside_tests.judges.processes import process_truth


def check(options, recording, deadline):
    truth = process_truth.parse(options.truth.read_text())
    functions = process_truth.kernel_functions(options.kernel)
    profile = {name: folded.parse(launched.folded_text(options.ringside, recording, deadline, "--comm", name))
               for name in ("first", "second", "syscaller.elf")}
    whole = folded.samples(folded.parse(launched.folded_text(options.ringside, recording, deadline)))
    found = findings.Findings(options.ringside, deadline)
    for name, stacks in profile.items():
        program = truth["syscaller" if name == "syscaller.elf" else "compute"]
        program.may_lack_user = True
        summary, shares, wrong = process_truth.check_process(program, stacks, whole, options.points, functions.__contains__)
        print("\n    ".join([f"{name}:", *summary]))
        found.add_shares([f"{name}: {line}" for line in shares], recording)
        found.add(*(f"{name}: {line}" for line in wrong))
    joined, wrong = process_truth.check_joined(sum(profile.values(), []), functions.__contains__, options.joined)
    print(joined)
    found.add(*wrong)
    if sum(map(folded.samples, profile.values())) < 0.98 * whole:
        found.add(f"only {list(map(folded.samples, profile.values()))} of {whole} samples are of a process")
    return found.verdict()


def run(options, folder, deadline):
    programs = {name: options.programs / f"{name}.elf" for name in set(page_table_roots.PROGRAMS.values())}
    how = ["--kernel", str(options.kernel), "--os", "none", "--user-elf", str(programs["syscaller"]),
           "--interval", f"{options.interval:g}ms", "--samples", str(options.busy)]
    with machine.Machine(options.kernel, page_table_roots.WORK, cpus=1, memory=256) as guest:
        guest.wait_serial("ringside-demo: ready", limits.STEP)
        roots = page_table_roots.find_roots(guest, limits.step_end())
        how += ["--process", f"{roots[1]}=first:{programs['compute']}",
                "--process", f"0x{roots[2]}=second:{programs['compute']}"]
        recording = folder / "ringside.data"
        if options.engine == "gdb":
            launched.read_back(options.ringside, deadline, "record", "--gdb", guest.gdb, *how, "-o", str(recording))
    if options.engine == "tcg":
        qemu = machine.BASE + ["-smp", "1", "-m", "256", "-serial", "stdio", "-kernel", str(options.kernel), "-append",
                               page_table_roots.WORK]
        recording = launched.record(options.ringside, ["--engine", "tcg", "--after", "ringside-demo: ready", *how], qemu,
                                    folder, deadline)
    return check(options, recording, deadline)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path, help="demo/truth/programs/user.txt")
    parser.add_argument("--programs", required=True, type=lambda path: pathlib.Path(path).resolve(),
                        help="where compute.elf and syscaller.elf are")
    parser.add_argument("--engine", choices=("gdb", "tcg"), default="gdb")
    parser.add_argument("--joined", type=float, default=97.0, help="percent of the kernel's stacks (default 97)")
    parser.add_argument("--busy", type=int, default=3000, help="samples wanted (default 3000)")
    parser.add_argument("--points", type=float, default=3.0, help="how far a share may be off")
    parser.add_argument("--interval", type=float, default=3.0, help="milliseconds between samples (default 3)")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    return parser.parse_args()


def main():
    return launched.truthful("ringside-roots-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
