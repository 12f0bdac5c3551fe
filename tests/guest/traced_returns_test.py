#!/usr/bin/env python3
"""Stacks through functions whose return addresses a tracer of the kernel has replaced go on to the right callers.

    traced_returns_test.py --ringside PROGRAM [--arch amd64|arm64|riscv64] [--engines tcg,gdb] [TRACER …]

graph: function_graph; kretprobe: return probes; both: at once. Four functions of two system calls are traced, whose callers
Linux' source determines (fs/read_write.c). No file of the kernel is given.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched.
"""
import argparse
import collections
import json
import sys
import time

from ringside_tests.harness import every_engine, launched, limits, linux_guest, linux_program

# Which functions call it. A name ends with what the pattern has behind its *.
# __x64_sys_read() and its like end with a jump.
ENTRIES = ("do_syscall_64", "invoke_syscall", "do_trap_ecall_u")
CALLERS = {"vfs_read": ("ksys_read",), "vfs_write": ("ksys_write",), "ksys_read": ("*_sys_read", *ENTRIES),
           "ksys_write": ("*_sys_write", *ENTRIES)}
HOOKS = ("return_to_handler", "arch_rethook_trampoline", "__kretprobe_trampoline", "kretprobe_trampoline")
TRACERS = ("graph", "kretprobe", "both")
# In the rest a tracer was adding or removing a record.
WHOLE_PERCENT = 95.0
LEAST = 50  # stacks have a traced function


def is_named(name, pattern):
    return name.endswith(pattern[1:]) if pattern.startswith("*") else name == pattern


class Tally:
    """Stacks that have a traced function or a hook, and what is wrong with them."""

    def __init__(self):
        self.traced, self.whole, self.wrong, self.cut = 0, 0, [], collections.Counter()

    def add(self, sample):
        stack = sample["stacks"][0]
        names = [frame["functions"][-1] if frame["functions"] else "?" for frame in stack["frames"]]
        hooks = [i for i, name in enumerate(names) if name in HOOKS]
        if not hooks and not any(name in CALLERS for name in names):
            return
        self.traced += 1
        # A hook's own code may run, and call others: it was not called by what is traced.
        for name, caller in zip(names, names[1:]):
            expected = CALLERS.get(name)
            if expected and not any(is_named(caller, pattern) for pattern in expected):
                self.wrong.append(" < ".join(names))
                return
        if stack["stop"] == "reached user mode":
            self.whole += 1
        else:
            self.cut[f"{stack['stop']}: {' < '.join(names[:6])}"] += 1


def check(options, engine, guest, folder, deadline):
    recording = every_engine.record(options, engine, guest, None, folder, deadline,
                                    ["--samples", str(options.samples), *limits.ENOUGH_TIME])
    text = launched.read_back(options.ringside, deadline, "export", "--format", "json-lines", "-i", str(recording), "-o", "-")
    tally = Tally()
    samples = [sample for sample in map(json.loads, text.splitlines())
               if sample.get("disposition") == "sampled" and sample["level"] == "kernel"]
    # At first the kernel is not found, and its records are not copied.
    for sample in samples[len(samples) // 2:]:
        tally.add(sample)
    print(f"{options.arch}, {engine}: {tally.traced} stacks have a traced function, {tally.whole} of them are whole")
    for how, count in tally.cut.most_common(8):
        print(f"  {count}: {how}")
    failures = [f"{engine}: a wrong caller: {stack}" for stack in tally.wrong[:5]]
    if tally.traced < LEAST or tally.whole < tally.traced * WHOLE_PERCENT / 100:
        failures.append(f"{engine}: {tally.whole} of {tally.traced} stacks are whole")
    return failures


def check_tracer(options, tracer, paths, folder, deadline):
    options.append = [f"tracer={tracer}"]
    folder = folder / tracer
    folder.mkdir()
    with every_engine.boot_linux(options, folder, paths) as guest:
        guest.wait_serial("ringside-guest: traced by " + tracer, limits.STEP)
        return [f"{tracer}, {failure}" for engine in options.engines
                for failure in check(options, engine, guest, folder, deadline)]


def run(options, folder):
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    return [failure for tracer in options.tracers or TRACERS
            for failure in check_tracer(options, tracer, paths, folder, deadline)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--samples", type=int, default=1200, help="of each engine (default 1200)")
    parser.add_argument("tracers", nargs="*", metavar="TRACER", help=f"of {', '.join(TRACERS)}; all when none is given")
    options = parser.parse_args()
    options.workload = "traced"
    options.engines = options.engines or every_engine.default_engines(options.arch)
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
