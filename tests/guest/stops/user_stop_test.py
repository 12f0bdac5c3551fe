#!/usr/bin/env python3
"""A guest that its user stops during a recording stays stopped until he continues it.

A stop that QEMU carries out while a sample has stopped the guest already cannot be detected, and on a loaded host that
may be most of them. So QEMU's own trace decides which stops are judged: those that it carried out while the guest ran.
Through the monitor's text one more is left out: QEMU had taken a sample's last question, whether the guest runs, before
the user's stop, and carried out the sample's stop right after it. Through the stub, too: QEMU takes the user's request
and carries it out a little later (do_qmp_dispatch_bh()), and a sample's stop may come in between.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import signal
import sys
import time

from ringside_tests.harness import guest_options, limits, program
from ringside_tests.judges import user_stops

JUDGED = 10  # stops
TRACE = ["runstate_set", "monitor_qmp_cmd_in_band", "vm_stop_flush_all", user_stops.STUB_STOPS]


def trace_file(folder):
    return os.path.join(folder, "trace")


def trace_to(folder):
    """QEMU's options for it."""
    return [word for event in TRACE for word in ("-trace", event)] + ["-D", trace_file(folder)]


def stop_and_continue(options, guest, folder):
    """Failures, as lines."""
    command = [options.ringside, "record", *guest_options.attach_options(options, guest), "--kernel", options.kernel, "-o",
               os.path.join(folder, "ringside.data")]
    with program.Program(command, os.path.join(folder, "log")) as ringside:
        if not ringside.wait_said("ringside: sampling", limits.STEP):
            return [f"ringside does not sample; it said: {ringside.said()[-600:]}"]
        end, stops = limits.step_end(), []
        while len(user_stops.judged(stops)) < JUDGED and time.monotonic() < end:
            time.sleep(0.1 + 0.013 * (len(stops) % 7))
            guest.qmp.command_as(f"user-stop-{len(stops)}", "stop")
            time.sleep(0.2)
            guest.qmp.command_as(f"user-cont-{len(stops)}", "cont")
            with open(trace_file(folder), encoding="utf-8", errors="replace") as file:
                stops = user_stops.read_trace(file.readlines())
        ringside.process.send_signal(signal.SIGINT)
        if ringside.wait_end(limits.STEP) != 0:
            return [f"ringside does not end well; it said: {ringside.said()[-600:]}"]
    undone = sum(stop.undone for stop in user_stops.judged(stops))
    print(f"{len(stops)} stops, {len(user_stops.judged(stops))} of them judged, {undone} undone; of the others "
          f"{sum(stop.undone for stop in stops) - undone}")
    return [f"{undone} stops of a guest that ran were undone"] if undone else []


def run(options, guest, folder):
    """Failures, as lines."""
    failures = stop_and_continue(options, guest, folder)
    if not guest.qmp.wait_status("running", limits.SOON):
        failures.append("the guest does not run after ringside's end")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    options = parser.parse_args()
    return guest_options.check(options, "user-stop", run, trace_to)


if __name__ == "__main__":
    sys.exit(main())
