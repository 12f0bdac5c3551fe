#!/usr/bin/env python3
"""Shares beside busy loops: each recording has the true ones, or says itself that the host has bent them.

    busy_shares_test.py --ringside PROGRAM --kernel BUNDLED-ELF --truth demo/truth/interrupts.txt [--loops 6]

The guests are a small kernel with one task and a timer (`small`: riscv64, made here), of which the timer's interrupt is judged
by a deterministic recording; the bundled kernel (`bundled`), by the shares of its source; and Debian's kernel under a user
program that computes (`amd64`, `riscv64`), of which the kernel's whole share is judged by `perf` on the host at the same
time. A difference counts with half of its 95 % interval, and is judged where that is a point at most.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 a guest or a tool cannot be had.
"""
import argparse
import collections
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import threading

from ringside_tests.harness import busy_loops, every_engine, folded, launched, limits, linux_guest, linux_program, machine
from ringside_tests.judges import kernel_symbols, legal_stacks, perf_witness
from ringside_tests.judges.truth import percent

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels")
RATES = {"tcg": (100, 1000, 5000), "gdb": (100, 1000), "qmp": (100, 1000)}
GUESTS = ("small", "bundled", "amd64", "riscv64")
POINTS = 2.0
INTERRUPT = ("trap_entry", "on_timer")
READY_SMALL = "one task: ready"
PERF_SECONDS = 15


def room(share, samples):
    """Half of the 95 % interval of a share, in points."""
    part = min(max(share / 100, 0.0), 1.0)
    return 196 * (part * (1 - part) / max(samples, 1)) ** 0.5


def shares_of(options, recording, deadline):
    """(share by function, samples)."""
    own = collections.Counter()
    for stack, count in folded.parse(launched.folded_text(options.ringside, recording, deadline)):
        own[stack[-1]] += count
    total = sum(own.values())
    return {name: percent(count, total) for name, count in own.items()}, total


def furthest(found, truth, samples):
    """(difference with the interval's half, functions, their two shares) of those that are furthest from the truth."""
    judged = []
    for names, share in truth.items():
        got = sum(found.get(name, 0) for name in names)
        judged.append((abs(got - share) + room(share, samples), " and ".join(names), got, share))
    return max(judged)


class SmallGuest:
    """A kernel that ringside starts anew for each recording."""

    def __init__(self, options, folder, name):
        self.options, self.folder, self.runs = options, folder, itertools.count()
        if name == "small":
            self.qemu = ["qemu-system-riscv64", "-M", "virt", "-bios", "none", "-m", "128", "-display", "none", "-serial", "stdio",
                         "-monitor", "none", "-kernel", self._build()]
            self.ready = READY_SMALL
        else:
            self.qemu = machine.BASE + ["-m", "256", "-serial", "stdio", "-kernel", options.kernel, "-append",
                                        "workload=interrupts seconds=0"]
            self.ready = "ringside-demo: ready"
        self.truth = self._truth()

    def _truth(self):
        """Shares by functions."""
        if self.ready != READY_SMALL:
            parsed = legal_stacks.parse(self.options.truth.read_text())
            return {tuple(functions): share for functions, share in parsed.judged_shares() if share >= POINTS}
        shares, _, _ = self._shares(["--deterministic", "--interval", "1ms", "--samples", "20000"])
        return {INTERRUPT: sum(shares.get(name, 0) for name in INTERRUPT)}

    def _build(self):
        if missing := [tool for tool in ("clang", "ld.lld", "qemu-system-riscv64") if not shutil.which(tool)]:
            raise linux_guest.NoNetwork(f"there is no {', '.join(missing)}")
        kernel = str(self.folder / "one_task.elf")
        subprocess.run(["clang", "--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-O1", "-g",
                        "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld",
                        "-fno-omit-frame-pointer", "-Wl,--defsym=BASE=0x80000000,--defsym=OFFSET=0", "-T",
                        f"{KERNELS}/machine.ld", "-o", kernel, f"{KERNELS}/riscv64_one_task.c"], check=True,
                       stdin=subprocess.DEVNULL)
        return kernel

    def _shares(self, how):
        """(share by function, samples, whether the recording says that it is bent)."""
        folder = self.folder / f"run-{next(self.runs)}"
        folder.mkdir()
        kernel = self.qemu[self.qemu.index("-kernel") + 1]
        recording = launched.record(self.options.ringside, [*how, "--kernel", kernel, "--after", self.ready], self.qemu, folder,
                                    limits.step_end() + self.options.seconds)
        found = shares_of(self.options, recording, limits.step_end())
        bent = launched.says_bent(self.options.ringside, recording, limits.step_end())
        shutil.rmtree(folder)
        return *found, bent

    def measure(self, engine, rate):
        """(difference with half of its interval, that half, what of, whether it says that it is bent, samples)."""
        found, samples, bent = self._shares(["--engine", engine, "-F", str(rate), "--samples", str(self.options.samples), "--duration",
                                       f"{self.options.seconds:g}"])
        difference, name, got, wanted = furthest(found, self.truth, samples)
        return difference, room(wanted, samples), f"{name} {got:.2f} % for {wanted:.2f} %", bent, samples

    def close(self):
        pass


