#!/usr/bin/env python3
"""Measures how long the guest stands still per sample, by QEMU's own STOP and RESUME events.

One Linux guest, with two vCPUs unless --vcpus says otherwise, is sampled in turns, so that the machine's drift cancels, by
    ringside        ringside record attached to the gdb stub, default settings; ringside-2 and so on are further
                    programs, where --ringside is given several times: an older build beside a newer one
    ringside-16k    the same with 16 KiB of stack
    registers       a client of the stub that stops the guest, reads all registers and lets it run: the least
    gdb-attached    one gdb that stays up and stops the guest for each sample
    gdb-fresh       a new gdb for every sample
    qmp-stub        ringside record --qmp, through the gdb stub that it has QEMU open
    qmp-text        the same where QEMU has a stub already: by what the monitor prints
    qmp-naive       stop, info registers, one x /1gx for each word of stack that qmp-text copies, cont
Prints a table; --out FILE.json writes the numbers. Exit status: 0 done, 1 failed, 2 wrong usage, 3 no network.
"""
import argparse
import functools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

import gdb_attached
import gdb_fresh
import measurement
import pauses
import qmp_naive
import registers_only
import result
import ringside_attached
from ringside_tests.harness import linux_guest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Bench:
    def __init__(self, options, paths, guest, gdb, folder):
        self.options, self.paths, self.guest, self.gdb, self.folder = options, paths, guest, gdb, folder
        self.monitor = str(folder / "monitor")  # a second one: the first tells the times
        self.words = 0  # of a stack, for the naive way
        self.ways = []
        if not options.without_ringside:
            for number, program in enumerate(options.ringside, 1):
                name = "ringside" if number == 1 else f"ringside-{number}"
                self.ways.append((functools.partial(self._ringside, program=program),
                                  result.Way(name, f"default settings ({program})")))
            self.ways.append((self._ringside_16k, result.Way("ringside-16k", "--stack-bytes 16384")))
        self.ways.append((self._registers, result.Way("registers", "the stub's least: stop, registers, continue")))
        self.ways += [(self._gdb_attached, result.Way("gdb-attached", "one gdb, interrupt, bt, continue")),
                      (self._gdb_fresh, result.Way("gdb-fresh", "gdb -batch for every sample"))]
        if not options.without_ringside:
            self.ways += [(self._qmp_stub, result.Way("qmp-stub", "--qmp, a private gdb stub")),
                          (self._qmp_text, result.Way("qmp-text", "--qmp, what the monitor prints")),
                          (self._qmp_naive, result.Way("qmp-naive", "one x /1gx a word"))]
        if options.only:
            self.ways = [(measure, way) for measure, way in self.ways if way.name.startswith(tuple(options.only))]

    def run(self):
        # gdb reads a function's debug information when it first meets it: its first stops are not counted.
        if any(way.name == "gdb-attached" for _, way in self.ways):
            warm_up = result.Way("warm-up", "")
            self._gdb_attached(warm_up)
            self._must_run(warm_up)
        for turn in range(self.options.rounds):
            for measure, way in self.ways:
                print(f"pause: round {turn + 1} of {self.options.rounds}: {way.name}", file=sys.stderr)
                measure(way)
                self._must_run(way)

    def _must_run(self, way):
        if not self.guest.qmp.wait_status("running", 2):
            way.left_paused += 1
            self.guest.qmp.command("cont")
        self.guest.qmp.listen(0.3)
        self.guest.qmp.take_events()

    def _ringside(self, way, extra=(), attach_options=None, program=None):
        program = program or self.options.ringside[0]
        recording = self.folder / f"{way.name}.data"
        events, processor_us = ringside_attached.record(program, self.guest, self.paths["VMLINUX"], self.options.seconds,
                                                        self.options.interval, recording, extra, attach_options)
        _count(way, pauses.pair(events))
        way.processor_us.append(processor_us)
        way.stack_bytes.append(ringside_attached.stack_bytes(ringside_attached.report(program, recording)))

    def _registers(self, way):
        with registers_only.RegistersOnly(self.guest.gdb, self.options.vcpus) as client:
            self.guest.qmp.listen(0.3)
            self.guest.qmp.take_events()  # of connecting
            for _ in range(int(self.options.seconds * 1000 / self.options.interval)):
                client.sample()
                self.guest.qmp.listen(self.options.interval / 1000)
            way.pauses += pauses.pair(self.guest.qmp.take_events())
        self.guest.qmp.listen(0.3)
        self.guest.qmp.take_events()

    def _ringside_16k(self, way):
        self._ringside(way, ["--stack-bytes", "16384"])

    def _gdb_attached(self, way):
        self.gdb.attach(self.guest.gdb)
        for _ in range(self.options.gdb_samples):
            self.guest.qmp.listen(self.options.interval / 1000)
            self.gdb.sample()
        events = self.guest.qmp.take_events()
        self.gdb.detach()
        _count(way, pauses.pair(events))

    def _gdb_fresh(self, way):
        for _ in range(self.options.fresh_samples):
            events, printed = gdb_fresh.sample(self.guest, self.paths["VMLINUX"])
            if "#1 " not in printed:
                raise gdb_attached.GdbError("a fresh gdb printed no stack")
            way.pauses += pauses.pair(events)
            self._must_run(way)


    def _qmp_stub(self, way):
        self.guest.qmp.hmp("gdbserver none")
        try:
            self._ringside(way, attach_options=["--qmp", self.monitor])
        finally:
            self.guest.qmp.hmp(f"gdbserver unix:{self.guest.gdb},server=on,wait=off")

    def _qmp_text(self, way):
        self._ringside(way, attach_options=["--qmp", self.monitor, "--leave-stub"])
        self.words = round(way.stack_bytes[-1] / 8)

    def _qmp_naive(self, way):
        with qmp_naive.NaiveMonitor(self.monitor) as monitor:
            for _ in range(self.options.gdb_samples):
                self.guest.qmp.listen(self.options.interval / 1000)
                way.stack_bytes.append(monitor.sample(self.words) * 8 / self.options.vcpus)
        way.pauses += pauses.pair(self.guest.qmp.take_events())


