"""A program under test: started in a process group of its own, with a mark in its environment by which all of its
processes, also those that left the group, can be found and ended."""
import os
import pathlib
import signal
import subprocess
import time
import uuid

_MARK = "RINGSIDE_TEST_RUN"
# A shell has what it starts with & ignore SIGINT, and what that starts inherits it; a handler is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Program:
    """command: list of arguments. log: file that gets its stdout and stderr."""

    def __init__(self, command, log, environment=()):
        self.log = pathlib.Path(log)
        self._mark = f"{_MARK}={uuid.uuid4().hex}".encode()
        name, value = self._mark.decode().split("=")
        with open(self.log, "wb") as log_file:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log_file, stderr=log_file,
                                            env={**os.environ, **dict(environment), name: value},
                                            start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill_alone()
        for pid in self.left_over():
            _kill(pid)

    def said(self):
        return self.log.read_text(errors="replace")

    def wait_said(self, text, seconds):
        """Whether the program has written the text within that many seconds; False also when it ended without."""
        end = time.monotonic() + seconds
        while text not in self.said():
            if self.process.poll() is not None or time.monotonic() > end:
                return text in self.said()
            time.sleep(0.005)
        return True

    def wait_end(self, seconds):
        """The exit status, or None when it still runs after that many seconds."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def kill_alone(self):
        """SIGKILL to the program's first process only."""
        self.process.kill()
        self.process.wait()

    def kill_group(self):
        """SIGKILL to its process group."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def left_over(self):
        """The process ids that carry this run's mark, the first process not among them."""
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != self.process.pid:
                try:
                    if self._mark in (folder / "environ").read_bytes().split(b"\0"):
                        found.append(int(folder.name))
                except OSError:
                    pass  # it has ended, or is not ours
        return found

    def wait_nothing_left(self, seconds):
        """The process ids still there after that many seconds; empty is good."""
        end = time.monotonic() + seconds
        while (left := self.left_over()) and time.monotonic() < end:
            time.sleep(0.02)
        return left


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
