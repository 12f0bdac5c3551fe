#!/usr/bin/env python3
"""Compares recordings of two builds of the bundled kernel, of which one has a slower search_tree.

    diff_test.py --ringside PROGRAM --source FOLDER

The change is found, with its sign and its size; its limit is passed; recordings of one build pass no limit and have no change
that is sure. Works in a temporary folder of its own; ends what it started on any exit.
Exit status: 0 passed, 1 failed, 2 wrong usage.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from ringside_tests.harness import launched, limits, two_builds

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
    """0 if all is right, else 1; prints what is wrong."""
    kernels = two_builds.build(options.source, folder, 80000)
    recordings = {}
    for name, side in (("before", "before"), ("again", "before"), ("after", "after")):
        (folder / name).mkdir(exist_ok=True)
        recordings[name] = two_builds.record(options.ringside, kernels[side], SAMPLES, folder / name, deadline)
    found = []
    function, truth = two_builds.FUNCTION, two_builds.SHARES["after"] - two_builds.SHARES["before"]
    status, shares = diff(options, recordings["before"], recordings["after"], "--fail-if", f"kernel:{function} > +1%")
    share = shares[function]
    if status != LIMIT_PASSED:
        found.append(f"the limit of {function} ended with status {status}: {share}")
    if share["verdict"] != "grew" or abs(share["change_points"] - truth) > 1.5 * share["margin_points"]:
        found.append(f"{function} grew by {truth} points, and diff has {share}")
    for side, percent in two_builds.SHARES.items():
        if abs(share[f"{side}_percent"] - percent) > 1.5:
            found.append(f"{function} has {percent} % {side}, and diff has {share}")
    status, shares = diff(options, recordings["before"], recordings["again"], "--fail-if-any", "> 0.5%")
    alarms = {name: share for name, share in shares.items() if share["verdict"] in SURE}
    if status != 0 or alarms:
        found.append(f"recordings of one build ended with status {status}, and differ in {alarms}")
    for fault in found:
        print(f"FAILED: {fault}")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--source", required=True, type=lambda path: pathlib.Path(path).resolve(),
                        help="the folder of the bundled kernel's source")
    parser.add_argument("--tries", type=int, default=1, help="pass if one of so many comparisons is right")
    limits.add_option(parser)
    return launched.judged("ringside-diff-", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
