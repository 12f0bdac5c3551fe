#!/usr/bin/env python3
"""A perf.data that perf has recorded inside a guest with Debian's kernel: ringside reads in it what perf itself does.

    perf_in_guest_test.py --ringside PROGRAM [--names cache,vmlinux,kallsyms] [--keep FOLDER]

The host's perf runs in the guest, with its libraries, and samples all of it: by frame pointers (-g) and with copied
stacks (--call-graph dwarf). Its recordings leave the guest on a disk, with the cache of build ids that perf has filled
there. On the host, perf and ringside read them. Judged are all samples frame by frame, shares by process, file and
function, and folded stacks (judges/perf_text.py tells what perf has otherwise). --names: where both have the kernel's
names from: perf's cache, a vmlinux, or the guest's /proc/kallsyms. Those of programs are from the cache always.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched, or there is no perf (skipped).
"""
import argparse
import collections
import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from ringside_tests.harness import folded, launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges import perf_reports, perf_text
from ringside_tests.judges.truth import percent

WORKLOAD = "perf"
DONE = "perf: the recordings are on the disk"
PLACE = "perf"  # the folder of perf and its libraries in the guest
MODES = {"fp": "-g", "dwarf": "--call-graph dwarf"}
WITHOUT_RULES = ("busybox",)
DISK_BYTES = 512 << 20
SAME_PERCENT = 99.0  # of the stacks have the same addresses, without those of files that perf cannot unwind
SCRIPT = """#!/bin/busybox sh
# Once, not on each vCPU. Debian's programs and short-lived ones are at work while perf records, and
# not while it fills its cache.
[ "$1" = 0 ] || exit 0
perf() {{ /{place}/loader --library-path /{place} /{place}/perf "$@"; }}
export HOME=/tmp/recordings
mkdir -p $HOME
cd $HOME
setsid /workload/programs 0 & export programs=$!
setsid /workload/mixed 0 & export mixed=$!
until [ -e /tmp/started ]; do sleep 1; done
{records}
kill -9 -1
cp /proc/kallsyms kallsyms
tar -c -f /dev/vda .
sync
echo "{done}" >/dev/console
"""


def find_perf():
    """perf itself: older packages have a script in front of it."""
    front = shutil.which("perf")
    for path in [front, *sorted(map(str, pathlib.Path(front).parent.glob("perf_*")))] if front else []:
        if pathlib.Path(path).read_bytes()[:4] == b"\x7fELF":
            return path
    raise linux_guest.NoNetwork("there is no perf")


def build_files(perf, folder, seconds):
    """Makes what goes into the guest beside the programs of script/fetch-linux-guest; returns the folder."""
    tree = folder / "guest"
    (tree / PLACE).mkdir(parents=True)
    (tree / "workload").mkdir()
    shutil.copy(perf, tree / PLACE / "perf")
    libraries = subprocess.run(["ldd", perf], check=True, text=True, stdout=subprocess.PIPE).stdout
    for name, path in re.findall(r"^\s*(?:(\S+) => )?(/\S+) \(", libraries, re.MULTILINE):
        shutil.copy(path, tree / PLACE / (name or "loader"))
    records = "\n".join(f"kill -CONT -$programs -$mixed\n"
                        f"perf record -e cpu-clock -F 500 -a {how} --proc-map-timeout 20000 -o {mode}.data -- "
                        f"sh -c 'sleep {seconds}; kill -STOP -$programs -$mixed' >{mode}.log 2>&1"
                        for mode, how in MODES.items())
    (tree / "workload" / WORKLOAD).write_text(SCRIPT.format(place=PLACE, records=records, done=DONE))
    return tree


def record(options, paths, folder, deadline):
    """Boots the guest and returns the folder of its recordings."""
    tree = build_files(find_perf(), folder, options.seconds)
    paths["INITRD"] = str(user_program.add_tree_to_initrd(paths["USERLAND_INITRD"], folder, tree))
    disk = linux_guest.disk(folder)
    with open(folder / "disk.img", "r+b") as image:  # not blank: the guest does not format it
        image.truncate(DISK_BYTES)
        image.write(b"a place for the recordings")
    with linux_guest.boot(paths, WORKLOAD, options.cpus, extra=disk, kaslr=True) as guest:
        guest.wait_serial(DONE, max(1, deadline - time.monotonic()))
    recordings = folder / "recordings"
    recordings.mkdir()
    subprocess.run(["tar", "-x", "--no-same-owner", "-C", recordings, "-f", folder / "disk.img"], check=True)
    for mode in MODES:
        print(f"{mode}: {(recordings / f'{mode}.log').read_text().strip().splitlines()[-1]}")
    return recordings


