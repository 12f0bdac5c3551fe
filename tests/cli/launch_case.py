"""A stand-in for QEMU in PATH, for tests of `ringside record -- COMMAND`."""
import os
import sys

import cli_case
from cli_case import DONE
from ringside_tests.harness import limits


class LaunchCase(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "path"
        self.bin.mkdir()
        self.log = self.folder / "options"
        self.script(self.bin / "qemu-system-x86_64", f'exec {sys.executable} -B {cli_case.HERE}/fake_stub.py "$@"')
        self.script(self.folder / "run.sh", 'echo starting; qemu-system-x86_64 -m 64 "$@"')

    def script(self, path, text):
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def environment(self, seconds):
        return {"PATH": f"{self.bin}:{os.environ['PATH']}", "FAKE_QEMU_LOG": str(self.log),
                "FAKE_QEMU_SECONDS": str(seconds)}

    def launch(self, *command, options=("--duration", "0.2", "--then-quit"), seconds=2 * limits.STEP, **how):
        return self.ringside("record", *options, "--", *command, environment=self.environment(seconds), **how)

    def options(self):
        """The arguments that the stand-in was started with."""
        return [line[1:-1] for line in self.log.read_text().splitlines()]

    def assertRecorded(self, result):
        self.assertSays(result, DONE, "sampling 1 vCPU")
        self.assertRegex(self.ringside("export").stdout, r" [1-9]\d*\n$")
