#!/usr/bin/env python3
"""Names of a kernel that a boot loader, which is -kernel, carries as data: they are the kernel's, or there are none.

    loader_test.py --ringside PROGRAM

The kernel (kernels/loaded_kernel.c) runs at 3 GiB, where it is linked, or where it has moved to from 0. Its file lies in a
folder below the loader's, or is a module (-initrd), or is nowhere near: then its code is counted as unknown, and the file
names it later. The loader has symbols or none. A file of another build of the kernel is refused. On riscv64 both run in
machine mode, without firmware: nothing of the kernel is called that.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the kernel cannot be built.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from ringside_tests.harness import folded, launched, limits

SOURCES = pathlib.Path(__file__).resolve().parent / "kernels"
RUNS_AT = 0xc0000000
CHAINS = [("kernel_main", "scheduler", task, "burn") for task in ("first_task", "second_task")]
I386 = ["--target=i386-unknown-none-elf"]
RISCV64 = ["--target=riscv64-unknown-none-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany"]
RISCV64_RUNS_AT = 0x80400000
LINKED = ["-nostdlib", "-static", "-fuse-ld=lld"]
LOADERS = {"_start", "hang", "code_finish", "kernel", "stack_top", "page_directory"}


def build_kernel(folder, linked_at, kernel, *more, target=tuple(I386)):
    script = folder / "kernel.ld"
    script.write_text(f"ENTRY(kernel_main) SECTIONS {{ . = {linked_at:#x}; .text : {{ *(.text*) }} /DISCARD/ : {{ *(.note*) }} }}")
    subprocess.run(["clang", *target, *LINKED, "-O1", "-g", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-ffreestanding",
                    f"-Wl,-T,{script}", *more, SOURCES / "loaded_kernel.c", "-o", kernel], check=True)


def unpack(kernel, image):
    """Makes a file of the kernel's code, and returns where its entry is linked."""
    code = subprocess.run(["readelf", "-SW", kernel], check=True, text=True, stdout=subprocess.PIPE).stdout
    offset, size = next((int(words[0], 16), int(words[1], 16)) for line in code.splitlines() if " .text " in line
                        for words in [line.split("PROGBITS")[1].split()[1:]])
    image.write_bytes(kernel.read_bytes()[offset:offset + size])
    symbols = subprocess.run(["readelf", "-sW", kernel], check=True, text=True, stdout=subprocess.PIPE).stdout
    return next(int(line.split()[1], 16) for line in symbols.splitlines() if line.endswith(" kernel_main"))


def link_loader(loader, image, entry, source, *more):
    subprocess.run(["clang", *LINKED, "-Wl,-N", "-Wl,-e,_start", f"-DKERNEL=\"{image}\"", f"-DENTRY={entry:#x}", *more,
                    SOURCES / source, "-o", loader], check=True)


def build(folder, linked_at, stripped):
    """Returns the loader and the kernel's file, in folders of their own."""
    kernel, image, loader = folder / "kernel" / "kernel.elf", folder / "kernel.bin", folder / "boot" / "loader.elf"
    for path in (kernel, loader):
        path.parent.mkdir(parents=True)
    build_kernel(folder, linked_at, kernel)
    entry = unpack(kernel, image) - linked_at + RUNS_AT
    link_loader(loader, image, entry, "loader.S", *I386, "-Wl,-Ttext=0x100020", "-Wl,--section-start=.multiboot=0x100000",
                *(["-Wl,-s"] if stripped else []))
    image.unlink()
    return loader, kernel


class Profile:
    """Parts of a recording's samples, in per cent, without those of the BIOS, if there is one."""

    def __init__(self, options, recording, deadline, *more, bios=True):
        stacks = [(stack, count)
                  for stack, count in folded.parse(launched.folded_text(options.ringside, recording, deadline, *more))
                  if stack[-1] != "[firmware]" or not bios]
        self.total = sum(count for _, count in stacks)
        self.stacks = sorted(stacks, key=lambda stack: -stack[1])[:4]
        self.right = self._part(stacks, lambda stack: any(stack[-4:] == chain for chain in CHAINS))
        self.unknown = self._part(stacks, lambda stack: stack[-1].startswith("<unknown"))
        self.named = self._part(stacks, lambda stack: stack[-1] in {frame for chain in CHAINS for frame in chain})
        self.loaders = self._part(stacks, lambda stack: stack[-1] in LOADERS)

    def _part(self, stacks, is_in):
        return 100 * sum(count for stack, count in stacks if is_in(tuple(stack))) / max(self.total, 1)

    def __str__(self):
        return (f"{self.total} samples: named right {self.right:.1f} %, unknown {self.unknown:.1f} %, named by the loader "
                f"{self.loaders:.1f} %, most: {self.stacks}")


