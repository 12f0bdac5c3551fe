"""Base of the tests of the command line: the program under test, a folder for each test, a recording to read."""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from fake_stub import FakeStub
from ringside_tests.harness import limits

# A shell has what it starts with & ignore SIGINT, and what that starts inherits it; a handler is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
HERE = pathlib.Path(__file__).resolve().parent
DONE, FAILED, WRONG_USAGE, NOT_RECORDED = 0, 1, 2, 125
_options = argparse.Namespace()


def program():
    return _options.ringside


def built(name):
    """A program that was built for these tests."""
    path = pathlib.Path(_options.stand_in or "none").resolve().with_name(name)
    if not path.exists():
        raise unittest.SkipTest(f"no {name}: build that target")
    return path


class CliCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.gdb = str(self.folder / "gdb")

    def ringside(self, *arguments, stdout=subprocess.PIPE, environment=(), before=()):
        """Runs the program in the test's folder. The result's `said` is what it wrote to standard error."""
        command = [*before, _options.ringside, *map(str, arguments)]
        result = subprocess.run(command, cwd=self.folder, check=False, text=True, stdin=subprocess.DEVNULL,
                                stdout=stdout, stderr=subprocess.PIPE, timeout=limits.STEP,
                                env={**os.environ, "XDG_RUNTIME_DIR": "", "TMPDIR": str(self.folder),
                                     "XDG_CACHE_HOME": str(self.folder / "cache"),
                                     **dict(environment)})
        result.said = result.stderr
        return result

    def stand_in(self, path):
        """Puts an ELF program there that acts as fake_stub.py does; its environment is the result."""
        if not (_options.stand_in and os.access(_options.stand_in, os.X_OK)):
            self.skipTest("no stand-in for QEMU: build the target ringside_stand_in")
        path.parent.mkdir(exist_ok=True)
        shutil.copy2(_options.stand_in, path)  # with its time: the same file again
        return {"FAKE_QEMU_PYTHON": sys.executable, "FAKE_QEMU": str(HERE / "fake_stub.py")}

    def record(self, *arguments, **fault):
        """Records from a fake stub; returns (the result, the stub)."""
        with FakeStub(self.gdb, **fault) as stub:
            arguments = arguments or ("--duration", "0.2")
            return self.ringside("record", "--gdb", self.gdb, *arguments), stub

    def recording(self, *arguments):
        """A good recording's path."""
        result, _ = self.record("-o", "good.data", *(arguments or ("--duration", "0.2")))
        self.assertEqual(result.returncode, DONE, result.said)
        return self.folder / "good.data"

    def assertSays(self, result, status, *texts):
        """The exit status, and texts in the one message on standard error, whatever their case."""
        self.assertEqual(result.returncode, status, result.said)
        for text in texts:
            self.assertIn(text.lower(), result.said.lower())
        if status == FAILED:
            self.assertRegex(result.said, "(?m)^ringside: ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--stand-in", type=os.path.abspath, help="the program of stand_in.cpp")
    _, rest = parser.parse_known_args(namespace=_options)
    unittest.main(module="__main__", argv=[sys.argv[0], *rest])
