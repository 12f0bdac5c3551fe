#!/usr/bin/env python3
"""Functions of a Linux guest's programs are named by the host's files where the guest's own cannot be read or are stripped.

    host_files_test.py --ringside PROGRAM [--engine tcg]

Copies of one program run (workload `host_files`, which is made here), all under names of their own: from the initramfs
without symbols; from a disk whose page cache was dropped, and from the initramfs after it was swapped out, so that their
symbols, at the end of the file, are not in the guest's memory. --sysroot has some of them, and the initramfs's file has
what was in it from the start. From that follows which copies must have named functions.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges import user_shares

WORKLOAD = "host_files"
OTHER_BUILD = "replaced"
# By what a copy is called in the guest: whether its functions have names.
STRIPPED = {"stripped": True, OTHER_BUILD: False}
ON_DISK = {"evicted": True, "alone": False}
SWAPPED = {"whole": True, "added": False}
NAMED_PERCENT = 95.0
FILLER = 4 << 20  # bytes between code and symbols: more than the guest reads ahead
SCRIPT = f"""#!/bin/busybox sh
for name in {' '.join(ON_DISK)}; do cp /workload/whole /disk/$name; done
cp /workload/whole /workload/added
dd if=/dev/zero of=/disk/swap bs=1M count=32
mkswap /disk/swap
swapon /disk/swap
mount -t cgroup2 none /sys/fs/cgroup
sync
echo 3 >/proc/sys/vm/drop_caches
echo 400M >/sys/fs/cgroup/memory.reclaim
grep Swap /proc/meminfo >/dev/console
for name in {' '.join([*STRIPPED, *SWAPPED])}; do /workload/$name & done
for name in {' '.join(ON_DISK)}; do /disk/$name & done
wait
"""


def build(folder, name, *options):
    return user_program.build("amd64", folder, name, source="shares", options=["-Wl,--build-id", *options])


def build_files(folder):
    """Makes what goes into the guest, in its place below folder/guest, and the folder for --sysroot."""
    guest, sysroot, work = folder / "guest", folder / "sysroot", folder / "work"
    for made in (guest / "workload", sysroot / "workload", sysroot / "disk", work):
        made.mkdir(parents=True)
    program, other = build(work, "program"), build(work, "other", "-Oz")
    for name in STRIPPED:
        subprocess.run(["llvm-strip", "-o", str(guest / "workload" / name), str(program)], check=True)
    (work / "filler").write_bytes(bytes(FILLER))
    whole = guest / "workload" / "whole"
    subprocess.run(["llvm-objcopy", f"--add-section=.filler={work / 'filler'}", str(program), str(whole)], check=True)
    (guest / "workload" / WORKLOAD).write_text(SCRIPT)
    shutil.copy(program, sysroot / "workload" / "stripped")
    shutil.copy(other, sysroot / "workload" / OTHER_BUILD)
    shutil.copy(whole, sysroot / "disk" / "evicted")
    return guest, sysroot


def record(options, paths, folder, deadline):
    """Returns the recording and what was said meanwhile."""
    guest, sysroot = build_files(folder)
    initrd = user_program.add_tree_to_initrd(paths["INITRD"], folder, guest)
    # tell= lets time pass until the copies run.
    qemu = linux_guest.base(paths) + linux_guest.disk(folder) + [
        "-smp", "1", "-m", "512", "-serial", "stdio", "-kernel", paths["VMLINUZ"], "-initrd", str(initrd), "-append",
        linux_guest.append(paths, WORKLOAD) + " tell=5"]
    how = ["--engine", options.engine, "--samples", str(options.samples), "--interval", "2", "--after",
           linux_guest.READY, "--sysroot", str(sysroot)]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    return recording, (folder / "record.log").read_text(errors="replace")


def check(samples, said, least):
    """Failures, as lines. said: ringside's own messages."""
    all_samples, named = collections.Counter(), collections.Counter()
    for sample in samples:
        if sample.get("level") == "user":
            all_samples[sample.get("comm")] += 1
            functions = sample["stacks"][0]["frames"][0]["functions"]
            named[sample.get("comm")] += bool(set(functions) & set(user_shares.FUNCTIONS))
    failures = []
    for name, has_names in {**STRIPPED, **ON_DISK, **SWAPPED}.items():
        print(f"{name}: {all_samples[name]} samples, {named[name]} with a function's name")
        if all_samples[name] < least:
            failures.append(f"{all_samples[name]} samples of {name}, {least} wanted")
        elif has_names and named[name] < all_samples[name] * NAMED_PERCENT / 100:
            failures.append(f"{named[name]} of {all_samples[name]} samples of {name} have a function's name")
        elif named[name] and not has_names:
            failures.append(f"{named[name]} samples of {name} have names that are not its own")
    warnings = [line for line in said.splitlines() if "build id" in line]
    print("\n".join(warnings))
    if len(warnings) != 1 or not warnings[0].endswith(f"/workload/{OTHER_BUILD}"):
        failures.append(f"it is not said once that /workload/{OTHER_BUILD} has another build id")
    return failures


def run(options, folder):
    deadline = time.monotonic() + options.limit
    user_program.require_tools()
    paths = linux_guest.fetch(vmlinux=False)
    recording, said = record(options, paths, folder, deadline)
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o",
                              "-")
    samples = [line for line in map(json.loads, text.splitlines()) if line.get("disposition") == "sampled"]
    return check(samples, said, options.least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--engine", default="tcg", choices=["tcg", "gdb", "qmp"])
    parser.add_argument("--samples", type=int, default=1500)
    parser.add_argument("--least", type=int, default=50, help="samples wanted of each copy (default 50)")
    limits.add_option(parser)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
