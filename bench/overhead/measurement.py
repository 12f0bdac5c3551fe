"""How a measurement of guests ends: what it says, and its exit status."""
import subprocess
import sys

from ringside_tests.harness import linux_guest, machine, qmp


def exit_status(name, run, *errors):
    """Runs a measurement; returns 0, 1 if a guest or one of the errors ended it, or linux_guest.NO_NETWORK. The reason is
    on standard error, behind the name."""
    machine.exit_on_signals()
    try:
        run()
    except linux_guest.NoNetwork as error:
        print(f"{name}: skipped: {error}", file=sys.stderr)
        return linux_guest.NO_NETWORK
    except (machine.GuestError, qmp.QmpError, subprocess.SubprocessError, OSError, *errors) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0
