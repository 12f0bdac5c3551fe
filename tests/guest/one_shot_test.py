#!/usr/bin/env python3
"""`profile --one-shot` of Debian's kernel, without any file: each vCPU's stack, to its end and with its process, or a line
that says what is missing.

    one_shot_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--text] [CASE …]

busy: system calls without an end; paused: the same guest, stopped by its user; panicked: the kernel's panic is in a stack;
idle: there is nothing to do; looping: each vCPU is in a loop of the kernel without an end; masked: the same with interrupts
off in one vCPU, and the others wait for its lock. --text: by what QEMU's monitor prints.
Exit status: 0 as it should be, 1 not, 77 the guest cannot be fetched.
"""
import argparse
import os
import re
import subprocess
import sys
import time

from ringside_tests.harness import endless_loop, launched, limits, linux_guest, linux_program

TRIES = 6
NAMED = 0.75  # of the vCPUs: others are in firmware, or change tasks
# All vCPUs may be in user code or where they leave the kernel (arm64), and a paused guest stays so.
NAMED_WHERE_PAUSED = 0.7
PANIC = "Kernel panic"
# Functions that the workload `forks` calls.
LOOPING, MASKED = "filesystems_proc_show", "idr_alloc_cyclic"
# Without types, there are none of processes: Debian's i386 kernel.
UNNAMED = ("i386",)


class Shot:
    """The text that one run has printed, and its parts."""

    def __init__(self, options, guest, folder):
        # In a folder of its own, where no kernel's file lies.
        way = ["--qmp", guest.monitor, "--leave-stub"] if options.text else ["--gdb", guest.gdb]
        command = [options.ringside, "profile", "--one-shot", *way]
        run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             cwd=folder, timeout=limits.STEP, check=False)
        self.text, self.status = run.stdout + run.stderr, run.returncode
        self.owners, self.stacks = {}, {}
        vcpu = None
        for line in run.stdout.splitlines():
            if head := re.fullmatch(r"vCPU (\d+)(?:, (.*?))?(?:: idle|:)", line):
                vcpu = int(head[1])
                self.owners[vcpu], self.stacks[vcpu] = head[2], []
            elif frame := re.fullmatch(r"  \d+: (.*)", line):
                self.stacks[vcpu].append(frame[1])

    def has_process(self, vcpu):
        return self.owners.get(vcpu) not in (None, "[unknown]")

    def is_cut(self, vcpu):
        """Whether the kernel's part may be: code of users may have no unwind rules."""
        return re.search(rf"vCPU {vcpu}: the stack is cut: (?!no unwind rule)", self.text) is not None

    def faults(self, vcpus):
        """Lines."""
        found = [] if self.status == 0 else [f"it ends with {self.status}"]
        found += [f"no stack of vCPU {vcpu}" for vcpu in range(vcpus) if not self.stacks.get(vcpu)]
        found += [f"vCPU {vcpu} has no process, and no line says so" for vcpu in range(vcpus)
                  if not self.has_process(vcpu) and f"vCPU {vcpu}: its process is not known" not in self.text
                  and f"vCPU {vcpu}: the stack is cut" not in self.text and self.stacks.get(vcpu) != ["[firmware]"]
                  and "did not find the kernel" not in self.text]
        if " of samples was taken" not in self.text and " of samples were taken" not in self.text:
            found.append("no line says how many rounds were taken")
        if "ticks" in self.text:
            found.append("a line speaks of ticks")
        return [f"{fault}: {self.text}" for fault in found]


def of_tasks(options, guest, folder, least=NAMED, before=lambda: None):
    """Failures of a guest at work, as lines. before(): what is done before each try."""
    shots = []
    for _ in range(TRIES):
        before()
        shots.append(Shot(options, guest, folder))
    failures = [fault for shot in shots for fault in shot.faults(options.cpus)]
    every = [(shot, vcpu) for shot in shots for vcpu in range(options.cpus)]
    named = sum(shot.has_process(vcpu) for shot, vcpu in every)
    print(f"{named} of {len(every)} stacks have a process")
    if named < least * len(every) and options.arch not in UNNAMED:
        failures.append("\n".join([f"{named} of {len(every)} stacks have a process:", *(shot.text for shot in shots)]))
    return failures


