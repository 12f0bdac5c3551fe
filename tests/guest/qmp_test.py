#!/usr/bin/env python3
"""Samples a guest of which only the monitor can be reached, and kills ringside while it does.

First the guest has a gdb stub, which is its user's. ringside samples through it while nobody else uses it, and a client
that comes in mid-recording gets it; with --leave-stub and where the client is there before, ringside samples by what the
monitor prints. The connection is cut in mid-recording, and QEMU is killed. Then there is no stub; afterwards there is none again, the guest runs, and the
monitor can be used by the next client. A ringside that was killed leaves the guest running and a stub that the next one
takes over. (Ringside killed while it samples by the monitor's text: kill_test.py --monitor.)
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import random
import select
import signal
import socket
import sys
import tempfile
import threading
import time

from ringside_tests.harness import folded, guest_options, launched, limits, machine, program

# Few: a busy host leaves most ticks without one, for a vCPU waits for a processor when the guest stops.
SAMPLES = 20


class Relay:
    """Stands between a client and a Unix socket, and can be cut; the next client gets a new connection."""

    def __init__(self, path, target):
        self._target = target
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._server = None
        threading.Thread(target=self._serve, daemon=True).start()

    def cut(self):
        self._server.shutdown(socket.SHUT_RDWR)  # _serve() then closes both ends

    def _serve(self):
        while True:
            client = self._listener.accept()[0]
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._target)
            self._server = server
            try:
                while self._forward(client, server):
                    pass
            except OSError:
                pass
            client.close()
            server.close()

    @staticmethod
    def _forward(client, server):
        for end in select.select([client, server], [], [])[0]:
            data = end.recv(65536)
            if not data:
                return False
            (server if end is client else client).sendall(data)
        return True


def start(options, address, folder, *arguments, interval=2):
    command = [options.ringside, "record", "--qmp", address, "--kernel", options.kernel, "--interval", str(interval),
               "-o", os.path.join(folder, "ringside.data"), *arguments]
    return program.Program(command, os.path.join(folder, "log"))


def stub_of(guest):
    """The gdb stub's character device, or None."""
    return next((device["filename"] for device in guest.qmp.command("query-chardev") if device["label"] in ("gdb", "stub")), None)


def sampled_and_left_as_it_was(options, guest, address, folder, says, stub=None, arguments=()):
    """Failures, as lines. stub: the user's."""
    with start(options, address, folder, "--samples", str(SAMPLES), *arguments) as ringside:
        status = ringside.wait_end(limits.STEP)
        said = ringside.said()
    if status != 0:
        return [f"ringside ended with status {status}: {said[-600:]}"]
    failures = []
    text = launched.folded_text(options.ringside, os.path.join(folder, "ringside.data"), limits.step_end())
    stacks = folded.parse(text)
    if (samples := sum(count for _, count in stacks)) < SAMPLES:
        failures.append(f"{samples} samples, and {SAMPLES} were wanted")
    if "through the monitor" not in said or says not in said:
        failures.append(f"ringside does not report by which attachment: {said[-400:]}")
    if (left := stub_of(guest)) != stub:
        failures.append(f"the gdb stub is {left}, and was {stub}")
    if not guest.advances(limits.SOON):
        failures.append("the guest does not advance")
    return failures


def given_back(options, guest, folder):
    """Failures, as lines, when a debugger connects to the stub that ringside samples through."""
    with start(options, guest.monitor, folder, interval=500) as ringside:
        if not ringside.wait_said("sampling", limits.STEP):
            return [f"ringside did not say that it is sampling: {ringside.said()[-600:]}"]
        time.sleep(0.3)
        with socket.socket(socket.AF_UNIX) as debugger:
            debugger.settimeout(limits.STEP)
            debugger.connect(guest.gdb)
            connected = time.monotonic()
            debugger.sendall(b"$?#3f")
            answer = b""
            while b"$" not in answer and (more := debugger.recv(4096)):
                answer += more
            print(f"the debugger got the stub after {(time.monotonic() - connected) * 1000:.0f} ms")
            failures = [] if b"$T" in answer else [f"the stub answers {answer}"]
            if not guest.qmp.wait_status("paused", limits.SOON):
                failures.append("the debugger's connection does not stop the guest")
            debugger.sendall(b"+$D;1#b0")
            if not guest.qmp.wait_status("running", limits.SOON):
                failures.append("the guest does not run on after the debugger's detach")
            time.sleep(3)
            ringside.process.send_signal(signal.SIGINT)
            if ringside.wait_end(limits.STEP) != 0:
                failures.append(f"ringside did not end well: {ringside.said()[-600:]}")
    if "the gdb stub was given back" not in ringside.said():
        failures.append(f"ringside does not report the client: {ringside.said()[-600:]}")
    text = launched.folded_text(options.ringside, os.path.join(folder, "ringside.data"), limits.step_end())
    if not folded.parse(text):  # a busy host gives few by the monitor's text
        failures.append("there is no sample")
    if not guest.qmp.wait_status("running", limits.SOON) or not guest.advances(limits.SOON):
        failures.append("the guest does not run on after ringside's end")
    return failures


