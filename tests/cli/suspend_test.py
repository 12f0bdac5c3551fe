"""Ctrl-Z (SIGTSTP) suspends ringside only while the guest runs: record and ps, many times, at any moment. SIGCONT takes it
back, and a second one suspends ringside at once."""
import contextlib
import os
import pathlib
import signal
import subprocess
import time

import cli_case
import fake_stub
from ringside_tests.harness import limits

def state_of(pid):
    """The letter of a process in /proc: T is suspended."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Suspend(cli_case.CliCase):
    @contextlib.contextmanager
    def runs(self, *arguments):
        """A run, which is ended afterwards."""
        # In a process group of its own, whose parent could continue it: else SIGTSTP does nothing.
        process = subprocess.Popen([cli_case.program(), *arguments, "--gdb", self.gdb], cwd=self.folder, process_group=0,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def suspended(self, *arguments, rounds=15):
        """Suspends a run again and again."""
        # The guest is held for most of the time.
        with fake_stub.FakeStub(self.gdb, delay=0.002) as stub, self.runs(*arguments) as process:
            for number in range(rounds):
                seen = stub.rounds
                self.assertTrue(limits.wait_until(lambda: stub.rounds > seen + 2), "it does not go on")
                time.sleep(0.003 * (number % 4))
                os.kill(process.pid, signal.SIGTSTP)
                self.assertTrue(limits.wait_until(lambda: state_of(process.pid) == "T"), "it does not suspend itself")
                # The stub may not have read yet what ringside wrote before.
                self.assertTrue(limits.wait_until(lambda: stub.running), f"round {number}: the guest is held")
                os.kill(process.pid, signal.SIGCONT)

    def test_record(self):
        self.suspended("record", "--interval", "10", "-o", "r.data")

    def test_ps(self):
        self.suspended("ps", "--patience", "60")

    def assertGoesOn(self, process, message=None):
        """Looks for as long as an idle machine needs ten times over to suspend a process."""
        for _ in range(30):
            time.sleep(0.005)
            self.assertNotEqual(state_of(process.pid), "T", message)

    def test_one_that_is_not_ready(self):
        # It waits for the stub's first answer for seconds, and then ends.
        with fake_stub.FakeStub(self.gdb, silent=True) as stub, self.runs("record", "-o", "r.data") as process:
            self.assertTrue(limits.wait_until(lambda: stub.has_client))
            os.kill(process.pid, signal.SIGTSTP)
            self.assertGoesOn(process)
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.05)
            os.kill(process.pid, signal.SIGTSTP)
            self.assertGoesOn(process, "SIGCONT does not take the first one back")
            os.kill(process.pid, signal.SIGTSTP)
            self.assertTrue(limits.wait_until(lambda: state_of(process.pid) in "TZ"))
            self.assertEqual(state_of(process.pid), "T", "a second one does not suspend it at once")


if __name__ == "__main__":
    cli_case.main()
