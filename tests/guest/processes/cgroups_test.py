#!/usr/bin/env python3
"""Samples of a Linux guest carry the control group that their process was in, also after it was moved to another.

    cgroups_test.py --ringside PROGRAM [--arch amd64|arm64|riscv64] [--engine tcg]

Two copies of dd run (workload `groups`, which is made here): one that was started in the group /box/inner, one in / that
is moved to /late after some seconds. The guest says on its serial port which group each is in, by its own /proc/PID/cgroup.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import json
import re
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, user_program

WORKLOAD = "groups"
SCRIPT = """#!/bin/sh
[ "$1" = 0 ] || exec sleep 100000
exec >/dev/console
groups=/sys/fs/cgroup
mount -t cgroup2 none $groups
mkdir -p $groups/box/inner $groups/late
sh -c "echo \\$\\$ >$groups/box/inner/cgroup.procs; exec dd if=/dev/zero of=/dev/null bs=64" &
inside=$!
dd if=/dev/zero of=/dev/null bs=64 &
moved=$!
tell() { echo "groups: $1 $2 $(tail -n 1 /proc/$2/cgroup)"; }
sleep 1
tell inside $inside
tell moved $moved
sleep 4
echo $moved >$groups/late/cgroup.procs
tell moved $moved
wait
"""


def record(options, paths, folder, deadline):
    """Returns the recording and what the guest's serial port said."""
    script = folder / WORKLOAD
    script.write_text(SCRIPT)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, script))
    qemu = linux_guest.base(paths) + [
        "-smp", "1", "-m", "512", "-serial", "stdio", "-kernel", paths["VMLINUZ"], "-initrd", paths["INITRD"],
        "-append", linux_guest.append(paths, WORKLOAD)]
    how = ["--engine", options.engine, "--duration", f"{options.seconds:g}", "--interval", "2",
           "--after", linux_guest.READY]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    return recording, (folder / "record.log").read_text(errors="replace")


def changes(samples, pid):
    """The control groups of a process since it is dd, in the order of its samples: [[group, samples]]."""
    found = []
    for sample in samples:
        if sample.get("pid") != pid or sample.get("comm") != "dd":
            continue
        group = sample.get("cgroup")
        if not found or found[-1][0] != group:
            found.append([group, 0])
        found[-1][1] += 1
    return found


def check(serial, samples, report, least):
    """Failures, as lines. report: `ringside report --sort cgroup`."""
    told = re.findall(r"groups: (\w+) (\d+) 0::(\S+)", serial)
    if len(told) != 3:
        return [f"the guest told of {len(told)} control groups, 3 wanted"]
    failures = []
    for who in ("inside", "moved"):
        pid = next(int(number) for name, number, _ in told if name == who)
        expected = [group for name, _, group in told if name == who]
        found = changes(samples, pid)
        print(f"{who}, process {pid}: " + ", ".join(f"{group} in {count} samples" for group, count in found))
        if [group for group, _ in found] != expected:
            failures.append(f"the control groups of process {pid} are {[group for group, _ in found]}, and the guest says "
                            f"{expected}")
        failures += [f"{count} samples of process {pid} in {group}, {least} wanted"
                     for group, count in found if count < least]
    failures += [f"the report has no row for {group}" for _, _, group in told if not re.search(rf" {group}$", report, re.M)]
    return failures


def run(options, folder):
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    recording, serial = record(options, paths, folder, deadline)
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o",
                              "-")
    samples = [line for line in map(json.loads, text.splitlines()) if line.get("disposition") == "sampled"]
    report = launched.read_back(options.ringside, deadline, "report", "--stdio", "--sort", "cgroup", "-i", str(recording))
    return check(serial, samples, report, options.least)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    linux_program.add_guest_options(parser, "vmlinuz")
    parser.add_argument("--engine", default="tcg", choices=["tcg", "gdb", "qmp"])
    parser.add_argument("--seconds", type=float, default=10, help="of recording (default 10)")
    parser.add_argument("--least", type=int, default=100, help="samples wanted in each group (default 100)")
    limits.add_option(parser)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