class LinuxGuest:
    """Debian's kernel, to which ringside and perf attach at the same time."""

    def __init__(self, options, folder, name):
        self.options, self.folder = options, folder
        paths = linux_guest.fetch(arch=name)
        self.kernel = paths["VMLINUX"]
        self.guest = linux_guest.boot(paths, "spin", 1, extra=[*every_engine.plugin_options(options, folder),
                                                               perf_witness.QEMU_OPTION], kaslr=True)
        self.symbols = kernel_symbols.load(paths, linux_guest.placement(self.guest.serial()))
        self.threads = [cpu["thread-id"] for cpu in self.guest.qmp.command("query-cpus-fast")]

    def measure(self, engine, rate):
        witness = {}
        thread = threading.Thread(target=lambda: witness.update(found=perf_witness.record(self.threads, PERF_SECONDS,
                                                                                          self.folder)))
        thread.start()
        recording = self.folder / "one.data"
        deadline = limits.step_end() + self.options.seconds
        launched.read_back(self.options.ringside, deadline, "record", *every_engine.attach_options(engine, self.guest, self.folder),
                           "--kernel", str(self.kernel), "-F", str(rate), "--samples", str(self.options.samples), "--duration",
                           f"{self.options.seconds:g}", "-o", str(recording))
        thread.join()
        if "found" not in witness:
            raise perf_witness.NoPerf("perf: it took no samples")
        blocks, elsewhere = witness["found"]
        own, samples = shares_of(self.options, recording, deadline)
        names = {name for name, _ in self.symbols.starts()}
        got = sum(share for name, share in own.items() if name in names)
        functions = perf_witness.kernel_functions(self.symbols, blocks, own)
        in_kernel = functions.total() - functions[None]
        # Between two blocks QEMU delivers exceptions, and more: that time is the kernel's, or not.
        least, most = percent(in_kernel, functions.total()), percent(in_kernel + elsewhere, functions.total() + elsewhere)
        interval = room(most, min(samples, blocks.total()))
        away = max(least - got, got - most, 0) + interval
        bent = launched.says_bent(self.options.ringside, recording, deadline)
        return away, interval, f"the kernel {got:.2f} % for {least:.2f} to {most:.2f} %", bent, samples

    def close(self):
        self.guest.close()
        perf_witness.forget(self.guest.process.pid)


def run(options, folder):
    failures = []
    with busy_loops.BusyLoops(options.loops):
        for name in options.guests:
            failures += of_guest(options, folder, name)
    return failures


def of_guest(options, folder, name):
    """Failures of one guest, as lines."""
    failures = []
    place = folder / name
    place.mkdir()
    guest = (SmallGuest if name in ("small", "bundled") else LinuxGuest)(options, place, name)
    try:
        for engine in options.engines:
            for rate in RATES[engine]:
                difference, interval, what, bent, samples = guest.measure(engine, rate)
                cell = f"{name}, {engine} at {rate} Hz, {samples} samples: {what}: {difference:.2f} points with its interval"
                verdict = "true" if difference <= POINTS else "wrong" if interval <= POINTS / 2 else "too few samples to judge"
                print(f"{cell}; {verdict}; {'says that it is bent' if bent else 'silent'}", flush=True)
                if verdict == "wrong" and not bent:
                    failures.append(f"{cell}, and does not say that it is bent")
    finally:
        guest.close()
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--plugin", type=pathlib.Path, help="libringside-tcg.so (default: of ringside's build)")
    parser.add_argument("--kernel", required=True, type=os.path.abspath, help="the bundled kernel")
    parser.add_argument("--truth", required=True, type=pathlib.Path, help="of its workload interrupts")
    parser.add_argument("--loops", type=int, default=6)
    parser.add_argument("--samples", type=int, default=10000, help="of each recording (default 10000)")
    parser.add_argument("--seconds", type=float, default=150, help="that a recording takes at most (default 150)")
    parser.add_argument("--guests", type=lambda text: text.split(","), default=list(GUESTS))
    parser.add_argument("--engines", type=lambda text: text.split(","), default=list(RATES))
    options = parser.parse_args()
    try:
        return linux_program.exit_status(run, options)
    except perf_witness.NoPerf as error:
        print(f"skipped: {error}")
        return linux_program.SKIPPED


if __name__ == "__main__":
    sys.exit(main())
