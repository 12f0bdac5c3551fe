#!/usr/bin/env python3
"""Debian's Linux samples itself by the module of guest/example/linux, and the plugin samples it at the same time: the
hottest functions agree, and the guest's samples have processes and programs.

    linux_module_test.py --ringside PROGRAM [--by nmi|timer] [--workload NAME]

The timer's interrupt waits where interrupts are off, and its samples stand where they go on again: with --by timer such
functions are not compared.

Recordings that do not agree, or are short, have to say themselves that the host is busy; then others are made.
Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched, the module not be built, or the host is
too busy (skipped).
"""
import argparse
import collections
import pathlib
import re
import shutil
import sys
import tempfile

from ringside_tests.harness import launched, linux_guest, linux_sampler, together
from ringside_tests.judges import engines_together, truth

NMI = r"asm_exc_nmi|nested_nmi|first_nmi|(end_)?repeat_nmi"
OWN = re.compile(rf"{NMI}|asm_sysvec_apic_timer_interrupt")
# Interrupts are off there, or go on again.
WAITS = re.compile(r"asm_\w+|entry_\w+|error_\w+|\w+_usermode|syscall_\w+|exit_to_\w+|\w*do_user_addr_fault|"
                   r"_raw_\w+_irq(restore)?|native_\w+|get_page_from_freelist|__mod_\w+|finish_task_switch.*")
COMPLETE = 98.0  # percent of the guest's own stacks


def record(options, folder, deadline):
    paths = linux_guest.fetch(vmlinux=False, headers=True)
    initrd = linux_sampler.initrd(paths, folder, options.workload, f"nmi={int(options.by == 'nmi')}")
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")  # no vmlinux lies beside it
    qemu = linux_guest.base(paths) + [
        "-smp", str(options.cpus), "-m", "512", "-serial", "stdio", "-kernel", str(kernel), "-initrd", str(initrd),
        "-append", linux_guest.append(paths, linux_sampler.WORKLOAD)]
    return together.record(options, qemu, kernel, linux_guest.READY, folder, deadline)


def check_processes(options, samples):
    """Failures, of the guest's own samples: whose they are, and where the user code below the kernel's stack is."""
    busy = [sample for sample in samples if sample["disposition"] == "sampled"]
    names = collections.Counter(sample.get("comm") for sample in busy)
    times, images = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    for sample in busy:
        for stack in sample["stacks"]:
            if stack["frames"][0]["kind"] == "user":
                times[sample["pid"]].append(sample["time_ns"])
                images[sample["pid"]][stack["frames"][0].get("image")] += 1
    everywhere = sum(images.values(), collections.Counter())
    # A dd of some milliseconds has often ended before ringside looks at it; the shells have not.
    lasting = sum((images[pid] for pid, when in times.items() if max(when) - min(when) > 1e9), collections.Counter())
    print(f"{len(busy)} samples of {dict(names.most_common(4))}, user code in {dict(everywhere.most_common(3))}, "
          f"of lasting processes in {dict(lasting.most_common(3))}")
    failures = []
    if names["dd"] < 0.6 * len(busy):
        failures.append(f"dd has {names['dd']} of {len(busy)} samples")
    if everywhere["busybox"] < 0.2 * everywhere.total():
        failures.append(f"busybox has {everywhere['busybox']} of {everywhere.total()} stacks of user code")
    if lasting.total() < 20 or lasting["busybox"] < 0.9 * lasting.total():
        failures.append(f"busybox has {lasting['busybox']} of {lasting.total()} stacks of lasting processes")
    if not any(sample.get("cgroup") == "/" for sample in busy):
        failures.append("no sample has its control group")
    return failures


def run(options, folder, deadline):
    folder = pathlib.Path(tempfile.mkdtemp(dir=folder))
    recordings = record(options, folder, deadline)
    measures = engines_together.measures(OWN, options.ringside, recordings, deadline)
    found = engines_together.judged(options, recordings, measures, 0, deadline, WAITS if options.by == "timer" else None)
    if (complete := truth.percent(measures["ring"].complete, measures["ring"].judged)) < COMPLETE:
        found.add(f"{complete:.2f} % of the guest's own stacks are complete, {COMPLETE:g} % wanted")
    # On a busy host processes have often ended before ringside looks at them.
    found.add_shares(check_processes(options, engines_together.samples(options.ringside, recordings["ring"], deadline)),
                     *recordings.values())
    if not launched.samples_in("take_sample", options.ringside, recordings["tcg"], deadline):
        found.add("the plugin has no sample in the module")
    if "may be torn" in (said := (folder / "record.log").read_text(errors="replace")):
        found.add(f"ringside says that stacks may be torn: {said[-1500:]}")
    options.seconds *= 2  # of the next one, for on a busy host few samples come
    return found.verdict()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    together.add_options(parser)
    parser.add_argument("--by", choices=["nmi", "timer"], default="nmi")
    parser.add_argument("--workload", choices=["dd", "calls"], default="dd", help="calls: not for a check, for "
                        "QEMU takes an NMI a block of code later, and entry code's blocks are short")
    return launched.truthful("ringside-module-", parser.parse_args(), run)


if __name__ == "__main__":
    sys.exit(main())
