"""Reads from QEMU's trace which stops of a user's are judged (user_stop_test.py says why), and which were undone."""
STUB_STOPS = "gdbstub_err_unexpected_runpkt"  # right before the change of state; QEMU 7.2 does not have it


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
