"""Disk images for tests, which the usual tools make without root: file systems, tables of partitions, formats of QEMU's."""
import os
import subprocess

from ringside_tests.harness import limits

MIB = 1 << 20
SECTOR = 512
# The administrator's programs are not in every user's PATH.
ENVIRONMENT = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "MTOOLS_SKIP_CHECK": "1"}


def run(*command, text=""):
    return subprocess.run(list(map(str, command)), input=text, check=True, text=True, env=ENVIRONMENT, timeout=limits.STEP,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def blank(path, mib):
    with open(path, "wb") as image:
        image.truncate(mib * MIB)
    return path


def write_at(path, offset, contents):
    with open(path, "r+b") as image:
        image.seek(offset)
        image.write(contents)


def ext(path, tree, kind="ext4", label="root", mib=8):
    """A file system with the files of the folder `tree`."""
    run("mke2fs", "-q", "-t", kind, "-L", label, "-d", tree, blank(path, mib))
    return path


def fat(path, tree, label="EFI", mib=8, bits=16):
    """Its clusters are as small as that many bits of a number allow."""
    run("mkfs.vfat", "-F", bits, "-s", 4 if bits == 12 else 1, "-n", label, blank(path, mib))
    run("mcopy", "-s", "-i", path, *sorted(tree.iterdir()), "::")
    return path


def rename_in_fat(path, name, other):
    """mtools writes names of Latin letters only; systems write any of Unicode's. Both are of one length, at most 5."""
    contents = path.read_bytes()
    old = b"A" + name.encode("utf-16le")
    assert contents.count(old) == 1
    path.write_bytes(contents.replace(old, b"A" + other.encode("utf-16le")))


def partitioned(path, table, parts):
    """A disk with a table ("gpt" or "dos") and the images `parts` in its partitions, one behind the other. None is 1 MiB."""
    starts, lines, at = [], [f"label: {table}"], 2048
    for part in parts:
        sectors = part.stat().st_size // SECTOR if part else 2048
        starts.append(at)
        lines.append(f"start={at}, size={sectors}")
        at += sectors
    run("sfdisk", "-q", blank(path, at * SECTOR // MIB + 2), text="\n".join(lines) + "\n")
    for start, part in zip(starts, parts):
        if part:
            write_at(path, start * SECTOR, part.read_bytes())
    return path


def qcow2(path, raw, *options):
    run("qemu-img", "convert", "-O", "qcow2", *options, raw, path)
    return path


def leave_in_journal(image, path, contents):
    """As a guest that was not shut down leaves it: the first block of the file is in ext4's journal, and nowhere else."""
    block = run("debugfs", "-R", f"blocks {path}", image).split("\n")[1].split()[0]
    data = image.with_suffix(".block")
    data.write_bytes(contents.ljust(1024, b"\0"))
    commands = image.with_suffix(".commands")
    commands.write_text(f"jo\njw -b {block} {data}\njc\n")
    run("debugfs", "-w", "-f", commands, image)
