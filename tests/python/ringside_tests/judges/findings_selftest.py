"""Tests of findings.py with a program that prints the head of a report."""
import contextlib
import io
import pathlib
import tempfile
import unittest

from ringside_tests.harness import launched, limits
from ringside_tests.judges import findings

SILENT = "#     sampled    60\n#     lost    50\n"
BENT = f"# warning : {launched.BENT}: it did not run the vCPU\n" + SILENT
CROWDED = f"# warning : {launched.CROWDED}\n" + SILENT


class Findings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.ringside = pathlib.Path(folder.name, "ringside")
        self.ringside.write_text('#!/bin/sh\nfor recording; do :; done\ncat "$recording"\n')
        self.ringside.chmod(0o755)
        self.found = findings.Findings(str(self.ringside), limits.test_end())

    def recording(self, header):
        path = self.ringside.parent / str(len(list(self.ringside.parent.iterdir())))
        path.write_text(header)
        return path

    def verdict(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            verdict = self.found.verdict()
        return verdict, said.getvalue()

    def test_what_is_right_is_right(self):
        self.found.add()
        self.found.add_shares([], self.recording(SILENT))
        self.found.add_few([], self.recording(SILENT), 100)
        self.assertEqual(self.verdict(), (0, ""))

    def test_wrong_shares_of_a_silent_recording_are_wrong(self):
        self.found.add_shares(["a has 30 %"], self.recording(SILENT))
        verdict, said = self.verdict()
        self.assertEqual(verdict, "the recording is wrong")
        self.assertEqual(said, "FAILED: a has 30 %, and no recording says that its shares are bent\n")

    def test_those_of_one_that_says_so_are_excused(self):
        for header, expected in ((BENT, launched.BENT), (CROWDED, launched.CROWDED)):
            with contextlib.redirect_stdout(io.StringIO()):
                self.found.add_shares(["a has 30 %"], self.recording(SILENT), self.recording(header))
            self.assertEqual(self.verdict(), (expected, ""))

    def test_another_failure_of_such_a_one_is_not(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.found.add_shares(["a has 30 %"], self.recording(BENT))
        self.found.add("a stack is not legal")
        self.assertEqual(self.verdict(), ("the recording is wrong", "FAILED: a stack is not legal\n"))

    def test_too_few_samples_are_excused_by_as_many_lost_ticks(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.found.add_few(["60 samples, 110 wanted"], self.recording(SILENT), 110)
        self.assertEqual(self.verdict(), (launched.BENT, ""))
        self.found.add_few(["60 samples, 111 wanted"], self.recording(SILENT), 111)
        self.assertEqual(self.verdict()[0], "the recording is wrong")


if __name__ == "__main__":
    unittest.main()
