#!/usr/bin/env python3
"""Compares ringside's kernel stacks with gdb's `backtrace` of the same stopped states, frame by frame.

    gdb_backtrace_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--states N]

Debian's kernel runs the mixed workload. Between QEMU's stub and both programs stands stub_proxy.py, so that gdb looks
at what ringside has sampled before the guest runs on. Some states are looked for in entry code, an instruction at a time.

A difference is of a class: which of the two stops or strays, and in which function. gdb strays where there is no
call-frame information, that is in assembly: its stack then ends elsewhere than where the kernel is entered, and
ringside's does not. What is left is unclassified, and shown.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import complete_stacks
import kernel_symbols
import launched
import linux_guest
import machine
import stub_proxy

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
EQUAL, UNCLASSIFIED = "equal", "UNCLASSIFIED"
RINGSIDE_WRONG = "ringside "
WRONG_PERCENT = 0.5


class Gdb:
    """A gdb that is connected through the proxy and looks when it is told to."""

    def __init__(self, vmlinux, slide, socket_path, folder):
        program = shutil.which("gdb-multiarch") or shutil.which("gdb")
        if not program:
            raise linux_guest.NoNetwork("there is no gdb")
        answers, write_end = os.pipe()
        self.answers = os.fdopen(answers)
        commands = ["set confirm off", "set pagination off", "set backtrace past-main on",
                    "set print thread-events off",
                    f"symbol-file {vmlinux} -o {slide:#x}" if slide else f"symbol-file {vmlinux}",
                    "set remotetimeout 60", f"target remote {socket_path}", f"source {HERE / 'gdb_looks.py'}"]
        arguments = [program, "-nx", "-q", "-batch"] + [part for command in commands for part in ("-ex", command)]
        self.log = open(folder / "gdb.log", "wb")
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
                                        pass_fds=[write_end], env={**os.environ, "GDB_LOOKS_FD": str(write_end)})
        os.close(write_end)

    def ask(self):
        self.process.stdin.write(b"look\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.answers.close()


@dataclasses.dataclass
class Pair:
    """ringside's and gdb's stack of one vCPU in one state."""
    vcpu: int
    ringside: dict
    gdb: dict


class Watch:
    """Runs gdb in each state that ringside has sampled, and keeps what it says."""

    def __init__(self, gdb, second):
        self._gdb, self._second, self.looks, self.proxy = gdb, second, [], None

    def __call__(self):
        answer = []

        def done():
            return bool(answer)

        wake, wake_end = os.pipe()

        def read():
            answer.append(self._gdb.answers.readline())
            with contextlib.suppress(OSError):  # it has been seen already
                os.write(wake_end, b"x")

        reader = threading.Thread(target=read, daemon=True)
        self._gdb.ask()
        reader.start()
        try:
            self._second.serve_until(done, self.proxy.stub, wake)
        finally:
            os.close(wake)
        reader.join(1)
        os.close(wake_end)
        if not answer[0]:
            raise stub_proxy.ProxyError("gdb has ended")
        self.looks.append({int(vcpu): stack for vcpu, stack in json.loads(answer[0]).items()})


def entry_places(symbols, entries):
    """Where to look for states in entry and interrupt code: the starts of functions that are entries."""
    return [start for name, start in symbols.starts() if complete_stacks.is_entry(entries, name)]


def take(options, paths, folder, deadline):
    """Returns the placement, ringside's samples and gdb's looks."""
    with linux_guest.boot(paths, "mixed", options.cpus, extra=linux_guest.disk(folder), kaslr=options.kaslr,
                          cpu=options.cpu, ready_within=max(1, deadline - time.monotonic())) as guest:
        placement = linux_guest.placement(guest.serial())
        symbols = kernel_symbols.load(paths, placement)
        entries = complete_stacks.ENTRIES[options.arch]
        second = stub_proxy.SecondClient(str(folder / "second"))
        gdb = Gdb(paths["VMLINUX"], symbols.slide, folder / "second", folder)
        watch = Watch(gdb, second)
        proxy = watch.proxy = stub_proxy.Proxy(guest.gdb, str(folder / "first"), watch, entry_places(symbols, entries),
                                               options.entry_share, options.seed)
        recording = folder / "ringside.data"
        command = [options.ringside, "record", "--gdb", str(folder / "first"), "--kernel-only", "--interval",
                   str(options.interval), "--samples", str(options.states), "-o", str(recording),
                   *([] if options.know == "nothing" else ["--kernel", paths[options.know.upper()]]),
                   *options.record_options]
        try:
            with open(folder / "record.log", "wb") as log:
                process = subprocess.Popen(command, env=machine.private_environment(folder), stdout=log, stderr=log,
                                           stdin=subprocess.DEVNULL)
                try:
                    proxy.serve_sampler(deadline - time.monotonic())
                    process.wait(20)
                finally:
                    machine.end_process(process)
        finally:
            gdb.close()
            proxy.close()
            second.close()
    if process.returncode:
        said = (folder / "record.log").read_text(errors="replace")
        raise launched.Failed(f"ringside record ended with status {process.returncode}: {said[-1500:]}")
    text = launched.read_back(options.ringside, deadline + 30, "export", "--format", "json-lines", "--demangle", "none",
                              "-i", str(recording), "-o", "-")
    print(f"{len(watch.looks)} states, {proxy.found_at_places} of them looked for in entry code")
    return symbols, [json.loads(line) for line in text.splitlines()], watch.looks


def kernel_frames(stack):
    """ringside's kernel frames as (address, exact)."""
    return [(int(frame["address"], 16), frame["exact"]) for frame in stack["frames"]
            if frame["kind"] in ("kernel", "interrupt")]