def busy(options, paths, folder):
    with linux_guest.boot(paths, "calls", options.cpus, kaslr=True) as guest:
        return of_tasks(options, guest, folder)


def paused(options, paths, folder):
    """At another moment each time: a vCPU may stand where the kernel is not mapped."""
    with linux_guest.boot(paths, "calls", options.cpus, kaslr=True) as guest:
        def pause():
            guest.qmp.command("cont")
            time.sleep(0.2)
            guest.qmp.command("stop")
        failures = of_tasks(options, guest, folder, NAMED_WHERE_PAUSED, pause)
        return failures + ([] if guest.qmp.status() == "paused" else ["the guest does not stay paused"])


def panicked(options, paths, folder):
    with linux_guest.boot(paths, "panic", options.cpus, kaslr=True) as guest:
        guest.wait_serial(PANIC, limits.STEP)
        time.sleep(1)  # the other vCPUs are told
        failures = []
        for _ in range(3):
            shot = Shot(options, guest, folder)
            failures += shot.faults(options.cpus)
            if not any("panic" in stack for stack in shot.stacks.values()):
                failures.append(f"no stack has the panic: {shot.text}")
        return failures


def whole(options, guest, folder, is_right):
    """Failures of a guest that changes no more, once all vCPUs have come to where they stay. is_right(shot): whether its stacks
    have the right functions."""
    def failures():
        shot = Shot(options, guest, folder)
        found = shot.faults(options.cpus)
        cut = [vcpu for vcpu in range(options.cpus) if shot.is_cut(vcpu)]
        unnamed = [vcpu for vcpu in range(options.cpus) if not shot.has_process(vcpu) and options.arch not in UNNAMED]
        if cut or unnamed or not is_right(shot):
            found.append(f"cut: {cut}, without a process: {unnamed}, or other functions than should be: {shot.text}")
        return found
    limits.wait_until(lambda: not failures())
    return [failure for _ in range(3) for failure in failures()]


def idle(options, paths, folder):
    with linux_guest.boot(paths, "idle", options.cpus, kaslr=True) as guest:
        def is_right(shot):
            return (all("do_idle" in stack for stack in shot.stacks.values()) and
                    any("start_kernel" in stack for stack in shot.stacks.values()))
        return whole(options, guest, folder, is_right)


def held(options, paths, folder, function, is_right):
    with linux_guest.boot(paths, "forks", options.cpus, kaslr=True) as guest:
        endless_loop.begin(guest, options.arch, function)
        return whole(options, guest, folder, is_right)


def looping(options, paths, folder):
    """With interrupts on: the timer's may be in front."""
    return held(options, paths, folder, LOOPING, lambda shot: all(LOOPING in stack for stack in shot.stacks.values()))


def masked(options, paths, folder):
    """The function runs with a lock held. Processes that begin or end wait for that, and a vCPU without any is idle."""
    def is_right(shot):
        return (any(MASKED in stack for stack in shot.stacks.values()) and
                all({"copy_process", "release_task", "do_idle"} & set(stack) for stack in shot.stacks.values()))
    return held(options, paths, folder, MASKED, is_right)


CASES = {case.__name__: case for case in (busy, paused, panicked, idle, looping, masked)}


def run(options, folder):
    paths = linux_guest.fetch(vmlinux=False, arch=options.arch)
    failures = []
    for name in options.cases or CASES:
        failures += [f"{name}: {failure}" for failure in CASES[name](options, paths, folder)]
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--cpus", type=int, default=2)
    parser.add_argument("--text", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all when none is given")
    options = parser.parse_args()
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
