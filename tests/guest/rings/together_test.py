#!/usr/bin/env python3
"""The bundled kernel samples itself, and the plugin samples it at the same time: the hottest functions agree.

    together_test.py --ringside PROGRAM --kernel ELF [--workload NAME] [--by timer|nmi] [--cpus N]

--cpus counts those that work; NMIs come from one more.

Recordings that do not agree, or are short, have to say themselves that the host is busy; then others are made.
Exit status: 0 they agree, 1 they do not or something failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import pathlib
import re
import shutil
import sys

from ringside_tests.harness import launched, machine, together
from ringside_tests.judges import engines_together

OWN = re.compile(r"nmi_entry|irq_entry_(tick|sampler)|run_sampler\(\)")


def qemu(options):
    cpus = options.cpus + (options.by == "nmi")
    return [*machine.BASE, "-smp", str(cpus), "-m", "256", "-serial", "stdio", "-kernel", str(options.kernel), "-append",
            f"workload={options.workload} sampling={options.by} ring=65536 seconds=0"]


def run(options, folder, deadline):
    attempt = folder / "attempt"
    shutil.rmtree(attempt, ignore_errors=True)
    attempt.mkdir()
    recordings = together.record(options, qemu(options), options.kernel, "ringside-demo: ready", attempt, deadline)
    measures = engines_together.measures(OWN, options.ringside, recordings, deadline)
    return engines_together.judged(options, recordings, measures, options.complete, deadline).verdict()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    together.add_options(parser)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--workload", default="chains")
    parser.add_argument("--by", choices=["timer", "nmi"], default="nmi")
    parser.add_argument("--complete", type=float, default=99.0, help="percent of the stacks")
    return launched.truthful("ringside-together-", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
