#!/usr/bin/env python3
"""Measures how long `ringside` needs for a large trace of allocations (Maestro's memtrace), and how much memory.

Prints time and peak resident memory of `import`, of `mem report` on what it made, and of `mem flamegraph` on the trace.
Peak resident memory has the pages of mapped files, too. Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALLOC, FREE = 0, 2
CODE = 0xffffffff80100000
BATCH = 50_000  # events


def write_trace(path, size, seed):
    """`size` bytes of events, of which each eighth block is never freed. Returns their number."""
    chance = random.Random(seed)
    stacks = [struct.pack("<B14Q", 14, *(CODE + 16 * chance.randrange(4096) for _ in range(14))) for _ in range(2000)]
    head = bytes([6]) + b"malloc"
    events, pointer, live = 0, 0x10000, []
    with open(path, "wb") as trace:
        while trace.tell() < size:
            batch = []
            for _ in range(BATCH):
                if live and chance.random() < 0.47:
                    freed = live.pop(chance.randrange(len(live)))
                    batch.append(head + struct.pack("<BQQ", FREE, freed, 0) + chance.choice(stacks))
                    continue
                pointer += 64
                batch.append(head + struct.pack("<BQQ", ALLOC, pointer, chance.randrange(1, 4096)) + chance.choice(stacks))
                if chance.random() < 7 / 8:
                    live.append(pointer)
            events += BATCH
            trace.write(b"".join(batch))
    return events


def measured(command):
    """(seconds from start to end, bytes of peak resident memory)."""
    started = time.monotonic()
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return time.monotonic() - started, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release")
    parser.add_argument("--bytes", type=float, default=1e9, help="of the trace (default 1e9)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    ringside = options.build / "ringside"
    with tempfile.TemporaryDirectory(prefix="ringside-memtrace-") as name:
        folder = pathlib.Path(name)
        trace, recording = folder / "memtrace.bin", folder / "memory.data"
        events = write_trace(trace, options.bytes, options.seed)
        print(f"a trace of {trace.stat().st_size / 1e6:.0f} MB, {events} events")
        try:
            for what, command in (("import", ["import", trace, "--input-format", "maestro-memtrace", "-o", recording]),
                                  ("mem report", ["mem", "report", "--rows", "1", recording]),
                                  ("mem flamegraph --alloc", ["mem", "flamegraph", "--alloc", trace, "-o", folder])):
                seconds, peak = measured([ringside, *command])
                print(f"  {what:<23} {seconds:5.1f} s, peak {peak / 1e6:.0f} MB")
        except subprocess.CalledProcessError as error:
            print(f"FAILED: {error}", file=sys.stderr)
            return 1
        print(f"  the recording has {recording.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
