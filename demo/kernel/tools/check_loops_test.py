#!/usr/bin/env python3
"""Feeds check_loops.py what it must reject: that it is silent about good files is worth nothing otherwise."""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import check_loops

BASE = 0xFFFFFFFF80100000


def elf_with_section(name: bytes, content: bytes) -> bytes:
    """The least 64-bit ELF file with one named section."""
    names = b"\0.shstrtab\0" + name + b"\0"
    names_at, content_at = 64, 64 + len(names)
    table_at = content_at + len(content)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    header += struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, table_at, 0, 64, 0, 0, 64, 3, 1)
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    sections += struct.pack("<IIQQQQIIQQ", 11, 1, 0, 0, content_at, len(content), 0, 0, 1, 0)
    return header + names + content + sections


def status(elf: bytes) -> int:
    with tempfile.NamedTemporaryFile() as file:
        file.write(elf)
        file.flush()
        script = pathlib.Path(__file__).with_name("check_loops.py")
        return subprocess.run([sys.executable, script, file.name], stderr=subprocess.DEVNULL).returncode


def loops(*ranges: tuple[int, int]) -> bytes:
    return elf_with_section(b".ringside_loops", b"".join(struct.pack("<QQ", *loop) for loop in ranges))


class CheckLoopsTest(unittest.TestCase):
    def test_loop_inside_a_page(self):
        self.assertEqual(status(loops((BASE, BASE + 49))), 0)

    def test_loop_up_to_the_end_of_a_page(self):
        self.assertEqual(status(loops((BASE + 4047, BASE + 4096))), 0)

    def test_loop_across_a_page(self):
        self.assertEqual(status(loops((BASE, BASE + 49), (BASE + 4048, BASE + 4097))), 1)

    def test_backward_range(self):
        self.assertEqual(status(loops((BASE + 49, BASE))), 1)

    def test_no_loops(self):
        self.assertEqual(status(loops()), 1)

    def test_no_section(self):
        self.assertEqual(status(elf_with_section(b".text", b"")), 1)

    def test_message_names_the_loop(self):
        self.assertEqual(check_loops.find_faults([(0x1FF0, 0x2010)]), ["loop 0x1ff0..0x2010 crosses a page"])


if __name__ == "__main__":
    unittest.main()
