#!/usr/bin/env python3
"""Writes a made-up kernel image that carries kallsyms tables of a given Linux version, and its symbols as nm text.

    encode_kallsyms.py LAYOUT IMAGE LIST [SYMBOLS]

LAYOUT: VERSION-BITS[-percpu|-absolute|-align256|-unrelocated|-value]. Written from what scripts/kallsyms.c and
kernel/kallsyms.c of these versions say:

    4.4   addresses, num_syms, names, markers, token_table, token_index; all numbers pointer-sized
    4.6   addresses or (offsets, relative_base) first (2213e9a66bb8)
    4.20  num_syms and markers are 32 bits wide (80ffbaa5b1bd)
    6.1   lengths above 127 are two bytes (73bbb94466fd)
    6.2   seqs_of_names, 3 bytes each, between markers and token_table (60443c88f3a8, 19bd8981dc2e)
    6.4   num_syms, names, markers, token_table, token_index, offsets, relative_base, seqs (404bad70fcf7)
    7.0   offsets are relative to their own place, or values; no relative_base; labels at multiples of 4 (a081b5789255)
"""
import random
import struct
import sys

IMAGE = {64: 0xFFFFFFFF81000000, 32: 0xC1000000}
TABLES_AT = 0x20000
WORDS = ["sched", "vm", "page", "net", "ipv4", "ipv6", "tcp", "udp", "alloc", "free", "lock", "unlock", "irq", "x86",
         "do", "sys", "get", "put", "inode", "dentry", "file", "read", "write", "poll", "wake", "queue", "work", "timer",
         "handle", "init", "exit", "probe", "pci", "blk", "bio", "ext4", "nfs3", "crypto", "sha256", "md5", "ktime", "hr"]