def beside_a_debugger(options, guest, folder):
    """Failures, as lines, when a debugger has the stub already."""
    with socket.socket(socket.AF_UNIX) as debugger:
        debugger.settimeout(limits.STEP)
        debugger.connect(guest.gdb)
        debugger.sendall(b"$c#63")
        if not guest.qmp.wait_status("running", limits.SOON):
            return ["the guest does not go on for the debugger"]
        stub = stub_of(guest)
        return sampled_and_left_as_it_was(options, guest, guest.monitor, folder, "it has a client", stub)


def killed(options, guest, address, folder, rng):
    """Failures, as lines."""
    with start(options, address, folder) as ringside:
        if not ringside.wait_said("sampling", limits.STEP):
            return [f"ringside did not say that it is sampling: {ringside.said()[-600:]}"]
        time.sleep(rng.uniform(0, 0.05))
        ringside.kill_alone()
        failures = [] if guest.qmp.wait_status("running", limits.SOON) and guest.advances(limits.SOON) else ["the guest does not run"]
        if left := ringside.wait_nothing_left(limits.SOON):
            failures.append(f"processes of ringside are left: {left}")
    return failures


def cut_off(options, guest, folder, rng):
    """Failures, as lines, when the connection to the monitor was lost in mid-recording."""
    path = os.path.join(folder, f"relay-{rng.random()}")
    relay = Relay(path, guest.monitor)
    with start(options, path, folder) as ringside:
        if not ringside.wait_said("sampling", limits.STEP):
            return [f"ringside did not say that it is sampling: {ringside.said()[-600:]}"]
        time.sleep(rng.uniform(0.05, 0.3))
        relay.cut()
        if ringside.wait_end(limits.SOON) is None:
            return ["ringside does not end when the monitor closes the connection"]
    if not guest.qmp.wait_status("running", limits.SOON) or not guest.advances(limits.SOON):
        return ["the guest does not run after its monitor has closed the connection"]
    return []


def without_qemu(options, guest, folder):
    """Failures, as lines, when QEMU was killed in mid-recording."""
    with start(options, guest.monitor, folder) as ringside:
        if not ringside.wait_said("sampling", limits.STEP):
            return [f"ringside did not say that it is sampling: {ringside.said()[-600:]}"]
        guest.process.kill()
        if ringside.wait_end(limits.SOON) is None:
            return ["ringside does not end with QEMU"]
        failures = [] if "has ended" in ringside.said() else [f"ringside does not say it: {ringside.said()[-600:]}"]
        if left := ringside.wait_nothing_left(limits.SOON):
            failures.append(f"processes of ringside are left: {left}")
    text = launched.folded_text(options.ringside, os.path.join(folder, "ringside.data"), limits.step_end())
    return failures if folded.parse(text) else failures + ["what was sampled is not in the recording"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    machine.exit_on_signals()
    rng = random.Random(options.seed)
    failures = []
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-qmp-") as folder:
            with guest_options.boot(options) as guest:
                stub = stub_of(guest)
                failures += sampled_and_left_as_it_was(options, guest, guest.monitor, folder, "through the guest's gdb stub", stub)
                failures += sampled_and_left_as_it_was(options, guest, guest.monitor, folder, "is left to its user", stub,
                                                       ["--leave-stub"])
                failures += given_back(options, guest, folder)
                # In 7.2 the guest may stay stopped when the monitor stops it beside a debugger, by any client.
                if guest.qmp.command("query-version")["qemu"]["major"] >= 8:
                    failures += beside_a_debugger(options, guest, folder)
                # As by -s: behind a relay QEMU's command line is not seen, which says what a stub is called.
                guest.qmp.hmp("gdbserver none")
                guest.qmp.hmp(f"gdbserver unix:{guest.gdb},server=on,wait=off")
                for _ in range(options.kills):
                    failures += cut_off(options, guest, folder, rng)
                failures += without_qemu(options, guest, folder)
            with guest_options.boot(options) as guest:
                guest.qmp.hmp("gdbserver none")
                for _ in range(options.kills):
                    failures += killed(options, guest, guest.monitor, folder, rng)
                failures += sampled_and_left_as_it_was(options, guest, guest.monitor, folder, "a gdb stub that QEMU opens")
    except (machine.GuestError, launched.Failed, OSError, ValueError) as error:
        failures.append(str(error))
    for line in failures:
        print(f"FAILED: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
