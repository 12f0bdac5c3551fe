"""Command-line options that the guest tests share: the program under test, the kernel and how it is booted."""
import os
import tempfile

from ringside_tests.harness import limits, machine


def add(parser):
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--kernel", required=True, type=os.path.abspath, help="the bundled kernel, or another one")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--append", default="workload=chains seconds=0", help="the kernel's command line")
    parser.add_argument("--initrd", type=os.path.abspath)
    parser.add_argument("--monitor", action="store_true",
                        help="sample by what the monitor prints; else through the stub")
    parser.add_argument("--lent", action="store_true", help="attach to the monitor, which has ringside use the idle stub")
    parser.add_argument("--ready", default="ringside-demo: ready", help="what its serial port shows when it works")


def attach_options(options, guest):
    """ringside's options that attach it to the guest."""
    if options.lent:
        return ["--qmp", guest.monitor]
    return ["--qmp", guest.monitor, "--leave-stub"] if options.monitor else ["--gdb", guest.gdb]


def boot(options, extra=()):
    """Boots what the options say, with further options of QEMU's, and waits until it is ready."""
    guest = machine.Machine(options.kernel, options.append, initrd=options.initrd, cpus=options.cpus, extra=extra)
    try:
        guest.wait_serial(options.ready, limits.STEP)
        return guest
    except BaseException:
        guest.close()
        raise


def check(options, name, run, extra=lambda folder: ()):
    """Boots a guest, with QEMU's options extra(folder), and prints what run(options, guest, folder) found wrong, a line
    each; the folder is a temporary one. Returns the exit status."""
    def run_in(folder):
        with boot(options, extra(folder)) as guest:
            return run(options, guest, folder)
    return check_in_folder(name, run_in)


def check_in_folder(name, run):
    """Prints what run(folder), which starts its guest itself, found wrong, a line each; the folder is a temporary one.
    Returns the exit status."""
    machine.exit_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix=f"ringside-{name}-") as folder:
            failures = run(folder)
    except (machine.GuestError, OSError) as error:
        failures = [str(error)]
    for line in failures:
        print(f"FAILED: {line}")
    return 1 if failures else 0
