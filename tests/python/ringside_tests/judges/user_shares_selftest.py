"""Tests of user_shares.py: samples counted and judged, with hand-written input."""
import unittest

from ringside_tests.harness.machine import GuestError
from ringside_tests.judges import user_shares

LISTING = """0000000010001000 T _start
0000000010001010 0000000000000020 T half
0000000010001030 0000000000000020 T third
0000000010001050 0000000000000020 T fifth
0000000010001070 0000000000000100 T run
"""
EXPECTED = {"half": 50.0, "third": 30.0, "fifth": 20.0}


def sample(address, level="user", disposition="sampled"):
    return {"level": level, "disposition": disposition, "stacks": [{"frames": [{"address": address}]}]}


class Measured(unittest.TestCase):
    def test_the_least_times_of_all_processes_count(self):
        shares = user_shares.measured_shares("x\nshares: half 50 third 31 fifth 25\nshares: half 60 third 30 fifth 20\n")
        self.assertEqual(shares, EXPECTED)

    def test_a_guest_that_said_nothing_is_an_error(self):
        with self.assertRaises(GuestError):
            user_shares.measured_shares("ringside-guest: ready workload=shares\n")


class Samples(unittest.TestCase):
    functions = user_shares.Functions(LISTING)

    def test_addresses_belong_to_the_function_that_holds_them(self):
        names = [self.functions.name(address) for address in (0x1000100f, 0x10001010, 0x1000102f, 0x10001030, 0x10001170)]
        self.assertEqual(names, [None, "half", "half", "third", None])

    def test_a_program_without_the_functions_is_refused(self):
        with self.assertRaises(ValueError):
            user_shares.Functions("0000000010001010 0000000000000020 T half\n")

    def test_only_samples_of_user_code_count(self):
        samples = [{"arch": "x86_64"}, sample("0x10001010"), sample("0x10001010", level="kernel"),
                   sample("0x10001010", disposition="lost"), sample("0x400000")]
        self.assertEqual(user_shares.user_samples(self.functions, samples), {"half": 1, None: 1})

    def test_shares_near_the_truth_pass_and_others_fail(self):
        near = {"half": 5150, "third": 2900, "fifth": 1950}
        self.assertEqual(user_shares.check("tcg", near, EXPECTED, 10000, 2.0)[1], [])
        far = {"half": 5250, "third": 2850, "fifth": 1900}
        self.assertEqual(user_shares.check("tcg", far, EXPECTED, 10000, 2.0)[1],
                         ["tcg: half has 52.50 % of the user samples, and 50.00 % of the time"])
        self.assertEqual(len(user_shares.check("tcg", near, EXPECTED, 10001, 2.0)[1]), 1)
        self.assertTrue(user_shares.check("tcg", {}, EXPECTED, 0, 2.0)[1])

    def test_samples_elsewhere_in_user_code_count_in_the_whole(self):
        astray = {"half": 5000, "third": 3000, "fifth": 2000, None: 2000}
        self.assertEqual(len(user_shares.check("gdb", astray, EXPECTED, 10000, 2.0)[1]), 3)


if __name__ == "__main__":
    unittest.main()
