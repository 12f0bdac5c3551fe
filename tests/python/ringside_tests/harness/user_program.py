"""The user programs in tests/guest/programs: builds one for a guest, and adds it to its initramfs."""
import os
import pathlib
import re
import shutil
import stat
import subprocess

from ringside_tests.harness.linux_guest import NoNetwork

SOURCES = pathlib.Path(__file__).resolve().parents[3] / "guest" / "programs"
WORKLOAD = "shares"
TARGETS = {"amd64": "x86_64-linux-gnu", "i386": "i386-linux-gnu", "arm64": "aarch64-linux-gnu",
           "riscv64": "riscv64-linux-gnu"}
# Far from where other programs are linked, so that an address tells the program.
_BASE = "0x10000000"


def require_tools():
    """Raises NoNetwork without what builds the programs."""
    if missing := [tool for tool in ("clang++", "ld.lld", "llvm-nm") if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")


def build(arch, folder, name=WORKLOAD, source=None, options=()):
    """The program's path. name: what it is called in the guest, and of its source unless that has another name.
    options: further ones of the compiler."""
    program = folder / name
    subprocess.run(["clang++", f"--target={TARGETS[arch]}", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror",
                    "-ffreestanding", "-fno-pic", "-fno-stack-protector", "-fno-exceptions", "-fno-unroll-loops",
                    "-fno-asynchronous-unwind-tables", "-nostdlib", "-static", "-fuse-ld=lld",
                    f"-Wl,--image-base={_BASE}", *options, str(SOURCES / f"{source or name}.cpp"), "-o", str(program)],
                   check=True, stdin=subprocess.DEVNULL)
    return program


def add_to_initrd(initrd, folder, *programs):
    """A copy of the initramfs with the programs in /workload. An initramfs is any number of archives, compressed or
    not, one behind the other (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""
    entries = [_entry(f"workload/{file.name}", 0o100755, file.read_bytes()) for file in programs]
    return _append(initrd, folder, entries)


def add_tree_to_initrd(initrd, folder, tree):
    """A copy of the initramfs with the files, folders and symbolic links of a tree, in the place of those with their
    names."""
    entries = []
    for file in sorted(tree.rglob("*")):
        name = str(file.relative_to(tree))
        if file.is_symlink():
            entries.append(_entry(name, stat.S_IFLNK | 0o777, os.fsencode(os.readlink(file))))
        elif file.is_dir():
            entries.append(_entry(name, stat.S_IFDIR | 0o755, b""))
        else:
            entries.append(_entry(name, stat.S_IFREG | 0o755, file.read_bytes()))
    return _append(initrd, folder, entries)


def add_userland(paths, folder, tree):
    """Adds files to the programs of script/fetch-linux-guest --userland, in the guest and in the folder of them all:
    changes USERLAND_INITRD and USERLAND of its paths."""
    everything = folder / "userland"
    shutil.copytree(paths["USERLAND"], everything, symlinks=True)
    shutil.copytree(tree, everything, symlinks=True, dirs_exist_ok=True)
    paths["USERLAND_INITRD"] = str(add_tree_to_initrd(paths["USERLAND_INITRD"], folder, tree))
    paths["USERLAND"] = str(everything)


def _append(initrd, folder, entries):
    path = folder / "initrd"
    data = pathlib.Path(initrd).read_bytes()
    path.write_bytes(_padded(data) + b"".join(entries) + _entry("TRAILER!!!", 0, b""))
    return path


def _padded(data):
    return data + bytes(-len(data) % 4)


def _entry(name, mode, data):
    """A file in cpio's "newc" format: 13 numbers of 8 hexadecimal digits, the name, the contents."""
    encoded = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    return _padded(b"070701" + b"".join(b"%08x" % number for number in numbers) + encoded) + _padded(data)


def symbols(program):
    """As llvm-nm lists them."""
    return subprocess.run(["llvm-nm", "-S", str(program)], check=True, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout


def range_of(program, name):
    """The addresses of one of its symbols: the first, and the one behind the last."""
    found = re.search(rf"^([0-9a-f]+) ([0-9a-f]+) .*\b{name}$", symbols(program), re.MULTILINE)
    return int(found.group(1), 16), int(found.group(1), 16) + int(found.group(2), 16)
