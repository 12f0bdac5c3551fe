#!/usr/bin/env python3
"""Packs a kernel the way Linux' build does: make_boot_image.py CONTAINER COMPRESSION KERNEL OUTPUT

CONTAINER: bzimage, zboot, none; COMPRESSION: gzip, bzip2, lzma, xz, lzo, lz4, zstd, none. A KERNEL named
arm64 or riscv64 is a made-up flat image of 4096 bytes, one named large 9 MiB of random digits,
each page nine times with another number. The commands are those of scripts/Makefile.lib (6.1),
the headers those of arch/x86/boot/header.S, zboot-header.S, arch/arm64/kernel/head.S, arch/riscv/kernel/head.S.
"""
import pathlib
import random
import struct
import subprocess
import sys

COMMANDS = {
    "gzip": ["gzip", "-n", "-f", "-9"],
    "bzip2": ["bzip2", "-9"],
    "lzma": ["xz", "--format=lzma", "-9"],
    "xz": ["xz", "--check=crc32", "--x86", "--lzma2=,dict=32MiB"],
    "lzo": ["lzop", "-9"],
    "lz4": ["lz4", "-l", "-9"],
    "zstd": ["zstd", "-19", "--zstd=wlog=27"],  # the window that the kernel's -22 --ultra has, in a tenth of the time
}
# The large one has the same windows, found with less care.
QUICK_COMMANDS = COMMANDS | {
    "lzma": ["xz", "--format=lzma", "--lzma1=preset=0,dict=64MiB"],
    "xz": ["xz", "--check=crc32", "--x86", "--lzma2=preset=0,dict=32MiB"],
    "zstd": ["zstd", "-1", "--zstd=wlog=27"],
}


def made_up(name):
    if name == "large":
        pages = [random.Random(i).randbytes(2044).hex().encode() for i in range(256)]  # so that even the best compression is quick
        return b"".join(pages[i % 256] + struct.pack("<Q", i) for i in range(9 * 256))
    header = bytearray(64)
    struct.pack_into("<QQ", header, 8, 0x200000 if name == "riscv64" else 0, 0x5000)
    if name == "arm64":
        header[0x38:0x3C] = b"ARM\x64"
    else:
        header[0x30:0x35] = b"RISCV"
        header[0x38:0x3C] = b"RSC\x05"
    return bytes(header) + b"flat kernel\n" * 336


def compress(kernel, how, commands):
    if how == "none":
        return kernel
    packed = subprocess.run(commands[how] + ["-c"], input=kernel, stdout=subprocess.PIPE, check=True).stdout
    # gzip has the size at its end; to the others the build appends it ("size_append").
    return packed if how == "gzip" else packed + struct.pack("<I", len(kernel))


def bzimage(payload):
    setup_sectors, in_protected_mode = 3, 0x2CC
    image = bytearray((setup_sectors + 1) * 512 + in_protected_mode)
    image[0x1F1] = setup_sectors
    image[0x1FE:0x200] = b"\x55\xaa"
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x206, 0x20F)
    struct.pack_into("<II", image, 0x248, in_protected_mode, len(payload))
    return bytes(image) + payload + b"\xcc" * 64  # the decompressor's own code follows


def zboot(payload, how):
    image = bytearray(512)
    image[0:2] = b"MZ"
    image[4:8] = b"zimg"
    struct.pack_into("<II", image, 8, len(image), len(payload))
    image[24:24 + len(how)] = how.encode()
    return bytes(image) + payload + b"\xcc" * 64


def main():
    container, how, kernel, output = sys.argv[1:]
    kernel_bytes = made_up(kernel) if "/" not in kernel else pathlib.Path(kernel).read_bytes()
    payload = compress(kernel_bytes, how, QUICK_COMMANDS if kernel == "large" else COMMANDS)
    image = {"bzimage": lambda: bzimage(payload), "zboot": lambda: zboot(payload, how), "none": lambda: payload}
    pathlib.Path(output).write_bytes(image[container]())


main()
