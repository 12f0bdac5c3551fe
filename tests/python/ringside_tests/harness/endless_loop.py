"""Writes an endless loop to where a function of the guest's kernel begins, through the gdb stub."""
import re
import time

from ringside_tests.harness import limits, machine
from ringside_tests.harness.stub_proxy import Stub

# A jump to itself, by Debian's names of architectures.
JUMPS = {"amd64": b"ebfe", "i386": b"ebfe", "arm64": b"00000014", "riscv64": b"6f000000"}


def address_of(guest, function):
    """Where the guest has said that the function is, once all of the line is there."""
    line = re.compile(rf"function {function} 0x([0-9a-f]+)\n")
    guest.wait_serial(f"function {function} 0x", limits.STEP)
    if not limits.wait_until(lambda: line.search(guest.serial())):
        raise machine.GuestError(f"the line with the address of {function} does not end")
    return int(line.search(guest.serial())[1], 16)


def write_jump(path, arch, address):
    """Whether the memory of a vCPU is mapped there at the moment: in user code the kernel's may not be."""
    jump, stub = JUMPS[arch], Stub(path)
    try:
        for thread in (b"p1.1", b"p1.2"):
            stub.request(b"Hg" + thread)
            if stub.request(b"M%x,%x:%s" % (address, len(jump) // 2, jump)) == b"OK":
                return True
        return False
    finally:
        stub.request(b"D;1")  # the guest goes on
        stub.close()


def begin(guest, arch, function):
    """The function does not return any more. The guest runs on."""
    address, end = address_of(guest, function), limits.step_end()
    while not write_jump(guest.gdb, arch, address):
        if time.monotonic() > end:
            raise machine.GuestError(f"{function} is mapped for no vCPU that is stopped")
        time.sleep(0.01)
