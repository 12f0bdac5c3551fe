#!/usr/bin/env python3
"""The bundled kernel samples itself into rings, by its timer or by NMIs; the profile is compared with the truth.

    rings_test.py --ringside PROGRAM --kernel ELF --truth FILE --workload NAME --by timer|nmi --way live|drained --cpus N

live: ringside reads the rings out of the guest's memory. drained: a daemon of the kernel's writes them to a serial port,
and ringside imports what came out there. disk: the daemon writes them to a disk without a file system. --cpus counts those
that work; NMIs come from one more. No recording is made again: the host's load does not bend them. A vCPU that comes back from
a wait takes a pending NMI before any interrupt, and the timer that samples is the only one.

Exit status: 0 the profile tells the truth, 1 it does not or something failed, 2 wrong usage.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

from ringside_tests.harness import folded, launched, limits, machine
from ringside_tests.judges import legal_stacks, report_totals, truth

USER = re.compile(r"<unknown:0x[0-7]?[0-9a-f]{1,11}>")
RING_WORDS = {"live": 1 << 16, "drained": 1 << 20, "disk": 1 << 20}
DISK_BYTES = 64 << 20  # a serial port may be slower than the samples


def qemu(options, append, *more):
    cpus = options.cpus + (options.by == "nmi")
    return [*machine.BASE, "-smp", str(cpus), "-m", "256", "-serial", "stdio", *more,
            "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-kernel", str(options.kernel), "-append",
            f"workload={options.workload} sampling={options.by} ring={options.ring} {append}"]


def record_live(options, folder, deadline):
    how = ["--engine", "ring", "--samples", str(options.busy + options.busy // 50), "--after", "ringside-demo: ready"]
    return launched.record(options.ringside, how, qemu(options, "seconds=0"), folder, deadline)


def record_drained(options, folder, deadline):
    """The kernel works until it has its samples, and some more for the daemon; ringside reads the port's or the disk's file
    afterwards."""
    stream, recording, log = folder / "stream", folder / "ringside.data", folder / "log"
    samples = options.busy * (3 if options.by == "timer" else 2)  # a daemon that is sampled, too, has some
    to, device = "com2", ["-serial", f"file:{stream}"]
    if options.way == "disk":
        to, device = "disk", ["-drive", f"file={stream},format=raw,if=virtio"]
        with open(stream, "wb") as disk:
            disk.truncate(DISK_BYTES)
    with open(log, "wb") as output:
        process = subprocess.Popen(qemu(options, f"seconds=0 samples={samples} drain={to}", *device), cwd=folder,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise launched.TookTooLong("the guest took too long") from error
        finally:
            machine.end_process(process)
    said = re.search(r"sampled drained=(\d+) lost=(\d+)", log.read_text())
    if not said:
        raise launched.Failed(f"the guest does not say what it has drained: {log.read_text()[-500:]}")
    if options.way == "drained" and int(said[1]) != stream.stat().st_size:
        raise launched.Failed(f"the guest has drained {said[1]} bytes, and {stream.stat().st_size} came")
    source = ["--disk", str(stream)] if options.way == "disk" else [str(stream)]
    launched.read_back(options.ringside, deadline, "import", *source, "--kernel", str(options.kernel), "-o", str(recording))
    lost = report_totals.statistics(header(options, recording, deadline)).get("lost", 0)
    if lost != int(said[2]):
        raise launched.Failed(f"the guest has lost {said[2]} records, and the recording says {lost}")
    return recording


def header(options, recording, deadline):
    return launched.read_back(options.ringside, deadline, "report", "--header", "--stdio", *report_totals.OPTIONS, "-i",
                              str(recording))


def profile_of(options, recording, deadline, *more):
    """Folded stacks without the daemon's; user code is one frame."""
    lines = []
    stacks = folded.parse(launched.folded_text(options.ringside, recording, deadline, *more))
    for stack, count in folded.without(legal_stacks.DRAIN_DAEMON, stacks):
        frames = ["[user]" if USER.fullmatch(frame) else frame for frame in stack]
        whole = [frame for n, frame in enumerate(frames) if frame != "[user]" or frames[n - 1:n] != ["[user]"]]
        lines.append(f"{';'.join(whole)} {count}\n")
    return "".join(lines)


def check_unseen(options, stacks):
    """The timer's interrupt waits where interrupts are off: that function has no samples of its own, the one that lets
    them in has those of its time, of which several may be one, and all others are where they belong."""
    total = sum(count for _, count in stacks)
    own = {name: truth.percent(sum(count for stack, count in stacks if stack[-1] == name), total)
           for name in (options.unseen, options.instead)}
    others = [name for name in truth.legal_stacks.parse(options.truth.read_text()).shares if name != options.unseen]
    seen = truth.percent(sum(count for stack, count in stacks if stack[-1] in others), total)
    print(f"{total} samples: {own}, {seen:.2f} % in {others}")
    failures = []
    if total < options.busy:
        failures.append(f"{total} samples, {options.busy} wanted")
    if own[options.unseen] > 0.5:
        failures.append(f"{options.unseen} has {own[options.unseen]:.2f} % of the samples")
    if own[options.instead] < 2:
        failures.append(f"{options.instead} has {own[options.instead]:.2f} % of the samples only")
    if seen < 50:
        failures.append(f"{others} have {seen:.2f} % of the samples only")
    return failures


def run(options, folder, deadline):
    recording = (record_live if options.way == "live" else record_drained)(options, folder, deadline)
    text = header(options, recording, deadline)
    expected = options.truth.read_text()
    stacks = folded.parse(launched.folded_text(options.ringside, recording, deadline))
    if options.unseen:
        return "; ".join(check_unseen(options, stacks) + report_totals.check(text, stacks))
    status = truth.compare(expected, profile_of(options, recording, deadline), options.busy, options.points)
    status = truth.compare_vcpus(expected, profile_of(options, recording, deadline, "--per-cpu"), options.cpus,
                                 options.points) or status
    failures = report_totals.check(text, stacks) + (["the recording is wrong"] if status else [])
    return "; ".join(failures)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--by", required=True, choices=["timer", "nmi"])
    parser.add_argument("--way", required=True, choices=["live", "drained", "disk"])
    parser.add_argument("--cpus", type=int, default=1, help="that work")
    parser.add_argument("--busy", type=int, default=10000, help="busy samples wanted (default 10000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    parser.add_argument("--ring", type=int, help="words of each ring")
    parser.add_argument("--unseen", metavar="FUNCTION", help="has no sample, for it runs with interrupts off …")
    parser.add_argument("--instead", metavar="FUNCTION", help="… and this one lets them in")
    limits.add_option(parser)
    parser.set_defaults(tries=1)
    options = parser.parse_args()
    options.ring = options.ring or RING_WORDS[options.way]
    return options


def main():
    return launched.truthful("ringside-rings-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
