"""A small client of QEMU's machine protocol (QMP): commands, the human monitor, and events with QEMU's own times."""
import json
import select
import socket
import time

from ringside_tests.harness import limits


class QmpError(Exception):
    """QEMU refused a command, or the connection ended."""


class Qmp:
    """One connection to a `-qmp unix:PATH,server=on,wait=off` socket."""

    def __init__(self, path):
        self.events = []
        self._socket = _connect(path)
        self._socket.settimeout(limits.STEP)
        self._buffer = b""
        self._read_message()
        self.command("qmp_capabilities")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def fileno(self):
        return self._socket.fileno()

    def command(self, name, **arguments):
        """Runs a command and returns its answer; events that arrive meanwhile are kept."""
        return self._run({"execute": name, **({"arguments": arguments} if arguments else {})})

    def command_as(self, request_id, name):
        """The same under an id, which QEMU's trace shows."""
        return self._run({"execute": name, "id": request_id})

    def _run(self, request):
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            message = self._read_message()
            if "return" in message:
                return message["return"]
            if "error" in message:
                raise QmpError(f"{request['execute']}: {message['error'].get('desc')}")
            self._keep_event(message)

    def hmp(self, line):
        """Runs a command of the human monitor and returns its text."""
        return self.command("human-monitor-command", **{"command-line": line})

    def status(self):
        """The state that query-status names: running, paused, …"""
        return self.command("query-status")["status"]

    def wait_status(self, wanted, seconds):
        """Whether the state is the wanted one within that many seconds."""
        end = time.monotonic() + seconds
        while self.status() != wanted:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def take_events(self):
        """All events up to now, as (name, seconds by QEMU's clock); they are forgotten afterwards."""
        self.command("query-status")
        events, self.events = self.events, []
        return events

    def listen(self, seconds):
        """Keeps the events of that many seconds and sends nothing, so that QEMU is not disturbed."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if b"\n" in self._buffer or select.select([self._socket], [], [], left)[0]:
                self._keep_event(self._read_message())

    def _keep_event(self, message):
        if "event" in message:
            stamp = message["timestamp"]
            self.events.append((message["event"], stamp["seconds"] + stamp["microseconds"] / 1e6))

    def _read_message(self):
        while b"\n" not in self._buffer:
            piece = self._socket.recv(65536)
            if not piece:
                raise QmpError("QEMU closed the QMP socket")
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\n", 1)
        return json.loads(line)


def _connect(path):
    end = limits.step_end()
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
            return connection
        except OSError as error:
            connection.close()
            if time.monotonic() > end:
                raise QmpError(f"cannot connect to {path}: {error}") from error
            time.sleep(0.05)
