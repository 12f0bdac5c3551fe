#!/usr/bin/env python3
"""Ctrl-C, SIGTERM and SIGHUP in the first moments of an attach leave the guest running.

    interrupted_test.py --ringside PROGRAM --kernel ELF [--plugin LIBRARY] [--rounds 30] [--seed 1]

Rounds take turns: through the gdb stub, by the monitor's text, from the monitor through the stub that nobody uses, and
with --plugin by the plugin's ring. The signal comes at a random moment; in each second round QEMU stands still for 0.8 s after ringside's start. Exit status: 0 the guest ran
after each, 1 it did not.
"""
import argparse
import collections
import os
import random
import signal
import sys
import threading
import time

from ringside_tests.harness import guest_options, limits, program

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
HELD = 0.8  # seconds
SETTLES = 0.3  # seconds in which QEMU gets to a connection that waits for it
VERBS = ("record", "profile")


class Held:
    """QEMU stands still for that long from now on."""

    def __init__(self, process):
        os.kill(process.pid, signal.SIGSTOP)
        self._timer = threading.Timer(HELD, process.send_signal, [signal.SIGCONT])
        self._timer.start()

    def wait(self):
        self._timer.join()


def ways(options, guest, folder):
    """ringside's options that attach it to the guest, by name."""
    found = {"stub": ["--gdb", guest.gdb], "text": ["--qmp", guest.monitor, "--leave-stub"],
             "lent": ["--qmp", guest.monitor]}
    if options.plugin:
        found["ring"] = ["--ring", f"{folder}/ring", "--qmp", guest.monitor]
    return found


def run_round(options, guest, folder, number, chance):
    """Returns what went wrong; empty is good."""
    attach = ways(options, guest, folder)
    way = list(attach)[number % len(attach)]
    wanted = SIGNALS[number // len(attach) % len(SIGNALS)]
    verb = chance.choice(VERBS) if way == "stub" else "record"
    output = ["-o", os.path.join(folder, "ringside.data")]
    command = [options.ringside, verb, *attach[way], "-F", "200", "--kernel", options.kernel, *output]
    held = Held(guest.process) if number % 2 else None
    with program.Program(command, os.path.join(folder, "log")) as run:
        time.sleep(chance.uniform(0, 0.3))
        run.process.send_signal(wanted)
        status = run.wait_end(limits.STEP)
        if held:
            held.wait()
        name = f"{way}, {verb}, {signal.Signals(wanted).name}{', QEMU held' if held else ''}"
        if status is None:
            return name, "ringside does not end"
        if left := run.wait_nothing_left(limits.STEP):
            return name, f"processes of ringside are left: {left}"
        time.sleep(SETTLES)
        if not guest.qmp.wait_status("running", limits.SOON):
            return name, f"the guest is {guest.qmp.status()}; ringside ended with {status}: {run.said()[-300:]}"
    return name, ""


def run(options, guest, folder):
    chance = random.Random(options.seed)
    done, failures = collections.Counter(), []
    for number in range(options.rounds):
        name, wrong = run_round(options, guest, folder, number, chance)
        if wrong:
            failures.append(f"round {number} ({name}): {wrong}")
            guest.qmp.command("cont")
        else:
            done[name] += 1
    if not guest.advances(limits.SOON):
        failures.append("the guest says it runs but its registers do not change")
    for name, count in sorted(done.items()):
        print(f"{name:50} {count:4} times, the guest ran after each")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--plugin", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def extra(folder):
        return ["-plugin", f"{options.plugin},ring={folder}/ring"] if options.plugin else []
    return guest_options.check(options, "interrupted", run, extra)


if __name__ == "__main__":
    sys.exit(main())
