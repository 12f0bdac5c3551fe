#!/usr/bin/env python3
"""Records what a QEMU's human monitor prints, and what its gdb stub says in the same stop of the same guest.

    export PYTHONPATH=tests/python
    …/record.py --arch amd64|arm64|i386|riscv64 [--cpus 3]          with the QEMU that is installed
    script/fetch-qemu 7.2 -- …/record.py --arch amd64               with QEMU 7.2

boots Debian's kernel with the workload `mixed` on all vCPUs but the last, which stays off, and looks at it until user
code and kernel code stand side by side. Writes qemu-VERSION-ARCH/: info-registers and dump (`x`) are the monitor's text; registers (vCPU, name by
the stub, value; `halted` by qThreadExtraInfo) and memory (address, bytes) are the stub's.
"""
import argparse
import pathlib
import re
import select
import socket
import subprocess
import time
import xml.etree.ElementTree

from ringside_tests.harness import linux_guest
from ringside_tests.harness.machine import Machine

HERE = pathlib.Path(__file__).resolve().parent
WANTED = {
    "amd64": "rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip eflags cs ss fs_base gs_base cr0 cr2 "
             "cr3 cr4 efer",
    "i386": "eax ebx ecx edx esi edi ebp esp eip eflags cs ss fs_base gs_base cr0 cr2 cr3 cr4",
    "arm64": " ".join(f"x{n}" for n in range(31)) + " sp pc cpsr",
    "riscv64": "zero ra sp gp tp t0 t1 t2 fp s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 pc "
               "priv satp sepc sstatus stvec sscratch scause stval",
}
DUMPED = 256  # bytes of the first vCPU's stack


class Stub:
    """A gdb stub; connecting stops the guest."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(10)
        self._socket.connect(path)
        self._buffer = b""
        self.ask("?")
        time.sleep(0.1)  # QEMU 7.2 has also told of the stop by itself
        if select.select([self._socket], [], [], 0)[0]:
            self._socket.recv(65536)
        self._buffer = b""
        self.ask("qSupported:xmlRegisters=i386,arm,riscv")
        self._last = -1  # number of a register
        self._numbers = self._read_description()

    def close(self):
        self.ask("D")
        self._socket.close()

    def ask(self, packet):
        body = packet.encode()
        self._socket.sendall(b"$" + body + b"#%02x" % (sum(body) % 256))
        while True:
            found = re.search(rb"\$([^#]*)#..", self._buffer, re.DOTALL)
            if found:
                self._buffer = self._buffer[found.end():]
                self._socket.sendall(b"+")
                return found.group(1).decode("latin-1")
            self._buffer += self._socket.recv(65536)

    def threads(self):
        found, answer = [], self.ask("qfThreadInfo")
        while answer.startswith("m"):
            found += answer[1:].split(",")
            answer = self.ask("qsThreadInfo")
        return found

    def halted(self, thread):
        return b"halted" in bytes.fromhex(self.ask(f"qThreadExtraInfo,{thread}"))

    def register(self, thread, name):
        """None where the stub has no such register, or does not tell."""
        self.ask(f"Hg{thread}")
        answer = self.ask(f"p{self._numbers[name]:x}") if name in self._numbers else ""
        return int.from_bytes(bytes.fromhex(answer), "little") if re.fullmatch("([0-9a-f]{2})+", answer) else None

    def memory(self, thread, address, size):
        self.ask(f"Hg{thread}")
        return self.ask(f"m{address:x},{size:x}")

    def _read_description(self, file="target.xml", numbers=None):
        text, offset = "", 0
        while not text or more == "m":
            answer = self.ask(f"qXfer:features:read:{file}:{offset:x},800")
            more, part = answer[0], answer[1:]
            text, offset = text + re.sub("}(.)", lambda found: chr(ord(found.group(1)) ^ 0x20), part), offset + len(part)
        numbers = {} if numbers is None else numbers
        for element in xml.etree.ElementTree.fromstring(re.sub("<!DOCTYPE[^>]*>|xi:", "", text)).iter():
            name = element.tag.split("}")[-1]
            if name == "include":
                self._read_description(element.get("href"), numbers)
            elif name == "reg":
                self._last = int(element.get("regnum", self._last + 1))
                numbers.setdefault(element.get("name"), self._last)
        return numbers


def level(arch, registers):
    """Whether a vCPU runs user code, as the stub says."""
    if arch in ("amd64", "i386"):
        return registers["cs"] & 3 == 3
    return registers["priv"] == 0 if arch == "riscv64" else registers["cpsr"] & 0xf == 0


def look(arch, guest):
    """One stop: (the monitor's text, its dump, [(halted, registers)], address, bytes)."""
    stub = Stub(guest.gdb)
    try:
        vcpus = []
        for thread in stub.threads():
            values = {name: stub.register(thread, name) for name in WANTED[arch].split()}
            vcpus.append((stub.halted(thread), {name: value for name, value in values.items() if value is not None}))
        pointer = vcpus[0][1]["rsp" if arch == "amd64" else "esp" if arch == "i386" else "sp"] & ~7
        memory = stub.memory(stub.threads()[0], pointer, DUMPED)
        text = guest.qmp.hmp("info registers -a")
        dump = guest.qmp.hmp(f"x /{DUMPED // 8}gx {pointer:#x}")
        return text, dump, vcpus, pointer, memory
    finally:
        stub.close()


def boot(paths, cpus):
    append = f"{linux_guest.append(paths, 'mixed')} maxcpus={cpus - 1}"
    guest = Machine(paths["VMLINUZ"], append, initrd=paths["INITRD"], cpus=cpus, base=linux_guest.base(paths))
    try:
        guest.wait_serial(f"{linux_guest.READY} workload=mixed", 60)
        return guest
    except BaseException:
        guest.close()
        raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", required=True, choices=list(WANTED))
    parser.add_argument("--cpus", type=int, default=3)
    options = parser.parse_args()
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    version = re.search(r"version (\d+\.\d+)", subprocess.run([paths["QEMU"], "--version"], stdout=subprocess.PIPE,
                                                              text=True, check=True).stdout).group(1)
    best = None
    with boot(paths, options.cpus) as guest:
        for _ in range(100):
            guest.qmp.listen(0.05)
            seen = look(options.arch, guest)
            kinds = {"halted" if halted else level(options.arch, registers) for halted, registers in seen[2]}
            if best is None or len(kinds) > best[0]:
                best = len(kinds), seen
            if best[0] == 3:
                break
    text, dump, vcpus, pointer, memory = best[1]
    folder = HERE / f"qemu-{version}-{options.arch}"
    folder.mkdir(exist_ok=True)
    lines = [f"{number} {name} {value:x}" for number, (halted, registers) in enumerate(vcpus)
             for name, value in [("halted", int(halted)), *registers.items()]]
    (folder / "info-registers").write_text(text, newline="")
    (folder / "dump").write_text(dump, newline="")
    (folder / "registers").write_text("\n".join(lines) + "\n")
    (folder / "memory").write_text(f"{pointer:x} {memory}\n")
    print(f"{folder}: {len(vcpus)} vCPUs, {best[0]} of user, kernel and halted")


if __name__ == "__main__":
    main()
