#!/usr/bin/env python3
"""Processes of a kernel of which nothing is known: told apart by their page tables, and named by files whose code is there.

    unnamed_processes_test.py --ringside PROGRAM --kernel ELF --truth FILE --programs FOLDER

The bundled kernel, taken for one that ringside does not know (--os none), runs one program twice and another beside it.
With no option there must be three processes `[process N]` of the true shares. With --programs each has its program's name,
shares and user stacks. A file that was built otherwise (--user-elf, --process) names nothing, and one line says so.

A recording whose shares are wrong has to say itself that the host has bent them; then all are made again.
Exit status: 0 as it should be, 1 not or something failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import folded, launched, limits, machine, page_table_roots
from ringside_tests.judges import findings
from ringside_tests.judges.processes import process_truth

UNNAMED = re.compile(r"\[process (\d+)\]")


class Guest:
    """The running guest, and recordings of it."""

    def __init__(self, options, folder, gdb, deadline):
        self.options, self.folder, self.gdb, self.deadline = options, folder, gdb, deadline

    def record(self, count, *how):
        """The recording, and what ringside said."""
        return self.record_unknown(count, "--kernel", str(self.options.kernel), "--os", "none", *how)

    def record_unknown(self, count, *how):
        """The same of a guest of which nothing is told but what is given. There is no ELF file near."""
        recording, empty = self.folder / "ringside.data", self.folder / "empty"
        empty.mkdir(exist_ok=True)
        command = [self.options.ringside, "record", "--gdb", self.gdb, "--interval", f"{self.options.interval:g}", "--samples",
                   str(count), "-o", str(recording), *how]
        try:
            result = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=empty,
                                    timeout=max(1, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise launched.TookTooLong("ringside record took too long") from error
        if result.returncode:
            raise launched.Failed(f"{' '.join(command)}: status {result.returncode}: {result.stderr[-800:]}")
        return recording, result.stderr

    def stacks(self, recording, *how):
        return folded.parse(launched.folded_text(self.options.ringside, recording, self.deadline, *how))

    def by_name(self, recording):
        """Samples by the name of their process, by the frame at the root."""
        text = launched.read_back(self.options.ringside, self.deadline, "export", "--format", "folded", "-i", str(recording),
                                  "-o", "-")
        counts = {}
        for stack, count in folded.parse(text):
            counts[stack[0]] = counts.get(stack[0], 0) + count
        return counts


def other_build(program, path):
    """The program with other code: the first byte of each of .text's 64 bytes is another one."""
    listing = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True, text=True).stdout
    text = re.search(r"\] \.text +PROGBITS +\w+ (\w+) (\w+)", listing)
    start, size = (int(number, 16) for number in text.groups())
    data = bytearray(program.read_bytes())
    for at in range(start, start + size, 64):
        data[at] ^= 0xff
    path.write_bytes(data)
    return path


def check_unnamed(guest, found):
    """With no option: three processes, by the truth's shares."""
    truth = process_truth.parse(guest.options.truth.read_text())
    recording, _ = guest.record(guest.options.busy)
    counts = guest.by_name(recording)
    total = sum(counts.values())
    print(f"nothing given: {counts}")
    unnamed = {name: count for name, count in counts.items() if UNNAMED.fullmatch(name)}
    if sorted(unnamed) != [f"[process {n}]" for n in (1, 2, 3)]:
        found.add(f"the processes are {sorted(counts)}")
    expected = sorted(truth[name].percent for name in ("compute", "compute", "syscaller"))
    for share, count in zip(expected, sorted(unnamed.values())):
        if abs(100 * count / total - share) > guest.options.points:
            found.add_shares([f"a process has {100 * count / total:.2f} % of the samples, not {share} %"], recording)
    for name, count in unnamed.items():
        pid = UNNAMED.fullmatch(name).group(1)
        seen = [folded.samples(guest.stacks(recording, *how)) for how in (("--comm", name), ("--pid", pid))]
        if seen != [count, count]:
            found.add(f"--comm '{name}' and --pid {pid} find {seen} samples, not {count}")
    table = launched.read_back(guest.options.ringside, guest.deadline, "report", "--stdio", "-i", str(recording))
    found.add(*(f"report has no row of {name}: {table[:600]}" for name in unnamed if name not in table))


