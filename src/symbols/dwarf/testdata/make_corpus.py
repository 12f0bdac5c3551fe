#!/usr/bin/env python3
"""Writes a corpus file of dwarf_fuzzer or dwarf_types_fuzzer: make_corpus.py OUTPUT PROGRAM [SPLIT [ALTERNATE]], or make_corpus.py --line OUTPUT PROGRAM.

The programs are those that ../programs.cmake builds, in BUILD/src/symbols/dwarf, and for corpus-types those of ../types.cmake, in
BUILD/src/symbols/dwarf_types; a SPLIT of - is none. ../fuzzed_file.h reads the format.
"""
import re
import subprocess
import sys

# As in fuzzed_file.h.
SECTIONS = [".debug_info", ".debug_abbrev", ".debug_str", ".debug_line_str", ".debug_str_offsets", ".debug_addr",
            ".debug_ranges", ".debug_rnglists", ".debug_line", ".debug_aranges", ".debug_cu_index"]


def sections_of(path):
    with open(path, "rb") as file:
        content = file.read()
    listing = subprocess.run(["readelf", "-SW", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    for match in re.finditer(r"\] (\.debug_\S+)\s+\S+\s+[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", listing):
        offset, size = int(match[2], 16), int(match[3], 16)
        yield match[1].removesuffix(".dwo"), content[offset:offset + size]


def main(arguments):
    if arguments[0] == "--line":
        data = dict(sections_of(arguments[2]))[".debug_line"]
        with open(arguments[1], "wb") as out:
            out.write(data)
        return
    with open(arguments[0], "wb") as out:
        for number, path in enumerate(arguments[1:]):
            for name, data in sections_of(path) if path != "-" else ():
                if name in SECTIONS:
                    out.write(bytes([SECTIONS.index(name) + 16 * number]) + len(data).to_bytes(2, "little") + data)


if __name__ == "__main__":
    main(sys.argv[1:])
