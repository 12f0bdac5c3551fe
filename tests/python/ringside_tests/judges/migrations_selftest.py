#!/usr/bin/env python3
"""Tests of migrations.py."""
import unittest

from ringside_tests.judges.migrations import ABORT, DOUBLE_RUN, LEFT_PAUSED, RIGHT, Outcome, judge


class Judge(unittest.TestCase):
    def test_each_outcome(self):
        self.assertEqual(judge(Outcome("postmigrate", False, "running", True)), RIGHT)
        self.assertEqual(judge(Outcome("postmigrate", False, "paused", False)), LEFT_PAUSED)
        self.assertEqual(judge(Outcome(None, False, "running", True)), ABORT)
        for destination in ("running", "paused"):
            self.assertEqual(judge(Outcome("running", True, destination, False)), DOUBLE_RUN)
            self.assertEqual(judge(Outcome("postmigrate", True, destination, True)), DOUBLE_RUN)

    def test_what_no_migration_should_show(self):
        for outcome in (Outcome("postmigrate", False, "running", False), Outcome("finish-migrate", False, "running", True),
                        Outcome("postmigrate", False, "inmigrate", False)):
            self.assertIn("wrong", judge(outcome))


if __name__ == "__main__":
    unittest.main()
