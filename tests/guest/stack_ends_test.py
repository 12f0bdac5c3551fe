#!/usr/bin/env python3
"""Kernel stacks that end in the ways that small kernels' stacks do: they are complete, and end where they should.

    stack_ends_test.py --ringside PROGRAM --arch x86_64|i386|aarch64|riscv64 [--engine gdb|tcg] [--kinds fp,cfi]

The kernel (programs/stack_ends) is built here: with frame pointers, with call-frame information, and on x86 with
neither. Its threads lie on fresh stacks, above which there are zeros, a poison, saved registers, or no memory. One
returns to a function's first byte, one to its own. The second vCPU's first function is called by a trampoline, and
user code's trap handler is jumped to. All that is below a stack's outermost function is known from the source.

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

SOURCES = pathlib.Path(__file__).resolve().parent / "programs" / "stack_ends"
X86 = ("x86_64", "i386")
# Where the kernel is loaded, as in machine.h; the compiler's options and QEMU's.
ARCHES = {
    "x86_64": (0x100000, ["-mno-red-zone", "-mgeneral-regs-only"], []),
    "i386": (0x100000, ["-mgeneral-regs-only"], []),
    "aarch64": (0x40200000, ["-mgeneral-regs-only"], ["-M", "virt", "-cpu", "cortex-a57"]),
    "riscv64": (0x80200000, ["-mno-relax", "-mcmodel=medany"], ["-M", "virt"])}
KINDS = {
    "fp": ["-fno-omit-frame-pointer", "-fno-asynchronous-unwind-tables"],
    "cfi": ["-fomit-frame-pointer", "-fasynchronous-unwind-tables"],
    "bare": ["-fomit-frame-pointer", "-fno-asynchronous-unwind-tables"]}
# Its stack ends within a page, below another one in use: only a frame pointer of zero shows that it is a first function.
BELOW = "thread_below_another"
# The functions that a stack ends with, by the first of them.
THREADS = ["thread_on_zeros", "thread_on_poison", "thread_below_registers", "thread_under_the_end", "thread_to_itself", "thread_above",
           BELOW]
ENDS = {"kernel_main": ("kernel_main", "_start"), "secondary_main": ("secondary_main",),
        "thread_with_exit": ("thread_with_exit", "thread_exit"), "trap_from_user": ("trap_from_user",),
        **{name: (name,) for name in THREADS}}


def build(arch, kind, folder):
    base, options, _ = ARCHES[arch]
    script = folder / "kernel.ld"
    script.write_text((SOURCES / "kernel.ld").read_text().replace("@BASE@", hex(base)))
    kernel = folder / f"stack_ends-{kind}.elf"
    sources = [SOURCES / "kernel.c", SOURCES / "machine.c", SOURCES / f"{arch}.S"]
    subprocess.run(["clang", f"--target={arch}-linux-gnu", "-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding",
                    "-fno-pic", "-fno-stack-protector", *options, *KINDS[kind], "-nostdlib", "-static", "-fuse-ld=lld",
                    f"-Wl,-T,{script}", "-Wl,--build-id=none", *map(str, sources), "-o", str(kernel)],
                   check=True, stdin=subprocess.DEVNULL)
    return kernel


def roots(frames):
    """The functions from the one on that ends are known for, outermost last; empty without any."""
    names = [frame["functions"][0] if frame["functions"] else frame["address"] for frame in frames]
    at = next((i for i, name in enumerate(names) if name in ENDS), len(names))
    return tuple(names[at:])


def is_right(arch, kind, stack):
    """Whether a kernel stack is complete and its outermost function the right one, and that function."""
    names = roots(stack["frames"])
    if names == (BELOW,) and kind != "fp":
        return stack["stop"] in ("end of stack", "bad return address"), BELOW
    if not names:
        # Entry code, and what it calls with user code below it, are all that stands on no such function.
        return stack["stop"] == "reached user mode" and arch != "i386", "entry"
    expected = ENDS[names[0]]
    ends = [expected]
    if names[0] == "secondary_main" and arch not in X86:  # its trampoline is not a copy
        ends = [(*expected, "secondary_start")]
    stops = ["end of stack"]
    if names[0] == "trap_from_user" and arch in X86:  # hardware has pushed a frame there
        ends, stops = [(*expected, "system_call_entry")], ["reached user mode"]
    return names in ends and stack["stop"] in stops, names[0]


def judge(arch, kind, samples):
    """(stacks, right ones, by function; the wrong ones)."""
    seen, right, wrong = collections.Counter(), collections.Counter(), collections.Counter()
    for sample in samples:
        if sample.get("disposition") != "sampled" or sample["level"] != "kernel":
            continue
        stack = sample["stacks"][0]
        good, name = is_right(arch, kind, stack)
        seen[name] += 1
        right[name] += good
        if not good:
            wrong[" < ".join(roots(stack["frames"]) or ["none"]) + ": " + stack["stop"]] += 1
    return seen, right, wrong


def check(options, kind, folder):
    qemu = shutil.which(f"qemu-system-{options.arch}")
    kernel = build(options.arch, kind, folder)
    command = [qemu, *ARCHES[options.arch][2], "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults", "-smp", "2",
               "-m", "128", "-kernel", str(kernel), "-serial", "stdio"]
    how = ["--engine", options.engine, "--kernel", str(kernel), "--after", "stack_ends: ready", "--interval",
           f"{options.interval:g}", "--samples", str(options.samples)]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), how, command, folder, deadline)
    text = launched.read_back(str(options.ringside), deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    seen, right, wrong = judge(options.arch, kind, map(json.loads, text.splitlines()))
    total, good = sum(seen.values()), sum(right.values())
    print(f"{options.arch}, {kind}: {good} of {total} kernel stacks are right; {dict(seen)}")
    wanted = set(ENDS) - ({"trap_from_user"} if options.arch == "i386" else set())
    failures = [f"{kind}: no stack of {name}" for name in sorted(wanted - set(seen))]
    failures += [f"{kind}: {right[name]} of {seen[name]} stacks of {name} are right" for name in sorted(wanted)
                 if right[name] < 0.95 * seen[name] - 1]
    if good < 0.99 * total or total < options.samples / 4:
        failures.append(f"{kind}: {good} of {total} are right; others: {wrong.most_common(5)}")
    return failures


def run(options, folder):
    needed = ["clang", "ld.lld", f"qemu-system-{options.arch}"]
    if missing := [tool for tool in needed if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    return [failure for kind in options.kinds for failure in check(options, kind, folder)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--arch", choices=ARCHES, required=True)
    parser.add_argument("--engine", choices=("gdb", "tcg"), default="gdb")
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="default: all that suit the architecture")
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--interval", type=float, default=2, help="milliseconds between samples (default 2)")
    limits.add_option(parser, limits.STEP)
    options = parser.parse_args()
    # Only on x86 do instructions alone give a rule to code that has called.
    options.kinds = options.kinds or [kind for kind in KINDS if kind != "bare" or options.arch in X86]
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