def check_without_kernel(guest, found):
    """Without the kernel's file, too, once it is clear that there is none to be found in memory."""
    recording, said = guest.record_unknown(guest.options.busy // 2)
    counts = guest.by_name(recording)
    print(f"no kernel: {counts}")
    named = sum(count for name, count in counts.items() if UNNAMED.fullmatch(name))
    if len(counts.keys() - {"[unknown]"}) != 3:
        found.add(f"without a kernel the processes are {sorted(counts)}")
    # Half a second is looked for a kernel.
    if named < 0.5 * sum(counts.values()):
        found.add(f"without a kernel only {named} of {sum(counts.values())} samples are of a process")
    if "have no process" in said:
        found.add(f"without a kernel ringside says {said[-600:]}")


def check_programs(guest, found):
    """With the programs' folder: each process has its program's name and truth."""
    options = guest.options
    programs = guest.folder / "programs"
    programs.mkdir(exist_ok=True)
    for name in ("compute", "syscaller"):
        shutil.copy(options.programs / f"{name}.elf", programs / name)
        other_build(options.programs / f"{name}.elf", programs / f"another-{name}")
    truth = process_truth.parse(options.truth.read_text())
    functions = process_truth.kernel_functions(options.kernel)
    recording, said = guest.record(options.busy, "--programs", str(programs))
    counts = guest.by_name(recording)
    print(f"--programs: {counts}")
    total = sum(counts.values())
    if not counts.keys() <= {"compute", "syscaller", "[unknown]"}:
        found.add(f"the processes are {sorted(counts)}")
    if "ran other code" in said:
        found.add(f"ringside says {said[-400:]}")
    table = launched.read_back(options.ringside, guest.deadline, "report", "--stdio", "--sort", "tgid,comm", "-i",
                               str(recording))
    pids = re.findall(r"(\d+):(compute|syscaller)\b", table)
    if sorted(name for _, name in pids) != ["compute", "compute", "syscaller"]:
        found.add(f"not two processes of compute and one of syscaller: {table[-600:]}")
    for pid, name in pids:
        program = truth[name]
        program.may_lack_user = True
        stacks = guest.stacks(recording, "--pid", pid)
        summary, shares, wrong = process_truth.check_process(program, stacks, total, options.points, functions.__contains__)
        print("\n    ".join([f"pid {pid}, {name}:", *summary]))
        found.add_shares([f"pid {pid} ({name}): {line}" for line in shares], recording)
        found.add(*(f"pid {pid} ({name}): {line}" for line in wrong))


def check_wrong(guest, roots, found):
    """Files that are not what runs name nothing, and one line says so. The user's word for a process is its name."""
    options = guest.options
    compute, syscaller = (options.programs / f"{name}.elf" for name in ("compute", "syscaller"))
    stale = other_build(compute, guest.folder / "stale.elf")
    # In each case: the options, the names besides [process N], how many of those, and the names that no function may have.
    cases = ((("--user-elf", str(stale)), set(), 3, {"multiply_rows()", "serve_requests()"}),
             (("--user-elf", str(compute)), {"compute.elf"}, 1, {"serve_requests()"}),
             (("--process", f"{roots[1]}=first:{syscaller}"), {"first"}, 2, {"multiply_rows()", "serve_requests()"}))
    for how, names, unnamed, absent in cases:
        recording, said = guest.record(options.busy // 4, *how)
        counts = guest.by_name(recording)
        print(f"{' '.join(how)}: {counts}")
        wrong = []
        numbers = {name for name in counts if UNNAMED.fullmatch(name)}
        if counts.keys() - numbers - {"[unknown]"} != names or len(numbers) != unnamed:
            wrong.append(f"the processes are {sorted(counts)}")
        said_so = [line for line in said.splitlines() if "ran other code than the file holds" in line]
        if len(said_so) != 1:
            wrong.append(f"{len(said_so)} lines say that the file is another one: {said[-600:]}")
        named = absent & {frame for stack, _ in guest.stacks(recording) for frame in stack}
        if named:
            wrong.append(f"functions of a file that did not run: {sorted(named)}")
        found.add(*(f"{' '.join(how)}: {line}" for line in wrong))


def run(options, folder, deadline):
    with machine.Machine(options.kernel, page_table_roots.WORK, cpus=1, memory=256) as running:
        running.wait_serial("ringside-demo: ready", limits.STEP)
        guest = Guest(options, folder, running.gdb, deadline)
        roots = page_table_roots.find_roots(running, limits.step_end())
        found = findings.Findings(options.ringside, deadline)
        check_unnamed(guest, found)
        check_without_kernel(guest, found)
        check_programs(guest, found)
        check_wrong(guest, roots, found)
    return found.verdict()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path, help="demo/truth/programs/user.txt")
    parser.add_argument("--programs", required=True, type=lambda path: pathlib.Path(path).resolve(),
                        help="where compute.elf and syscaller.elf are")
    parser.add_argument("--busy", type=int, default=1200, help="samples wanted (default 1200)")
    parser.add_argument("--points", type=float, default=4.0, help="how far a share may be off")
    parser.add_argument("--interval", type=float, default=3.0, help="milliseconds between samples (default 3)")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    return parser.parse_args()


def main():
    return launched.truthful("ringside-unnamed-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
