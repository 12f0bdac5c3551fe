#!/usr/bin/env python3
"""A module of Debian's that is loaded during a recording: its functions are named, and rightly.

    late_module_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--engine tcg]

Some seconds after the first sample the guest loads virtio_blk and reads a disk. Which frames are in the module, and what
they are called, is judged by where the guest says its sections are and by the symbols of its file.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import json
import os
import shutil
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program
from ringside_tests.judges import kernel_symbols, late_module

WORKLOAD, MODULE = "late_module", "virtio_blk"
NAMED_PERCENT = 95.0  # the first ones may be from before ringside looked


def record(options, paths, folder, deadline):
    """Returns the recording and what the guest's serial port said."""
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")  # no vmlinux lies beside it
    qemu = linux_guest.base(paths) + [
        "-smp", "1", "-m", "512", "-serial", "stdio", "-kernel", str(kernel), "-initrd", paths["INITRD"],
        "-append", f"{linux_guest.append(paths, WORKLOAD)} late={MODULE}", *linux_guest.disk(folder)]
    how = ["--engine", options.engine, "--duration", f"{options.seconds:g}", "--interval", f"{options.interval:g}ms",
           "--after", linux_guest.READY, *options.record_option]
    recording = launched.record(options.ringside, how, qemu, folder, deadline)
    return recording, (folder / "record.log").read_text(errors="replace")


def run(options, folder):
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    deadline = time.monotonic() + options.limit
    recording, serial = record(options, paths, folder, deadline)
    placement = linux_guest.placement(serial)
    placement.sections = {place: at for place, at in placement.sections.items() if place[0] == MODULE}
    if not placement.sections:
        raise launched.Failed(f"the guest did not load {MODULE}: {serial[-800:]}")
    symbols = kernel_symbols.Symbols()
    kernel_symbols.add_modules(symbols, paths, placement)
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "--demangle", "none",
                              "-i", str(recording), "-o", "-")
    samples = [line for line in map(json.loads, text.splitlines()) if line.get("disposition") in ("sampled", "idle")]
    verdict = late_module.Verdict(symbols.finish(), samples)
    named = 100 * verdict.named / max(verdict.frames, 1)
    print(f"{options.arch}, {options.engine}: {len(samples)} samples, the first through {MODULE} after {verdict.before}, "
          f"{verdict.samples} in all; {verdict.frames} frames in it, {named:.2f} % named, {sum(verdict.wrong.values())} wrong: "
          + ", ".join(f"{name} {count}" for name, count in verdict.functions.most_common(8))
          + f"; {late_module.HANDLER}: {dict(verdict.handler)}")
    failures = [f"{count} frames are called {what}" for what, count in verdict.wrong.most_common(5)]
    if verdict.samples < options.least:
        failures.append(f"{verdict.samples} samples through {MODULE}, {options.least} wanted")
    if verdict.before < options.least:
        failures.append("the module was there before the recording")
    if named < NAMED_PERCENT:
        failures.append(f"{named:.2f} % of the module's frames have names, {NAMED_PERCENT:g} % wanted")
    if verdict.samples >= options.least and not verdict.handler:
        failures.append(f"no stack through {late_module.HANDLER} was copied up to its interrupt")
    if plain := verdict.handler.total() - verdict.handler["interrupt"]:
        failures.append(f"{plain} of {verdict.handler.total()} frames of {late_module.HANDLER} are no interrupt's: "
                        f"{dict(verdict.handler)}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath, help="the program under test")
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--engine", default="tcg")
    parser.add_argument("--seconds", type=float, default=25, help="of recording (default 25)")
    parser.add_argument("--interval", type=float, default=3, help="ms between samples (default 3)")
    parser.add_argument("--least", type=int, default=50, help="samples before the module, and through it (default 50)")
    limits.add_option(parser)
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
