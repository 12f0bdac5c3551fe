#!/usr/bin/env python3
"""Measures the formats of `export`: time, memory and speed of each on a large recording, and whether that is linear.

Makes a recording of 10,000,000 samples of 200,000 stacks and one of a tenth of that. Each export is a process from its start
to its end that writes a file; formats take turns. Prints medians of the time, megabytes written a second, the time of the
large one per time of the small one (10 is linear), and peak resident memory. --out FILE.json writes the numbers.
With --read it measures the formats that are read, as read.py does, and takes read.py's options (--read --help).
Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import read

ROOT = pathlib.Path(__file__).resolve().parents[2]
MB = 1e6
FORMATS = ("folded", "pprof", "speedscope", "callgrind", "firefox", "perf-data", "chrome-trace", "trace-dat", "asterinas-json",
           "perf-script", "json-lines")


def export(program, recording, name, output):
    """(seconds from start to end, bytes of peak resident memory, bytes written)."""
    started = time.monotonic()
    process = subprocess.Popen([program, "export", "-i", recording, "--format", name, "-o", output],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, ["export", "--format", name])
    size = output.stat().st_size
    output.unlink()
    return time.monotonic() - started, usage.ru_maxrss * 1024, size


def make_recordings(options, folder):
    maker = options.build / "bench" / "model" / "made_recording"
    made = []
    for part in (1, 10):
        path = folder / f"{options.samples // part}.data"
        if not path.exists():
            subprocess.run([maker, "--stacks", str(options.stacks // part), "--samples", str(options.samples // part), path],
                           check=True)
        made.append(path)
    return made


def measure(options, recordings, folder):
    numbers = {name: {"seconds": [], "small_seconds": [], "peak_bytes": [], "bytes": 0} for name in options.formats}
    for turn in range(options.rounds):
        for name in options.formats:
            print(f"formats: round {turn + 1} of {options.rounds}: {name}", file=sys.stderr)
            entry = numbers[name]
            seconds, memory, entry["bytes"] = export(options.build / "ringside", recordings[0], name, folder / "output")
            small, _, _ = export(options.build / "ringside", recordings[1], name, folder / "output")
            entry["seconds"].append(seconds)
            entry["small_seconds"].append(small)
            entry["peak_bytes"].append(memory)
    return numbers


def table(numbers):
    lines = [f"{'format':16}{'time':>10}{'written':>12}{'speed':>12}{'of a tenth':>12}{'peak memory':>14}"]
    for name, entry in numbers.items():
        seconds = statistics.median(entry["seconds"])
        lines.append(f"{name:16}{seconds:>8.1f} s{entry['bytes'] / MB:>9.0f} MB{entry['bytes'] / MB / seconds:>7.0f} MB/s"
                     f"{seconds / statistics.median(entry['small_seconds']):>12.1f}"
                     f"{max(entry['peak_bytes']) / MB:>11.0f} MB")
    return "\n".join(lines)


def main():
    if "--read" in sys.argv[1:]:
        return read.main([word for word in sys.argv[1:] if word != "--read"])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release",
                        help="a build with RINGSIDE_BENCH (default build/release)")
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--stacks", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--formats", type=lambda text: text.split(","), default=FORMATS, help="only these, with commas between")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the recordings; those that are there are used")
    parser.add_argument("--read", action="store_true", help="measure the formats that are read, by read.py")
    options = parser.parse_args()
    options.build = options.build.resolve()
    with tempfile.TemporaryDirectory(prefix="ringside-formats-") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        try:
            numbers = measure(options, make_recordings(options, folder), pathlib.Path(temporary))
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"formats: {error}", file=sys.stderr)
            return 1
    print(table(numbers))
    if options.out:
        options.out.write_text(json.dumps(numbers, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
