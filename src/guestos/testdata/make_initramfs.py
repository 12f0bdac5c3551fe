#!/usr/bin/env python3
"""Makes an initramfs with Debian's cpio: make_initramfs.py COMPRESSION PROGRAM MODULE OUTPUT

COMPRESSION: gzip, bzip2, lzma, xz, lzo, lz4, zstd, none. As distributions do, an archive that is not packed comes first
(the processor's microcode), and behind it packed ones.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMMANDS = {  # the kernel's choices, and the options that it asks for (usr/Makefile of 6.1)
    "gzip": ["gzip", "-n", "-9"],
    "bzip2": ["bzip2", "-9"],
    "lzma": ["xz", "--format=lzma", "-9"],
    "xz": ["xz", "--check=crc32", "--lzma2=dict=1MiB"],
    "lzo": ["lzop", "-9"],
    "lz4": ["lz4", "-l", "-9"],
    "zstd": ["zstd", "-19"],
    "none": ["cat"],
}


def archive(folder, how, names):
    data = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc"], input="\n".join(names).encode(), cwd=folder,
                          stdout=subprocess.PIPE, check=True).stdout
    return subprocess.run(COMMANDS[how], input=data, stdout=subprocess.PIPE, check=True).stdout


def main(how, program, module, output):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for folder in ("kernel/x86", "usr/bin", "usr/lib", "etc"):
            (root / folder).mkdir(parents=True)
        (root / "kernel/x86/microcode").write_text("microcode")
        (root / "etc/text").write_text("text")
        shutil.copy(program, root / "usr/bin/tool")
        os.link(root / "usr/bin/tool", root / "usr/bin/same")
        shutil.copy(module, root / "usr/lib/module.ko")
        (root / "bin").symlink_to("usr/bin")
        (root / "lib").symlink_to("usr/lib")
        (root / "loop").symlink_to("loop")
        names = [f"./{path.relative_to(root)}" for path in sorted(root.rglob("*"))]
        data = archive(root, "none", ["kernel", "kernel/x86", "kernel/x86/microcode"])
        data += archive(root, how, [name for name in names if not name.startswith("./kernel")])
        data += bytes(512 - len(data) % 512)
        shutil.copy(program, root / "usr/lib/late")
        # Through the links that the archive before has made.
        data += archive(root, how, ["bin/../lib/late"])
        pathlib.Path(output).write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
