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

from ringside_tests.harness import guest_options, program

LIMIT = 40
JUDGED = 10  # stops
SECONDS = 30
STUB_STOPS = "gdbstub_err_unexpected_runpkt"  # right before the change of state; QEMU 7.2 does not have it
TRACE = ["runstate_set", "monitor_qmp_cmd_in_band", "vm_stop_flush_all", STUB_STOPS]


def trace_file(folder):
    return os.path.join(folder, "trace")


def trace_to(folder):
    """QEMU's options for it."""
    return [word for event in TRACE for word in ("-trace", event)] + ["-D", trace_file(folder)]


class Stop:
    """A user's stop, by QEMU's trace."""

    def __init__(self, guest_ran):
        self.guest_ran = guest_ran
        self.undone = False
        self.stub_was_first = None  # whether it stopped the guest, before the user's request was carried out
        self.met_a_stop = None  # whether the sample's next request was its stop


def read_trace(lines):
    """The user's stops, in order."""
    state, stops, pending = None, [], None
    for before, line, following in zip(["", *lines], lines, [*lines[1:], ""]):
        if "runstate_set" in line:
            state = line.rpartition("(")[2].rstrip(")\n")
            if pending and state == "running":
                pending.undone = True
            elif pending and pending.stub_was_first is None:
                pending.stub_was_first = STUB_STOPS in before
        elif "user-stop" in line:
            pending = Stop(state == "running")
            stops.append(pending)
        elif "user-cont" in line:
            pending = None
        elif "monitor_qmp_cmd_in_band" in line and line.split()[-1].isdigit() and pending and pending.met_a_stop is None:
            pending.met_a_stop = "vm_stop_flush_all" in following
    return stops


def judged(stops):
    return [stop for stop in stops if stop.guest_ran and not stop.met_a_stop and not stop.stub_was_first]


def stop_and_continue(options, guest, folder):
    """What went wrong, as lines."""
    command = [options.ringside, "record", *guest_options.way_in(options, guest), "--kernel", options.kernel, "-o",
               os.path.join(folder, "ringside.data")]
    with program.Program(command, os.path.join(folder, "log")) as ringside:
        if not ringside.wait_said("ringside: sampling", LIMIT):
            return [f"ringside does not sample; it said: {ringside.said()[-600:]}"]
        end, stops = time.monotonic() + SECONDS, []
        while len(judged(stops)) < JUDGED and time.monotonic() < end:
            time.sleep(0.1 + 0.013 * (len(stops) % 7))
            guest.qmp.command_as(f"user-stop-{len(stops)}", "stop")
            time.sleep(0.2)
            guest.qmp.command_as(f"user-cont-{len(stops)}", "cont")
            with open(trace_file(folder), encoding="utf-8", errors="replace") as file:
                stops = read_trace(file.readlines())
        ringside.process.send_signal(signal.SIGINT)
        if ringside.wait_end(LIMIT) != 0:
            return [f"ringside does not end well; it said: {ringside.said()[-600:]}"]
    undone = sum(stop.undone for stop in judged(stops))
    print(f"{len(stops)} stops, {len(judged(stops))} of them judged, {undone} undone; of the others "
          f"{sum(stop.undone for stop in stops) - undone}")
    return [f"{undone} stops of a guest that ran were undone"] if undone else []


def run(options, guest, folder):
    """What went wrong, as lines."""
    failures = stop_and_continue(options, guest, folder)
    if not guest.qmp.wait_status("running", 5):
        failures.append("the guest does not run after ringside's end")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    options = parser.parse_args()
    return guest_options.check(options, "user-stop", run, trace_to)


if __name__ == "__main__":
    sys.exit(main())
