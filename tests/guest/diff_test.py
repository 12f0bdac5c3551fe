#!/usr/bin/env python3
"""Compares recordings of two builds of the bundled kernel, of which one has a slower search_tree.

    diff_test.py --ringside PROGRAM --source FOLDER

The change is found, with its sign and its size; its limit is passed; recordings of one build pass no limit and have no change
that is sure. Works in a temporary folder of its own; ends what it started on any exit.
Where it is not so, a recording has to say itself that the host has bent its shares; then all are made again.
Exit status: 0 passed, 1 failed, 2 wrong usage, 77 the host is too busy.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from ringside_tests.harness import launched, limits, two_builds
from ringside_tests.judges import findings

SAMPLES = 4000
LIMIT_PASSED = 3
SURE = ("grew", "shrank", "new", "gone")


def diff(options, before, after, *more):
    """The exit status, and own shares by function."""
    result = subprocess.run([options.ringside, "diff", before, after, "--format", "json", *more], check=False, text=True,
                            stdout=subprocess.PIPE, timeout=limits.STEP)
    if result.returncode not in (0, LIMIT_PASSED):
        raise launched.Failed(f"ringside diff ended with status {result.returncode}")
    functions = json.loads(result.stdout)["comparisons"][0]["functions"]
    return result.returncode, {row["name"]: row["self"] for row in functions}


def run(options, folder, deadline):
    kernels = two_builds.build(options.source, folder, 80000)
    recordings = {}
    for name, side in (("before", "before"), ("again", "before"), ("after", "after")):
        (folder / name).mkdir(exist_ok=True)
        recordings[name] = two_builds.record(options.ringside, kernels[side], SAMPLES, folder / name, deadline)
    found = findings.Findings(options.ringside, deadline)
    function, truth = two_builds.FUNCTION, two_builds.SHARES["after"] - two_builds.SHARES["before"]
    status, shares = diff(options, recordings["before"], recordings["after"], "--fail-if", f"kernel:{function} > +1%")
    share = shares[function]
    if status != LIMIT_PASSED:
        found.add_shares([f"the limit of {function} ended with status {status}: {share}"], recordings["before"], recordings["after"])
    if share["verdict"] != "grew" or abs(share["change_points"] - truth) > 1.5 * share["margin_points"]:
        found.add_shares([f"{function} grew by {truth} points, and diff has {share}"], recordings["before"], recordings["after"])
    for side, percent in two_builds.SHARES.items():
        if abs(share[f"{side}_percent"] - percent) > 1.5:
            found.add_shares([f"{function} has {percent} % {side}, and diff has {share}"], recordings[side])
    status, shares = diff(options, recordings["before"], recordings["again"], "--fail-if-any", "> 0.5%")
    alarms = {name: share for name, share in shares.items() if share["verdict"] in SURE}
    # How often a vCPU begins with an interrupt follows the host's load (docs/comparing.md).
    others = {name for name in alarms if not name.startswith("irq_entry")}
    if others or status != 0 and not alarms:
        found.add_shares([f"recordings of one build ended with status {status}, and differ in {alarms}"], recordings["before"],
                         recordings["again"])
    return found.verdict()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=lambda path: pathlib.Path(path).resolve(),
                        help="the folder of the bundled kernel's source")
    parser.add_argument("--tries", type=int, default=1, help="at most, where those before say that they are bent")
    limits.add_option(parser)
    return launched.truthful("ringside-diff-", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
