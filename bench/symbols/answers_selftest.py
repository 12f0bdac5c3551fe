"""Tests of how the symbol benchmark reads and compares answers."""
import unittest

import answers

BLOCKS = "inner\n/src/a.h:3:5\nouter\n/src/a.c:10:1\n\n??\n??:0:0\n\n"
ADDR2LINE = "0x0000000000001000\ninner\n/src/a.h:3\nouter\n/src/a.c:10 (discriminator 2)\n0x0000000000002000\n??\n??:?\n"
EU_ADDR2LINE = "0x1000\ninner inlined at /src/a.c:10 in outer\n/src/a.h:3\nouter\n/src/a.c:10\n"


class Reading(unittest.TestCase):
    def test_blocks(self):
        found = answers.parse_blocks(BLOCKS)
        self.assertEqual(found[0], [answers.Frame("inner", "/src/a.h", 3, 5), answers.Frame("outer", "/src/a.c", 10, 1)])
        self.assertEqual(found[1], [answers.Frame("??", "??", 0, 0)])

    def test_addr2line(self):
        found = answers.parse_addr2line(ADDR2LINE)
        self.assertEqual([(f.function, f.line) for f in found[0]], [("inner", 3), ("outer", 10)])
        self.assertEqual([(f.function, f.line) for f in found[1]], [("??", 0)])

    def test_eu_addr2line(self):
        found = answers.parse_addr2line(EU_ADDR2LINE)
        self.assertEqual([f.function for f in found[0]], ["inner", "outer"])


class Comparing(unittest.TestCase):
    symbols = answers.Symbols("10 T one\n10 T alias\n20 T two\n")

    def compare(self, ours, theirs, columns=True):
        return answers.classify([answers.Frame(*f) for f in ours], [answers.Frame(*f) for f in theirs], self.symbols,
                                columns)

    def test_the_same(self):
        self.assertIsNone(self.compare([("one", "a.c", 1, 2)], [("one", "a.c", 1, 2)]))

    def test_columns_and_folders_count_only_where_both_have_them(self):
        self.assertIsNone(self.compare([("one", "/x/a.c", 1, 2)], [("one", "a.c", 1, 0)], columns=False))
        self.assertEqual(self.compare([("one", "a.c", 1, 2)], [("one", "a.c", 1, 3)]), "another line")

    def test_classes(self):
        self.assertEqual(self.compare([("one", "a.c", 1, 2)], [("alias", "a.c", 1, 2)]),
                         "another name of the same address")
        self.assertEqual(self.compare([("f.cold", "a.c", 1, 2)], [("f", "a.c", 1, 2)]),
                         "with or without the suffix of a clone (.isra.0, .cold)")
        self.assertEqual(self.compare([("one", "a.c", 1, 2)], [("two", "a.c", 2, 2)]),
                         "another function; another line")
        self.assertEqual(self.compare([("one", "a.c", 1, 2)], [("one", "b.h", 1, 2)]), "the same line of another file")
        self.assertEqual(self.compare([("one", "a.c", 1, 2)], []), "another number of frames")


if __name__ == "__main__":
    unittest.main()
