#!/usr/bin/env python3
"""The bundled kernel samples itself, and the plugin samples it at the same time: the hottest functions agree.

    together_test.py --ringside PROGRAM --kernel ELF [--workload NAME] [--by timer|nmi] [--cpus N]

--cpus counts those that work; NMIs come from one more.

Exit status: 0 they agree, 1 they do not or something failed, 2 wrong usage.
"""
import argparse
import pathlib
import re
import shutil
import sys

from ringside_tests.harness import launched, machine, together
from ringside_tests.judges import engines_agree, engines_together

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
    failures = engines_agree.check(measures, options.busy, options.points, options.complete)
    print("\n".join([*engines_agree.table(measures), *(f"FAILED: {line}" for line in failures)]))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    together.add_options(parser)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--workload", default="chains")
    parser.add_argument("--by", choices=["timer", "nmi"], default="nmi")
    parser.add_argument("--complete", type=float, default=99.0, help="percent of the stacks")
    return launched.judged("ringside-together-", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
