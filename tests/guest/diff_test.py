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


def passes(comparison, name, which, points, p):
    """Whether the numbers of a comparison, the shares `which` of one function or of all, pass a limit of growth. p: the one by
    which the limit tells that a change is sure (docs/comparing.md)."""
    shares = [row[which] for row in comparison["functions"] if name in (None, row["name"])]
    return any(share["change_points"] > points and share.get(p, 1) < comparison["test"]["chance"] for share in shares)


def diff(options, before, after, *more):
    """The exit status, and the comparison."""
    result = subprocess.run([options.ringside, "diff", before, after, "--format", "json", *more], check=False, text=True,
                            stdout=subprocess.PIPE, timeout=limits.STEP)
    if result.returncode not in (0, LIMIT_PASSED):
        raise launched.Failed(f"ringside diff ended with status {result.returncode}")
    return result.returncode, json.loads(result.stdout)["comparisons"][0]


def check_status(status, comparison, limit, found):
    """The exit status is what the comparison's own numbers demand, whatever the host has made of these. limit: of passes()."""
    if (status == LIMIT_PASSED) != passes(comparison, *limit):
        found.add(f"ringside diff ended with status {status}, and its numbers say otherwise for the limit {limit}: {comparison}")


def own_shares(comparison):
    return {row["name"]: row["self"] for row in comparison["functions"]}


def run(options, folder, deadline):
    kernels = two_builds.build(options.source, folder, 80000)
    recordings = {}
    for name, side in (("before", "before"), ("again", "before"), ("after", "after")):
        (folder / name).mkdir(exist_ok=True)
        recordings[name] = two_builds.record(options.ringside, kernels[side], SAMPLES, folder / name, deadline)
    found = findings.Findings(options.ringside, deadline)
    function, truth = two_builds.FUNCTION, two_builds.SHARES["after"] - two_builds.SHARES["before"]
    status, comparison = diff(options, recordings["before"], recordings["after"], "--fail-if", f"kernel:{function} > +1%")
    check_status(status, comparison, (function, "total", 1, "p"), found)
    share = own_shares(comparison)[function]
    if status != LIMIT_PASSED:
        found.add_shares([f"the limit of {function} ended with status {status}: {share}"], recordings["before"], recordings["after"])
    if share["verdict"] != "grew" or abs(share["change_points"] - truth) > 1.5 * share["margin_points"]:
        found.add_shares([f"{function} grew by {truth} points, and diff has {share}"], recordings["before"], recordings["after"])
    for side, percent in two_builds.SHARES.items():
        if abs(share[f"{side}_percent"] - percent) > 1.5:
            found.add_shares([f"{function} has {percent} % {side}, and diff has {share}"], recordings[side])
    status, comparison = diff(options, recordings["before"], recordings["again"], "--fail-if-any", "> 0.5%")
    check_status(status, comparison, (None, "self", 0.5, "corrected_p"), found)
    alarms = {name: share for name, share in own_shares(comparison).items() if share["verdict"] in SURE}
    # How often a vCPU begins with an interrupt follows the host's load (docs/comparing.md).
    others = {name for name in alarms if not name.startswith("irq_entry")}
    if others:
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
