#!/usr/bin/env python3
"""Checks that no counted loop of an ELF file crosses a 4 KiB page, and that there are any.

core/spin.h records each loop's start and end address in the section .ringside_loops.
"""
import struct
import sys

PAGE = 4096


def read_section(elf: bytes, wanted: str) -> bytes:
    """The section's bytes, or none. ELF64 header and section header: System V ABI."""
    if elf[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    table, = struct.unpack_from("<Q", elf, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_size) for i in range(count)]
    names = headers[names_index][4]
    for name, _, _, _, offset, size in headers:
        start = names + name
        if elf[start:elf.index(b"\0", start)].decode() == wanted:
            return elf[offset:offset + size]
    return b""


def find_faults(loops: list[tuple[int, int]]) -> list[str]:
    if not loops:
        return ["no loop is recorded in .ringside_loops"]
    faults = []
    for start, end in loops:
        if not start < end <= start + PAGE:
            faults.append(f"loop {start:#x}..{end:#x} is not a range")
        elif start // PAGE != (end - 1) // PAGE:
            faults.append(f"loop {start:#x}..{end:#x} crosses a page")
    return faults


def main() -> int:
    with open(sys.argv[1], "rb") as file:
        section = read_section(file.read(), ".ringside_loops")
    faults = find_faults(list(struct.iter_unpack("<QQ", section)))
    for fault in faults:
        print(f"{sys.argv[1]}: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
