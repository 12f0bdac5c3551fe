#!/usr/bin/env python3
"""The plugin without ringside: what it has sampled is in its file, also where QEMU is killed.

    stand_alone_test.py --ringside PROGRAM --plugin LIBRARY --kernel ELF

QEMU ends by SIGTERM, and by SIGKILL in the midst of it; `ringside report` reads both files, the ticks add up, and the
workload's functions are named; where QEMU can, it ends with a line of what was due, taken and lost. One vCPU alone
is sampled, and after a delay, where that is asked for. Wrong arguments end QEMU with one line of ringside's. Exit
status: 0 good, 1 not.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from ringside_tests.harness import folded, launched, limits, machine

SECONDS = 4
DELAY = 2
CPUS = 2
# As libvirt starts QEMU: no thread may change how it is scheduled.
SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
WRONG = ("interval=0", "interval=x", "nothing=1", "out=FOLDER/x,ring=FOLDER/y", "out=/nonexistent/x", "cpus=0:3-1",
         "out=FOLDER/x,clock=instructions,start-after=4", "out=FOLDER/x,out-format=ringside,delay=4", "out=FOLDER/x,out-format=perf",
         "out=FOLDER/x,out-format=maestro,delay=0", "out=FOLDER/x,stack-bytes=1000000")


def start(options, folder, plugin):
    log = open(folder / "qemu.log", "wb")
    return subprocess.Popen([*machine.BASE, "-smp", str(CPUS), "-m", "128", "-kernel", str(options.kernel),
                             "-append", "workload=chains seconds=0", "-serial", f"file:{folder}/serial.log",
                             "-sandbox", SANDBOX,
                             "-plugin", f"{options.plugin},{plugin}"],
                            cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def number(report, what):
    found = re.search(rf"^#\s+{what}\s+([\d,]+)", report, re.MULTILINE)
    return int(found.group(1).replace(",", "")) if found else 0


def sample(options, folder, plugin, how):
    """Lets a QEMU sample, and ends it by that signal. Returns for how many seconds it ran: on a busy host it takes its time
    to end."""
    began = time.monotonic()
    process = start(options, folder, f"out={folder}/samples,interval=1000,{plugin}")
    try:
        time.sleep(SECONDS)
        process.send_signal(how)
        process.wait(limits.STEP)
    finally:
        machine.end_process(process)
    return time.monotonic() - began


def check_delay_and_cpus(options, folder):
    """Failures, as lines, where one vCPU is wanted, after a delay."""
    seconds = sample(options, folder, f"cpus=1,start-after={DELAY * 1_000_000:.0f}", signal.SIGTERM)
    deadline = limits.step_end()
    report = launched.read_back(options.ringside, deadline, "report", "--header", "-i", str(folder / "samples"))
    due, sampled, skipped = (number(report, what) for what in ("vCPU ticks due", "sampled", "skipped"))
    of_vcpus = {stack[0] for stack, _ in
                folded.parse(launched.folded_text(options.ringside, folder / "samples", deadline, "--per-cpu"))}
    print(f"cpus=1, start-after={DELAY} s: {due} ticks due, {sampled} sampled, {skipped} skipped; {of_vcpus}")
    lines = []
    if not 0 < due <= 1.1 * CPUS * (seconds - DELAY) * 1000:
        lines.append(f"{due} ticks due in {seconds:.1f} s less a delay of {DELAY} s on {CPUS} vCPUs")
    if of_vcpus != {"vcpu 1"}:
        lines.append(f"cpus=1: samples of {of_vcpus}")
    # Each vCPU has half of the ticks; how many of them a busy host loses differs.
    if not (0 < skipped <= 0.55 * due and 0 < sampled <= 0.55 * due):
        lines.append(f"cpus=1: {skipped} of {due} ticks are skipped, {sampled} sampled")
    return lines


def check_last_line(folder, due, parts):
    """Faults, as lines, of the line that the plugin prints at QEMU's exit."""
    said = re.findall(r"^ringside: .* ticks due: .*", (folder / "qemu.log").read_text(errors="replace"), re.MULTILINE)
    if len(said) != 1:
        return [f"{len(said)} lines of what was due, taken and lost at QEMU's exit: {said}"]
    print(said[0])
    seen = [int(word) for word in re.findall(r"\d+", said[0])]
    expected = [due, parts["sampled"], parts["idle"], parts["skipped"], parts["lost"]]
    if seen[:5] != expected or sum(seen[1:5]) != seen[0] or sum(seen[5:]) != seen[4]:
        return [f"the plugin's last line does not add up, or not to the file's {expected}: {said[0]}"]
    return []


def check_file(options, folder, how):
    """Faults, as lines, of the file of a QEMU that ended by that signal."""
    seconds = sample(options, folder, "cpus=0-1", how)
    report = launched.read_back(options.ringside, limits.step_end(), "report", "--header", "-i",
                                str(folder / "samples"), "--kernel", str(options.kernel))
    due = number(report, "vCPU ticks due")
    parts = {what: number(report, what) for what in ("sampled", "idle", "skipped", "failed", "lost")}
    print(f"{how.name}: {due} ticks due, {parts}")
    lines = []
    if sum(parts.values()) != due:
        lines.append(f"{how.name}: {due} ticks due, and {sum(parts.values())} accounted for")
    if how == signal.SIGTERM:
        lines += check_last_line(folder, due, parts)
    # All of both vCPUs, but for QEMU's start and what a killed one had not written yet.
    if not 0.5 * CPUS * SECONDS * 1000 <= due <= 1.1 * CPUS * seconds * 1000:
        lines.append(f"{how.name}: {due} ticks due in {seconds:.1f} s on {CPUS} vCPUs")
    # A busy host does not run vCPUs: their ticks are lost then, and told.
    if parts["sampled"] < 30:
        lines.append(f"{how.name}: hardly any samples")
    lines += [f"{how.name}: no {name} in the report" for name in ("chains_round", "sys_write", "thread_start")
              if name not in report]
    return lines


def check_arguments(options, folder):
    lines = []
    for wrong in WRONG:
        process = start(options, folder, wrong.replace("FOLDER", str(folder)))
        try:
            status = process.wait(limits.STEP)
        except subprocess.TimeoutExpired:
            status = None
        machine.end_process(process)
        log = (folder / "qemu.log").read_text(errors="replace")
        said = [line for line in log.splitlines() if line.startswith("ringside: ")]
        if status != 1 or len(said) != 1:
            lines.append(f"{wrong}: QEMU ended with {status}, and ringside's plugin said {said}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--plugin", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=os.path.abspath)
    options = parser.parse_args()
    machine.exit_on_signals()
    with tempfile.TemporaryDirectory(prefix="ringside-alone-") as name:
        folder = pathlib.Path(name)
        try:
            lines = check_arguments(options, folder) + check_delay_and_cpus(options, folder)
            for how in (signal.SIGTERM, signal.SIGKILL):
                lines += check_file(options, folder, how)
        except launched.Failed as error:
            lines = [str(error)]
    print("\n".join(lines) or "all is there")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
