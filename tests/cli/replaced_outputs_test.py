"""Outputs that replace a file, and outputs that are interrupted."""
import os
import pathlib
import signal
import stat
import subprocess
import time
import unittest

import cli_case
from cli_case import DONE, FAILED
from ringside_tests.harness import limits

STACKS = "".join(f"main;a{number % 97};b{number} {number % 7 + 1}\n" for number in range(40_000))


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


class Replaced(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in.folded").write_text("main;work 2\n")
        self.out = self.folder / "out.svg"

    def export(self, *texts):
        self.assertSays(self.ringside("export", "in.folded", "-o", "out.svg"), DONE, *texts)
        self.assertTrue(self.out.read_text().startswith("<?xml"))

    def test_keeps_the_mode(self):
        for kept in (0o600, 0o664, 0o444):
            self.out.write_text("old")
            self.out.chmod(kept)
            self.export()
            self.assertEqual(oct(mode(self.out)), oct(kept))
            self.out.unlink()

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_keeps_the_owner_and_the_group(self):
        self.out.write_text("old")
        os.chown(self.out, 1234, 2345)
        self.export()
        self.assertEqual((self.out.stat().st_uid, self.out.stat().st_gid), (1234, 2345))

    def test_says_that_other_names_keep_the_old_contents(self):
        self.out.write_text("old")
        (self.folder / "second").hardlink_to(self.out)
        self.export("out.svg had another name (hard link), which keeps the contents of before")
        self.assertEqual((self.folder / "second").read_text(), "old")

    def test_replaces_the_file_that_a_link_leads_to(self):
        (self.folder / "in").mkdir()
        self.out.symlink_to("in/file")
        for _ in range(2):  # one that is not there yet, too
            self.export()
            self.assertTrue(self.out.is_symlink())
        self.assertEqual(len(list((self.folder / "in").iterdir())), 1)

    def test_a_pipe_and_a_device_are_written_to(self):
        os.mkfifo(self.out)
        with subprocess.Popen(["cat", self.out], stdout=subprocess.PIPE) as reader:
            self.assertSays(self.ringside("export", "in.folded", "-o", "out.svg"), DONE)
            self.assertIn(b"work", reader.stdout.read())
        self.assertTrue(self.out.is_fifo())
        for device in ("/dev/null", "/dev/stdout"):
            self.assertSays(self.ringside("export", "in.folded", "--format", "svg", "-o", device), DONE)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_a_folder_of_symbols_keeps_its_mode(self):
        self.assertSays(self.ringside("import", "in.folded", "-o", "in.data"), DONE)
        made = self.folder / "out.perf.data.buildid"
        for _ in range(2):
            self.assertSays(self.ringside("export", "in.data", "-o", "out.perf.data"), DONE)
            self.assertEqual(oct(mode(made)), "0o700" if _ else oct(0o777 & ~self.umask()))
            made.chmod(0o700)

    @staticmethod
    def umask():
        mask = os.umask(0)
        os.umask(mask)
        return mask


class Interrupted(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "in.folded").write_text(STACKS)
        self.assertSays(self.ringside("import", "in.folded", "-o", "in.data"), DONE)
        self.before = self.names()

    def names(self):
        return {path.name for path in self.folder.iterdir()}

    def is_writing(self, process):
        """Whether it has a file open in the folder, with a name or without, that is not the input."""
        for link in pathlib.Path(f"/proc/{process.pid}/fd").glob("*"):
            try:
                target = os.readlink(link)
            except OSError:
                continue
            if target.startswith(str(self.folder) + "/") and pathlib.Path(target).name not in self.before:
                return True
        return False

    def interrupt(self, number, *arguments):
        command = [cli_case.program(), "export", "in.data", *arguments]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL) as process:
            end = time.monotonic() + limits.STEP
            while process.poll() is None and not self.is_writing(process) and time.monotonic() < end:
                pass
            process.send_signal(number)
            self.assertEqual(process.wait(limits.STEP), -number, "it was over before the signal came")

    def test_an_export_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            for name in ("out.pb.gz", "out.speedscope.json", "out.perf.data"):
                with self.subTest(signal=number, name=name):
                    self.interrupt(number, "-o", name)
                    self.assertEqual(self.names(), self.before)

    def test_an_export_that_finds_no_room_leaves_nothing(self):
        # A limit on the size of files, which a full disk is like.
        for name in ("out.pb.gz", "out.speedscope.json", "out.perf.data"):
            with self.subTest(name=name):
                result = self.ringside("export", "in.data", "-o", name, before=("prlimit", "--fsize=20000"))
                self.assertSays(result, FAILED, name, "too large")
                self.assertEqual(self.names(), self.before)


if __name__ == "__main__":
    cli_case.main()