def pair_up(samples, looks):
    """The samples of one stop have one time; the n-th stop belongs to the n-th look unless ringside left one out: then
    the pcs differ, and a later look is it."""
    stops = collections.defaultdict(dict)
    for sample in samples:
        if sample.get("level") == "kernel" and sample["disposition"] == "sampled" and sample["stacks"]:
            if sample["stacks"][0]["frames"]:
                stops[sample["time_ns"]][sample["vcpu"]] = sample["stacks"][0]
    pairs, at, lost = [], 0, 0
    for _, stacks in sorted(stops.items()):
        for look in range(at, len(looks)):
            if all(vcpu in looks[look] and looks[look][vcpu]["frames"] and
                   looks[look][vcpu]["frames"][0][0] == kernel_frames(stack)[0][0] for vcpu, stack in stacks.items()):
                pairs += [Pair(vcpu, stack, looks[look][vcpu]) for vcpu, stack in sorted(stacks.items())]
                at = look + 1
                break
        else:
            lost += 1
    return pairs, lost


def gdb_frames(symbols, stack):
    """gdb's frames as far as they are kernel code, as (address, exact), and whether another kind of frame followed."""
    frames, exact = [], True
    for pc, kind in stack["frames"]:
        if not symbols.has_code_at(pc):
            return frames, pc
        frames.append((pc, exact))
        exact = kind == "signal"
    return frames, None


def name_at(symbols, frame):
    address, exact = frame
    return min(symbols.names(address if exact else address - 1), default=hex(address))


def classify(entries, symbols, pair):
    """The class of the difference between the two stacks; EQUAL when there is none."""
    ours = kernel_frames(pair.ringside)
    theirs, stray = gdb_frames(symbols, pair.gdb)
    if [address for address, _ in ours] == [address for address, _ in theirs]:
        incomplete = complete_stacks.why_incomplete(entries, symbols, pair.ringside)
        return EQUAL if not incomplete else f"both end in {name_at(symbols, ours[-1])}, incomplete ({incomplete})"
    common = 0
    while common < min(len(ours), len(theirs)) and ours[common][0] == theirs[common][0]:
        common += 1
    last = name_at(symbols, ours[common - 1]) if common else "nothing"
    complete = complete_stacks.why_incomplete(entries, symbols, pair.ringside) is None
    if common == len(theirs):  # gdb stops, or goes on with what is no kernel code
        if complete:
            return f"gdb {'strays' if stray is not None else 'ends'} in {last}"
        return UNCLASSIFIED
    if common == len(ours):
        return f"{RINGSIDE_WRONG}ends in {last} ({pair.ringside['stop']})"
    if complete and not complete_stacks.gdb_is_complete(entries, symbols, theirs):
        return f"gdb strays in {last}"
    if not complete and complete_stacks.gdb_is_complete(entries, symbols, theirs):
        return f"{RINGSIDE_WRONG}strays in {last} ({pair.ringside['stop']})"
    return UNCLASSIFIED


