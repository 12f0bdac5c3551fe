#!/usr/bin/env python3
"""The guest runs on where ringside gives up on its gdb stub before that has answered.

    late_stub_test.py --ringside PROGRAM --kernel ELF [CASE …]

Another client has the stub, or QEMU does not answer in time. QEMU gets to ringside's connection later, and stops the
guest for it. Exit status: 0 as it should be, 1 not.
"""
import os
import pathlib
import signal
import socket
import sys
import tempfile

import argparse
from ringside_tests.harness import guest_options, limits, machine, program



class Failed(Exception):
    """A check that failed; the message describes it."""


def packet(body):
    return b"$" + body + b"#%02x" % (sum(body) & 255)


class Debugger:
    """A client that holds the stub while the guest runs, and detaches."""

    def __init__(self, address):
        self._socket = socket.socket(socket.AF_UNIX if isinstance(address, str) else socket.AF_INET)
        self._socket.settimeout(limits.STEP)
        self._socket.connect(address)
        self._ask(b"+" + packet(b"qSupported:multiprocess+"), b"PacketSize")
        self._socket.sendall(b"+" + packet(b"c"))

    def _ask(self, request, answer):
        self._socket.sendall(request)
        got = b""
        while answer not in got:
            data = self._socket.recv(65536)
            if not data:
                raise Failed(f"the stub closed the connection after {request}")
            got += data

    def detach(self):
        self._ask(b"+\x03#00" + packet(b"D;1"), b"$OK#9a")
        self._socket.close()


class Case:
    """A guest whose stub is at `unix`, a path, or after open_tcp() at `tcp`, host and port."""

    def __init__(self, options, guest, folder):
        self._options, self._folder = options, folder
        self.guest, self.unix = guest, guest.gdb

    def open_tcp(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = taken.getsockname()
        self.guest.qmp.hmp("gdbserver none")
        self.guest.qmp.hmp(f"gdbserver tcp:127.0.0.1:{address[1]},server=on,wait=off")
        return address

    def refused(self, address, expected):
        """Starts a ringside that must fail with that text."""
        path = address if isinstance(address, str) else f"localhost:{address[1]}"
        command = [self._options.ringside, "record", "--gdb", path, "--kernel", self._options.kernel, "-o",
                   str(self._folder / "ringside.data")]
        run = program.Program(command, self._folder / "log")
        if (status := run.wait_end(limits.STEP)) != 1 or expected not in run.said():
            run.__exit__()
            raise Failed(f"ringside ended with {status}, and '{expected}' was wanted; it said: {run.said()[-400:]}")
        return run

    def runs(self, run):
        """The guest runs once nothing of ringside is left."""
        if left := run.wait_nothing_left(limits.STEP):
            raise Failed(f"processes of ringside are left: {left}")
        if not self.guest.qmp.wait_status("running", limits.STEP) or not self.guest.advances(limits.STEP):
            raise Failed(f"the guest does not run: {self.guest.qmp.status()}")


def taken(case, address):
    debugger = Debugger(address)
    run = case.refused(address, "serves another client")
    if left := run.left_over():
        raise Failed(f"processes of ringside are left: {left}")
    debugger.detach()
    case.runs(run)


def taken_unix(case):
    """ringside sees that another client has the stub, and does not connect."""
    taken(case, case.unix)


def taken_tcp(case):
    """The same over TCP."""
    taken(case, case.open_tcp())


def taken_unseen(case):
    """Another client has the stub, which has a second name here: ringside cannot see it, and leaves a guardian."""
    other = case.unix + "-too"
    os.link(case.unix, other)
    debugger = Debugger(case.unix)
    run = case.refused(other, "no gdb stub answers")
    if not run.left_over():
        raise Failed("no process of ringside waits for the stub")
    debugger.detach()
    case.runs(run)


def hung(case, address):
    process = case.guest.process.pid
    os.kill(process, signal.SIGSTOP)
    try:
        run = case.refused(address, "no gdb stub answers")
    finally:
        os.kill(process, signal.SIGCONT)
    case.runs(run)


def hung_unix(case):
    """QEMU stands still for longer than ringside waits for an answer."""
    hung(case, case.unix)


def hung_tcp(case):
    """The same over TCP."""
    hung(case, case.open_tcp())


CASES = {case.__name__.replace("_", "-"): case for case in (taken_unix, taken_unseen, hung_unix, taken_tcp, hung_tcp)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all when none is given")
    options = parser.parse_args()
    if unknown := [name for name in options.cases if name not in CASES]:
        parser.error(f"no case {unknown[0]}")
    machine.exit_on_signals()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ringside-late-") as folder, guest_options.boot(options) as guest:
        case = Case(options, guest, pathlib.Path(folder))
        for name in options.cases or CASES:
            try:
                CASES[name](case)
            except (Failed, machine.GuestError, OSError) as error:
                failed += 1
                print(f"FAILED: {name}: {error}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
