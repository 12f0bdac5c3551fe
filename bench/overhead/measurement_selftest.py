#!/usr/bin/env python3
"""Tests of how a measurement ends. No guest, no ringside."""
import contextlib
import io
import subprocess
import unittest

import measurement
from ringside_tests.harness import linux_guest, machine, qmp


class OwnError(Exception):
    pass


class ExitStatus(unittest.TestCase):
    def end(self, error, *errors):
        """The exit status of a measurement that raises, and what it says."""
        def run():
            if error:
                raise error
        with contextlib.redirect_stderr(io.StringIO()) as said:
            return measurement.exit_status("name", run, *errors), said.getvalue()

    def test_the_reason_is_said_behind_the_name(self):
        self.assertEqual(self.end(None), (0, ""))
        self.assertEqual(self.end(linux_guest.NoNetwork("none")), (linux_guest.NO_NETWORK, "name: skipped: none\n"))
        for error in (machine.GuestError("why"), qmp.QmpError("why"), OSError("why"), subprocess.SubprocessError("why")):
            self.assertEqual(self.end(error), (1, "name: why\n"))

    def test_only_errors_that_are_named_end_it(self):
        self.assertEqual(self.end(OwnError("own"), OwnError), (1, "name: own\n"))
        with self.assertRaises(OwnError):
            self.end(OwnError("own"))


if __name__ == "__main__":
    unittest.main()
