#!/usr/bin/env python3
"""A stand-in for `ringside record --gdb SOCKET`, with which the guest tests test themselves.

Stops and resumes the guest through the gdb stub, holds itself in the state HOLD_IN_TICK names, and has a
guardian in a session of its own. FAKE_RINGSIDE=no-guardian leaves the guardian out; =guardian-in-group leaves it in
ringside's process group; =resume-paused resumes a guest that its user had paused: each of these a test must catch.
"""
import os
import select
import socket
import sys
import time

RESUME = b"+\x03#00$D;1#b0"  # lets a QEMU stub resume whether the guest runs, stands or half a packet is pending
CONTINUE = b"$c#63"
FAULT = os.environ.get("FAKE_RINGSIDE", "")


def start_guardian(connection):
    """A process that resumes the guest when ringside is gone. The pipe's end tells it.

    It must be there before the connection is made, for connecting stops the guest: it shares the unconnected socket.
    """
    watch, hold = os.pipe()
    if os.fork():
        os.close(watch)
        return hold
    os.close(hold)
    if FAULT != "guardian-in-group":
        os.setsid()
    if not os.read(watch, 1):
        try:
            connection.sendall(RESUME)
            time.sleep(0.05)
        except OSError:
            pass  # killed before it had connected
    os._exit(0)


def stop_reply(connection, seconds):
    return bool(select.select([connection], [], [], seconds)[0]) and connection.recv(4096)


def main():
    arguments = sys.argv[1:]
    if arguments[0] == "export":
        with open(arguments[arguments.index("-i") + 1], encoding="ascii") as recording:
            print(recording.read(), end="")
        return
    duration = float(arguments[arguments.index("--duration") + 1]) if "--duration" in arguments else 1000
    connection = socket.socket(socket.AF_UNIX)
    hold = start_guardian(connection) if FAULT != "no-guardian" else os.open("/dev/null", os.O_WRONLY)
    connection.connect(arguments[arguments.index("--gdb") + 1])
    print("fake ringside: sampling", file=sys.stderr, flush=True)
    # A stub says at once that it has stopped the guest; of a guest that stood already it says nothing.
    guest_ran = stop_reply(connection, 1.0)
    if not guest_ran and FAULT != "resume-paused":
        try:
            time.sleep(duration)
        except KeyboardInterrupt:
            pass  # asked to go: the guest stays as its user left it
        os.write(hold, b"q")
        return
    state, sample, end = os.environ.get("HOLD_IN_TICK"), 0, time.monotonic() + duration
    while time.monotonic() < end:
        sample += 1
        holding = sample == 20 and state
        if holding == "half-packet":
            connection.sendall(b"$m")
        if not holding or holding == "running":
            connection.sendall(CONTINUE)
        if holding:
            print(f"hold_in_tick: {state}", file=sys.stderr, flush=True)
            time.sleep(1000)
        time.sleep(0.001)
        connection.sendall(b"\x03")
        while b"$T" not in connection.recv(4096):
            pass
    connection.sendall(RESUME)
    with open(arguments[arguments.index("-o") + 1], "w", encoding="ascii") as recording:
        recording.write(f"fake {sample}\n")
    os.write(hold, b"q")
    time.sleep(0.1)


if __name__ == "__main__":
    main()
