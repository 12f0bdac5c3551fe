#!/usr/bin/env python3
"""A guest that its user had paused stays paused while ringside attaches, waits and ends; a ringside with a duration ends
by itself, and `profile --one-shot` shows the guest as it stands.

With --then-continue the user lets the guest run while ringside waits: it must then sample and leave it running.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import signal
import sys

from ringside_tests.harness import folded, guest_options, launched, limits, program




def start(options, guest, folder, duration):
    command = [options.ringside, "record", *guest_options.attach_options(options, guest), "--duration", str(duration),
               "--kernel", options.kernel, "-o", os.path.join(folder, "ringside.data")]
    return program.Program(command, os.path.join(folder, "log"))


def end(ringside):
    """Waits for the end; a ringside that waits for the user for ever is asked to go, as by Ctrl-C."""
    if ringside.wait_end(limits.STEP) is None:
        ringside.process.send_signal(signal.SIGINT)
        if ringside.wait_end(limits.SOON) is None:
            return ["ringside waits for ever and does not heed Ctrl-C"]
    if left := ringside.wait_nothing_left(limits.SOON):
        return [f"processes of ringside are left: {left}"]
    return []


def ended_well(ringside):
    if status := ringside.process.returncode:
        return [f"ringside ended with status {status}: {ringside.said()[-400:]}"]
    return []


def samples_recorded(options, folder):
    """Reads the recording back; what went wrong, as lines."""
    try:
        text = launched.folded_text(options.ringside, os.path.join(folder, "ringside.data"), limits.step_end())
        return [] if folded.parse(text) else ["there is no sample in the recording"]
    except (launched.Failed, ValueError) as error:
        return [str(error)]


def shown_as_it_stands(options, guest, folder):
    """Failures, as lines, of `profile --one-shot` of a paused guest."""
    command = [options.ringside, "profile", *guest_options.attach_options(options, guest), "--one-shot", "--kernel", options.kernel]
    with program.Program(command, os.path.join(folder, "shot")) as ringside:
        if ringside.wait_end(limits.STEP) is None:
            return ["profile --one-shot of a paused guest does not end"]
        missing = [n for n in range(options.cpus) if f"vCPU {n}" not in ringside.said()]
        if ringside.process.returncode or missing:
            return [f"profile --one-shot of a paused guest does not show vCPUs {missing}: {ringside.said()[-400:]}"]
    return []


def stays_paused(options, guest, folder):
    """Failures, as lines."""
    guest.qmp.command("stop")
    guest.qmp.take_events()
    before = guest.registers()
    with start(options, guest, folder, duration=1) as ringside:
        ended = ringside.wait_end(limits.STEP) is not None
        failures = end(ringside)
    if ringside.process.returncode != 1 or "no sample was taken: the guest was paused by its user" not in ringside.said():
        failures.append(f"ringside ended with status {ringside.process.returncode}: {ringside.said()[-400:]}")
    if not ended:
        failures.append("ringside waits for the guest for longer than its duration")
    if "sampling" not in ringside.said() or "the guest is paused" not in ringside.said():
        failures.append(f"ringside did not say that it samples, and a paused guest: {ringside.said()[-400:]}")
    failures += shown_as_it_stands(options, guest, folder)
    if (status := guest.qmp.status()) != "paused":
        failures.append(f"the guest is {status} after ringside's end")
    if resumed := [name for name, _ in guest.qmp.take_events() if name == "RESUME"]:
        failures.append(f"the guest was resumed {len(resumed)} times")
    if guest.registers() != before:
        failures.append("the guest's registers changed")
    guest.qmp.command("cont")
    if not guest.advances(limits.SOON):
        failures.append("the guest does not advance after the user's continue")
    return failures


def runs_after_continue(options, guest, folder):
    """Failures, as lines."""
    guest.qmp.command("stop")
    with start(options, guest, folder, duration=3) as ringside:
        if not ringside.wait_said("the guest is paused", limits.STEP):
            return [f"ringside does not say that the guest is paused: {ringside.said()[-400:]}"]
        guest.qmp.command("cont")
        failures = end(ringside) + ended_well(ringside) + samples_recorded(options, folder)
    if not guest.qmp.wait_status("running", limits.SOON) or not guest.advances(limits.SOON):
        failures.append("the guest does not run after ringside's end")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    parser.add_argument("--then-continue", action="store_true")
    options = parser.parse_args()
    return guest_options.check(options, "paused", runs_after_continue if options.then_continue else stays_paused)


if __name__ == "__main__":
    sys.exit(main())
