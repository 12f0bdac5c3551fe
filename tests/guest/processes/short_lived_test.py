#!/usr/bin/env python3
"""Programs that live a few milliseconds, hundreds a second: no sample is charged to a wrong one.

    short_lived_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--engines tcg,gdb,qmp] [--minutes 10]

Two programs of the same addresses (programs/passing.cpp) begin and end over and over, two at a time. Their functions are
apart, so a user sample's pc tells which one it is of, and that must be the name of its process and of its function.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or the program not be built.
"""
import argparse
import json
import subprocess
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program, user_program
from ringside_tests.judges.processes import short_lived

WORKLOAD = "short_lived"
PROGRAMS = {"apple": "0", "pear": "1024"}  # bytes of other code in front of the function
NAMED_PERCENT = 60.0  # a process that has ended before it was looked at has a name once its program was seen in another
# Until then tasks are not copied with samples: the process of user code is looked up by its page tables some milliseconds
# later, when another one may have them.
BEGUN_NS = 300_000_000
SLOWED = 4  # an engine that stops the guest may slow it down by so much
MEMORY_GROWTH = 1.25  # in the second half of ten minutes


def build(options, folder):
    """The programs' paths by name."""
    programs = {name: user_program.build(options.arch, folder, name, "passing",
                                         [f"-DFUNCTION={name}_work", f'-DCODE_IN_FRONT="{front}"'])
                for name, front in PROGRAMS.items()}
    return {**programs, WORKLOAD: user_program.build(options.arch, folder, WORKLOAD)}


def record(options, engine, guest, kernel, folder, deadline):
    """Returns the recording and ringside's memory in KiB, once a second while it records."""
    recording, memory = folder / f"{engine}.data", []
    interval = options.plugin_interval if engine == "tcg" else options.interval
    until = ["--duration", f"{60 * options.minutes:g}"] if options.minutes else ["--samples", str(options.samples)]
    command = [options.ringside, "record", *every_engine.attach_options(engine, guest, folder), "--kernel", kernel, "--interval",
               f"{interval:g}ms", *until, "-o", recording, *options.record_option]
    with open(folder / f"{engine}.log", "wb") as log, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                                                         stderr=log) as process:
        end = limits.step_end() * (options.minutes or 0)
        try:
            while process.poll() is None:
                if time.monotonic() > deadline:
                    raise launched.TookTooLong("ringside record took too long")
                memory += resident(process.pid) if time.monotonic() < end else []
                time.sleep(1)
        finally:
            process.kill()
    if process.returncode:
        raise launched.Failed(f"ringside record ended with status {process.returncode}: "
                              f"{(folder / f'{engine}.log').read_text(errors='replace')[-800:]}")
    return recording, memory


def resident(pid):
    """[KiB], or nothing when the process has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
            return [int(line.split()[1]) for line in status if line.startswith("VmRSS:")]
    except OSError:
        return []


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def check(options, engine, judge, seconds, memory):
    rate = judge.begun / seconds if seconds else 0.0
    print(f"{options.arch}, {engine}: {judge.samples} samples in the programs, {percent(judge.known, judge.samples):.2f} % "
          f"with a process, {percent(judge.named, judge.samples):.2f} % with a name, {sum(judge.wrong.values())} wrong; "
          f"{judge.begun} processes began, {rate:.0f} a second")
    failures = [f"{count} times: {what}" for what, count in judge.wrong.most_common(10)]
    if judge.samples < options.samples / 20:
        failures.append(f"{judge.samples} samples in the programs")
    wanted = options.rate if engine == "tcg" else options.rate / SLOWED
    if rate < wanted:
        failures.append(f"{rate:.0f} processes a second, {wanted:g} wanted")
    if percent(judge.known, judge.samples) < 100 - options.unknown:
        failures.append(f"{percent(judge.known, judge.samples):.2f} % of the samples have a process")
    if percent(judge.named, judge.samples) < options.named:
        failures.append(f"{percent(judge.named, judge.samples):.2f} % of the samples have a name")
    if options.minutes and len(memory) > 10:
        quarters = [max(memory[part * len(memory) // 4:(part + 1) * len(memory) // 4]) // 1024 for part in range(4)]
        print(f"  at most {', '.join(map(str, quarters))} MiB in the quarters of the recording")
        if quarters[3] > MEMORY_GROWTH * quarters[1]:
            failures.append(f"ringside has {quarters[3]} MiB of memory, and had {quarters[1]} MiB half-way")
    return [f"{engine}: {line}" for line in failures]


def run(options, folder):
    user_program.require_tools()
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=options.know == "vmlinux", arch=options.arch)
    programs = build(options, folder)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["INITRD"], folder, *programs.values()))
    functions = {name: (f"{name}_work", *user_program.range_of(programs[name], f"{name}_work")) for name in PROGRAMS}
    failures = []
    with every_engine.boot_linux(options, folder, paths) as guest:
        for engine in options.engines:
            kernel = paths["VMLINUX" if options.know == "vmlinux" else "VMLINUZ"]
            recording, memory = record(options, engine, guest, kernel, folder, deadline)
            text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i",
                                      str(recording), "-o", "-")
            judge = short_lived.Judge(functions)
            sampled = 0
            for sample in map(json.loads, text.splitlines()):
                if sample.get("disposition") == "sampled":
                    if engine != "tcg" or sample["time_ns"] >= BEGUN_NS:
                        judge.add(sample)
                    sampled += 1
            # In the time that the vCPU was sampled: how much of its own a busy host gives it is not judged.
            interval = options.plugin_interval if engine == "tcg" else options.interval
            failures += check(options, engine, judge, sampled * interval / 1000, memory)
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--know", choices=["vmlinux", "vmlinuz"], default="vmlinuz",
                        help="what ringside may know of the kernel (a kernel without BTF needs vmlinux)")
    parser.add_argument("--samples", type=int, default=4000, help="of each engine (default 4000)")
    parser.add_argument("--minutes", type=float, help="record so long instead, and look at ringside's memory")
    parser.add_argument("--rate", type=float, default=100, help="processes a second of the vCPU's time, at least (default 100)")
    parser.add_argument("--unknown", type=float, default=5, help="percent of the samples that may have no process")
    parser.add_argument("--named", type=float, default=NAMED_PERCENT, help="percent of the samples")
    options = parser.parse_args()
    options.workload, options.cpus = WORKLOAD, 1
    options.engines = options.engines or ("tcg",)
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
