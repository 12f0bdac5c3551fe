#!/usr/bin/env python3
"""Records the bundled kernel's workload `lines` and compares what annotate shows with the true shares of its source lines.

    annotate_truth_test.py --ringside PROGRAM --kernel ELF --source lines.cpp --engine ENGINE [--single-step]

The truth stands in the source: each line that takes time ends in a comment with its share. With --single-step every
instruction of the loops has to have samples.
Exit status: 0 the lines have their shares, 1 they do not or something failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import re
import sys

from ringside_tests.harness import launched, limits, machine
from ringside_tests.judges import findings

SHARE = re.compile(r"// (\d+) %$")
FUNCTION, INLINED = "mixed_lines", "sift_line"


def record(options, folder, deadline):
    how = ["--samples", str(options.busy), "--interval", "0.5ms", "--engine", options.engine,
           "--after", "ringside-demo: ready"]
    base = machine.single_step_base() if options.single_step else machine.BASE
    qemu = [*base, "-smp", "1", "-m", "256", "-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
            "-kernel", str(options.kernel), "-append", "workload=lines seconds=0"]
    return launched.record(options.ringside, how, qemu, folder, deadline)


def read(options, recording, deadline, function):
    content = json.loads(launched.read_back(options.ringside, deadline, "annotate", function, "-i", str(recording),
                                            "--format", "json", "--source", str(options.source.parent)))
    if len(content["functions"]) != 1:
        raise ValueError(f"{len(content['functions'])} functions are shown for {function}")
    return content["functions"][0]


def check_shares(function, truth, points):
    failures = []
    for line, expected in truth.items():
        got = sum(row["percent"] for row in function["lines"] if row["line"] == line)
        print(f"line {line}: expected {expected} %, got {got:.2f} %")
        if abs(got - expected) > points:
            failures.append(f"line {line}: {got:.2f} % in place of {expected} %")
    return failures


def check_sums(function, report):
    """The samples of all lines, of all instructions and of report's row are the same."""
    rows = [row for row in report["tables"][0]["rows"] if row["symbol"] == function["name"]]
    sums = {"report": sum(row["self"] for row in rows),
            "lines": sum(row["weight"] for row in function["lines"]),
            "instructions": sum(row["weight"] for row in function["instructions"]) + function["outside"]["weight"]}
    return [f"{where} has {found} of {function['weight']}" for where, found in sums.items() if found != function["weight"]]


def check_inlined(whole, part, lines):
    """The inlined function has the samples of its line, and of no other."""
    expected = sum(row["weight"] for row in whole["lines"] if row["line"] in lines)
    shown = {row["line"] for row in part["lines"] if row["weight"]}
    failures = [] if part["weight"] == expected else [f"{INLINED} has {part['weight']} in place of {expected}"]
    return failures + ([] if shown <= lines else [f"{INLINED} has samples of the lines {shown}"])


def check_instructions(function):
    """A loop is what a jump leads back over: all its instructions run equally often, and each takes some time."""
    failures = []
    for jump in function["instructions"]:
        target = jump.get("target")
        if not target or not target["inside"] or int(target["address"], 16) > int(jump["address"], 16):
            continue
        loop = [row for row in function["instructions"]
                if int(target["address"], 16) <= int(row["address"], 16) <= int(jump["address"], 16)]
        bare = [row["text"] for row in loop if not row["weight"]]
        print(f"loop at {target['address']}: {len(loop)} instructions, {len(bare)} without samples")
        if bare:
            failures.append(f"no samples at {bare}")
    return failures


def run(options, folder, deadline):
    recording = record(options, folder, deadline)
    source = options.source.read_text().splitlines()
    truth = {number: int(found.group(1)) for number, line in enumerate(source, 1) if (found := SHARE.search(line))}
    function = read(options, recording, deadline, FUNCTION)
    report = json.loads(launched.read_back(options.ringside, deadline, "report", "-i", str(recording), "--format", "json"))
    texts = {row["line"]: row["text"] for row in function["lines"]}
    inlined = {number for number, line in enumerate(source, 1) if line.endswith("// 20 %")}
    shares = check_shares(function, truth, options.points)
    failures = check_sums(function, report)
    failures += [f"line {line} is shown as {texts.get(line)}" for line in truth if texts.get(line) != source[line - 1].strip()]
    failures += check_inlined(function, read(options, recording, deadline, INLINED), inlined)
    if options.single_step:
        failures += check_instructions(function)
    found = findings.Findings(options.ringside, deadline)
    found.add(*failures)
    found.add_shares(shares, recording)
    return found.verdict()


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--source", required=True, type=pathlib.Path, help="of the workload")
    parser.add_argument("--engine", required=True)
    parser.add_argument("--single-step", action="store_true", help="one instruction a translated block")
    parser.add_argument("--busy", type=int, default=6000, help="samples wanted (default 6000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    limits.add_option(parser)
    parser.add_argument("--tries", type=int, default=1, help="recordings at most, where those before say that they are bent")
    return parser.parse_args()


def main():
    return launched.truthful("ringside-annotate-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