def check(options, folder, deadline, case):
    linked_at, place, engine, stripped = case
    loader, kernel = build(folder, linked_at, stripped)
    near = folder / "boot" / "files"
    near.mkdir()
    if place == "below":
        shutil.move(kernel, near / kernel.name)
    work = folder / "work"
    work.mkdir()
    qemu = ["qemu-system-i386", "-accel", "tcg", "-m", "64", "-display", "none", "-kernel", str(loader)]
    if place == "module":
        qemu += ["-initrd", f"{kernel} an argument"]
    recording = launched.record(options.ringside, ["--engine", engine, "--interval", "2ms", "--samples", str(options.samples)],
                                qemu, work, deadline)
    said = (work / "record.log").read_text(errors="replace")
    now = Profile(options, recording, deadline)
    print(f"linked at {linked_at:#x}, file {place}, {engine}{', loader without symbols' if stripped else ''}: {now}")
    if place != "elsewhere":
        # The BIOS runs in 32-bit mode for a while, which may count as kernel code.
        by_file = re.search(rf"([\d.]+)%  named by {re.escape(os.path.realpath(near / kernel.name if place == 'below' else kernel))}\n", said)
        if not by_file or float(by_file.group(1)) < 60:
            return [f"the summary has not the share that the kernel's file names: {said[-900:]}"]
        return [f"{said[-600:]}: {now}"] if now.right < 70 or now.loaders > 5 or kernel.name not in said else []
    failures = [f"the kernel has names that nothing shows: {now}"] if now.named or now.unknown < 90 else []
    later = Profile(options, recording, deadline, "--kernel", str(kernel))
    print(f"  and with --kernel: {later}")
    # The first samples are not followed to their callers: where code ends was not known yet.
    return failures + ([f"--kernel does not name it: {later}"] if later.named < 90 or later.right < 50 else [])


def check_built_again(options, folder, deadline):
    """A file of the same kernel with one more function near its end: what lies in front of that is equal."""
    loader, _ = build(folder, RUNS_AT, False)
    again = folder / "again.elf"
    build_kernel(folder, RUNS_AT, again, "-DBUILT_AGAIN")
    qemu = ["qemu-system-i386", "-accel", "tcg", "-m", "64", "-display", "none", "-kernel", str(loader)]
    named = 0
    try:
        recording = launched.record(options.ringside, ["--kernel", str(again), "--interval", "2ms", "--samples", "300"], qemu,
                                    folder, deadline)
        named = Profile(options, recording, deadline).named
    except launched.Failed as error:
        print(f"built again: {error}")
    said = (folder / "record.log").read_text(errors="replace")
    sentence = f"{again} is not the kernel that runs in the guest, or it was built again: of "
    return [f"another build names {named:.1f} %, and ringside says: {said[-800:]}"] if named or sentence not in said else []


def check_machine_mode(options, folder, deadline):
    kernel, image, loader = folder / "kernel.elf", folder / "kernel.bin", folder / "loader.elf"
    build_kernel(folder, RISCV64_RUNS_AT, kernel, target=RISCV64)
    link_loader(loader, image, unpack(kernel, image), "loader_riscv64.S", *RISCV64, "-Wl,-Ttext=0x80000000")
    qemu = ["qemu-system-riscv64", "-machine", "virt", "-bios", "none", "-accel", "tcg", "-m", "64", "-display", "none",
            "-serial", "null", "-kernel", str(loader)]
    recording = launched.record(options.ringside, ["--engine", "tcg", "--interval", "2ms", "--samples", str(options.samples)],
                                qemu, folder, deadline)
    profile = Profile(options, recording, deadline, bios=False)
    print(f"machine mode: named {profile.named:.1f} %: {profile}")
    is_right = profile.named >= 40 and profile.named + profile.unknown + profile.loaders > 95
    return [] if is_right else [f"in machine mode: {profile}"]


def run(options, _, deadline):
    with tempfile.TemporaryDirectory(prefix="ringside-loader-") as folder:
        machine_mode = check_machine_mode(options, pathlib.Path(folder), deadline)
    with tempfile.TemporaryDirectory(prefix="ringside-loader-") as folder:
        failures = machine_mode + check_built_again(options, pathlib.Path(folder), deadline)
    for case in ((RUNS_AT, "below", "tcg", False), (0, "below", "gdb", False), (RUNS_AT, "module", "gdb", True),
                 (RUNS_AT, "elsewhere", "tcg", False), (0, "elsewhere", "gdb", True)):
        with tempfile.TemporaryDirectory(prefix="ringside-loader-") as folder:
            failures += [f"{case}: {line}" for line in check(options, pathlib.Path(folder), deadline, case)]
    return "; ".join(failures)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--samples", type=int, default=1000, help="wanted (default 1000)")
    limits.add_option(parser)
    parser.set_defaults(tries=1)  # the host's load gives code no other name
    return parser.parse_args()


def main():
    if missing := [tool for tool in ("clang", "ld.lld", "readelf", "qemu-system-i386", "qemu-system-riscv64") if not shutil.which(tool)]:
        print(f"there is no {', '.join(missing)}")
        return launched.SKIPPED
    return launched.truthful("ringside-loader-", parse_options(), run)


if __name__ == "__main__":
    sys.exit(main())
