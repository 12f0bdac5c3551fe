#!/usr/bin/env python3
"""Profiles in disk images that a guest with Debian's kernel has written: each is what the guest says it wrote.

    disk_image_test.py --ringside PROGRAM [--arch amd64]

The guest writes folded stacks to FAT and ext4, in pieces of two files in turn, on a raw image with a GPT and on a qcow2
image with an MBR, and to disks without a file system. One ext4 is unmounted; the other one is mounted when QEMU is killed.
While the guest runs its images are refused, and a copy that QEMU's monitor makes is read.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

from ringside_tests.harness import disk_images, launched, limits, linux_guest, linux_program, user_program

WORKLOAD = "disk_writer"
DONE = "disk_writer: all is written"
LINES = 1200
FOLDER, NAME = "logs of the guest", "Übersicht — 日本.folded"
SCRIPT = f"""#!/bin/busybox sh
[ "$1" = 0 ] || exit 0
for module in fat vfat nls_cp437 nls_ascii nls_utf8; do [ -f /modules/$module.ko ] && insmod /modules/$module.ko; done
exec >/dev/console 2>&1
set -e
stacks() {{ awk -v from=$1 -v to=$2 'BEGIN {{ for (i = from; i < to; ++i) print "main;f" i % 89 ";line_" i " " i % 7 + 1 }}'; }}
write_all() {{ # FOLDER
    mkdir -p "$1/{FOLDER}"
    for at in $(seq 0 300 {LINES - 1}); do # in turn, so that neither lies in one piece
        stacks $at $((at + 300)) >>"$1/{FOLDER}/{NAME}"
        stacks 0 $at >>"$1/other"
        sync
    done
}}
for disk in vda vdb; do
    mkdir -p /$disk/1 /$disk/2 /$disk/3
    mount -t vfat -o utf8 /dev/${{disk}}1 /$disk/1
    for number in 2 3; do mount -t ext4 /dev/$disk$number /$disk/$number; done
    for number in 1 2 3; do write_all /$disk/$number; done
    umount /$disk/1
    umount /$disk/2
done
for disk in vdc vdd; do stacks 0 {LINES} | dd of=/dev/$disk bs=4096 conv=fsync 2>/dev/null; done
sync
echo "{DONE}"
"""


def expected():
    """The lines of the guest's function `stacks`."""
    return sorted(f"main;f{i % 89};line_{i} {i % 7 + 1}" for i in range(LINES))


def make_disks(folder):
    """vda to vdd: the images, and QEMU's options for them."""
    empty = folder / "empty"
    empty.mkdir()
    parts = [disk_images.fat(folder / "fat", empty, mib=16), disk_images.ext(folder / "ext", empty, mib=16),
             disk_images.ext(folder / "ext", empty, mib=16)]
    raw = disk_images.partitioned(folder / "raw.img", "gpt", parts)
    dos = disk_images.partitioned(folder / "dos.img", "dos", parts)
    bare = disk_images.blank(folder / "bare.img", 4)
    disks = [raw, disk_images.qcow2(folder / "dos.qcow2", dos), bare, disk_images.qcow2(folder / "bare.qcow2", bare)]
    options = []
    for disk in disks:
        kind = "qcow2" if disk.suffix == ".qcow2" else "raw"
        options += ["-drive", f"file={disk},if=none,id={disk.stem}_{kind},format={kind}", "-device",
                    f"virtio-blk-pci,drive={disk.stem}_{kind}"]
    return disks, options


def take(options, folder, deadline, disk, path=None):
    """The folded stacks of a recording of that, sorted, or none; and what ringside said."""
    recording = folder / "out.data"
    command = [options.ringside, "import", "--disk", str(disk), "-o", str(recording), *(["--path", path] if path else [])]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
                            timeout=max(1, deadline - time.monotonic()))
    if result.returncode:
        return [], result.stderr
    return sorted(launched.folded_text(options.ringside, recording, deadline).splitlines()), result.stderr


def judge(what, taken, failures, is_mounted=False):
    got, said = taken
    wanted = expected()
    wrong = len(set(got) ^ set(wanted)) + abs(len(got) - len(wanted))
    print(f"{what}: {len(got)} lines, {wrong} wrong")
    if wrong:
        failures.append(f"{what}: {wrong} lines are wrong, such as {got[:1]}; ringside said: {said}")
    if is_mounted != ("was not unmounted" in said):
        failures.append(f"{what}: ringside says about the journal: {said}")


def run(options, folder):
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    if not (pathlib.Path(paths["MODULES"]) / "vfat.ko").exists():
        raise linux_guest.NoNetwork("the module vfat of an earlier script's guest is not there")
    deadline = time.monotonic() + options.limit
    tree = folder / "tree"
    (tree / "workload").mkdir(parents=True)
    (tree / "workload" / WORKLOAD).write_text(SCRIPT)
    paths["INITRD"] = str(user_program.add_tree_to_initrd(paths["INITRD"], folder, tree))
    disks, extra = make_disks(folder)
    path, copy, failures = f"/{FOLDER}/{NAME}", folder / "copy.qcow2", []
    with linux_guest.boot(paths, WORKLOAD, 1, extra=extra, kaslr=True) as guest:
        guest.wait_serial(DONE, max(1, deadline - time.monotonic()))
        for disk in disks:
            _, said = take(options, folder, deadline, disk, None if disk.stem == "bare" else path)
            if f"{disk}: a running QEMU has this image open" not in said:
                failures.append(f"the image of a guest that runs is not refused: {said}")
        guest.qmp.hmp(f"drive_backup -f dos_qcow2 {copy}")  # as the message says
        while guest.qmp.hmp("info block-jobs").strip() != "No active jobs":
            time.sleep(0.1)
        guest.process.kill()
        guest.process.wait()
    for disk in (disks[0], disks[1], copy):
        for number in (1, 2, 3):
            judge(f"{disk.name}:{number}", take(options, folder, deadline, f"{disk}:{number}", path), failures, number == 3)
    for disk in disks[2:]:
        judge(disk.name, take(options, folder, deadline, disk), failures)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    limits.add_option(parser)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
