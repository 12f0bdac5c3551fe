#!/usr/bin/env python3
"""Checks the truth files against an ELF file: shares add up to 100, and every function they name is a symbol."""
import sys
import unittest

from symbols import Symbols
from truth import FOLDER, Truth

ELF = sys.argv.pop(1)


class TruthTest(unittest.TestCase):
    def setUp(self):
        self.truths = {path.stem: Truth(path.stem) for path in FOLDER.glob("*.txt")}

    def test_shares_add_up(self):
        for workload, truth in self.truths.items():
            self.assertAlmostEqual(sum(truth.shares.values()), 100, delta=0.05, msg=workload)

    def test_names_are_symbols(self):
        symbols = Symbols(ELF).names()
        for workload, truth in self.truths.items():
            self.assertEqual(truth.functions() - symbols - {"[user]"}, set(), msg=workload)

    def test_leaves_with_a_share_end_a_chain(self):
        for workload, truth in self.truths.items():
            self.assertEqual(set(truth.shares) - truth.functions() - {"[user]"}, set(), msg=workload)

    def test_what_is_legal(self):
        truth = self.truths["interrupts"]
        base = ("thread_start", "worker_main", "interrupts_round")
        device = ("irq_entry_device", "device_interrupt")
        completion = ("irq_entry_completion", "completion_interrupt", "complete_queue")
        ipi = ("irq_entry_ipi",)
        self.assertTrue(truth.is_legal(base))
        self.assertTrue(truth.is_legal(base + device + completion + ipi))
        self.assertFalse(truth.is_legal(base + device + completion + ipi + device), "four levels")
        self.assertFalse(truth.is_legal(base[1:]), "no root")
        self.assertFalse(truth.is_legal(base[:1] + base[2:]), "a skipped caller")
        self.assertFalse(truth.is_legal(base + device[1:]), "a skipped entry stub")
        self.assertFalse(truth.is_legal(()))


if __name__ == "__main__":
    unittest.main()
