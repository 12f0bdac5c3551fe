#!/usr/bin/env python3
"""Draws a real recording of the bundled kernel and uses the picture in Chromium.

    flamegraph_test.py --ringside PROGRAM --kernel ELF

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 there is no Chromium (skipped).
"""
import argparse
import os
import pathlib
import sys
import tempfile

from ringside_tests.harness import launched, limits, machine
from ringside_tests.judges.flamegraph import svg_in_chromium


def draw(options, folder):
    deadline = limits.step_end()
    qemu = machine.BASE + ["-smp", "2", "-m", "256", "-serial", "stdio", "-kernel", options.kernel,
                           "-append", "workload=interrupts seconds=0"]
    how = ["--samples", "500", "--interval", "2", "--after", "ringside-demo: ready"]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    picture = folder / "flamegraph.svg"
    launched.read_back(options.ringside, deadline, "flamegraph", "-i", str(recording), "-o", str(picture))
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    options = parser.parse_args()
    machine.exit_on_signals()
    with tempfile.TemporaryDirectory(prefix="ringside-flamegraph-") as folder:
        try:
            picture = draw(options, pathlib.Path(folder))
        except launched.Failed as error:
            print(f"FAILED: {error}")
            return 1
        return svg_in_chromium.main([str(picture)])


if __name__ == "__main__":
    sys.exit(main())
