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
                self.assertTrue(cli_case.wait_until(lambda: stub.rounds > seen + 2), "it does not go on")
                time.sleep(0.003 * (number % 4))
                os.kill(process.pid, signal.SIGTSTP)
                self.assertTrue(cli_case.wait_until(lambda: state_of(process.pid) == "T"), "it does not suspend itself")
                # The stub may not have read yet what ringside wrote before.
                self.assertTrue(cli_case.wait_until(lambda: stub.running), f"round {number}: the guest is held")
                os.kill(process.pid, signal.SIGCONT)

    def test_record(self):
        self.suspended("record", "--interval", "10", "-o", "r.data")

    def test_ps(self):
        self.suspended("ps", "--patience", "60")

    def suspends_within(self, process, seconds):
        return cli_case.wait_until(lambda: state_of(process.pid) == "T", seconds)

    def test_one_that_is_not_ready(self):
        # It waits for the stub's first answer for seconds.
        with fake_stub.FakeStub(self.gdb, silent=True) as stub, self.runs("record", "-o", "r.data") as process:
            self.assertTrue(cli_case.wait_until(lambda: stub.has_client))
            os.kill(process.pid, signal.SIGTSTP)
            self.assertFalse(self.suspends_within(process, 0.15))
            os.kill(process.pid, signal.SIGCONT)
            time.sleep(0.05)
            os.kill(process.pid, signal.SIGTSTP)
            self.assertFalse(self.suspends_within(process, 0.15), "SIGCONT does not take the first one back")
            os.kill(process.pid, signal.SIGTSTP)
            self.assertTrue(self.suspends_within(process, 0.5), "a second one does not suspend it at once")


if __name__ == "__main__":
    cli_case.main()
