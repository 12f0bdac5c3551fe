#!/usr/bin/env python3
"""The bundled kernel samples itself into rings as Redox' kernel has them; ringside reads them, and writes them as Redox' tool.

    redox_test.py --ringside PROGRAM --kernel ELF --truth FILE --format a|b --way live|drained

The samples are the workload's in its shares. `export --format perf-script --redox-style` names frames as Redox' document
does, and that text reads as the same stacks again. drained: the counts of samples are those that the kernel prints.
Workload user, live: its processes have their shares of their vCPU. Half of them have the names that --context-names gives
their ids, the others those of the kernel's map.

No recording is made again, as in rings_test.py.

Exit status: 0 all is as it should be, 1 not, 2 wrong usage.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import time

from ringside_tests.harness import folded, launched, limits, machine
from ringside_tests.judges import legal_stacks, report_totals

# Shares of the processes of a vCPU in workload user: one takes as long as the two others together.
PROCESSES = [50, 25, 25]
FRAME = re.compile(r"\t *[0-9a-f]+ (.+)")
OFFSET = re.compile(r"\+[0-9a-f]+$")
COUNTED = re.compile(r"counted vcpu=(\d+) kernel=(\d+) user=(\d+)")


def qemu(options, append, *more):
    return [*machine.BASE, "-smp", str(options.cpus + 1), "-m", "256", "-serial", "stdio", *more,
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(options.kernel), "-append",
            f"workload={options.truth.stem} sampling=nmi seconds=0 format=redox-{options.format} {append}"]


def given_name(context):
    return f"the {context}th"


def is_given(context):
    return context % 2 == 0


def is_name(name, context):
    """Processes of two programs are there; either may have begun first."""
    return name == given_name(context) if is_given(context) else name in (f"compute {context}", f"syscaller {context}")


def record_live(options, folder, deadline):
    names = folder / "names"
    contexts = range(1, 3 * options.cpus + 1)
    names.write_text("".join(f"{context} {given_name(context)}\n" for context in contexts if is_given(context)))
    symbol = "BUFS" if options.layout == "array" else "BUFS_RAW"
    how = ["--engine", "ring", "--redox-rings", f"kernel::profiling::{symbol}", "--context-names", str(names),
           "--samples", str(options.busy), "--after", "ringside-demo: ready"]
    return launched.record(options.ringside, how, qemu(options, f"ring=65536 redox-rings={options.layout}"), folder, deadline)


def record_drained(options, folder, deadline):
    """A port of each vCPU, whose files are read together."""
    files = [folder / f"profiling-{cpu}" for cpu in range(options.cpus)]
    ports = [word for file in files for word in ("-serial", f"file:{file}")]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(qemu(options, f"ring=1048576 drain=com2 samples={options.busy * 3 // 2}", *ports), cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise launched.TookTooLong("the guest took too long") from error
        finally:
            machine.end_process(process)
    recording = folder / "ringside.data"
    launched.read_back(options.ringside, deadline, "import", *map(str, files), "--input-format", f"redox-{options.format}",
                       "--kernel", str(options.kernel), "-o", str(recording))
    # Format A has none of user code.
    counted = {int(vcpu): int(kernel) + (int(user) if options.format == "b" else 0)
               for vcpu, kernel, user in COUNTED.findall((folder / "log").read_text())}
    read = collections.Counter()
    for stack, count in folded.parse(launched.folded_text(options.ringside, recording, deadline, "--per-cpu")):
        read[int(stack[0].split()[1])] += count
    if dict(read) != counted or len(counted) != options.cpus:
        raise launched.Failed(f"the kernel has counted {counted} samples by vCPU, and {dict(read)} were read")
    return recording


def check_shares(options, stacks):
    total = sum(count for _, count in stacks)
    own = collections.Counter()
    for stack, count in stacks:
        own[stack[-1]] += count
    failures = [] if total >= options.busy else [f"{total} samples, {options.busy} wanted"]
    for functions, expected in legal_stacks.parse(options.truth.read_text()).judged_shares():
        got = 100 * sum(own[function] for function in functions) / total
        names = " and ".join(functions)
        print(f"{names}: {got:.2f} %, expected {expected:.2f} %")
        if abs(got - expected) > options.points:
            failures.append(f"{names} has {got:.2f} % of {total} samples, and {expected:.2f} % is right")
    return failures


def check_names(options, recording, deadline):
    """The processes of each vCPU, which has fewer samples than all. The host may run one vCPU more than another."""
    failures = []
    for vcpu in range(options.cpus):
        text = launched.folded_text(options.ringside, recording, deadline, "--cpu", str(vcpu), by="comm")
        totals = collections.Counter()
        for stack, count in folded.parse(text):
            totals[stack[0]] += count
        shares = {name: 100 * count / totals.total() for name, count in totals.items()}
        print(f"vCPU {vcpu}:", ", ".join(f"{name} {share:.2f} %" for name, share in sorted(shares.items())))
        known = all(any(is_name(name, context) for context in range(1, 3 * options.cpus + 1)) for name in shares)
        if not known or len(shares) != len(PROCESSES) or any(
                abs(got - right) > 2 * options.points for got, right in zip(sorted(shares.values(), reverse=True), PROCESSES)):
            failures.append(f"the processes of vCPU {vcpu} have {shares} %, and {PROCESSES} % in some order is right")
    return failures


def stacks_of(text):
    """Counts the stacks of perf-script text, the outermost frame first, by the words of Redox' tool alone."""
    stacks = collections.Counter()
    for block in text.split("\n\n"):
        if lines := block.strip("\n").splitlines():
            if not lines[0].startswith("kernel "):
                raise launched.Failed(f"a sample that is not below the root kernel: {lines[0]}")
            stacks[tuple(name_in(FRAME.fullmatch(line)[1]) for line in reversed(lines[1:]))] += 1
    return stacks


