"""Small kernel files, written byte by byte."""
import struct

import fake_stub

X86_64, AARCH64 = 62, 183


def elf(machine=X86_64, function=None, address=fake_stub.CODE):
    """An ELF program of 64 bits with code where the fake stub's guest runs, or elsewhere, and one symbol or none."""
    code = fake_stub.CODE_BYTES
    names = b"\0.text\0.shstrtab\0.symtab\0.strtab\0"
    symbols = struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0) + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, address, 0x100)
    strings = b"\0" + (function or "").encode() + b"\0"
    code_at = 64 + 56
    symbols_at = code_at + len(code)
    strings_at = symbols_at + len(symbols)
    names_at = strings_at + len(strings)
    sections_at = (names_at + len(names) + 7) & ~7
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, machine, 1, address, 64, sections_at,
                         0, 64, 56, 1, 64, 5 if function else 3, 2)
    segment = struct.pack("<IIQQQQQQ", 1, 5, code_at, address, 0x1000, len(code), len(code), 1)

    def section(name, kind, flags, address, offset, size, link=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", names.find(name) if name else 0, kind, flags, address, offset, size, link,
                           1 if link else 0, 1 if kind else 0, entry)

    body = (header + segment + code + symbols + strings + names).ljust(sections_at, b"\0")
    sections = [section(b"", 0, 0, 0, 0, 0), section(b".text\0", 1, 6, address, code_at, len(code)),
                section(b".shstrtab\0", 3, 0, 0, names_at, len(names)),
                section(b".symtab\0", 2, 0, 0, symbols_at, len(symbols), link=4, entry=24),
                section(b".strtab\0", 3, 0, 0, strings_at, len(strings))]
    return body + b"".join(sections if function else sections[:3])


def bzimage():
    """The start of a compressed Linux kernel: the setup header's magic at 0x202 (Linux' boot protocol)."""
    image = bytearray(4096)
    image[0x1FE:0x200] = b"\x55\xaa"
    image[0x202:0x206] = b"HdrS"
    image[0x206:0x208] = struct.pack("<H", 0x20F)
    return bytes(image)
