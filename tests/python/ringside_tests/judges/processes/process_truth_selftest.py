"""Tests of process_truth.py with hand-written truth and stacks."""
import unittest

from ringside_tests.judges.processes import process_truth

TRUTH = """\
# A comment.
process 60 server
share 20 server parse(int, char)
share 40 server sys_read
chain server _start;serve();parse(int, char)
below server _start;serve() entry;sys_read
process 40 other
share 40 other compute
chain other _start;compute
"""
KERNEL = {"entry", "sys_read", "irq"}
SOUND = [(("_start", "serve()", "parse(int, char)"), 20), (("_start", "serve()", "entry", "sys_read"), 40)]


class ProcessTruth(unittest.TestCase):
    def setUp(self):
        self.programs = process_truth.parse(TRUTH)

    def failures(self, stacks, whole=100):
        _, shares, others = process_truth.check_process(self.programs["server"], stacks, whole, 2.0, KERNEL.__contains__)
        return shares + others

    def test_a_sound_profile_passes(self):
        self.assertEqual(self.failures(SOUND), [])
        self.assertEqual(process_truth.check_absent(self.programs["server"], [self.programs["other"]], SOUND), [])

    def test_a_wrong_share_is_reported(self):
        self.assertIn("all of it: expected 60.00 %, got 54.55 % of the vCPU", self.failures(SOUND, 110))
        swapped = [(SOUND[0][0], 40), (SOUND[1][0], 20)]
        self.assertEqual(len(self.failures(swapped)), 2)
        self.assertTrue(self.failures([]))

    def test_illegal_stacks_are_reported(self):
        for bad in (("serve()", "parse(int, char)"), ("_start", "parse(int, char)"), ("_start", "entry", "sys_read"),
                    ("entry", "sys_read"), ("_start", "serve()", "parse(int, char)", "entry", "sys_read"),
                    ("compute", "irq")):
            failures = self.failures([*SOUND, (bad, 1)])
            self.assertEqual(len(failures), 2, bad)
            self.assertIn(";".join(bad), failures[1])

    def test_interrupts_may_come_over_any_legal_stack(self):
        self.assertEqual(self.failures([*SOUND, (("_start", "serve()", "irq"), 1), (("irq",), 1)]), [])

    def test_a_kernel_stack_may_stand_alone_where_that_is_said(self):
        self.programs["server"].may_lack_user = True
        self.assertEqual(self.failures([*SOUND, (("entry", "sys_read"), 1)]), [])
        self.assertEqual(len(self.failures([*SOUND, (("_start", "entry", "sys_read"), 1)])), 2)

    def test_what_the_last_process_does_at_the_end_is_left_out(self):
        leaving = ("_start", "entry", process_truth.LEAVING, "print()")
        self.assertEqual(process_truth.working([*SOUND, (leaving, 3)]), SOUND)

    def test_kernel_stacks_on_user_codes_are_counted(self):
        def failures(stacks):
            return process_truth.check_joined(stacks, KERNEL.__contains__, 97)[1]
        self.assertEqual(failures(SOUND), [])
        self.assertEqual(failures([*SOUND, (("entry", "sys_read"), 1)]), [])
        self.assertEqual(failures([*SOUND, (("entry", "sys_read"), 2)]),
                         ["kernel stacks on user code's: 95.24 % of 42", "    2 times: entry;sys_read"])
        self.assertTrue(failures([SOUND[0]]))

    def test_a_function_of_another_program_is_reported(self):
        found = process_truth.check_absent(self.programs["server"], [self.programs["other"]],
                                           [*SOUND, (("_start", "compute"), 3)])
        self.assertEqual(found, ["3 times a function of another program: _start;compute"])

    def test_a_bad_truth_file_is_refused(self):
        for bad in ("", "shares 3 a b", "process x server", "share 3 server", "below server a", "chain server"):
            with self.assertRaises(ValueError):
                process_truth.parse(bad)


if __name__ == "__main__":
    unittest.main()
