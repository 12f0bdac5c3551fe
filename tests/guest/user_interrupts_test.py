#!/usr/bin/env python3
"""Interrupts of user code are an interrupt's frames on small kernels, system calls and exceptions of it are not.

    user_interrupts_test.py --ringside PROGRAM --arch x86_64|i386|aarch64|riscv64 [--engines tcg,gdb,qmp]

The kernel (programs/user_interrupts) is built here. Its program spins, makes system calls and causes exceptions. On x86 one
timer comes by a stub that pushes its vector and jumps to code that all vectors share, and another one by an entry of its own.
Which of these a stack is, the names of the handlers on it say.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the kernel cannot be built or run here.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import launched, limits, linux_program
from ringside_tests.harness.linux_guest import NoNetwork

SOURCES = pathlib.Path(__file__).resolve().parent / "programs" / "user_interrupts"
# Where the kernel is loaded, its other source, the compiler's options and QEMU's.
ARCHES = {
    "x86_64": (0x100000, "x86.c", ["-mgeneral-regs-only", "-mno-red-zone"], []),
    "i386": (0x100000, "x86.c", ["-mgeneral-regs-only"], []),
    "aarch64": (0x40200000, "aarch64.c", ["-mgeneral-regs-only"], ["-M", "virt", "-cpu", "cortex-a57"]),
    "riscv64": (0x80200000, "riscv64.c", ["-mno-relax", "-mcmodel=medany"], ["-M", "virt"])}
INTERRUPTS = {"x86_64": {"on_interrupt", "on_clock"}, "i386": {"on_interrupt", "on_clock"}, "aarch64": {"on_interrupt"},
              "riscv64": {"on_interrupt"}}
OTHERS = {"on_system_call", "on_exception"}
FEWEST = 20  # stacks of each handler
MARKED_PERCENT = 99.0


def build(arch, folder):
    base, source, options, _ = ARCHES[arch]
    script = folder / "kernel.ld"
    script.write_text((SOURCES / "kernel.ld").read_text().replace("@BASE@", hex(base)))
    kernel = folder / "user_interrupts.elf"
    sources = [SOURCES / "kernel.c", SOURCES / source, SOURCES / f"{arch}.S"]
    subprocess.run(["clang", f"--target={arch}-linux-gnu", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-pic",
                    "-fno-stack-protector", "-fno-omit-frame-pointer", *options, "-nostdlib", "-static",
                    "-fuse-ld=lld", f"-Wl,-T,{script}", "-Wl,--build-id=none", *map(str, sources), "-o", str(kernel)],
                   check=True, stdin=subprocess.DEVNULL)
    return kernel


def judge(arch, samples):
    """(stacks by handler, those of them whose frames are all an interrupt's, those with some that are and some that are not)."""
    seen, marked, mixed = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples:
        if sample.get("disposition") != "sampled" or sample["level"] != "kernel":
            continue
        frames = sample["stacks"][0]["frames"]
        names = {name for frame in frames for name in frame["functions"]}
        handler = next(iter(names & (INTERRUPTS[arch] | OTHERS)), None)
        if handler is None:
            continue
        kinds = {frame["kind"] for frame in frames} - {"firmware"}
        seen[handler] += 1
        marked[handler] += kinds == {"interrupt"}
        mixed[handler] += len(kinds) > 1
    return seen, marked, mixed


def check(options, engine, kernel, folder):
    command = [f"qemu-system-{options.arch}", *ARCHES[options.arch][3], "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults",
               "-m", "64", "-kernel", str(kernel), "-serial", "stdio"]
    how = ["--engine", engine, "--kernel", str(kernel), "--after", "user interrupts: ready", "--interval", "1.7", "--samples",
           str(options.samples)]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), how, command, folder, deadline)
    text = launched.read_back(str(options.ringside), deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    seen, marked, mixed = judge(options.arch, map(json.loads, text.splitlines()))
    print(f"{options.arch}, {engine}: stacks {dict(seen)}, of these an interrupt's {dict(marked)}")
    failures = [f"{engine}: {seen[handler]} stacks of {handler}" for handler in sorted(INTERRUPTS[options.arch] | OTHERS)
                if seen[handler] < FEWEST]
    failures += [f"{engine}: {marked[handler]} of {seen[handler]} stacks of {handler} are an interrupt's"
                 for handler in sorted(INTERRUPTS[options.arch]) if marked[handler] < MARKED_PERCENT / 100 * seen[handler]]
    failures += [f"{engine}: {marked[handler] + mixed[handler]} stacks of {handler} are an interrupt's" for handler in sorted(OTHERS)
                 if marked[handler] + mixed[handler]]
    return failures


def run(options, folder):
    needed = ["clang", "ld.lld", f"qemu-system-{options.arch}"]
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    kernel = build(options.arch, folder)
    return [failure for engine in options.engines for failure in check(options, engine, kernel, folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--arch", choices=ARCHES, required=True)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["tcg", "gdb", "qmp"])
    parser.add_argument("--samples", type=int, default=1000)
    limits.add_option(parser, limits.STEP)
    options = parser.parse_args()
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