def show(symbols, pair):
    lines = ["ringside:", *complete_stacks.describe(symbols, pair.ringside).splitlines(), "gdb:"]
    exact = True
    for pc, kind in pair.gdb["frames"][:60]:
        lines.append(f"{pc:#x} {name_at(symbols, (pc, exact))}")
        exact = kind == "signal"
    return "\n".join("            " + line for line in lines + [f"end: {pair.gdb['end']}"])


def report(options, symbols, pairs):
    """Prints the classes and returns what is wrong."""
    entries = complete_stacks.ENTRIES[options.arch]
    classes = collections.defaultdict(list)
    in_entry = 0
    for pair in pairs:
        classes[classify(entries, symbols, pair)].append(pair)
        in_entry += any(complete_stacks.is_entry(entries, name) or name in symbols.entry_text
                        for name in symbols.names(kernel_frames(pair.ringside)[0][0]))
    print(f"{options.arch}: {len(pairs)} kernel stacks beside gdb's, {in_entry} of them with the pc in entry code")
    for name, members in sorted(classes.items(), key=lambda item: -len(item[1])):
        print(f"  {len(members):5} {name}")
        wanted = options.show if name == UNCLASSIFIED or name.startswith((RINGSIDE_WRONG, "both")) else options.show_gdb
        for pair in members[:wanted]:
            print(show(symbols, pair))
    wrong = sum(len(members) for name, members in classes.items() if name.startswith((RINGSIDE_WRONG, "both")))
    failures = []
    if len(pairs) < options.states * 0.8:
        failures.append(f"{len(pairs)} stacks could be compared, {options.states} wanted")
    if 100.0 * wrong / max(1, len(pairs)) > options.wrong:
        failures.append(f"ringside is wrong in {wrong} of {len(pairs)}, {options.wrong:g} % allowed")
    if classes[UNCLASSIFIED]:
        failures.append(f"{len(classes[UNCLASSIFIED])} differences are of no class")
    return failures


def run(options, folder):
    paths = linux_guest.fetch(arch=options.arch)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    deadline = time.monotonic() + options.limit
    try:
        symbols, samples, looks = take(options, paths, folder, deadline)
    finally:
        if options.keep:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("disk.img", "first", "second"))
    pairs, lost = pair_up(samples, looks)
    if lost:
        print(f"{lost} stops of ringside's belong to no state that gdb saw")
    return report(options, symbols, pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--know", choices=["vmlinux", "vmlinuz", "nothing"], default="vmlinux")
    parser.add_argument("--cpu", help="QEMU's CPU model, such as max (default: the architecture's usual one)")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--no-kaslr", dest="kaslr", action="store_false")
    parser.add_argument("--states", type=int, default=60, help="kernel stacks to compare (default 60)")
    parser.add_argument("--entry-share", type=float, default=0.4, help="of the states, looked for in entry code")
    parser.add_argument("--interval", type=float, default=150, help="ms between samples (default 150)")
    parser.add_argument("--wrong", type=float, default=WRONG_PERCENT, help="percent in which ringside may be wrong")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=150, help="seconds that all of it may take (default 150)")
    parser.add_argument("--show", type=int, default=3, help="so many examples of each class of ringside's (default 3)")
    parser.add_argument("--show-gdb", type=int, default=0, help="so many examples of each class of gdb's (default 0)")
    parser.add_argument("--keep", help="a folder for the recording and the logs")
    parser.add_argument("record_options", nargs="*", help="further options of `ringside record`, behind --")
    options = parser.parse_args()
    machine.exit_on_signals()
    try:
        with tempfile.TemporaryDirectory(prefix="ringside-gdb-") as folder:
            failures = run(options, pathlib.Path(folder))
    except linux_guest.NoNetwork as error:
        print(f"skipped: {error}")
        return SKIPPED
    except (launched.Failed, machine.GuestError, stub_proxy.ProxyError, OSError, ValueError,
            subprocess.SubprocessError) as error:
        failures = [f"{type(error).__name__}: {error}"]
    for line in failures:
        print(f"FAILED: {line}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
