#!/usr/bin/env python3
"""annotate of kernels of four architectures: its instructions are those that llvm-objdump has, with the same targets.

    annotate_arch_test.py --ringside PROGRAM --arch x86_64|i386|aarch64|riscv64

The kernel is the one of stack_ends_test.py, built here with debug information.
Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the kernel cannot be built or run here.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

import stack_ends_test
from ringside_tests.harness import launched, limits, linux_program
from ringside_tests.harness.linux_guest import NoNetwork

# "ffffffff80100010: 75 fe    jne 0x3 <f+0x3>"; the bytes of RISC-V and Arm may stand in one word.
LINE = re.compile(r"^\s*([0-9a-f]+):[ \t]+(?:[0-9a-f]{2,8}[ \t])+\s*(\S.*)$", re.MULTILINE)
JUMP = re.compile(r"^(?:j|call|b|cb|tb)\S*\s.*\b0x([0-9a-f]+) <")


def build(arch, folder):
    base, options, _ = stack_ends_test.ARCHES[arch]
    script = folder / "kernel.ld"
    script.write_text((stack_ends_test.SOURCES / "kernel.ld").read_text().replace("@BASE@", hex(base)))
    kernel = folder / "kernel.elf"
    sources = [stack_ends_test.SOURCES / name for name in ("kernel.c", "machine.c", f"{arch}.S")]
    subprocess.run(["clang", f"--target={arch}-linux-gnu", "-O2", "-g", "-ffreestanding", "-fno-pic", "-fno-stack-protector",
                    *options, *stack_ends_test.KINDS["fp"], "-nostdlib", "-static", "-fuse-ld=lld", f"-Wl,-T,{script}",
                    "-Wl,--build-id=sha1", *map(str, sources), "-o", str(kernel)], check=True, stdin=subprocess.DEVNULL)
    return kernel


def disassembled(kernel):
    """The target of each instruction's jump, or nothing, by address; by llvm-objdump."""
    text = subprocess.run(["llvm-objdump", "-d", str(kernel)], check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout
    found = {}
    for address, code in LINE.findall(text):
        jump = JUMP.match(code)
        found[int(address, 16)] = int(jump.group(1), 16) if jump else None
    return found


def check_function(function, there):
    """Sentences on what differs."""
    failures, name = [], function["name"]
    start, size = int(function["image_address"], 16), function["size"]
    moved = int(function["address"], 16) - start
    here = {int(row["image_address"], 16): row for row in function["instructions"]}
    expected = {address for address in there if start <= address < start + size}
    if set(here) != expected:
        failures.append(f"{name}: instructions at {sorted(map(hex, set(here) ^ expected))[:5]} are on one side alone")
    for address in set(here) & expected:
        target = here[address].get("target")
        got = int(target["address"], 16) - moved if target else None
        if there[address] is not None and got != there[address]:
            failures.append(f"{name} {address:#x} {here[address]['text']}: leads to {got}, not {there[address]:#x}")
    if sum(row["weight"] for row in here.values()) != function["weight"]:
        failures.append(f"{name}: its instructions do not have all its samples")
    return failures


def run(options, folder):
    qemu = shutil.which(f"qemu-system-{options.arch}")
    missing = [tool for tool in ("clang", "ld.lld", "llvm-objdump") if not shutil.which(tool)]
    if missing or not qemu:
        raise NoNetwork(f"there is no {', '.join(missing) or 'qemu-system-' + options.arch}")
    kernel = build(options.arch, folder)
    command = [qemu, *stack_ends_test.ARCHES[options.arch][2], "-accel", "tcg", "-display", "none", "-no-reboot", "-nodefaults",
               "-smp", "2", "-m", "128", "-kernel", str(kernel), "-serial", "stdio"]
    how = ["--engine", "gdb", "--kernel", str(kernel), "--after", "stack_ends: ready", "--interval", "2", "--samples", "1500"]
    deadline = time.monotonic() + options.limit
    recording = launched.record(str(options.ringside), how, command, folder, deadline)
    content = json.loads(launched.read_back(str(options.ringside), deadline, "annotate", "--functions", "20", "-k",
                                            "-i", str(recording), "--format", "json",
                                            "--source", str(stack_ends_test.SOURCES)))
    there = disassembled(kernel)
    functions = [function for function in content["functions"] if function["size"]]
    failures = [failure for function in functions for failure in check_function(function, there)]
    lines = sum(row["weight"] for function in functions for row in function["lines"] if row["text"])
    weight = sum(function["weight"] for function in functions)
    jumps = sum("target" in row for function in functions for row in function["instructions"])
    print(f"{options.arch}: {len(functions)} functions, {jumps} jumps, {lines} of {weight} ticks at a line of the source")
    if not functions or not jumps or lines < 0.9 * weight:
        failures.append("too little is shown")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--arch", choices=stack_ends_test.ARCHES, required=True)
    limits.add_option(parser, limits.STEP)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
