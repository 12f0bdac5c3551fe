#!/usr/bin/env python3
"""Kills ringside with SIGKILL while it samples at 1 kHz; the guest must run after each kill.

Rounds take turns: killed while the guest runs, while it is stopped, with half a request sent (there the library of
hold_in_tick.cpp holds it), and at a random moment; each once alone (even rounds) and once with its process group.
Exit status: 0 the guest ran after every kill, 1 it did not.
"""
import argparse
import collections
import os
import random
import sys
import tempfile
import time

from ringside_tests.harness import guest_options, limits, machine, program

ANY_MOMENT = "any-moment"
STATES = ("running", "stopped", "half-packet", ANY_MOMENT)
STATUS_IN = {"running": "running", "stopped": "paused", "half-packet": "paused"}


class Failed(Exception):
    """A failure in a round; the message describes it."""


def plan(rounds):
    """(state, whether the group is killed) of each round: every state in turn, alone then with its group."""
    return [(STATES[number // 2 % len(STATES)], number % 2 == 1) for number in range(rounds)]


def hold(options, guest, state, chance, folder):
    """Starts ringside and waits until it is in the state."""
    command = [options.ringside, "record", *guest_options.attach_options(options, guest), "-F", "1000", "--kernel", options.kernel,
               "-o", os.path.join(folder, "ringside.data")]
    hold_there = {} if state == ANY_MOMENT else {"HOLD_IN_TICK": state, "LD_PRELOAD": options.hold_library}
    ringside = program.Program(command, os.path.join(folder, "log"), hold_there)
    try:
        if state == ANY_MOMENT:
            time.sleep(chance.uniform(0.0, 0.6))
            if ringside.process.poll() is not None:
                raise Failed(f"ringside ended by itself; it said: {ringside.said()[-400:]}")
        else:
            if not ringside.wait_said(f"hold_in_tick: {state}", limits.STEP):
                raise Failed(f"ringside did not reach the state; it said: {ringside.said()[-400:]}")
            if (status := guest.qmp.status()) != STATUS_IN[state]:
                raise Failed(f"ringside says it holds, but the guest is {status}")
        return ringside
    except BaseException:
        ringside.__exit__()
        raise


def kill_and_watch(guest, ringside, group):
    """Kills ringside; returns the seconds until the guest ran. Raises Failed when it does not, or does not advance."""
    with ringside:
        began = time.monotonic()
        ringside.kill_group() if group else ringside.kill_alone()
        if not guest.qmp.wait_status("running", limits.SOON):
            raise Failed(f"the guest is {guest.qmp.status()} {limits.SOON:g} s after the kill")
        took = time.monotonic() - began
        if not guest.advances(limits.SOON):
            raise Failed("the guest says it runs but its registers do not change")
        if left := ringside.wait_nothing_left(limits.SOON):
            raise Failed(f"processes of ringside are left: {left}")
        if not guest.qmp.wait_status("running", 0):
            raise Failed("the guest was stopped again after ringside's end")
        return took


def run(options, guest, folder):
    chance = random.Random(options.seed)
    done, failed, slowest = collections.Counter(), [], 0.0
    for number, (state, group) in enumerate(plan(options.rounds)):
        name = f"{state}, {'group' if group else 'alone'}"
        try:
            ringside = hold(options, guest, state, chance, folder)
            slowest = max(slowest, kill_and_watch(guest, ringside, group))
            done[state, group] += 1
        except Failed as error:
            failed.append(name)
            print(f"FAILED: round {number} ({name}): {error}", flush=True)
            guest.qmp.command("cont")
    for (state, group), count in sorted(done.items()):
        print(f"{state + ', ' + ('group' if group else 'alone'):22} {count:4} kills, the guest ran after each")
    print(f"slowest resume: {slowest * 1000:.0f} ms; {len(failed)} of {options.rounds} rounds failed")
    for state in STATUS_IN:
        if (count := done[state, False] + done[state, True]) < options.least:
            print(f"FAILED: only {count} good kills in the state {state}, {options.least} wanted")
            failed.append(state)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--hold-library", type=os.path.abspath, default="",
                        help="libringside-hold-in-tick.so; none: the program holds itself, as fake_ringside.py does")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--least", type=int, help="kills wanted in each held state (default: a sixth of the rounds)")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.hold_library and not os.path.exists(options.hold_library):
        parser.error(f"there is no {options.hold_library}; build the target guest_test_programs")
    if options.least is None:
        options.least = options.rounds // 6
    machine.exit_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-kill-") as folder, guest_options.boot(options) as guest:
            return run(options, guest, folder)
    except (machine.GuestError, OSError) as error:
        print(f"FAILED: {error}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
