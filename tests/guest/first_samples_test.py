#!/usr/bin/env python3
"""The first samples of a recording, from before the kernel's processes are known, have their process all the same, where
they are of kernel code that works for user code. Debian's kernel, attached to without any file.

    first_samples_test.py --ringside PROGRAM --arch arm64|riscv64

Exit status: 0 as it should be, 1 not, 77 the guest cannot be fetched.
"""
import argparse
import json
import os
import subprocess
import sys

from ringside_tests.harness import limits, linux_guest, linux_program

TRIES = 4
AT_USER_CODE = "reached user mode"


def run(options, folder, *arguments):
    return subprocess.run([options.ringside, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, cwd=folder, timeout=limits.STEP, check=True).stdout


def for_user_code(text):
    """The samples of kernel code that ends at user code, in the order of their times. Entry code is left out, which is one
    frame: the kernel's register may have a value of user code there."""
    samples = [record for record in map(json.loads, text.splitlines()) if "stacks" in record and record.get("level") == "kernel"]
    wanted = [sample for sample in samples if any(stack.get("stop") == AT_USER_CODE and len(stack["frames"]) > 1
                                                  for stack in sample["stacks"])]
    return sorted(wanted, key=lambda sample: sample["time_ns"])


def check(options, folder):
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    failures = []
    with linux_guest.boot(paths, "calls", cpus=2, kaslr=True) as guest:
        for _ in range(TRIES):
            run(options, folder, "record", "--gdb", guest.gdb, "-F", "200", "--duration", "2", "-o", "a.data")
            samples = for_user_code(run(options, folder, "export", "-i", "a.data", "--format", "json-lines", "-o", "-"))
            unnamed = [sample for sample in samples if "pid" not in sample]
            print(f"{len(unnamed)} of {len(samples)} samples have no process")
            unread = [sample for sample in samples if any(stack["stop"] == "unreadable memory" for stack in sample["stacks"])]
            if unread:
                failures.append(f"{len(unread)} stacks end in unreadable memory, which was not read: {unread[:3]}")
            if unnamed or not samples:
                failures.append(f"{len(unnamed)} of {len(samples)} samples have no process: {unnamed[:3]}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--arch", choices=["arm64", "riscv64"], required=True)
    return linux_program.exit_status(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
