"""Tests of user_program.py: archives read back by cpio, and samples counted and judged, with hand-written input."""
import gzip
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from ringside_tests.harness import user_program
from ringside_tests.harness.machine import GuestError

LISTING = """0000000010001000 T _start
0000000010001010 0000000000000020 T half
0000000010001030 0000000000000020 T third
0000000010001050 0000000000000020 T fifth
0000000010001070 0000000000000100 T run
"""
EXPECTED = {"half": 50.0, "third": 30.0, "fifth": 20.0}


def sample(address, level="user", disposition="sampled"):
    return {"level": level, "disposition": disposition, "stacks": [{"frames": [{"address": address}]}]}


class Initrd(unittest.TestCase):
    @unittest.skipUnless(shutil.which("cpio"), "no cpio")
    def test_the_archive_behind_the_first_holds_the_program(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            first = gzip.compress(b"any archive at all")
            (folder / "first").write_bytes(first)
            (folder / user_program.WORKLOAD).write_bytes(b"\x7fELF and 5 more")
            both = user_program.add_to_initrd(folder / "first", folder, folder / user_program.WORKLOAD).read_bytes()
            self.assertTrue(both.startswith(first))
            start = both.index(b"070701")
            self.assertEqual(start % 4, 0)
            self.assertLess(start - len(first), 4)
            (folder / "workload").mkdir()
            subprocess.run(["cpio", "--quiet", "-i"], cwd=folder, input=both[start:], check=True)
            unpacked = folder / "workload" / user_program.WORKLOAD
            self.assertEqual(unpacked.read_bytes(), b"\x7fELF and 5 more")
            self.assertEqual(unpacked.stat().st_mode & 0o777, 0o755)


class Measured(unittest.TestCase):
    def test_the_least_times_of_all_processes_count(self):
        shares = user_program.measured_shares("x\nshares: half 50 third 31 fifth 25\nshares: half 60 third 30 fifth 20\n")
        self.assertEqual(shares, EXPECTED)

    def test_a_guest_that_said_nothing_is_an_error(self):
        with self.assertRaises(GuestError):
            user_program.measured_shares("ringside-guest: ready workload=shares\n")


class Samples(unittest.TestCase):
    functions = user_program.Functions(LISTING)

    def test_addresses_belong_to_the_function_that_holds_them(self):
        names = [self.functions.name(address) for address in (0x1000100f, 0x10001010, 0x1000102f, 0x10001030, 0x10001170)]
        self.assertEqual(names, [None, "half", "half", "third", None])

    def test_a_program_without_the_functions_is_refused(self):
        with self.assertRaises(ValueError):
            user_program.Functions("0000000010001010 0000000000000020 T half\n")

    def test_only_samples_of_user_code_count(self):
        samples = [{"arch": "x86_64"}, sample("0x10001010"), sample("0x10001010", level="kernel"),
                   sample("0x10001010", disposition="lost"), sample("0x400000")]
        self.assertEqual(user_program.user_samples(self.functions, samples), {"half": 1, None: 1})

    def test_shares_near_the_truth_pass_and_others_fail(self):
        near = {"half": 5150, "third": 2900, "fifth": 1950}
        self.assertEqual(user_program.check("tcg", near, EXPECTED, 10000, 2.0)[1], [])
        far = {"half": 5250, "third": 2850, "fifth": 1900}
        self.assertEqual(user_program.check("tcg", far, EXPECTED, 10000, 2.0)[1],
                         ["tcg: half has 52.50 % of the user samples, and 50.00 % of the time"])
        self.assertEqual(len(user_program.check("tcg", near, EXPECTED, 10001, 2.0)[1]), 1)
        self.assertTrue(user_program.check("tcg", {}, EXPECTED, 0, 2.0)[1])

    def test_samples_elsewhere_in_user_code_count_in_the_whole(self):
        astray = {"half": 5000, "third": 3000, "fifth": 2000, None: 2000}
        self.assertEqual(len(user_program.check("gdb", astray, EXPECTED, 10000, 2.0)[1]), 3)


if __name__ == "__main__":
    unittest.main()
