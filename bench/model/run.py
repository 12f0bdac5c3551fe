#!/usr/bin/env python3
"""Measures what it takes to read a large profile: from a recording or folded text to a report or a flame graph.

Makes a recording of 600,000 distinct stacks and one of 10,000,000 samples of 200,000 stacks. Each command is a process
from its start to its end, with its input in the page cache; all take turns. Prints medians of the time from start to end,
of processor time (user and system) and of peak resident memory, which has the input's pages too. flamegraph.pl takes part
where it is installed (Debian: libdevel-nytprof-perl), another build of ringside with --baseline: it reads the same samples
from recordings that its own made_recording has written, where it has one. --out FILE.json writes the numbers.
Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAMEGRAPH_PL = [shutil.which("flamegraph.pl"), "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"]
MIB = 2**20


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="a build with RINGSIDE_BENCH (default build/release)")
    parser.add_argument("--baseline", type=pathlib.Path, help="another build's folder, or its ringside, measured beside this one")
    parser.add_argument("--stacks", type=int, default=600_000, help="distinct stacks of the first recording")
    parser.add_argument("--samples", type=int, default=10_000_000, help="of the second, which has a third of the stacks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the inputs; those that are there are used")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if options.baseline and not options.baseline.is_dir():
        options.baseline = options.baseline.parent
    return options


def run(command):
    """(seconds from start to end, seconds of processor time, bytes of peak resident memory) of a process."""
    started = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=errors)
    return time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def make_recordings(options, build, folder, suffix):
    """The paths of the recording of many stacks, and of the one of many samples."""
    maker = build / "bench" / "model" / "made_recording"
    stacks, samples = (folder / (name + suffix) for name in ("stacks.data", "samples.data"))
    if not stacks.exists():
        subprocess.run([maker, "--stacks", str(options.stacks), stacks], check=True)
    if not samples.exists():
        subprocess.run([maker, "--stacks", str(options.stacks // 3), "--samples", str(options.samples), samples], check=True)
    return stacks, samples


def make_inputs(options, folder):
    """({"ringside": recordings, "baseline": those of that build}, the path of folded text)."""
    recordings = {"ringside": make_recordings(options, options.build, folder, "")}
    if options.baseline:
        own = (options.baseline / "bench" / "model" / "made_recording").exists()
        recordings["baseline"] = make_recordings(options, options.baseline, folder, ".baseline") if own \
            else recordings["ringside"]
    folded = folder / "stacks.folded"
    if not folded.exists():
        subprocess.run([options.build / "ringside", "export", "-i", recordings["ringside"][0], "-o", folded], check=True)
    return recordings, folded


def cases(options, inputs, output):
    """[(what, who, command, bytes of text that are read, else None)]."""
    recordings, folded = inputs
    programs = {"ringside": options.build / "ringside"}
    if options.baseline:
        programs["baseline"] = options.baseline.resolve() / "ringside"
    found = []
    for who, program in programs.items():
        stacks, samples = recordings[who]
        found.append(("recording to SVG", who, [program, "flamegraph", "-i", stacks, "-o", output], None))
        found.append(("recording to folded text", who, [program, "export", "-i", stacks, "-o", output.with_suffix(".folded")], None))
        found.append(("report of many samples", who, [program, "report", "-i", samples], None))
    size = folded.stat().st_size
    found.append(("folded text to SVG", "ringside", [programs["ringside"], "flamegraph", "-i", folded, "-o", output], size))
    perl = next((path for path in FLAMEGRAPH_PL if path and os.access(path, os.X_OK)), None)
    if perl:
        found.append(("folded text to SVG", "flamegraph.pl", [perl, folded], size))
    else:
        print("model: no flamegraph.pl; 'apt-get install libdevel-nytprof-perl' installs one", file=sys.stderr)
    return found


def measure(options, inputs, folder):
    all_cases = cases(options, inputs, folder / "output.svg")
    numbers = {}
    for turn in range(options.rounds):
        print(f"model: round {turn + 1} of {options.rounds}", file=sys.stderr)
        for what, who, command, size in all_cases:
            if who == "flamegraph.pl" and turn > 0:
                continue  # it takes longer than all others together
            elapsed, seconds, memory = run([str(word) for word in command])
            entry = numbers.setdefault((what, who), {"seconds": [], "cpu_seconds": [], "peak_bytes": [], "text_bytes": size})
            entry["seconds"].append(elapsed)
            entry["cpu_seconds"].append(seconds)
            entry["peak_bytes"].append(memory)
    return numbers


def table(numbers):
    lines = [f"{'':26}{'':16}{'time':>10}{'least':>10}{'processor time':>16}{'peak memory':>14}{'text':>12}"]
    for (what, who), entry in numbers.items():
        median = {name: statistics.median(entry[name]) for name in ("seconds", "cpu_seconds", "peak_bytes")}
        speed = f"{entry['text_bytes'] / 1e6 / median['cpu_seconds']:9.0f} MB/s" if entry["text_bytes"] else ""
        lines.append(f"{what:26}{who:16}{median['seconds']:8.2f} s{min(entry['seconds']):8.2f} s{median['cpu_seconds']:14.2f} s"
                     f"{median['peak_bytes'] / MIB:10.0f} MiB{speed:>14}")
    return lines


def main():
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="ringside-model-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        numbers = measure(options, make_inputs(options, folder), pathlib.Path(temporary))
    print("\n".join(table(numbers)))
    if options.out:
        options.out.write_text(json.dumps([{"what": what, "who": who, **entry}
                                           for (what, who), entry in numbers.items()], indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"model: {error}: {(error.stderr or b'').decode(errors='replace')[-500:]}")
