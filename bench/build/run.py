#!/usr/bin/env python3
"""Measures where the processor time of a fresh build goes: script/bench build [OPTION …].

Each command of the build's compile_commands.json is run again as it is, without a compiler cache, and its output is thrown
away. The tables:

  folders   processor time of each folder's files; with --vs DIR those of another build as well, in turns
  flags     processor time of a sample of files with other flags, and of reading them alone
  headers   what clang takes for each header of that sample: alone, and with what it includes

Processor seconds (user and system) of whole compilers. Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Unit:
    """A file that the build compiles, and how."""

    def __init__(self, entry):
        self.folder = entry["directory"]
        self.file = pathlib.Path(entry["file"])
        words = shlex.split(entry["command"])
        first = next(at for at, word in enumerate(words) if word.endswith(("g++", "clang++", "c++", "gcc", "clang", "cc")))
        self.words = words[first:]
        output = self.words.index("-o")
        self.output = self.words[output + 1]
        del self.words[output:output + 2]

    @property
    def part(self):
        """src/unwind, plugin, tests, …: of a file that the build has made, the folder that it was made for."""
        words = pathlib.PurePath(self.output).parts
        return "/".join(words[:words.index("CMakeFiles")][:2]) or "."

    def command(self, *more, compiler=None, output="/dev/null"):
        return [compiler or self.words[0], *self.words[1:], *more, "-o", output]


def processor_seconds(command, folder):
    """User and system time of a command and all that it starts."""
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen(command, cwd=folder, stdin=nothing, stdout=nothing, stderr=subprocess.PIPE,
                                   env={**os.environ, "CCACHE_DISABLE": "1"})
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.stderr.close()
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"bench/build: {shlex.join(command)} ends with {process.returncode}: {said.decode(errors='replace')[-400:]}")
    return used.ru_utime + used.ru_stime


def each(options, units, measure):
    """The results of measure(unit), as many at once as the build would run; in the order of the units."""
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = []
        for number, result in enumerate(pool.map(measure, units), 1):
            results.append(result)
            if sys.stderr.isatty():
                print(f"\r{number} of {len(units)} files ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    return results


def read_only(unit):
    return unit.command("-fsyntax-only", "-w", "-O0")


def print_folders(options, builds):
    """A column for each build. The builds' files are compiled in turns, so that a host that slows down slows down both."""
    turns = sorted(((at / len(units), number, unit) for number, units in enumerate(builds) for at, unit in enumerate(units)),
                   key=lambda turn: turn[:2])
    times = each(options, [unit for *_, unit in turns], lambda unit: processor_seconds(unit.command(), unit.folder))
    rows = collections.defaultdict(lambda: [[0, 0.0] for _ in builds])
    for (_, number, unit), seconds in zip(turns, times):
        for key in (unit.part, "all"):
            rows[key][number][0] += 1
            rows[key][number][1] += seconds
    print("| folder |" + " compiled | processor seconds |" * len(builds) + "\n" + "|---" * (1 + 2 * len(builds)) + "|")
    for name, columns in sorted(rows.items(), key=lambda row: -row[1][0][1]):
        print(f"| {name} |" + "".join(f" {count} | {seconds:.0f} |" for count, seconds in columns))
    if len(builds) == 2:
        print(f"\nsecond / first: {rows['all'][1][1] / rows['all'][0][1]:.2f}")


def print_flags(options, units):
    def optimised(level):
        return lambda unit: unit.command(level)

    variants = {"as it is": lambda unit: unit.command(), "-O1": optimised("-O1"), "-O0": optimised("-O0"),
                "-g0": lambda unit: unit.command("-g0"), "-fsyntax-only -O0": read_only}
    # Side by side: each file with all flags before the next one.
    times = each(options, units, lambda unit: [processor_seconds(make(unit), unit.folder) for make in variants.values()])
    first = sum(row[0] for row in times)
    print(f"\n| flags, of {len(units)} files | processor seconds | ratio |\n|---|---|---|")
    for column, name in enumerate(variants):
        total = sum(row[column] for row in times)
        print(f"| {name} | {total:.1f} | {total / first:.2f} |")


def header_times(unit):
    """By header: (own seconds, with what it includes), as clang traces them."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder, "out.o")
        processor_seconds(unit.command("-O0", "-w", "-ftime-trace", "-ftime-trace-granularity=0", compiler="clang++",
                                       output=str(output)), unit.folder)
        events = json.loads(output.with_suffix(".json").read_text())["traceEvents"]
    sources = [(event["ts"], -event["dur"], event["args"]["detail"]) for event in events if event.get("name") == "Source"]
    found = collections.defaultdict(lambda: [0.0, 0.0])
    open_ = []
    for start, minus, name in sorted(sources):
        while open_ and open_[-1][0] <= start:
            open_.pop()
        seconds = -minus / 1e6
        found[name][0] += seconds
        found[name][1] += seconds
        if open_:
            found[open_[-1][1]][0] -= seconds
        open_.append((start - minus, name))
    return found


def print_headers(options, units):
    own, whole, files = collections.Counter(), collections.Counter(), collections.Counter()
    for found in each(options, units, header_times):
        for name, (alone, together) in found.items():
            path = pathlib.Path(name).resolve()
            name = str(path.relative_to(ROOT)) if ROOT in path.parents else f"<{path.name}>"
            own[name] += alone
            whole[name] += together
            files[name] += 1
    print(f"\n| header, in {len(units)} files | files | seconds alone | with what it includes |\n|---|---|---|---|")
    for name, seconds in whole.most_common(options.rows):
        print(f"| {name} | {files[name]} | {own[name]:.1f} | {seconds:.1f} |")


def units_of(build):
    commands = build / "compile_commands.json"
    if not commands.is_file():
        sys.exit(f"bench/build: no {commands}: configure that build first, for instance by script/build release")
    return [Unit(entry) for entry in json.loads(commands.read_text()) if entry["file"].endswith((".cpp", ".cxx"))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=["folders", "flags", "headers"], help="folders, flags, headers")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="a configured build")
    parser.add_argument("--vs", type=pathlib.Path, metavar="DIR", help="another one, for the table of folders")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compilers at once")
    parser.add_argument("--sample", type=int, default=48, help="files for flags and headers, the same each time")
    parser.add_argument("--rows", type=int, default=30, help="headers that are listed")
    options = parser.parse_args()
    if unknown := set(options.tables) - {"folders", "flags", "headers"}:
        parser.error(f"there is no table {', '.join(sorted(unknown))}: folders, flags, headers")
    units = units_of(options.build)
    host = sorted((unit for unit in units if not unit.part.startswith("demo")), key=lambda unit: unit.file)
    sample = random.Random(1).sample(host, min(options.sample, len(host)))
    if "folders" in options.tables:
        print_folders(options, [units, units_of(options.vs)] if options.vs else [units])
    if "flags" in options.tables:
        print_flags(options, sample)
    if "headers" in options.tables:
        print_headers(options, sample)


if __name__ == "__main__":
    main()
