"""One gdb that stays up and stops the guest for each sample, driven through gdb's machine interface (MI).

Between rounds it detaches, because a stub serves one client at a time, and keeps its symbols: what it has read
once it need not read again, as if it had stayed attached.
"""
import os
import selectors
import subprocess
import time


class GdbError(Exception):
    """gdb refused a command, ended, or did not answer in time."""


class AttachedGdb:
    def __init__(self, vmlinux, timeout=120):
        self._timeout = timeout
        self._buffer = b""
        self._process = subprocess.Popen(["gdb", "-nx", "-q", "--interpreter=mi3"], stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        for command in ("-gdb-set mi-async on", "-gdb-set pagination off", "-gdb-set confirm off",
                        "-gdb-set debuginfod enabled off", f"-file-exec-and-symbols {vmlinux}"):
            self._run(command)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends gdb. When it is attached its end of the socket closes; the caller looks after the guest."""
        self._selector.close()
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def attach(self, socket_path):
        self._run(f"-target-select remote {socket_path}", done="^connected")
        self._run("-exec-continue", done="^running")

    def sample(self):
        """Stops the guest, takes the stacks of all vCPUs, lets it run again; returns what gdb printed."""
        self._send("-exec-interrupt")
        self._wait_for("*stopped")
        printed = self._run('-interpreter-exec console "thread apply all bt"')
        self._run("-exec-continue", done="^running")
        return printed

    def detach(self):
        """Leaves the guest running and the stub free."""
        self._send("-exec-interrupt")
        self._wait_for("*stopped")
        self._run("-target-detach")

    def _run(self, command, done="^done"):
        self._send(command)
        return self._wait_for(done)

    def _send(self, command):
        self._process.stdin.write(command.encode() + b"\n")
        self._process.stdin.flush()

    def _wait_for(self, start):
        """Reads lines up to one that starts so; returns the console's text of the lines before."""
        console = []
        end = time.monotonic() + self._timeout
        while True:
            line = self._read_line(end)
            if line.startswith(start):
                return "".join(console)
            if line.startswith("^error"):
                raise GdbError(line)
            if line.startswith("~"):
                console.append(line[2:-1].replace("\\n", "\n"))

    def _read_line(self, end):
        while b"\n" not in self._buffer:
            if not self._selector.select(max(0, end - time.monotonic())):
                raise GdbError("gdb does not answer")
            piece = os.read(self._process.stdout.fileno(), 65536)
            if not piece:
                raise GdbError("gdb ended")
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return line.decode(errors="replace")