def _count(way, measured):
    """The first stop is the one that attaching takes; it is told apart."""
    way.attach += measured[:1]
    way.pauses += measured[1:]


def about(paths, vcpus):
    """The conditions that the numbers depend on."""
    def first_line(*command):
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[0]
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.machine())
    return {"date": time.strftime("%Y-%m-%d"), "cpu": model, "cores": os.cpu_count(),
            "qemu": first_line("qemu-system-x86_64", "--version"), "gdb": first_line("gdb", "--version"),
            "guest": paths["VERSION"], "vcpus": vcpus}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--ringside", action="append", help="the program; several are measured side by side")
    parser.add_argument("--vcpus", type=int, default=2)
    parser.add_argument("--without-ringside", action="store_true", help="measure gdb only")
    parser.add_argument("--workload", default="mixed", choices=["mixed", "dd"])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5, help="how long each turn of ringside's takes")
    parser.add_argument("--interval", type=float, default=10, help="milliseconds between samples")
    parser.add_argument("--gdb-samples", type=int, default=30, help="samples in each turn of the attached gdb")
    parser.add_argument("--only", help="measure only the ways whose names begin so, such as qmp; may be repeated", action="append")
    parser.add_argument("--fresh-samples", type=int, default=2, help="samples in each turn of the fresh gdbs")
    options = parser.parse_args()
    options.ringside = options.ringside or [str(ROOT / "build" / "release" / "ringside")]
    for program in options.ringside:
        if not options.without_ringside and not os.access(program, os.X_OK):
            parser.error(f"no program {program}: build ringside first, or say --without-ringside")
    return options


def run(options):
    paths = linux_guest.fetch()
    print(f"pause: booting {paths['VERSION']}, workload {options.workload}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="ringside-pause-") as folder, \
            linux_guest.boot(paths, options.workload, cpus=options.vcpus,
                             extra=["-qmp", f"unix:{folder}/monitor,server=on,wait=off"]) as guest, \
            gdb_attached.AttachedGdb(paths["VMLINUX"]) as gdb:
        bench = Bench(options, paths, guest, gdb, pathlib.Path(folder))
        bench.run()
    summaries = {way.name: way.summary() for _, way in bench.ways}
    print("\n".join(result.table(summaries)))
    for name, summary in summaries.items():
        if summary["left_paused"]:
            print(f"{name} left the guest standing {summary['left_paused']} times")
    if options.out:
        document = {"about": about(paths, options.vcpus), "workload": options.workload, "interval_ms": options.interval,
                    "ways": summaries, "median_ratio_to_ringside": result.ratios(summaries)}
        options.out.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    options = parse_options()
    return measurement.exit_status("pause", lambda: run(options), gdb_attached.GdbError, ringside_attached.RingsideError)


if __name__ == "__main__":
    sys.exit(main())
