#!/usr/bin/env python3
"""The bundled kernel traces its allocations; what `ringside mem report` makes of the trace is what the kernel has counted.

    memory_test.py --ringside PROGRAM --kernel ELF [WAY …]

memtrace: as Maestro's kernel does, on COM2. drained: by ringside's guest library, on COM2. live: ringside reads the rings
out of the guest's memory. The kernel counts by the function that allocates, as it allocates, apart from any trace.

Exit status: 0 all are equal, 1 not.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import launched, limits, machine

ROUNDS = 400
NUMBER = re.compile(r"(\w+)=(\d+)")


def qemu(options, trace, *more):
    return [*machine.BASE, "-smp", "1", "-m", "256", "-serial", "stdio", *more,
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", options.kernel, "-append",
            f"workload=allocations seconds=0 rounds={ROUNDS} ring=1048576 trace={trace}"]


def run_to_the_end(command, log, folder):
    """The guest prints to `log`. Other messages may begin in the middle of a line of it: they go elsewhere."""
    with open(log, "wb") as output, open(folder / "messages", "wb") as messages:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=messages,
                                   env=dict(machine.private_environment(folder)))
        try:
            process.wait(limits.STEP)
        except subprocess.TimeoutExpired as error:
            raise launched.TookTooLong("the guest took too long") from error
        finally:
            machine.end_process(process)
    return log.read_text(errors="replace")


def trace_of(way, options, folder):
    """Returns the text of the guest's console, and the input of `mem report`."""
    log, stream, recording = folder / "log", folder / "stream", folder / "ringside.data"
    if way == "live":
        command = [options.ringside, "record", "--engine", "ring", "--kernel", options.kernel, "-o", str(recording),
                   "--until", "memory events=", "--then-quit", "--", *qemu(options, "ringside linger=1")]
        return run_to_the_end(command, log, folder), [str(recording)]
    trace, drain = ("memtrace", "") if way == "memtrace" else ("ringside", " drain=com2")
    text = run_to_the_end(qemu(options, trace + drain, "-serial", f"file:{stream}"), log, folder)
    return text, [str(stream), "--kernel", options.kernel]


def counted(text):
    """By function, and of all, as the kernel says it."""
    sites, all_of_it = {}, {}
    for line in text.splitlines():
        if not line.startswith("ringside-demo: memory "):
            continue
        numbers = {name: int(value) for name, value in NUMBER.findall(line)}
        site = re.search(r"site=(\w+) allocator=(\w+)", line)
        if site:
            sites[site[2], site[1]] = numbers
        else:
            all_of_it = numbers
    if not sites or not all_of_it:
        raise launched.Failed(f"the guest says nothing of its memory: {text[-600:]}")
    return sites, all_of_it


def as_memtrace_has_it(site):
    """It logs where a block was before it moved: there it stays, and the free of where it is now is one of no block."""
    if not site["moves"]:
        return site
    if site["moves"] != site["allocations"]:
        raise launched.Failed("some blocks of a function have moved and some have not")
    size = site["allocated"] // site["allocations"]
    return {**site, "frees": 0, "freed": 0, "lifetimes": 0, "live": site["allocations"], "live_size": size * site["allocations"]}


def check(way, found, sites, total):
    """The differences, a sentence each."""
    wrong = []

    def expect(what, got, wanted):
        if got != wanted:
            wrong.append(f"{what}: {got}, and the kernel has counted {wanted}")

    rows = {(allocator["name"], row["function"]): row for allocator in found for row in allocator["rows"]}
    for key, truth in sites.items():
        truth = as_memtrace_has_it(truth) if way == "memtrace" else truth
        row = rows.pop(key, None)
        if row is None:
            wrong.append(f"{key[1]} of {key[0]} is missing")
            continue
        expect(f"{key[1]}: live blocks", row["live"]["count"], truth["live"])
        expect(f"{key[1]}: live size", row["live"]["size"], truth["live_size"])
        expect(f"{key[1]}: allocated blocks", row["allocated"]["count"], truth["allocations"])
        expect(f"{key[1]}: allocated size", row["allocated"]["size"], truth["allocated"])
        expect(f"{key[1]}: freed blocks", row["freed"]["count"], truth["frees"])
        expect(f"{key[1]}: freed size", row["freed"]["size"], truth["freed"])
        expect(f"{key[1]}: lifetimes", round(row["lifetime"]["mean"] * row["lifetime"]["count"]) if truth["frees"] else 0,
               truth["lifetimes"])
    heap = rows.pop(("buddy", "grow_heap"))["live"]
    expect("pages of the heap", (heap["count"], heap["size"]), (total["block_pages"],) * 2)
    expect("functions that do not allocate", sorted(rows), [])
    events = {name: sum(allocator["events"][name] for allocator in found)
              for name in ("alloc", "realloc", "free", "unknown_frees", "double_frees")}
    moved_and_freed = sum(site["frees"] for site in sites.values() if site["moves"]) if way == "memtrace" else 0
    expect("events", events["alloc"] + events["realloc"] + events["free"], total["events"])
    expect("double frees", events["double_frees"], total["double_frees"])
    expect("unknown frees", events["unknown_frees"], total["unknown_frees"] + moved_and_freed)
    for allocator in found:
        peak = total["most_pages" if allocator["name"] == "buddy" else "most_bytes"]
        if way != "memtrace" or allocator["name"] == "buddy":
            expect(f"peak of {allocator['name']}", allocator["peak"]["size"], peak)
        expect(f"unit of {allocator['name']}", allocator["unit"], "pages" if allocator["name"] == "buddy" else "bytes")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("ways", nargs="*", metavar="WAY", default=["memtrace", "drained", "live"])
    options = parser.parse_args()
    machine.exit_on_signals()
    failed = 0
    for way in options.ways:
        with tempfile.TemporaryDirectory(prefix="ringside-memory-") as name:
            folder, began = pathlib.Path(name), time.monotonic()
            try:
                text, inputs = trace_of(way, options, folder)
                sites, total = counted(text)
                report = launched.read_back(options.ringside, limits.step_end(), "mem", "report", "--format", "json",
                                            "--in-events", *inputs)
                wrong = check(way, json.loads(report)["allocators"], sites, total)
            except (launched.Failed, OSError, KeyError, ValueError) as error:
                wrong = [f"{type(error).__name__}: {error}"]
            print(f"{way:<9} {time.monotonic() - began:5.1f} s  {total['events'] if not wrong else 'FAILED'}", flush=True)
            for line in wrong:
                print(f"  {line}")
            if wrong:
                print((folder / "messages").read_text(errors="replace")[-600:])
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