class Reader:
    """Reads one of the recordings. names: perf's and ringside's options for the kernel's names."""

    def __init__(self, options, mode, recordings, names, deadline):
        self.mode, self.cache, self.deadline = mode, recordings / ".debug", deadline
        # The name of the first copy of a program, by that of each.
        self._first = {perf_text.file_name(path): perf_text.file_name(first)
                       for path, first in perf_text.first_paths(self.cache).items()}
        self._ringside, self._recording, self._names = options.ringside, str(recordings / f"{mode}.data"), names

    def perf(self, *arguments):
        command = [find_perf(), "--buildid-dir", str(self.cache), *arguments, "--no-inline", *self._names[0], "-i",
                   self._recording]
        return subprocess.run(command, check=True, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=max(1, self.deadline - time.monotonic())).stdout

    def ringside(self, verb, *arguments):
        return launched.read_back(self._ringside, self.deadline, verb, *arguments, "--no-inline", *self._names[1], "-i",
                                  self._recording)

    def samples(self):
        """perf's and ringside's."""
        text = self.perf("script", "--ns", "--max-stack", "1000", "-F",
                         "comm,pid,tid,cpu,time,period,ip,sym,symoff,dso")
        return (perf_text.of_perf(text, self.cache, self.mode == "dwarf"),
                perf_text.of_ringside(self.ringside("export", "--format", "perf-script", "-o", "-"), self.cache))

    def rows_of_perf(self, aliases):
        """Own weight by process, file and function; code without a name is one function of its file."""
        rows = collections.Counter()
        for line in self.perf("report", "--stdio", "-q", "--no-children", "-g", "none", "-t", "|", "-F",
                              "period,comm,dso,sym").splitlines():
            if line.strip():
                period, comm, dso, symbol = (cell.strip() for cell in line.split("|", 3))
                name = symbol[4:]  # behind "[k] "
                dso = self._first.get(dso, dso)
                name = "" if name.startswith("0x") or name.endswith("@plt") else aliases.get((dso, name), name)
                rows[one_comm(comm), one_file(dso), name] += int(period)
        return rows

    def rows_of_ringside(self):
        rows = collections.Counter()
        for row in csv.DictReader(io.StringIO(self.ringside("report", "--format", "csv", "--sort", "comm,dso,symbol"))):
            rows[one_comm(row["comm"]), one_file(self._first.get(row["dso"], row["dso"])), one_name(row["symbol"]) or ""] += int(row["self"])
        return +rows

    def folded(self):
        text = self.ringside("export", "--format", "folded", "--by", "comm", "-o", "-")
        stacks = collections.Counter()
        for (comm, *frames), count in folded.parse(text):
            stacks[one_comm(comm), *map(one_name, frames)] += count
        return stacks


def one_comm(name):
    return "" if name in perf_text.NOBODY else name


def one_file(name):
    """[kernel.kallsyms], with a vmlinux [kernel.vmlinux] or its name, is the kernel. perf has modules in brackets."""
    name = perf_text.file_name(name).strip("[]")
    return "kernel" if name.startswith(("kernel.", "vmlinux", "guest.kernel")) else "" if name == "unknown" else name


def one_name(name):
    return None if name.startswith(("<unknown", "[user]", "[unknown]")) else name


def name_late(there, here):
    """Gives weight of processes that had no name yet to the name that perf has. perf's report names all samples of a
    process, its script only those that follow the process's first record. ringside does as the script."""
    for row in [row for row in here - there if re.fullmatch(r":\d+", row[0])]:
        named = max((other for other in there if other[1:] == row[1:]), default=row,
                    key=lambda other: there[other] - here[other])
        weight = here[row] - there[row]
        here[row] -= weight
        here[named] += weight


def largest_difference(there, here):
    """(points, row) of two tables of weights."""
    return max((abs(percent(there[row], there.total()) - percent(here[row], here.total())), row)
               for row in {*there, *here})


def function_sizes(vmlinux):
    """The largest size of each name."""
    lines = [line.split() for line in user_program.symbols(vmlinux).splitlines()]
    return {name: int(size, 16) for size, name in sorted((line[1], line[3]) for line in lines if len(line) == 4)}


