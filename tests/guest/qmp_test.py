#!/usr/bin/env python3
"""Samples a guest of which only the monitor can be reached, and kills ringside while it does.

Before, there is no gdb stub; afterwards there is none again, the guest runs, and the monitor can be used by the next
client. A ringside that was killed leaves the guest running and a stub that the next one takes over.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import random
import sys
import tempfile
import time

import folded
import guest_options
import launched
import machine
import program


def start(options, address, folder, *arguments):
    command = [options.ringside, "record", "--qmp", address, "--kernel", options.kernel, "--interval", "2",
               "-o", os.path.join(folder, "ringside.data"), *arguments]
    return program.Program(command, os.path.join(folder, "log"))


def stub_of(guest):
    """The gdb stub's character device, or None."""
    return next((device["filename"] for device in guest.qmp.command("query-chardev") if device["label"] == "gdb"), None)


def sampled_and_left_as_it_was(options, guest, address, folder):
    """What went wrong, as lines."""
    with start(options, address, folder, "--duration", "2") as ringside:
        status = ringside.wait_end(30)
        said = ringside.said()
    if status != 0:
        return [f"ringside ended with status {status}: {said[-600:]}"]
    failures = []
    text = launched.folded_text(options.ringside, os.path.join(folder, "ringside.data"), time.monotonic() + 20)
    stacks = folded.parse(text)
    if (samples := sum(count for _, count in stacks)) < 100:
        failures.append(f"{samples} samples in 2 s at 2 ms")
    if "through the monitor" not in said:
        failures.append(f"ringside does not say which way in it took: {said[-400:]}")
    if left := stub_of(guest):
        failures.append(f"ringside left a gdb stub: {left}")
    if not guest.advances(2):
        failures.append("the guest does not advance")
    return failures


def killed(options, guest, address, folder, rng):
    """What went wrong, as lines."""
    with start(options, address, folder) as ringside:
        if not ringside.wait_said("sampling", 10):
            return [f"ringside did not say that it is sampling: {ringside.said()[-600:]}"]
        time.sleep(rng.uniform(0, 0.05))
        ringside.kill_alone()
        failures = [] if guest.qmp.wait_status("running", 2) and guest.advances(2) else ["the guest does not run"]
        if left := ringside.wait_nothing_left(5):
            failures.append(f"processes of ringside are left: {left}")
    return failures


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
            address = os.path.join(folder, "monitor")
            with guest_options.boot(options, extra=["-qmp", f"unix:{address},server=on,wait=off"]) as guest:
                guest.qmp.hmp("gdbserver none")
                for _ in range(options.kills):
                    failures += killed(options, guest, address, folder, rng)
                failures += sampled_and_left_as_it_was(options, guest, address, folder)
    except (machine.GuestError, launched.Failed, OSError, ValueError) as error:
        failures.append(str(error))
    for line in failures:
        print(f"FAILED: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
