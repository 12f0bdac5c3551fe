#!/usr/bin/env python3
"""Compares `ringside symbolize` with llvm-symbolizer, addr2line and eu-addr2line on the same addresses of one kernel.

All run in turns, so that the machine's drift cancels, each from its start to its end with the file in the page cache. Prints
times, memory, and in what the answers differ; --out FILE.json writes the numbers. Exit status: 0 done, 1 failed, 2 wrong
usage, 3 no network.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

import answers
import measure
from ringside_tests.harness import linux_guest

ROOT = pathlib.Path(__file__).resolve().parents[2]
READERS = {"ringside": answers.parse_blocks, "llvm-symbolizer": answers.parse_blocks,
           "addr2line": answers.parse_addr2line, "eu-addr2line": answers.parse_addr2line}


def commands(options):
    file = str(options.vmlinux)
    return {"ringside": [options.ringside, "symbolize", "--demangle", "none", "-e", file],
            "llvm-symbolizer": ["llvm-symbolizer", "--no-demangle", f"--obj={file}"],
            "addr2line": ["addr2line", "-a", "-i", "-f", "-e", file],
            "eu-addr2line": ["eu-addr2line", "-a", "-i", "-f", "-e", file]}


def code_addresses(nm_output, count, seed):
    """Distinct addresses anywhere in functions; each function is as likely as any other."""
    functions = []
    for line in nm_output.splitlines():
        fields = line.split()
        if len(fields) == 4 and fields[2] in "tTwW" and int(fields[1], 16) > 0:
            functions.append((int(fields[0], 16), int(fields[1], 16)))
    chance = random.Random(seed)
    found = set()
    while len(found) < count:
        start, size = chance.choice(functions)
        found.add(start + chance.randrange(size))
    found = sorted(found)
    chance.shuffle(found)
    return [f"0x{address:x}" for address in found]


def measure_all(options, addresses, rounds):
    """{tool: {seconds, cpu_seconds, rounds, peak_rss_mb, private_mb}} and {tool: output}."""
    tools = commands(options)
    seconds = {tool: [] for tool in tools}
    cpu = {tool: [] for tool in tools}
    outputs, numbers = {}, {}
    for turn in range(rounds):
        for tool, command in tools.items():
            if tool == "eu-addr2line" and (turn > 0 or len(addresses) > options.slow_limit):
                continue  # it takes longer than all others together
            print(f"symbols: {len(addresses)} addresses, round {turn + 1} of {rounds}: {tool}", file=sys.stderr)
            run = measure.run(command, addresses)
            seconds[tool].append(run.seconds)
            cpu[tool].append(run.cpu_seconds)
            outputs[tool] = run.output
    for tool in outputs:
        watched = measure.run(tools[tool], addresses, watch_memory=True)
        numbers[tool] = {"seconds": statistics.median(seconds[tool]), "cpu_seconds": statistics.median(cpu[tool]),
                         "rounds": len(seconds[tool]), "peak_rss_mb": round(watched.peak_rss_mb),
                         "private_mb": round(watched.private_mb)}
    return numbers, outputs


def print_times(count, numbers):
    own = numbers["ringside"]["seconds"]
    print(f"\n| {count} addresses | median | against ringside | processor time | private memory | peak resident |\n"
          "|---|---|---|---|---|---|")
    for tool, values in numbers.items():
        print(f"| {tool} | {values['seconds'] * 1000:.0f} ms | {values['seconds'] / own:.2f} × | "
              f"{values['cpu_seconds'] * 1000:.0f} ms | "
              f"{values['private_mb']} MB | {values['peak_rss_mb']} MB |")


def print_differences(addresses, outputs, symbols):
    parsed = {tool: READERS[tool](output) for tool, output in outputs.items()}
    counts = {}
    for tool, theirs in parsed.items():
        if tool == "ringside":
            continue
        if len(theirs) != len(addresses) or len(parsed["ringside"]) != len(addresses):
            raise ValueError(f"{tool} gave {len(theirs)} answers to {len(addresses)} addresses")
        found = answers.classes(parsed["ringside"], theirs, symbols, columns=tool == "llvm-symbolizer")
        same = len(found.pop(None, []))
        counts[tool] = {"same": same, **{name: len(indices) for name, indices in found.items()}}
        print(f"\nringside and {tool}: {same} of {len(addresses)} answers are the same")
        for name, indices in sorted(found.items(), key=lambda item: -len(item[1])):
            print(f"  {len(indices)} × {name}, such as {addresses[indices[0]]}")
            print(f"      ringside: {[tuple(f) for f in parsed['ringside'][indices[0]]]}")
            print(f"      {tool}: {[tuple(f) for f in theirs[indices[0]]]}")
    return counts


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--ringside", default=str(ROOT / "build" / "release" / "ringside"))
    parser.add_argument("--vmlinux", type=pathlib.Path, help="another file than Debian's cloud kernel")
    parser.add_argument("--counts", default="12,1236,10000", help="how many addresses; 12 stand for one stack")
    parser.add_argument("--slow-limit", type=int, default=2000, help="addresses that eu-addr2line is asked at most")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.access(options.ringside, os.X_OK):
        parser.error(f"no program {options.ringside}: build ringside first")
    return options


def warm(path):
    """Into the page cache. In pieces, because a process inherits the peak memory of the one that starts it."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def run(options):
    if options.vmlinux is None:
        options.vmlinux = pathlib.Path(linux_guest.fetch()["VMLINUX"])
    warm(options.vmlinux)
    nm = subprocess.run(["nm", "-S", "--defined-only", options.vmlinux], stdout=subprocess.PIPE, text=True,
                        check=True).stdout
    symbols = answers.Symbols(nm)
    document = {"file": str(options.vmlinux), "rounds": options.rounds, "runs": []}
    for count in map(int, options.counts.split(",")):
        addresses = code_addresses(nm, count, options.seed)
        numbers, outputs = measure_all(options, addresses, options.rounds)
        print_times(count, numbers)
        differences = print_differences(addresses, outputs, symbols)
        document["runs"].append({"addresses": count, "tools": numbers, "differences": differences})
    if options.out:
        options.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")


def main():
    options = parse_options()
    try:
        run(options)
    except linux_guest.NoNetwork as error:
        print(f"symbols: skipped: {error}", file=sys.stderr)
        return linux_guest.NO_NETWORK
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"symbols: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
