"""Options of the guest and the exit status, shared by the programs that test with a Linux guest."""
import os
import pathlib
import subprocess
import tempfile

from ringside_tests.harness import launched, linux_guest, machine

SKIPPED = 77


def add_guest_options(parser, know, ringside_required=True):
    """know: what ringside knows of the kernel unless an option says so."""
    parser.add_argument("--ringside", required=ringside_required, type=os.path.abspath, help="the program under test")
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--know", choices=["vmlinux", "vmlinuz", "nothing"], default=know,
                        help="what ringside may know of the kernel: its ELF file with all symbols, only the file that "
                             f"boots, or only the gdb socket (default {know})")
    parser.add_argument("--cpu", help="QEMU's CPU model, such as max (default: the architecture's usual one)")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--no-kaslr", dest="kaslr", action="store_false")
    parser.add_argument("record_options", nargs="*", help="further options of `ringside record`, behind --")


def exit_status(run, options):
    """Calls run(options, folder) with a temporary folder; it returns what failed. Prints that; returns 0 if nothing
    did, 1 if something did or the guest could not be used, SKIPPED if it cannot be fetched."""
    machine.exit_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-linux-") as folder:
            failures = run(options, pathlib.Path(folder))
    except linux_guest.NoNetwork as error:
        print(f"skipped: {error}")
        return SKIPPED
    except launched.HostTooBusy as error:
        return launched.too_busy(str(error))
    except (launched.Failed, machine.GuestError, OSError, ValueError, subprocess.SubprocessError) as error:
        failures = [f"{type(error).__name__}: {error}"]
    for line in failures:
        print(line if line.startswith(" ") else f"FAILED: {line}")
    return 1 if failures else 0
