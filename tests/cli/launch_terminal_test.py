"""`ringside record -- COMMAND` at a terminal of its own (a pty): its progress line, and Ctrl-C."""
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

import cli_case
import launch_case
from cli_case import DONE
from ringside_tests.harness import limits

QEMU = "qemu-system-x86_64"
PROGRESS = re.compile(r"\r(recording[^\r\n\x1b]*)\x1b\[K")


class LaunchTerminal(launch_case.LaunchCase):
    def setUp(self):
        super().setUp()
        self.pids = self.folder / "pids"
        self.script(self.bin / QEMU, f'echo $$ >> {self.pids}; exec {sys.executable} -B {cli_case.HERE}/fake_stub.py "$@"')

    def record(self, act, columns=80, options=()):
        """(status, what is written to the terminal) of a record of the stand-in; `act` gets (process, master, output)."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, **self.environment(2 * limits.STEP), "TMPDIR": str(self.folder),
                       "FAKE_QEMU_STATUS": "33"}
        process = subprocess.Popen(["setsid", "--ctty", "--wait", cli_case.program(), "record", *options, "--", QEMU], cwd=self.folder,
                                   env=environment, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        got = bytearray()

        def read():
            with contextlib.suppress(OSError):  # EIO: nobody has the other end open
                while piece := os.read(master, 65536):
                    got.extend(piece)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            act(process, master, got)
            process.wait(timeout=limits.STEP)
        finally:
            process.kill()
            process.wait()
            for pid in self.pids.read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        reader.join(limits.STEP)
        os.close(master)
        return process.returncode, got.decode(errors="replace")

    def test_the_progress_line_fits_the_terminal(self):
        def act(_, master, got):
            self.assertTrue(limits.wait_until(lambda: got.count(b"\rrecording") > 3))
            os.write(master, b"\x03")

        for columns in (20, 45, 80):
            with self.subTest(columns=columns):
                status, text = self.record(act, columns)
                self.assertEqual(status, DONE, text)
                lines = PROGRESS.findall(text)
                self.assertGreater(len(lines), 3, text)
                self.assertLess(max(map(len, lines)), columns)

    def test_a_bar_shows_how_much_is_done(self):
        def act(*_):
            pass

        _, text = self.record(act, columns=120, options=("--duration", "3", "--then-quit"))
        bars = re.findall(r"\[(#*)(-*)\] (\d+) % done, (?:(\d+) s left, )?", text)
        self.assertGreater(len(bars), 10, text)
        for done, rest, percent, _ in bars:
            self.assertEqual(len(done) + len(rest), 20)
            self.assertLessEqual(abs(5 * len(done) - int(percent)), 5)
        percents = [int(percent) for *_, percent, _ in bars]
        self.assertEqual(percents, sorted(percents))
        self.assertLess(percents[0], 30)
        self.assertGreater(percents[-1], 70)
        left = [int(seconds) for *_, seconds in bars if seconds]
        self.assertGreaterEqual(left[0], 2)
        self.assertLessEqual(left[-1], 1)

    def test_it_fits_a_terminal_that_gets_smaller(self):
        def act(_, master, got):
            self.assertTrue(limits.wait_until(lambda: got.count(b"\rrecording") > 3))
            fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
            so_far = got.count(b"\rrecording")
            self.assertTrue(limits.wait_until(lambda: got.count(b"\rrecording") > so_far + 3))
            os.write(master, b"\x03")

        _, text = self.record(act)
        lengths = [len(line) for line in PROGRESS.findall(text)]
        self.assertGreater(lengths[0], 30)
        self.assertLess(lengths[-1], 30)

    def test_a_second_ctrl_c_ends_ringside_though_qemu_is_suspended(self):
        def act(process, master, got):
            self.assertTrue(limits.wait_until(lambda: b"sampling 1 vCPU" in got))
            os.kill(int(self.pids.read_text().split()[-1]), signal.SIGSTOP)
            os.write(master, b"\x03")
            time.sleep(0.5)
            self.assertIsNone(process.poll(), "one Ctrl-C is for QEMU")
            os.write(master, b"\x03")

        status, text = self.record(act)
        self.assertEqual(status, DONE, text)
        self.assertRegex(text, "QEMU, process [0-9]+")


if __name__ == "__main__":
    cli_case.main()
