#!/usr/bin/env python3
"""One run of a guest, sampled by two of ringside's plugins at the same instructions: as ringside does it, and in Maestro's
raw layout. Both give the same stacks.

    maestro_test.py --ringside PROGRAM --plugin LIBRARY --kernel ELF [--workload NAME] [--samples 3000]
    maestro_test.py --ringside PROGRAM --plugin LIBRARY --linux i386

Frame for frame, of every sample of kernel code, but for what a walk along frame pointers cannot see:
  * the caller of a function that has no frame (yet, or any more) where it was sampled or interrupted,
  * code that was interrupted (where the entry code marks its frame, as Linux' does, all that is below it).
A stack of ours that ends early, as on another stack than the plugin alone copies, is the same up to there.
That a function has no frame there is proved by objdump's view of its instructions (frame_state.py), not by ringside.
Exit status: 0 they are the same, 1 not, 77 the Linux guest cannot be fetched.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import launched, limits, linux_guest, machine
from ringside_tests.judges.frame_state import FrameState

SKIPPED = 77
INTERVAL = 200_000  # instructions


def command(options, folder):
    serial = ["-serial", f"file:{folder}/serial.log"]
    if options.linux:
        paths = linux_guest.fetch(arch=options.linux)
        options.kernel = paths["VMLINUX"]
        return [*linux_guest.base(paths), *serial, "-m", "512", "-kernel", paths["VMLINUZ"], "-initrd", paths["INITRD"],
                "-append", linux_guest.append(paths, "mixed", kaslr=False)]
    return [*machine.BASE, *serial, "-m", "128", "-kernel", str(options.kernel),
            "-append", f"workload={options.workload} seconds=0"]


def count_samples(path):
    """The samples in raw data of Maestro's: a byte that says how many, then addresses of 8 bytes."""
    data, at, count = path.read_bytes() if path.exists() else b"", 0, 0
    while at < len(data):
        at += 1 + 8 * data[at]
        count += 1
    return count


def run_guest(options, folder, deadline):
    """Runs the guest until there is enough. The same library under two names is two plugins."""
    second = folder / "second.so"
    second.symlink_to(options.plugin)
    common = f"clock=instructions,interval={options.interval}"
    plugins = ["-plugin", f"{options.plugin},out={folder}/own,stack-bytes=16384,{common}",
               "-plugin", f"{second},out={folder}/maestro,out-format=maestro,{common}"]
    log = open(folder / "qemu.log", "wb")
    process = subprocess.Popen([*command(options, folder), "-icount", "shift=1,sleep=off", *plugins],
                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while count_samples(folder / "maestro") < options.samples:
            if process.poll() is not None or time.monotonic() > deadline:
                raise launched.Failed(f"not enough samples: {(folder / 'qemu.log').read_text(errors='replace')[-400:]}")
            time.sleep(0.2)
    finally:
        machine.end_process(process)
        log.close()


def samples(options, folder, name, form, deadline):
    """[(level, stop, [(address, exact, functions)])] for each tick, in order."""
    recording = folder / f"{name}.data"
    launched.read_back(options.ringside, deadline, "import", "--input-format", form, str(folder / name),
                       "--kernel", str(options.kernel), "-o", str(recording))
    found = []
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "--no-inline",
                              "-i", str(recording))
    for line in text.splitlines():
        row = json.loads(line)
        if row.get("disposition") != "sampled":
            continue
        stack = row["stacks"][0]
        frames = [(int(frame["address"], 16), frame["exact"], tuple(frame["functions"])) for frame in stack["frames"]]
        found += [(row["level"], stack["stop"], frames)] * row["weight"]
    return found


def visible(frames, state, entry_marks_frames):
    """The frames of a stack that a walk along frame pointers sees, and the reasons why it does not see the rest."""
    seen, reasons, skip = [], set(), False
    for index, (address, exact, functions) in enumerate(frames):
        if index and exact:
            reasons.add("interrupted code")
            # The leaf may be entry code that has not come to that yet.
            if entry_marks_frames and (index > 1 or state.has_frame(frames[0][0])):
                break
        elif skip:
            reasons.add("caller of a function without a frame")
        else:
            seen.append((address, functions))
        skip = exact and not state.has_frame(address)
    return seen, reasons


def compare(own, maestro, state, entry_marks_frames):
    counts, lines = collections.Counter(), []
    if len(own) != len(maestro):
        lines.append(f"{len(own)} samples of ours, {len(maestro)} in Maestro's layout")
    state.learn(address for level, _, frames in own if level == "kernel" for address, exact, _ in frames if exact)
    for number, ((level, stop, frames), (_, _, theirs)) in enumerate(zip(own, maestro)):
        theirs = [(address, functions) for address, _, functions in theirs]
        if theirs[0][0] != frames[0][0]:
            lines.append(f"sample {number}: at {frames[0][0]:#x}, and at {theirs[0][0]:#x}")
        if level != "kernel":
            counts[f"{level} code, whose pc is the same"] += 1
            continue
        if not all(functions and state.is_in_function(address) for address, exact, functions in frames if exact):
            counts["code outside of its function, of which objdump tells nothing"] += 1
            continue
        seen, reasons = visible(frames, state, entry_marks_frames)
        whole = stop in ("end of stack", "reached user mode")
        what = " and ".join(sorted(reasons)) or "the same, frame for frame"
        counts[what if whole else f"ours ends early ({stop}), up to there: {what}"] += 1
        if seen != (theirs if whole else theirs[:len(seen)]):
            lines.append(f"sample {number} ({stop}):\n    ours  {describe(frames)}\n    seen  {describe(seen)}\n"
                         f"    there {describe(theirs)}")
    return counts, lines


def describe(frames):
    return " < ".join(f"{frame[0]:x} {frame[-1][0] if frame[-1] else '?'}" for frame in frames)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--plugin", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", type=os.path.abspath)
    parser.add_argument("--workload", default="chains")
    parser.add_argument("--linux", metavar="ARCH")
    parser.add_argument("--samples", type=int, default=3000)
    parser.add_argument("--interval", type=int, default=INTERVAL)
    parser.add_argument("--early", type=float, default=5, help="percent of ringside's own stacks that may end early")
    limits.add_option(parser)
    options = parser.parse_args()
    machine.exit_on_signals()
    deadline = time.monotonic() + options.limit
    with tempfile.TemporaryDirectory(prefix="ringside-maestro-") as name:
        folder = pathlib.Path(name)
        try:
            run_guest(options, folder, deadline)
            own = samples(options, folder, "own", "tcg", deadline)
            maestro = samples(options, folder, "maestro", "maestro", deadline)
        except linux_guest.NoNetwork as error:
            print(f"skipped: {error}")
            return SKIPPED
        except launched.Failed as error:
            print(error)
            return 1
    counts, lines = compare(own, maestro, FrameState(str(options.kernel)), bool(options.linux))
    for what, count in counts.most_common():
        print(f"{count:8} {what}")
    kernel = sum(count for what, count in counts.items() if "whose pc" not in what)
    early = sum(count for what, count in counts.items() if "ends early" in what)
    if kernel < options.samples / 4 or sum(len(frames) for _, _, frames in maestro) < 2 * len(maestro):
        lines.append("too little to compare")
    if early * 100 > options.early * kernel:
        lines.append(f"{early} of {kernel} stacks of ours end early")
    print("\n".join(lines[:12]) or "the stacks are the same")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
