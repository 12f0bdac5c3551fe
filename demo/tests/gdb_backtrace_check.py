#!/usr/bin/env python3
"""Checks that gdb, which unwinds by .eh_frame, shows legal stacks of the variant without frame pointers only.

First at random moments, on all vCPUs, in a QEMU that translates single instructions, so that it can stop at any; then
at every instruction of the ways that are hard to unwind: entry stubs, stack switches, switch_to, system calls.
"""
import argparse
import collections
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from guest import Guest
from symbols import Symbols
from truth import Truth

FRAMES = pathlib.Path(__file__).resolve().parent / "gdb_frames.py"
STEP_FROM = {
    "interrupts": ["irq_entry_device", "irq_entry_completion", "irq_entry_ipi", "device_interrupt", "interrupts_round",
                   "tiny_a"],
    "chains": ["irq_entry_tick", "preempt", "switch_to"],
    "user": ["irq_entry_tick", "syscall_entry", "sys_yield", "schedule", "switch_to"],
}
DEFAULT_STEP_FROM = ["irq_entry_tick", "preempt"]  # some workloads have only one thread

# A thread's first moments, from reset.
FIRST_STEP_FROM = {"user": ["idle_loop", "thread_start+1", "enter_user"]}
DEFAULT_FIRST_STEP_FROM = ["idle_loop", "thread_start+1"]


def run_gdb(elf: str, socket: str, statement: str) -> list[list[int]]:
    commands = ["set confirm off", "set pagination off", "set trust-readonly-sections on",
                f"target remote {socket}", f"source {FRAMES}", f"python {statement}", "detach"]
    arguments = ["gdb", "-nx", "-batch"] + [part for command in commands for part in ("-ex", command)] + [elf]
    output = subprocess.run(arguments, capture_output=True, text=True)
    stacks = [line.split()[1:] for line in output.stdout.splitlines() if line.startswith("stack")]
    if not stacks:
        raise AssertionError(f"gdb shows no stack: {output.stdout}{output.stderr}")
    return [[int(address, 16) for address in stack] for stack in stacks]


class Check:
    def __init__(self, elf: str, workload: str):
        self._symbols = Symbols(elf)
        self._truth = Truth(workload)
        self.kernel_stacks = 0
        self.leaves = collections.Counter()
        self.illegal = collections.Counter()

    def add(self, stacks: list[list[int]]) -> None:
        for stack in stacks:
            if not stack:
                continue  # ring 3
            names = tuple(self._symbols.name(address) for address in reversed(stack))
            self.kernel_stacks += 1
            self.leaves[names[-1]] += 1
            if not self._truth.is_legal(names):
                self.illegal[f"{stack[0]:x} {';'.join(names)}"] += 1


def run(options, check: Check, vcpus: int, more: list[str], statements) -> None:
    with tempfile.TemporaryDirectory() as folder:
        socket = f"{folder}/gdb"
        with Guest(options.elf, options.workload, vcpus, 0, "-gdb", f"unix:{socket},server=on,wait=off", *more) as qemu:
            if "-S" in more:
                time.sleep(1)
            else:
                while not qemu.stdout.readline().startswith("ringside-demo: ready"):
                    assert qemu.poll() is None, "QEMU ended"
            for statement in statements:
                time.sleep(random.uniform(0.01, 0.1))
                check.add(run_gdb(options.elf, socket, statement))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elf")
    parser.add_argument("workload")
    parser.add_argument("--smp", type=int, default=2)
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--steps", type=int, default=80, help="instructions from each of the starting points")
    options = parser.parse_args()
    check = Check(options.elf, options.workload)
    if options.stops:
        run(options, check, options.smp, ["-singlestep"], ["print_all_stacks()"] * options.stops)
    if options.steps:
        for start in FIRST_STEP_FROM.get(options.workload, DEFAULT_FIRST_STEP_FROM):
            run(options, check, 1, ["-S"], [f"print_steps('{start}', {options.steps * 3}, 1)"])
        starts = STEP_FROM.get(options.workload, DEFAULT_STEP_FROM)
        run(options, check, 1, [], [f"print_steps('{start}', {options.steps})" for start in starts])
    print(f"{check.kernel_stacks} kernel stacks, {sum(check.illegal.values())} illegal")
    print("leaves:", ", ".join(f"{name} {count}" for name, count in check.leaves.most_common()))
    for stack, count in check.illegal.most_common(20):
        print(f"illegal, {count} times: {stack}")
    return 1 if check.illegal else 0


if __name__ == "__main__":
    sys.exit(main())
