#!/usr/bin/env python3
"""Measures how long Chromium works on a flame graph of so many frames: to show it, and at a letter of a search.

    script/bench page [--frames N | --folded FILE] [--rounds N] [--flamegraph-pl FILE] [--svg NAME=FILE]

ringside and flamegraph.pl draw the same folded stacks, those of a file or made up (stacks.py), and no frame is left out.
flamegraph.pl takes part where --flamegraph-pl names it: it is of github.com/brendangregg/FlameGraph, and Debian has no
package of it. --svg adds a picture that is there already, of another build. In each round, every picture is opened by a
Chromium of its own, headless and without a graphics processor, and one letter is searched for. Two times are measured, from
an empty page to the second drawn frame behind the load, and from the letter to the second drawn frame behind it: how long
the main thread's tasks take (TaskDuration of Chromium's Performance.getMetrics). With --processor-time, it is the processor
time of these tasks: what others do on the machine adds less to it. Prints medians, ranges, the sizes of the files, and the
elements of the page.
Exit status: 0 done, 1 failed, 2 wrong usage, 77 there is no Chromium.
"""
import argparse
import pathlib
import statistics
import subprocess
import sys

import stacks
from ringside_tests.harness import machine, measured, webdriver

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
LETTER = "k"
DRAWN = "return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
# flamegraph.pl asks for the text in a dialog, and then calls search().
SEARCH = """const input = document.querySelector('#search-input');
    if (input) { input.value = arguments[0]; input.dispatchEvent(new Event('input')); } else search(arguments[0]);"""
MATCHED = "return document.querySelector('#matched').textContent"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", type=pathlib.Path, default=ROOT / "build" / "release" / "ringside")
    parser.add_argument("--frames", type=int, default=50000)
    parser.add_argument("--folded", type=pathlib.Path, metavar="FILE", help="draw these stacks")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--flamegraph-pl", type=pathlib.Path, metavar="FILE", help="flamegraph.pl, to measure its picture too")
    parser.add_argument("--svg", action="append", default=[], metavar="NAME=FILE", help="measure this picture too")
    parser.add_argument("--processor-time", action="store_true", help="of the main thread's tasks, not how long they take")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for stacks and pictures")
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    options = parser.parse_args()
    if options.frames < 1 or options.rounds < 1:
        parser.error("--frames and --rounds are 1 or more")
    for path in [options.ringside, options.folded, options.flamegraph_pl, *(pathlib.Path(svg.partition("=")[2]) for svg in options.svg)]:
        if path and not path.is_file():
            parser.error(f"no file {path}")
    return options


def draw(options, folder):
    """The pictures to measure: {name: path}."""
    folded = options.folded or folder / "stacks.folded"
    if not options.folded:
        folded.write_text(stacks.folded(options.frames))
    pictures = {"ringside": folder / "ringside.svg"}
    subprocess.run([options.ringside, "flamegraph", "-i", folded, "--min-width", "0", "-o", pictures["ringside"]], check=True,
                   stderr=subprocess.DEVNULL)
    if options.flamegraph_pl:
        pictures["flamegraph.pl"] = folder / "flamegraph.pl.svg"
        with open(pictures["flamegraph.pl"], "wb") as out:
            subprocess.run(["perl", options.flamegraph_pl, "--minwidth", "0", folded], check=True, stdout=out)
    for svg in options.svg:
        name, _, path = svg.partition("=")
        pictures[name] = pathlib.Path(path).resolve()
    return pictures


def main_thread(browser):
    """Seconds that the page's main thread has worked so far."""
    metrics = browser.command("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def measure(picture, clock):
    """{"load", "search": seconds; "nodes": of the page; "matched": what the page shows behind the search}."""
    with webdriver.Browser() as browser:
        browser.open("about:blank")
        browser.command("Performance.enable", timeDomain=clock)
        browser.open(picture.resolve().as_uri())
        browser.run(DRAWN)
        load = main_thread(browser)
        nodes = browser.run("return document.getElementsByTagName('*').length")
        start = main_thread(browser)
        browser.run(SEARCH, LETTER)
        browser.run(DRAWN)
        return {"load": load, "search": main_thread(browser) - start, "nodes": nodes, "matched": browser.run(MATCHED)}


def run(options, folder):
    pictures = draw(options, folder)
    rounds = {name: [] for name in pictures}
    clock = "threadTicks" if options.processor_time else "timeTicks"
    for number in range(options.rounds):
        for name, picture in pictures.items():
            rounds[name].append(measure(picture, clock))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    result = {"frames": None if options.folded else options.frames, "clock": clock, "pictures": {}}
    what = options.folded or f"{options.frames:,} frames"
    print(f"{what}, medians of {options.rounds} rounds, {'processor time' if options.processor_time else 'time'} of the main thread")
    for name, measured in rounds.items():
        row = {key: [one[key] for one in measured] for key in ("load", "search")}
        row.update(bytes=pictures[name].stat().st_size, nodes=measured[0]["nodes"], matched=measured[0]["matched"])
        result["pictures"][name] = row
        print(f"{name}: load {seconds(row['load'])}, a letter {seconds(row['search'])}; {row['bytes'] / 1e6:.1f} MB, "
              f"{row['nodes']:,} elements; {row['matched'].strip()!r}")
    return result


def seconds(times):
    return f"{statistics.median(times):.3f} s ({min(times):.3f} to {max(times):.3f})"


def main():
    options = parse_options()
    if not webdriver.available():
        print("skipped: needs Debian's packages chromium and chromium-driver")
        return SKIPPED
    machine.exit_on_signals()
    return measured.exit_status(run, options, "page", webdriver.WebDriverError)


if __name__ == "__main__":
    sys.exit(main())
