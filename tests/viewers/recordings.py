#!/usr/bin/env python3
"""Records what the tests of formats read, once for all of them.

    recordings.py --ringside PROGRAM --kernel ELF --programs FOLDER --mixed PROGRAM --hostile PROGRAM --output FOLDER

demo.data: processes and interrupts of the bundled kernel on two vCPUs. linux.data: Debian's kernel with Debian's programs on
two vCPUs, whose kernel stacks stand on user stacks. mixed.data: a made-up recording of several sources, with events and
counters. hostile.data: a made-up one whose names are to do harm. Without a network there is no linux.data.

Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from ringside_tests.harness import launched, limits, linux_guest, machine


def record_demo(options, folder):
    programs = options.output / "programs"  # whose names are read later, too
    programs.mkdir(exist_ok=True)
    for name in ("compute", "syscaller"):
        shutil.copy(options.programs / f"{name}.elf", programs / name)
    qemu = machine.BASE + ["-smp", "2", "-m", "256", "-serial", "stdio", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04",
                           "-kernel", str(options.kernel), "-append", "workload=user seconds=4"]
    how = ["--interval", "2", "--after", "ringside-demo: ready", "--programs", str(programs)]
    return launched.record(options.ringside, how, qemu, folder, limits.step_end())


def record_linux(options, folder):
    paths = linux_guest.fetch(vmlinux=False, userland=True)
    qemu = linux_guest.base(paths) + ["-smp", "2", "-m", "512", "-serial", "stdio", "-kernel", paths["VMLINUZ"], "-initrd",
                                      paths["USERLAND_INITRD"], "-append", linux_guest.append(paths, "programs")]
    how = ["--interval", "4", "--after", "ringside-guest: ready", "--duration", "8", "--sysroot", paths["USERLAND"]]
    return launched.record(options.ringside, how, qemu, folder, limits.test_end())


def record_all(options):
    for name, record in (("demo", record_demo), ("linux", record_linux)):
        with tempfile.TemporaryDirectory(prefix="ringside-viewers-") as folder:
            try:
                shutil.copy(record(options, pathlib.Path(folder)), options.output / f"{name}.data")
            except linux_guest.NoNetwork as error:
                print(f"{name}.data: skipped: {error}")
    subprocess.run([options.mixed, options.output / "mixed.data"], check=True)
    subprocess.run([options.hostile, options.output / "hostile.data"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="where compute.elf and syscaller.elf are")
    parser.add_argument("--mixed", required=True, type=os.path.abspath, help="the program that writes mixed.data")
    parser.add_argument("--hostile", required=True, type=os.path.abspath, help="the program that writes hostile.data")
    parser.add_argument("--output", required=True, type=pathlib.Path)
    options = parser.parse_args()
    machine.exit_on_signals()
    options.output.mkdir(parents=True, exist_ok=True)
    for old in options.output.glob("*.data"):
        old.unlink()
    try:
        record_all(options)
    except (launched.Failed, OSError, subprocess.CalledProcessError) as error:
        print(f"FAILED: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
