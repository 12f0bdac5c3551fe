#!/usr/bin/env python3
"""Measures what sampling costs the guest: the vCPU thread's processor time for a fixed workload, with and without.

In each round two guests are booted, one in a QEMU without the plugin and one in a QEMU with it. Each workload is then
done by a way of sampling and by the guest without the plugin and without ringside, one after the other; which of the two
comes first alternates, and the ways come in random order. So each cell of the table gets one pair a round, each from
other processes. Ways: tcg idle (the plugin is loaded, nobody samples), 100, 1000 and 10000 samples a second; with
--engines gdb,qmp those on the guest without the plugin, at 100 and 1000.

Prints a table; --out FILE.json writes the numbers. Exit status: 0 done, 1 failed, 2 wrong usage, 3 no network.
"""
import argparse
import contextlib
import json
import os
import pathlib
import platform
import random
import subprocess
import sys
import tempfile
import time

import cells
import cpu_time
import guest_image
import measurement
import sampler
from guest import Guest
from ringside_tests.harness import linux_guest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# How often each is done: about a second of processor time on a Xeon at 2.5 GHz.
WORKLOADS = {"compute": 800_000, "syscalls": 250_000, "forks": 800, "programs": 80, "tight": 200_000_000}
WAYS = {"tcg": [cells.Way("tcg", frequency) for frequency in (0, 100, 1000, 10000)],
        "gdb": [cells.Way("gdb", frequency) for frequency in (100, 1000)],
        "qmp": [cells.Way("qmp", frequency) for frequency in (100, 1000)]}


class Round:
    """A guest in a QEMU without the plugin and one with it (None if no way needs it)."""

    def __init__(self, options, plain, plugged, folder, number):
        self.options, self.plain, self.plugged, self.folder, self.number = options, plain, plugged, folder, number

    def run(self, table):
        """table: cells by (workload, way); each gets a pair."""
        chance = random.Random(self.number)
        for workload, usual in WORKLOADS.items():
            count = max(1, round(usual * self.options.scale))
            for guest in filter(None, (self.plain, self.plugged)):
                guest.work(workload, max(1, count // 10))  # its code is translated
            for way in chance.sample(self.options.ways, len(self.options.ways)):
                without_first = (self.number + self.options.ways.index(way)) % 2 == 0
                self._pair(table[workload, way], way, workload, count, without_first)

    def _pair(self, cell, way, workload, count, without_first):
        without = self.plain.work(workload, count) if without_first else 0.0
        with_it = self._sampled(cell, way, workload, count)
        if not without_first:
            without = self.plain.work(workload, count)
        cell.pairs.append((without, with_it))

    def _sampled(self, cell, way, workload, count):
        guest = self.plugged if way.engine == "tcg" else self.plain
        if way.frequency == 0:
            return guest.work(workload, count)
        with self._attach_options(way, guest) as attach_options, \
                sampler.Sampler(self.options.ringside, attach_options, way.frequency, self.folder / "ringside.data") as sampling:
            # A sample of the kernel makes ringside read its symbols: work on the processor beside the vCPU's.
            warm_up = guest.work("syscalls", WORKLOADS["syscalls"] // 20)
            sampling.settle()
            warm_up += guest.work(workload, max(1, count // 10))
            own_before, helper_before = sampling.own_cpu(), _helper_cpu(guest)
            spent = guest.work(workload, count)
            cell.own_cpu.append(sampling.own_cpu() - own_before)
            if helper_before is not None:
                cell.helper_cpu.append(_helper_cpu(guest) - helper_before)
            told = sampling.stop()
        cell.samples.append(told.samples)
        cell.sampled_cpu.append(warm_up + spent)
        cell.lost.append(told.lost)
        cell.pause_ns.append(told.pause_ns)
        return spent

    @contextlib.contextmanager
    def _attach_options(self, way, guest):
        """ringside's options that say how to attach."""
        if way.engine == "tcg":
            yield ["--ring", str(guest.ring), "--qmp", guest.machine.monitor]
        elif way.engine == "gdb":
            yield ["--gdb", guest.machine.gdb]
        else:
            # ringside opens a stub of its own where there is none.
            guest.machine.qmp.hmp("gdbserver none")
            yield ["--qmp", guest.machine.monitor]
            guest.machine.qmp.hmp(f"gdbserver unix:{guest.machine.gdb},server=on,wait=off")


def _helper_cpu(guest):
    """The processor time of the plugin's thread so far, in seconds; None if there is none."""
    thread = cpu_time.thread_named(guest.pid, "ringside")
    return cpu_time.of_thread(guest.pid, thread) if thread else None


def about(paths):
    """The conditions that the numbers depend on."""
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                  if line.startswith("model name")), platform.machine())
    qemu = subprocess.run([paths["QEMU"], "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {"date": time.strftime("%Y-%m-%d"), "cpu": model, "cores": os.cpu_count(), "load": os.getloadavg()[2],
            "qemu": qemu.splitlines()[0], "guest": paths["VERSION"]}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, help="write the numbers as JSON to this file")
    parser.add_argument("--ringside", default=str(ROOT / "build" / "release" / "ringside"))
    parser.add_argument("--plugin", help="default: the one that was built with ringside")
    parser.add_argument("--rounds", type=int, default=15, help="pairs in each cell, at least 2 (default 15)")
    parser.add_argument("--scale", type=float, default=1.0, help="how much longer the workloads are than usual")
    parser.add_argument("--engines", default="tcg", help="tcg (the default), gdb, qmp: a list with commas")
    options = parser.parse_args()
    options.ringside = os.path.abspath(options.ringside)
    options.plugin = options.plugin or str(pathlib.Path(options.ringside).parent / "plugin" / "libringside-tcg.so")
    for path in (options.ringside, options.plugin):
        if not os.path.exists(path):
            parser.error(f"no file {path}: build ringside first")
    if options.rounds < 2:
        parser.error("--rounds: an interval needs two pairs at least")
    engines = options.engines.split(",")
    if unknown := set(engines) - set(WAYS):
        parser.error(f"--engines: there is no {', '.join(sorted(unknown))}")
    options.ways = [way for engine in engines for way in WAYS[engine]]
    return options


def run(options):
    paths = linux_guest.fetch(vmlinux=False)
    table = {(workload, way): cells.Cell() for workload in WORKLOADS for way in options.ways}
    needs_plugin = any(way.engine == "tcg" for way in options.ways)
    plugin = f"{options.plugin},ring={{folder}}/ring"
    with tempfile.TemporaryDirectory(prefix="ringside-overhead-") as folder:
        initrd = guest_image.build(folder)
        for number in range(options.rounds):
            print(f"overhead: round {number + 1} of {options.rounds}", file=sys.stderr)
            with Guest(paths, initrd) as plain, \
                    Guest(paths, initrd, plugin) if needs_plugin else contextlib.nullcontext() as plugged:
                Round(options, plain, plugged, pathlib.Path(folder), number).run(table)
    summaries = {key: cell.summary(key[1].bar) for key, cell in table.items()}
    print("\n".join(cells.table(summaries)))
    if options.out:
        document = {"about": about(paths), "cells": [{"workload": workload, "way": str(way), **row}
                                                     for (workload, way), row in summaries.items()]}
        options.out.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    options = parse_options()
    # A vCPU that waits for a processor when a tick is due is not sampled: with other work on the machine there would be
    # fewer samples a second than are asked for, and less to measure.
    with contextlib.suppress(PermissionError):
        os.nice(-10)
    return measurement.exit_status("overhead", lambda: run(options), sampler.RingsideError)


if __name__ == "__main__":
    sys.exit(main())
