"""Return addresses that arm64's CPU has signed (paciasp), as they are without the code: gdb takes it off only where a
target says which bits it has, which neither QEMU's stub nor a core file of a kernel does."""
import struct

CODE_BITS = 0xffff << 48  # with the 48-bit addresses that kernels use; bit 55 of them stays (Arm ARM, D8.10)


def _is_call(elf, address):
    code = elf.code_at(address, 4)
    word = int.from_bytes(code, "little") if len(code) == 4 else 0
    return word & 0xfc000000 == 0x94000000 or word & 0xfffffc1f == 0xd63f0000  # bl; blr


def without_code(elf, word):
    """The return address that a word is, if it is a signed one of the kernel's; None otherwise."""
    if word >> 48 == 0xffff or not word >> 55 & 1:
        return None
    address = word | CODE_BITS
    return address if _is_call(elf, address - 4) else None


def strip(case, elf):
    """Replaces them in a case's memory and link register. The addresses that were signed."""
    found = set()

    def one(word):
        address = without_code(elf, word)
        if address is not None:
            found.add(address)
        return word if address is None else address

    if case.arch == "aarch64":
        for i, piece in enumerate(case.memory.pieces):
            size = len(piece.data) // 8
            words = struct.unpack_from(f"<{size}Q", piece.data)
            data = struct.pack(f"<{size}Q", *map(one, words)) + piece.data[8 * size:]
            case.memory.pieces[i] = piece._replace(data=data)
        case.registers["x30"] = one(case.registers.get("x30", 0))
    return found
