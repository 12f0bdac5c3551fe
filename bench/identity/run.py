#!/usr/bin/env python3
"""How much of its own code a running Linux has patched: what is left equal of a kernel's file, in all and by page.

    script/bench identity [ARCH …]      amd64 arm64 i386 i386-pae riscv64, and amd64-generic

Each of Debian's kernels is booted without KASLR, and .text is read where it is linked. The rest was changed by the
kernel itself (alternatives, ftrace, static keys, static calls). ringside believes a file without a build id and a banner if
97 % are equal, in all and in the page that runs. Exit status: 0 done, 77 a kernel cannot be fetched.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import linux_guest, machine, qmp

PAGE = 4096
ENOUGH = 0.97
TRIES = 200


def text_of(vmlinux):
    """(address, bytes) of .text."""
    lines = subprocess.run(["readelf", "-SW", vmlinux], check=True, text=True, stdout=subprocess.PIPE).stdout
    address, offset, size = (int(word, 16) for word in
                             re.search(r" \.text +PROGBITS +(\w+) +(\w+) +(\w+)", lines).groups())
    with open(vmlinux, "rb") as file:
        file.seek(offset)
        return address, file.read(size)


def in_guest(paths, address, size, folder):
    """The same place in the guest, where a vCPU has it mapped."""
    monitor, saved = folder / "monitor", folder / "text"
    with linux_guest.boot(paths, "calls", cpus=1, extra=["-qmp", f"unix:{monitor},server=on,wait=off"]), \
            qmp.Qmp(str(monitor)) as talk:
        for _ in range(TRIES):
            try:
                talk.command("memsave", val=address, size=size, filename=str(saved))
                return saved.read_bytes()
            except qmp.QmpError:
                time.sleep(0.05)
    raise machine.GuestError("the kernel is never mapped")


def measure(name):
    arch = "amd64" if name == "amd64-generic" else name
    if name == "amd64-generic":
        linux_guest.ARCHES["amd64"] = linux_guest.Arch(("-M", "pc"), flavour="amd64")
    paths = linux_guest.fetch(arch=arch)
    address, file = text_of(paths["VMLINUX"])
    with tempfile.TemporaryDirectory(prefix="ringside-identity-") as folder:
        guest = in_guest(paths, address, len(file), pathlib.Path(folder))
    equal = sum(a == b for a, b in zip(file, guest))
    pages = sorted(sum(a == b for a, b in zip(file[i:i + PAGE], guest[i:i + PAGE])) / len(file[i:i + PAGE])
                   for i in range(0, len(file), PAGE))
    below = sum(page < ENOUGH for page in pages)
    print(f"{name:14} {paths['VERSION']:32} {len(file) / 1e6:6.1f} MB  equal {100 * equal / len(file):6.2f} %  of a page at least "
          f"{100 * pages[0]:5.1f} %  pages below 97 %: {below} of {len(pages)} ({100 * below / len(pages):.1f} %)", flush=True)


def main():
    try:
        for name in sys.argv[1:] or [*linux_guest.ARCHES, "amd64-generic"]:
            measure(name)
    except linux_guest.NoNetwork as error:
        print(error)
        return 77
    return 0


if __name__ == "__main__":
    sys.exit(main())
