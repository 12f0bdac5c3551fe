"""Tests of what write_path.py demands of a profile, with hand-written stacks."""
import contextlib
import io
import unittest

from ringside_tests.harness import folded
from ringside_tests.judges import write_path

GOOD = """[user] 40
entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_write;vfs_write;shmem_file_write_iter 50
entry_SYSCALL_64_after_hwframe;do_syscall_64;ksys_read;vfs_read 60
"""


class Profile(unittest.TestCase):
    def check(self, text):
        with contextlib.redirect_stdout(io.StringIO()):
            return write_path.check(folded.parse(text))

    def test_a_profile_with_the_write_path_passes(self):
        self.assertEqual(self.check(GOOD), [])

    def test_without_the_write_path_it_fails(self):
        self.assertIn("under ksys_write;vfs_write", self.check(GOOD.replace("ksys_write;", ""))[0])

    def test_unknown_frames_fail(self):
        self.assertIn("unknown frame", self.check(GOOD + "ksys_write;<unknown:0x10>;vfs_write 10\n")[0])

    def test_an_empty_profile_fails(self):
        self.assertTrue(self.check(""))


if __name__ == "__main__":
    unittest.main()
