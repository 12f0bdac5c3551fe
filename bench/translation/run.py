#!/usr/bin/env python3
"""Measures what the plugin costs where QEMU translates much: in a boot, and in programs that start one after the other.

Each round starts a QEMU for each way, with one vCPU, for each load. The QEMUs work in turns of 10 ms, in random order;
those that wait are held by SIGSTOP. So all meet the same noise of the machine. Loads: "boot", from QEMU's start to the
end of a short workload (work); "programs", that of bench/overhead, in a guest that has booted.

Ways: without a plugin, twice (how far two of the same are apart); "translation", a plugin that asks for translated
blocks and does nothing (bench/floor); "check", the same with a conditional callback in the blocks that ringside's
plugin checks; "idle", ringside's plugin while nobody samples; "stand-alone", it with out=FILE at 1 kHz. The last is too
high: a QEMU that is held misses ticks, so the plugin's thread moves to the vCPU's processor and interrupts it.

Prints the mean overhead of the rounds, with its 95 % interval, against "translation" and against "without": of the
vCPU's thread and of all of QEMU's threads. Exit status: 0 done, 1 failed, 2 wrong usage, 3 no network.
"""
import argparse
import contextlib
import gzip
import os
import pathlib
import random
import sys
import tempfile

import cpu_time
import guest_image
import measurement
import paired
import turns
from guest import Guest
from ringside_tests.harness import linux_guest, machine

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = pathlib.Path(__file__).with_name("work")
DONE = "translation: done"
TURN = 0.01  # seconds
# The kernel judges its timer by its clock, which goes on while QEMU is held, and panics.
WORDS = "no_timer_check panic=-1"
PROGRAMS = 160  # some two seconds

WITHOUT, TRANSLATION = "without", "translation"
# {folder}: of this one QEMU.
WAYS = {WITHOUT: None, "without, again": None, TRANSLATION: "{floor}", "check": "{floor},check=callback,in=some",
        "idle": "{plugin},ring={{folder}}/ring", "stand-alone": "{plugin},out={{folder}}/out,interval=1000"}


class Boot:
    """A QEMU that has just begun to boot."""

    def __init__(self, paths, initrd, plugin):
        self._folder = tempfile.TemporaryDirectory(prefix="ringside-translation-")
        extra = ["-plugin", plugin.format(folder=self._folder.name)] if plugin else []
        try:
            self.machine = machine.Machine(kernel=paths["VMLINUZ"], initrd=initrd, cpus=1, memory=512,
                                           append=f"{linux_guest.append(paths, WORK.name, kaslr=False)} {WORDS}",
                                           extra=extra, base=linux_guest.base(paths))
            self.pid = self.machine.process.pid
            self.vcpu = self.machine.qmp.command("query-cpus-fast")[0]["thread-id"]
        except BaseException:
            self.close()
            raise

    @staticmethod
    def initrd(folder, paths):
        """The test guest's, with the workload in it: the kernel unpacks archives that follow each other."""
        image = pathlib.Path(folder) / "initrd.gz"
        more = guest_image.archive({f"workload/{WORK.name}": WORK.read_bytes()})
        image.write_bytes(pathlib.Path(paths["INITRD"]).read_bytes() + gzip.compress(more))
        return image

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if hasattr(self, "machine"):
            self.machine.close()
        self._folder.cleanup()

    def begin(self):
        """Returns the processor time that does not count: none, for it has begun with QEMU."""
        return 0.0, 0.0

    def is_done(self):
        if self.machine.process.poll() is not None:
            raise machine.GuestError(f"QEMU ended with status {self.machine.process.returncode}")
        return DONE in self.machine.serial()


class Programs(Guest):
    """A guest of bench/overhead that starts programs."""

    def __init__(self, paths, initrd, plugin):
        super().__init__(paths, initrd, plugin)
        self.work("programs", PROGRAMS // 10)

    @staticmethod
    def initrd(folder, _):
        return guest_image.build(folder)

    def begin(self):
        self.give_order(f"programs {PROGRAMS}")
        return times(self)

    def is_done(self):
        return self.has_answered(within=0)


LOADS = {"boot": Boot, "programs": Programs}


def times(guest):
    """Processor time so far, in seconds: of the vCPU's thread, and of all of QEMU's."""
    return cpu_time.of_thread(guest.pid, guest.vcpu), cpu_time.of_process(guest.pid)


def work_in_turns(load, options, paths, initrd):
    """Has a guest of each way do the work; returns their times, by way."""
    with contextlib.ExitStack() as stack:
        guests, before = {}, {}
        for way in random.sample(list(WAYS), len(WAYS)):
            plugin = WAYS[way] and WAYS[way].format(floor=options.floor, plugin=options.plugin)
            guests[way] = stack.enter_context(load(paths, initrd, plugin))
            turns.hold(guests[way].pid)
            before[way] = guests[way].begin()
        turns.take_turns({guest.pid: guest.is_done for guest in guests.values()}, TURN)
        return {way: [now - then for now, then in zip(times(guest), before[way])] for way, guest in guests.items()}


def line(rounds, way):
    """rounds: times by way."""
    cells = []
    for thread in (0, 1):
        for against in (TRANSLATION, WITHOUT):
            found = paired.overhead([(times[against][thread], times[way][thread]) for times in rounds])
            interval = f"{found.mean * 100:+.1f} % ({found.low * 100:+.1f} … {found.high * 100:+.1f})"
            cells.append("-" if way == against else interval)
    return f"{way:16}" + "".join(f"{cell:>26}" for cell in cells)


def run(options):
    paths = linux_guest.fetch(vmlinux=False)
    rounds = {name: [] for name in options.loads}
    with tempfile.TemporaryDirectory(prefix="ringside-translation-") as folder:
        for number in range(options.rounds):
            for name, found in rounds.items():
                initrd = LOADS[name].initrd(folder, paths)
                found.append(work_in_turns(LOADS[name], options, paths, initrd))
                seconds = ", ".join(f"{way} {of_vcpu:.2f} s" for way, (of_vcpu, _) in found[-1].items())
                print(f"translation: {name}: round {number + 1} of {options.rounds}: {seconds}", file=sys.stderr)
    for name, found in rounds.items():
        heads = (f"{of}, to {against}" for of in ("vCPU", "QEMU") for against in (TRANSLATION, WITHOUT))
        print(f"{name:16}" + "".join(f"{head:>26}" for head in heads))
        for way in WAYS:
            print(line(found, way))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    build = ROOT / "build/release"
    parser.add_argument("--rounds", type=int, default=15, help="at least 2 (default 15)")
    parser.add_argument("--floor", type=os.path.abspath, default=str(build / "bench/floor/floor.so"))
    parser.add_argument("--plugin", type=os.path.abspath, default=str(build / "plugin/libringside-tcg.so"))
    parser.add_argument("--loads", default=",".join(LOADS), help="a list with commas (default: all)")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds is 2 at least")
    for path in (options.floor, options.plugin):
        if not os.path.exists(path):
            parser.error(f"no file {path}: script/bench translation builds it")
    options.loads = options.loads.split(",")
    if unknown := set(options.loads) - set(LOADS):
        parser.error(f"--loads: there is no {', '.join(sorted(unknown))}")
    return options


def main():
    options = parse_options()
    # The machine's other work comes between two turns less often.
    with contextlib.suppress(PermissionError):
        os.nice(-10)
    return measurement.exit_status("translation", lambda: run(options))


if __name__ == "__main__":
    sys.exit(main())