def check_reports(reader, verdict):
    """Whether both print the same, but for frames that ringside looks up by the call and perf by the return address: the
    rows of both functions may differ, and one more of each that the other does not have."""
    names = {name: ours for (_, name), ours in verdict.aliases.items()}
    failures = []
    by_the_call = 4 * verdict.frames["behind a last call"]
    choices = [((), by_the_call), (("-F", "overhead,comm,parent"), by_the_call), (("--max-stack", "3"), by_the_call),
               (("-s", "pid", "--no-children"), 0), (("-s", "time", "--time-quantum", "1s", "--no-children"), 0)]
    for choice, may_differ in choices:
        arguments = ("report", "--stdio", "--header", *choice)
        there, here = perf_reports.read(reader.perf(*arguments)), perf_reports.read(reader.ringside(*arguments))
        heads, others = perf_reports.compare(there, here, lambda name: names.get(name, name))
        calls = sum(map(len, here.trees.values()))
        print(f"  report {' '.join(choice)}: {len(here.rows)} rows and {calls} calls, {len(others)} of both differ")
        if not calls:
            failures.append(f"report {' '.join(choice)} has no trees")
        failures += [f"report {' '.join(choice)}: {line}" for line in heads + (others[:3] if len(others) > may_differ else [])]
    return failures


def judge(reader, options, sizes):
    """Prints figures and returns failures."""
    there, here = reader.samples()
    verdict = perf_text.compare(there, here, WITHOUT_RULES if reader.mode == "dwarf" else (), sizes)
    failures = list(verdict.failures)
    print(f"  {verdict.samples} samples; stacks: {dict(verdict.stacks)}; frames: {dict(verdict.frames)}; "
          f"{len(verdict.aliases)} functions with two names")
    if verdict.samples < options.least:
        failures.append(f"{verdict.samples} samples, {options.least} wanted")
    same = percent(verdict.stacks["equal"] + verdict.stacks["named otherwise"],
                   verdict.samples - verdict.stacks["longer"])
    if same < SAME_PERCENT:
        failures.append(f"{same:.2f} % of the stacks have the same addresses")
    rows_of_perf, rows_of_ringside = reader.rows_of_perf(verdict.aliases), reader.rows_of_ringside()
    name_late(rows_of_perf, rows_of_ringside)
    points, row = largest_difference(rows_of_perf, rows_of_ringside)
    print(f"  largest difference of shares: {points:.4f} points ({'; '.join(row)})")
    if points > options.points:
        failures.append(f"{row}: the shares are {points:.3f} points apart")
    if reader.mode == "fp" and not sizes:  # perf's own unwinder leaves out what has no rules
        failures += check_reports(reader, verdict)
    ours, trees = reader.folded(), perf_text.fold(there, verdict.aliases)
    common = (ours & trees).total()
    print(f"  folded: {len(trees)} stacks of perf, {len(ours)} of ringside, {percent(common, trees.total()):.2f} % of "
          f"the weight in equal ones, {percent(verdict.excused, trees.total()):.2f} % differs by design")
    if ours.total() != trees.total() or common < trees.total() - verdict.excused:
        failures.append(f"folded stacks differ by more: perf's {list((trees - ours).items())[:2]}")
    return failures


def run(options, folder):
    deadline = time.monotonic() + options.limit
    find_perf()
    folder = folder if options.keep is None else options.keep
    paths = linux_guest.fetch(vmlinux="vmlinux" in options.names, userland=True)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    recordings = folder / "recordings"
    if not recordings.is_dir():
        recordings = record(options, paths, folder, deadline)
    os.environ["PERF_BUILDID_DIR"] = str(recordings / ".debug")  # for ringside
    os.environ["HOME"] = str(folder)
    kallsyms = str(recordings / "kallsyms")
    names = {"cache": ([], []), "kallsyms": (["--kallsyms", kallsyms], ["--symbols", kallsyms]),
             "vmlinux": (["-k", paths.get("VMLINUX")], ["--kernel", paths.get("VMLINUX")])}
    failures = []
    for kind in options.names:
        sizes = function_sizes(paths["VMLINUX"]) if kind == "vmlinux" else {}
        for mode in MODES:
            print(f"{mode}, the kernel's names from {kind}:")
            failures += [f"{mode}, {kind}: {line}" for line in
                         judge(Reader(options, mode, recordings, names[kind], deadline), options, sizes)]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--names", type=lambda text: text.split(","), default=["cache"], help="default: cache")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=3, help="for each recording, by the guest's clock (default 3)")
    parser.add_argument("--least", type=int, default=500, help="samples wanted of each recording (default 500)")
    parser.add_argument("--points", type=float, default=0.01, help="that a share may be apart (default 0.01)")
    limits.add_option(parser)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the recordings; those in it are read again")
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
