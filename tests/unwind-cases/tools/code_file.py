"""An ELF file with a kernel's code alone, for a debugger that reads code from it beside a core file's memory."""
import struct

SHT_PROGBITS, SHT_STRTAB, SHF_ALLOC, SHF_EXECINSTR = 1, 3, 2, 4
# Linux on arm64 maps nothing where it links .head.text, and has stacks there; gdb prefers the file's bytes to a core's.
NOT_MAPPED = (".head.text",)


def code_file(elf):
    """The bytes of the file. elf: an elf_image.Elf of 64 bits."""
    sections = [(name, *elf.section(name)) for name, (kind, _, _, size, _) in elf.sections.items()
                if kind == SHT_PROGBITS and size and elf.is_code(name) and name not in NOT_MAPPED]
    names, name_at = b"\0", []
    for name in [name for name, _, _ in sections] + [".shstrtab"]:
        name_at.append(len(names))
        names += name.encode() + b"\0"
    offset, body, headers = 64, b"", [bytes(64)]
    for i, (_, address, data) in enumerate(sections):
        headers.append(struct.pack("<IIQQQQIIQQ", name_at[i], SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, address,
                                   offset + len(body), len(data), 0, 0, 4, 0))
        body += data
    headers.append(struct.pack("<IIQQQQIIQQ", name_at[-1], SHT_STRTAB, 0, 0, offset + len(body), len(names), 0, 0, 1, 0))
    body += names
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 2, elf.machine, 1, 0, 0, offset + len(body), 0, 64, 0, 0, 64,
                                 len(headers), len(headers) - 1)
    return header + body + b"".join(headers)