def make_symbols(count, base, percpu, long_names, generator):
    """(address, type, name, is per-CPU) sorted by address, with aliases."""
    symbols = [(i * 64, "A", f"percpu_thing_{i}", True) for i in range(40)] if percpu else []
    names, address = set(), base
    while len(names) < count:
        name = "_".join(generator.choice(WORDS) for _ in range(generator.randint(1, 5)))
        if generator.random() < 0.3:
            name += f".{generator.choice(['isra', 'part', 'cold'])}.{generator.randint(0, 987654)}"
        if name in names:
            continue
        names.add(name)
        symbols.append((address, generator.choice("tTtTdDbBrRwW"), name, False))
        if generator.random() < 0.9:
            address += generator.randint(1, 40) * 16 if len(names) % 500 else 0x10001
    # The kernel's text: the first 64 KiB, as far as symbols are there.
    inside = [i for i, symbol in enumerate(symbols) if not symbol[3] and symbol[0] < base + 0x10000]
    symbols.insert(inside[-1] + 1, (symbols[inside[-1]][0] + 16, "T", "_etext", False))
    symbols.insert(inside[0], (base, "T", "_stext", False))
    if long_names:  # more than 127 codes, so that the length takes two bytes
        symbols[count // 2] = symbols[count // 2][:2] + ("".join(generator.choice("ABCDEFGHIJKLMN") for _ in range(400)),) \
            + symbols[count // 2][3:]
    return symbols


def make_tokens(names):
    """256 tokens: characters that occur stand for themselves; the other codes get frequent strings."""
    used = {ord(c) for name in names for c in name}
    counts = {}
    for name in names:
        for length in (2, 3, 4, 6, 8):
            for i in range(len(name) - length + 1):
                part = name[i:i + length]
                counts[part] = counts.get(part, 0) + length - 1
    frequent = iter(sorted(counts, key=lambda part: (-counts[part], part)))
    return [chr(code) if code in used else next(frequent) for code in range(256)]


def compress(name, code_of):
    codes, i = [], 0
    while i < len(name):
        length = next(n for n in (8, 6, 4, 3, 2, 1) if name[i:i + n] in code_of and i + n <= len(name))
        codes.append(code_of[name[i:i + length]])
        i += length
    return bytes(codes)


class Writer:
    def __init__(self, address, alignment):
        self.bytes, self.address, self.alignment = bytearray(), address, alignment

    def label(self):
        while (self.address + len(self.bytes)) % self.alignment:
            self.bytes += b"\0"


def main():
    layout, image_path, list_path = sys.argv[1:4]
    version_text, bits_text, *flags = layout.split("-")
    version, bits = tuple(int(part) for part in version_text.split(".")), int(bits_text)
    generator = random.Random(layout)
    pointer = struct.Struct("<Q" if bits == 64 else "<I")
    image_address = IMAGE[bits]
    symbols = make_symbols(int(sys.argv[4]) if len(sys.argv) > 4 else 3000, image_address, "percpu" in flags,
                           version >= (6, 1), generator)
    tokens = make_tokens([kind + name for _, kind, name, _ in symbols])
    code_of = {token: code for code, token in reversed(list(enumerate(tokens)))}

    alignment = 4 if version >= (7, 0) else 256 if "align256" in flags else bits // 8
    out = Writer(image_address + TABLES_AT, alignment)
    wide = pointer if version < (4, 20) else struct.Struct("<I")
    base_relative = (4, 6) <= version < (7, 0) and "absolute" not in flags

    def addresses():
        out.label()
        for address, _, _, is_percpu in symbols:
            if version >= (7, 0):
                place = out.address + len(out.bytes)
                out.bytes += struct.pack("<I", (address if "value" in flags else address - place) & 0xFFFFFFFF)
            elif not base_relative:
                out.bytes += pointer.pack(address)
            elif "percpu" not in flags:
                out.bytes += struct.pack("<I", address - image_address)
            else:
                out.bytes += struct.pack("<i", address if is_percpu else image_address - address - 1)
        if base_relative:
            out.label()
            out.bytes += pointer.pack(0 if "unrelocated" in flags else image_address)

    def names():
        out.label()
        out.bytes += wide.pack(len(symbols))
        out.label()
        markers, start = [], len(out.bytes)
        for i, (_, kind, name, _) in enumerate(symbols):
            if i % 256 == 0:
                markers.append(len(out.bytes) - start)
            codes = compress(kind + name, code_of)
            if len(codes) > 127:
                assert version >= (6, 1)
                out.bytes += bytes([len(codes) & 0x7F | 0x80, len(codes) >> 7])
            else:
                out.bytes += bytes([len(codes)])
            out.bytes += codes
        out.label()
        for marker in markers:
            out.bytes += wide.pack(marker)

    def seqs():
        out.label()
        for i in sorted(range(len(symbols)), key=lambda i: symbols[i][2]):
            out.bytes += bytes([i >> 16 & 0xFF, i >> 8 & 0xFF, i & 0xFF])

    def token_tables():
        out.label()
        index = []
        start = len(out.bytes)
        for token in tokens:
            index.append(len(out.bytes) - start)
            out.bytes += token.encode("latin-1") + b"\0"
        out.label()
        out.bytes += struct.pack("<256H", *index)

    if version >= (6, 4):
        parts = [names, token_tables, addresses, seqs]
    elif version >= (6, 2):
        parts = [addresses, names, seqs, token_tables]
    else:
        parts = [addresses, names, token_tables]
    for part in parts:
        part()

    # Code around it, and a table of digits that is no token table.
    before = bytearray(generator.randbytes(TABLES_AT // 16) * 16)
    before[0x1000:0x1014] = b"".join(b"%d\0" % i for i in range(10))
    after = generator.randbytes(0x1000)
    with open(image_path, "wb") as image:
        image.write((b"" if len(sys.argv) > 4 else bytes(before)) + bytes(out.bytes) + after[:64 if len(sys.argv) > 4 else None])
    with open(list_path, "w") as text:
        for address, kind, name, _ in symbols:
            text.write(f"{address:0{bits // 4}x} {kind} {name}\n")


main()
