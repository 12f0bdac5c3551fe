"""ringside doctor: what it says of QEMUs, a command line and a recording."""
import os
import sys

import cli_case
from cli_case import DONE, FAILED


class Doctor(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "path"
        self.bin.mkdir()
        for name in ("qemu-system-x86_64", "qemu-system-aarch64", "qemu-system-sparc"):
            (self.bin / name).write_text(f'#!/bin/sh\nexec {sys.executable} -B {cli_case.HERE}/fake_stub.py "$@"\n')
            (self.bin / name).chmod(0o755)

    def doctor(self, *arguments, version="10.0.2", path=None):
        return self.ringside("doctor", *arguments, environment={
            "PATH": path or f"{self.bin}:/usr/bin:/bin", "FAKE_QEMU_VERSION": version})

    def line(self, result, key):
        found = [line for line in result.stdout.splitlines() if line.strip().startswith(key + " ")]
        self.assertEqual(len(found), 1, result.stdout + result.said)
        return found[0]

    def test_qemus_of_known_architectures(self):
        result = self.doctor()
        self.assertEqual(result.returncode, DONE, result.said)
        self.assertIn("10.0.2: TCG plugin (API 4), gdb, QMP", self.line(result, "qemu-system-aarch64"))
        self.assertNotIn("sparc", result.stdout)
        self.assertIn(str(len(os.sched_getaffinity(0))), self.line(result, "processors"))
        old = self.line(self.doctor(version="7.2.22"), "qemu-system-x86_64")
        self.assertIn("no TCG plugin, which needs 9.2", old)
        self.assertIn("bookworm-backports", old)
        self.assertIn("API 5", self.line(self.doctor(version="10.1.0"), "qemu-system-x86_64"))
        self.assertIn("install", self.line(self.doctor(path=str(self.folder)), "none"))

    def test_a_command_line(self):
        result = self.doctor("--", "qemu-system-x86_64", "-s", version="7.2.22")
        self.assertIn("gdb: QEMU 7.2.22 found; the TCG plugin needs 9.2", self.line(result, "engine"))
        self.assertIn("9.2 or later", self.line(result, "better"))
        self.assertIn("gdb: the guest runs under hvf", self.line(self.doctor("--", "qemu-system-x86_64", "-accel", "hvf"),
                                                              "engine"))
        self.assertIn("is not QEMU", self.line(self.doctor("--", "make"), "make"))
        self.assertSays(self.doctor("--", "qemu-system-nothing"), FAILED, "qemu-system-nothing")

    def test_a_recording(self):
        result = self.doctor("-i", self.recording())
        self.assertEqual(result.returncode, DONE, result.said)
        stacks = int(self.line(result, "stacks").split()[1].rstrip(","))
        self.assertGreater(stacks, 0)
        report = self.ringside("report", "-i", "good.data", "--header")
        self.assertRegex(report.stdout, rf"\b{stacks}\b")
        self.assertSays(self.doctor("-i", "gone.data"), FAILED, "gone.data")


if __name__ == "__main__":
    cli_case.main()
