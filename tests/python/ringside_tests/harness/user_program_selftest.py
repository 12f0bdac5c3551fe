"""Tests of user_program.py: archives read back by cpio."""
import gzip
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from ringside_tests.harness import user_program


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


if __name__ == "__main__":
    unittest.main()
