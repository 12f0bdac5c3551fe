#!/usr/bin/env python3
"""A Linux guest that boots again during a recording, with another slide: its code is named before and after.

    reboot_test.py --ringside PROGRAM [--plugin FILE] [--engines tcg,gdb,qmp] [--no-kernel]

The kernel puts itself at another place at each boot (KASLR) and reports both places on the serial port. The kernel's frames
of the recording are to be where it was at their time, with names.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import json
import os
import re
import shutil
import signal
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, program

NAMED_PERCENT = 95.0  # of the kernel's frames, from when the guest is ready
KERNEL_BYTES = 64 << 20  # more than a kernel's text has
HEAD_BYTES = 64 << 10  # before _stext, on riscv64
LEAST = {"tcg": 50, "gdb": 50, "qmp": 20}  # frames; through the monitor's text a busy host gives few


def boots_of(guest):
    """The places of _stext that the guest has reported, by boot."""
    return [int(text, 16) for text in re.findall(r"ringside-guest: text (0x[0-9a-f]+)", guest.serial())]


def record(options, engine, guest, folder, paths):
    """Records over a reset; returns the recording, what was said, and the times at which the guest was reset and ready, in
    seconds from the first sample."""
    recording = folder / f"{engine}.data"
    interval = options.plugin_interval if engine == "tcg" else options.interval
    kernel = [] if options.no_kernel else ["--kernel", paths["VMLINUZ"]]
    command = [options.ringside, "record", *every_engine.attach_options(engine, guest, folder), *kernel, "--interval",
               f"{interval:g}ms", "-o", recording, *options.record_option]
    with program.Program(list(map(str, command)), os.path.join(folder, f"{engine}.log")) as ringside:
        if not ringside.wait_said("ringside: sampling", limits.STEP):
            raise launched.Failed(f"ringside does not sample; it said: {ringside.said()[-600:]}")
        begun, boots = time.monotonic(), guest.serial().count(linux_guest.READY)
        time.sleep(options.seconds)
        reset = time.monotonic() - begun
        guest.qmp.command("set-action", reboot="reset")  # instead of -no-reboot
        guest.qmp.command("system_reset")
        if not limits.wait_until(lambda: guest.serial().count(linux_guest.READY) > boots):
            raise launched.Failed(f"the guest does not boot again: {guest.serial()[-400:]}")
        ready = time.monotonic() - begun
        time.sleep(options.seconds)
        ringside.process.send_signal(signal.SIGINT)
        if ringside.wait_end(limits.STEP) != 0:
            raise launched.Failed(f"ringside does not end well; it said: {ringside.said()[-600:]}")
        return recording, ringside.said(), reset, ready


class Boot:
    """The kernel's frames of one boot."""
    def __init__(self, text):
        self.text, self.frames, self.named, self.elsewhere = text, 0, 0, 0

    def add(self, frame):
        self.frames += 1
        self.named += bool(frame["functions"])
        is_there = self.text - HEAD_BYTES <= int(frame["address"], 16) < self.text + KERNEL_BYTES
        self.elsewhere += frame.get("image") == "kernel" and not is_there

    def failures(self, which, least):
        print(f"  {which}: _stext at {self.text:#x}, {self.frames} frames, {self.named} named, {self.elsewhere} of an image "
              "that is not there")
        if self.frames < least:
            return [f"{which}: {self.frames} frames, {least} wanted"]
        wrong = [f"{which}: {self.elsewhere} frames of the kernel are where it did not run"] if self.elsewhere else []
        if 100 * self.named < NAMED_PERCENT * self.frames:
            wrong.append(f"{which}: {self.named} of {self.frames} frames have names, {NAMED_PERCENT:g} % wanted")
        return wrong


def check(options, engine, guest, folder, paths):
    recording, said, reset, ready = record(options, engine, guest, folder, paths)
    texts = boots_of(guest)[-2:]
    text = launched.read_back(options.ringside, limits.step_end(), "export", "--format", "json-lines", "-i", str(recording),
                              "-o", "-")
    lines = list(map(json.loads, text.splitlines()))
    before, after = map(Boot, texts)
    samples = [line for line in lines if line.get("disposition") == "sampled"]
    first = samples[0]["time_ns"]  # taken just before it said that it samples
    for line in samples:
        at = (line["time_ns"] - first) / 1e9
        boot = before if at < reset - 0.5 else after if at > ready + 0.5 else None
        for stack in line["stacks"] if boot else []:
            for frame in stack["frames"]:
                if frame["kind"] in ("kernel", "interrupt"):
                    boot.add(frame)
    print(f"{engine}: reset after {reset:.1f} s, ready after {ready:.1f} s; epochs "
          f"{[round(line['time_ns'] / 1e9, 1) for line in lines if 'epoch' in line]}")
    # Without a file it takes a while on a busy host.
    failures = [] if options.no_kernel else before.failures("before", LEAST[engine])
    failures += after.failures("after", LEAST[engine])
    if texts[0] == texts[1]:
        print("the kernel is at the same place again: this shows nothing")
        return []
    biases = [int(line["load_bias"], 16) for line in lines if line.get("image") == "kernel"]
    moved = (texts[1] - texts[0]) % 2**64
    # Images that are made of the guest's memory are where they run.
    if not options.no_kernel and (biases[-1] - biases[0]) % 2**64 != moved:
        failures.append(f"the kernel has moved by {moved:#x}, by the recording from {biases[0]:#x} to {biases[-1]:#x}")
    if sum("epoch" in line for line in lines) != 1:
        failures.append("the recording has not one epoch more")
    if "no longer where it" not in said:
        failures.append(f"no word of the second boot: {said[-600:]}")
    return [f"{engine}: {failure}" for failure in failures]


def run(options, folder):
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    options.workload = "dd"
    options.engines = options.engines or every_engine.default_engines(options.arch)
    failures = []
    with every_engine.boot_linux(options, folder, paths) as guest:
        for engine in options.engines:
            failures += check(options, engine, guest, folder, paths)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--no-kernel", action="store_true", help="the kernel is found in the guest's memory")
    parser.add_argument("--seconds", type=float, default=3, help="of recording before and after (default 3)")
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
