"""Tests of how perf_witness.py reads what perf prints."""
import unittest

from ringside_tests.judges import perf_witness

# As perf 6.1 prints them: in a block, in a helper that a block called, in QEMU's main loop.
PRINTED = """    7f6c0a86cec8 guest-0xffffffff819c2a1e

          3b2a10 helper_lookup_tb_ptr
    7f6c0a86d000 guest-0x47b705
    7f6c0a800018 tcg-prologue-buffer
          5a1000 cpu_exec

          5a1234 curr_cflags
          5a2000 cpu_exec

"""


class Charge(unittest.TestCase):
    def test_the_block_counts(self):
        blocks, elsewhere = perf_witness.charge(PRINTED)
        self.assertEqual(dict(blocks), {0xffffffff819c2a1e: 1, 0x47b705: 1})
        self.assertEqual(elsewhere, 1)

    def test_nothing_is_nothing(self):
        self.assertEqual(perf_witness.charge(""), ({}, 0))


class Agree(unittest.TestCase):
    SHARE = {"perf": {"handle_exception": 6, "clear_user": 16, perf_witness.BETWEEN: 24},
             "tcg": {"handle_exception": 19, "clear_user": 19}}

    def agree(self, name, tcg, is_entry):
        share = {**self.SHARE, "tcg": {**self.SHARE["tcg"], name: tcg}}
        return perf_witness.agree(share, name, 6, is_entry)

    def test_the_entry_may_have_what_is_between_blocks(self):
        self.assertTrue(self.agree("handle_exception", 19, True))
        self.assertFalse(self.agree("handle_exception", 19, False))
        self.assertFalse(self.agree("handle_exception", 54, True))

    def test_less_than_perf_is_wrong(self):
        self.assertFalse(self.agree("clear_user", 9, True))
        self.assertTrue(self.agree("clear_user", 19, False))


if __name__ == "__main__":
    unittest.main()
