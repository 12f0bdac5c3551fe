"""Tests of how qemu_matrix.py makes a test's command fit the QEMU that it runs."""
import unittest

import qemu_matrix

COMMAND = ["python3", "a_test.py", "--plugin", "libringside-tcg.so", "--limit", "100"]


class WithPlugin(unittest.TestCase):
    def test_the_plugin_is_that_of_the_qemu(self):
        self.assertEqual(qemu_matrix.with_plugin(COMMAND, "libringside-tcg-7.so"),
                         ["python3", "a_test.py", "--plugin", "libringside-tcg-7.so", "--limit", "100"])

    def test_without_one_the_stub_is_left(self):
        self.assertEqual(qemu_matrix.with_plugin(COMMAND, None),
                         ["python3", "a_test.py", "--engines", "gdb", "--limit", "100"])

    def test_a_test_that_names_none_stays(self):
        self.assertEqual(qemu_matrix.with_plugin(["python3", "b_test.py"], None), ["python3", "b_test.py"])


class BundledTests(unittest.TestCase):
    def test_what_needs_the_plugin_is_left_out(self):
        tests = dict(qemu_matrix.bundled_tests(qemu_matrix.HERE, None, ["launch", "launch.tcg"]))
        self.assertIsNone(tests["launch.tcg"])
        self.assertIn("ctrl-c", tests["launch"])


if __name__ == "__main__":
    unittest.main()
