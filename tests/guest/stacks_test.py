#!/usr/bin/env python3
"""Profiles Debian's Linux kernel under a mixed workload: are its frames named, rightly, and do its stacks end where the
kernel is entered?

    stacks_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--know vmlinux|vmlinuz|nothing]

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, machine
from ringside_tests.judges import complete_stacks, kernel_symbols

NAMED_PERCENT = 99.0
COMPLETE_PERCENT = 98.0


def sampling(options):
    how = ["--samples", str(options.samples), "--interval", str(options.interval), "--kernel-only"]
    return how + options.record_options


def launch(options, paths, folder, deadline):
    """`ringside record -- qemu …`. Returns the recording and what the guest's serial port said."""
    # A folder of its own, so that no vmlinux lies beside the file.
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")
    qemu = linux_guest.base(paths, options.cpu) + [
        "-smp", str(options.cpus), "-m", "512", "-serial", "stdio", "-kernel", str(kernel), "-initrd", paths["INITRD"],
        "-append", linux_guest.append(paths, "mixed", options.kaslr), *linux_guest.disk(folder)]
    how = sampling(options) + ["--after", linux_guest.READY]
    if options.know == "vmlinux":
        how += ["--kernel", paths["VMLINUX"]]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    return recording, (folder / "record.log").read_text(errors="replace")


def attach(options, paths, folder, deadline):
    """Boots the guest alone and gives ringside nothing but its gdb socket."""
    recording = folder / "ringside.data"
    with linux_guest.boot(paths, "mixed", options.cpus, extra=linux_guest.disk(folder), kaslr=options.kaslr,
                          cpu=options.cpu, ready_within=max(1, deadline - time.monotonic())) as guest:
        command = [options.ringside, "record", "--gdb", guest.gdb, *sampling(options), "-o", str(recording)]
        result = subprocess.run(command, env=machine.private_environment(folder), check=False, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=max(1, deadline - time.monotonic()))
        (folder / "record.log").write_text(result.stdout)
        if result.returncode:
            raise launched.Failed(f"ringside record ended with status {result.returncode}: {result.stdout[-1500:]}")
        return recording, guest.serial()


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def report(options, symbols, verdict):
    """Prints the figures; returns what is wrong."""
    complete, named = percent(verdict.complete, verdict.samples), percent(verdict.named, verdict.frames)
    wrong = sum(verdict.wrong.values())
    print(f"{options.arch}, {options.know}: {verdict.samples} kernel samples, {complete:.2f} % complete; "
          f"{verdict.frames} frames, {named:.2f} % named, {wrong} of the names wrong")
    print("rules: " + ", ".join(f"{rule} {count}" for rule, count in verdict.rules.most_common()))
    for (reason, root), stacks in sorted(verdict.classes.items(), key=lambda item: -len(item[1]))[:options.show]:
        print(f"  {len(stacks):5} incomplete: {reason}, root {root}; for example")
        print("            " + complete_stacks.describe(symbols, stacks[0]).replace("\n", "\n            "))
    for name, count in verdict.unnamed.most_common(options.show):
        print(f"  {count:5} frames without a name in {name}")
    for (given, right, address), count in verdict.wrong.most_common(options.show):
        print(f"  {count:5} frames named {given} instead of {right} at {address}")
    failures = []
    if verdict.samples < options.samples * 0.8:
        failures.append(f"{verdict.samples} kernel samples, {options.samples} wanted")
    if complete < options.complete:
        failures.append(f"{complete:.2f} % of the stacks are complete, {options.complete:g} % wanted")
    if named < options.named:
        failures.append(f"{named:.2f} % of the frames have names, {options.named:g} % wanted")
    if wrong:
        failures.append(f"{wrong} frames have a name that is no symbol of the kernel at their address")
    return failures


def run(options, folder):
    paths = linux_guest.fetch(arch=options.arch)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    deadline = time.monotonic() + options.limit
    take = attach if options.know == "nothing" else launch
    recording, serial = take(options, paths, folder, deadline)
    symbols = kernel_symbols.load(paths, linux_guest.placement(serial))
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "--demangle", "none",
                              "-i", str(recording), "-o", "-")
    samples = [json.loads(line) for line in text.splitlines()]
    if options.keep:
        shutil.copytree(folder, options.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("disk.img", "vmlinuz"))
        (pathlib.Path(options.keep) / "serial").write_text(serial)
    return report(options, symbols, complete_stacks.judge(complete_stacks.ENTRIES[options.arch], symbols, samples))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    linux_program.add_guest_options(parser, know="vmlinuz")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--interval", type=float, default=5, help="ms between samples (default 5)")
    parser.add_argument("--complete", type=float, default=COMPLETE_PERCENT, help="percent of the stacks")
    parser.add_argument("--named", type=float, default=NAMED_PERCENT, help="percent of the frames")
    limits.add_option(parser)
    parser.add_argument("--show", type=int, default=12, help="so many classes of what is wrong (default 12)")
    parser.add_argument("--keep", help="a folder for the recording and the logs")
    options = parser.parse_args()
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
