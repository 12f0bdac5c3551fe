"""Builds the guest's programs and packs them as an initramfs."""
import gzip
import pathlib
import subprocess

FOLDER = pathlib.Path(__file__).parent
PROGRAMS = {"init": "workloads.c", "short_program": "short_program.c"}


def build(folder):
    """Returns the path of the initramfs, in the folder."""
    image = pathlib.Path(folder) / "initrd.gz"
    image.write_bytes(gzip.compress(archive({name: program(source, folder) for name, source in PROGRAMS.items()})))
    return image


def program(source, folder):
    """The bytes of a program that needs no C library."""
    path = pathlib.Path(folder) / "program"
    subprocess.run(["clang", "--target=x86_64-linux-gnu", "-O2", "-static", "-nostdlib", "-ffreestanding", "-fno-pic",
                    "-fno-stack-protector", "-Wall", "-Wextra", "-Werror", "-fuse-ld=lld", "-o", str(path),
                    str(FOLDER / source)], check=True)
    return path.read_bytes()


def archive(files):
    """A cpio archive of executable files: the "newc" format of Linux's Documentation/driver-api/early-userspace/
    buffer-format.rst."""
    result = b""
    for number, (name, data) in enumerate([*files.items(), ("TRAILER!!!", b"")], 1):
        fields = [number, 0o100755, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        header = b"070701" + b"".join(b"%08x" % field for field in fields)
        result += _padded(header + name.encode() + b"\0") + _padded(data)
    return result


def _padded(data):
    return data + b"\0" * (-len(data) % 4)
