#!/usr/bin/env python3
"""Measures how often `ringside diff` finds a function that changed, and how often it raises a false alarm.

Builds the bundled kernel twice: search_tree has 10 % of the time in one build and 14 % in the other. Records each so many
times, and compares each pair of unlike builds, and each two recordings of one build that follow each other. A change is
found where it is sure, has the right sign, and the 4 points lie within its margin times 1.5. An alarm is any function of
two recordings of one build whose change is sure. Prints both counts, the mean of the changes, and how far they scatter.
Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

from ringside_tests.harness import launched, machine, measured, two_builds

ROOT = pathlib.Path(__file__).resolve().parents[2]
SURE = ("grew", "shrank", "new", "gone")
WIDER = 1.5  # the margin of 95 % to one of 99.7 %


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build" / "release" / "ringside")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--round", type=int, default=80000, dest="round_iterations",
                        help="iterations of a hundredth of a round of the workload: 8000 is the stock kernel's")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for kernels and recordings")
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    return parser.parse_args()


def functions(options, before, after):
    """Own shares by function, as diff's JSON has them."""
    text = subprocess.run([options.ringside, "diff", before, after, "--format", "json"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {row["name"]: row["self"] for row in json.loads(text)["comparisons"][0]["functions"]}


def record_all(options, folder):
    """Recordings of both builds in turns, by side."""
    kernels = two_builds.build(ROOT / "demo" / "kernel", folder, options.round_iterations)
    recordings = {side: [] for side in kernels}
    for number in range(options.runs):
        for side, kernel in kernels.items():
            place = folder / f"{side}-{number}"
            place.mkdir(exist_ok=True)
            recordings[side].append(two_builds.record(options.ringside, kernel, options.samples, place,
                                                      time.monotonic() + 120))
        print(f"recorded {number + 1} of {options.runs}", file=sys.stderr)
    return recordings


def run(options, folder):
    recordings = record_all(options, folder)
    truth = two_builds.SHARES["after"] - two_builds.SHARES["before"]
    found, sized, changes, alarms = 0, 0, [], []
    for before, after in zip(recordings["before"], recordings["after"]):
        share = functions(options, before, after)[two_builds.FUNCTION]
        changes.append(share["change_points"])
        found += share["verdict"] == "grew"
        sized += abs(share["change_points"] - truth) <= WIDER * share["margin_points"]
    pairs = 0
    for same in recordings.values():
        for before, after in zip(same, same[1:] + same[:1]):
            pairs += 1
            alarms += [name for name, share in functions(options, before, after).items() if share["verdict"] in SURE]
    result = {"runs": options.runs, "samples": options.samples, "found": found, "right_size": sized,
              "mean_change_points": statistics.mean(changes), "deviation_points": statistics.stdev(changes),
              "pairs_of_one_build": pairs, "alarms": len(alarms)}
    print(f"{options.samples} samples: found in {found} of {options.runs} runs, with the right size in {sized}; mean change "
          f"{result['mean_change_points']:+.2f} points, standard deviation {result['deviation_points']:.2f}")
    print(f"alarms: {len(alarms)} in {pairs} pairs of one build{': ' + ', '.join(alarms) if alarms else ''}")
    return result


def main():
    options = parse_options()
    machine.exit_on_signals()
    return measured.exit_status(run, options, "diff", launched.Failed)


if __name__ == "__main__":
    sys.exit(main())
