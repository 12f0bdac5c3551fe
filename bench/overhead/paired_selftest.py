#!/usr/bin/env python3
"""Tests of the overhead benchmark's arithmetic and of the archive that its guest boots from. No guest, no ringside."""
import math
import pathlib
import subprocess
import tempfile
import unittest

import guest_image
import paired


class Interval(unittest.TestCase):
    def test_of_ratios_1_2_4(self):
        # Logarithms 0, ln 2, 2 ln 2: mean ln 2, deviation ln 2; t with 2 degrees of freedom is 4.303.
        result = paired.overhead([(1, 1), (1, 2), (1, 4)])
        half = 4.303 / math.sqrt(3)
        self.assertEqual(result.pairs, 3)
        self.assertAlmostEqual(result.mean, 1.0)
        self.assertAlmostEqual(result.low, 2 ** (1 - half) - 1)
        self.assertAlmostEqual(result.high, 2 ** (1 + half) - 1)

    def test_only_the_ratio_of_each_pair_counts(self):
        slow_machine = [(10, 10.2), (20, 20.6), (1, 1.025)]
        quiet_machine = [(1, 1.02), (1, 1.03), (1, 1.025)]
        for value, other in zip(vars(paired.overhead(slow_machine)).values(),
                                vars(paired.overhead(quiet_machine)).values()):
            self.assertAlmostEqual(value, other)

    def test_more_pairs_than_the_table_has(self):
        result = paired.overhead([(1, 1.01), (1, 1.03)] * 50)
        self.assertTrue(0.0175 < result.low < result.mean < result.high < 0.0225)

    def test_pairs_that_are_all_alike(self):
        result = paired.overhead([(2, 2.1)] * 4)
        self.assertAlmostEqual(result.low, 0.05)
        self.assertAlmostEqual(result.high, 0.05)


class Verdict(unittest.TestCase):
    def verdict(self, low, high):
        return paired.Overhead(15, (low + high) / 2, low, high).verdict(0.05)

    def test_under_and_over(self):
        self.assertEqual(self.verdict(0.01, 0.03), "under")
        self.assertEqual(self.verdict(-0.02, 0.01), "under")
        self.assertEqual(self.verdict(0.06, 0.08), "over")
        self.assertEqual(self.verdict(0.06, 0.20), "over")  # however wide: none of it keeps the bar

    def test_not_resolved(self):
        self.assertEqual(self.verdict(0.04, 0.06), "not resolved")
        self.assertEqual(self.verdict(-0.06, 0.04), "not resolved")  # below the bar, but as wide as two bars


class Archive(unittest.TestCase):
    def test_cpio_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            unpacked = subprocess.run(["cpio", "-idm", "--quiet"], cwd=folder, check=True, stderr=subprocess.PIPE,
                                      input=guest_image.archive({"init": b"five!", "another": b""}))
            self.assertEqual(unpacked.stderr, b"")
            self.assertEqual((pathlib.Path(folder) / "init").read_bytes(), b"five!")
            self.assertEqual((pathlib.Path(folder) / "init").stat().st_mode, 0o100755)
            self.assertEqual((pathlib.Path(folder) / "another").read_bytes(), b"")


if __name__ == "__main__":
    unittest.main()