def name_in(text):
    """The function of "[NAME] (kernel)". inferno-collapse-perf splits at the last blank, whatever blanks the name has."""
    name, image = text.rsplit(" ", 1)
    if name == "[unknown]":
        return image.strip("()")
    if image not in ("(kernel)", "(user)") or name[0] + name[-1] != "[]":
        raise launched.Failed(f"no frame of Redox' tool: {text}")
    return name[1:-1]


def check_text(options, recording, folder, deadline, stacks):
    """Style _ has the functions, x each function and below it the function with its offset; code without a name has none."""
    def exported(style):
        file = folder / f"profiling{style}.txt"
        launched.read_back(options.ringside, deadline, "export", "-i", str(recording), "--format", "perf-script",
                           "--redox-style", style, "-o", str(file))
        return file, stacks_of(file.read_text())

    failures = []
    there = collections.Counter()
    for stack, count in stacks:
        there[tuple(stack)] += count
    if exported("_")[1] != there:
        failures.append("the text of style _ has other stacks than the recording")
    file, with_offsets = exported("x")
    functions = collections.Counter()
    for stack, count in with_offsets.items():
        named = [frame for frame in stack if frame != "[user]"]
        pairs = list(zip(named[::2], named[1::2], strict=True))
        if wrong := [pair for pair in pairs if pair[1] == pair[0] or OFFSET.sub("", pair[1]) != pair[0]]:
            failures.append(f"a function is not followed by itself with an offset: {wrong[0]}")
        functions[tuple(frame for frame in stack if not OFFSET.search(frame))] += count
    if functions != there:
        failures.append("the text of style x has other functions than the recording")
    again = collections.Counter()
    for stack, count in folded.parse(launched.folded_text(options.ringside, file, deadline, "--input-format", "perf-script")):
        again[tuple(stack[1:] if stack[0] == "kernel" else stack)] += count
    if again != with_offsets:
        failures.append("ringside reads other stacks out of the text than there are in it")
    return failures


def run(options, folder, deadline):
    recording = (record_live if options.way == "live" else record_drained)(options, folder, deadline)
    stacks = list(folded.parse(launched.folded_text(options.ringside, recording, deadline)))
    failures = []
    vcpus = {int(stack[0].split()[1]) for stack, _ in folded.parse(
        launched.folded_text(options.ringside, recording, deadline, "--per-cpu"))}
    if vcpus != set(range(options.cpus)):
        failures.append(f"samples are of the vCPUs {sorted(vcpus)}, and {options.cpus} work")
    if options.truth.stem == "user" and options.way == "live":
        failures += check_names(options, recording, deadline)
    text = launched.read_back(options.ringside, deadline, "report", "--header", "--stdio", *report_totals.OPTIONS, "-i",
                              str(recording))
    failures += check_shares(options, folded.without(legal_stacks.DRAIN_DAEMON, stacks)) + report_totals.check(text, stacks)
    failures += check_text(options, recording, folder, deadline, stacks)
    return "; ".join(failures)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path)
    parser.add_argument("--format", required=True, choices=["a", "b"])
    parser.add_argument("--way", required=True, choices=["live", "drained"])
    parser.add_argument("--layout", choices=["slice", "array"], default="slice", help="how the kernel has its rings")
    parser.add_argument("--cpus", type=int, default=2, help="that work (default 2); another one sends NMIs")
    parser.add_argument("--busy", type=int, default=4000, help="samples wanted (default 4000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    limits.add_option(parser)
    parser.set_defaults(tries=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(launched.truthful("ringside-redox-", parse_options(), run))
