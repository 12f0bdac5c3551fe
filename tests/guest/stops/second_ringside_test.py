#!/usr/bin/env python3
"""While one ringside samples a guest by stops, a second one that would stop it, too, ends with a line that names the
first; the guest and the first recording go on, and afterwards the second attachment works.

Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import sys

from ringside_tests.harness import guest_options, limits, program



def recorder(options, folder, name, *attach_options):
    command = [options.ringside, "record", *attach_options, "--kernel", options.kernel, "-o", os.path.join(folder, name)]
    return program.Program(command, os.path.join(folder, f"{name}.log"))


def run(options, guest, folder):
    """Failures, as lines."""
    ways = (["--gdb", guest.gdb], ["--qmp", guest.monitor, "--leave-stub"])
    first_way, second_way = reversed(ways) if options.monitor else ways
    with recorder(options, folder, "first", *first_way) as first:
        if not first.wait_said("ringside: sampling", limits.STEP):
            return [f"the first does not sample; it said: {first.said()[-600:]}"]
        failures = []
        with recorder(options, folder, "second", *second_way, "--duration", "1") as second:
            if second.wait_end(limits.STEP) != 1:
                failures.append("the second does not end with status 1")
            if f"another ringside (process {first.process.pid})" not in second.said():
                failures.append(f"the second said: {second.said()[-600:]}")
        if not guest.advances(limits.STEP):
            failures.append("the guest stands still")
        first.process.terminate()
        if first.wait_end(limits.STEP) != 0:
            failures.append(f"the first does not end well; it said: {first.said()[-600:]}")
    with recorder(options, folder, "third", *second_way, "--samples", "20") as third:
        if third.wait_end(limits.STEP) != 0:
            failures.append(f"after the first the second attachment fails: {third.said()[-600:]}")
    if not guest.qmp.wait_status("running", limits.STEP):
        failures.append("the guest does not run afterwards")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    guest_options.add(parser)
    options = parser.parse_args()
    return guest_options.check(options, "second", run)


if __name__ == "__main__":
    sys.exit(main())
