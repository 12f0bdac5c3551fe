#!/usr/bin/env python3
"""Profiles one workload of the bundled kernel with ringside and compares the profile with the workload's truth.

    run_truth.py --ringside PROGRAM --kernel ELF --truth FILE --workload NAME --cpus N

Works in a temporary folder of its own; ends what it started on any exit.
Exit status: 0 the profile tells the truth, 1 it does not or something failed, 2 wrong usage.
"""
import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import folded
import machine
import report_totals
import truth


class Failed(Exception):
    """A step failed; the message is what to tell."""


def qemu_command(options, folder):
    return machine.BASE + ["-smp", str(options.cpus), "-m", "256", "-serial", "stdio", "-kernel", str(options.kernel),
                           "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04", "-pidfile", str(folder / "qemu.pid"),
                           "-append", f"workload={options.workload} seconds=0"]


def record(options, folder, deadline):
    """Records; returns what ringside said. More samples are taken than needed, for a few may be lost or idle."""
    recording = folder / "ringside.data"
    command = [options.ringside, "record", "--samples", str(options.busy + options.busy // 50),
               "--interval", str(options.interval), "--after", "ringside-demo: ready", "-o", str(recording),
               "--then-quit", *options.record_option, "--", *qemu_command(options, folder)]
    log = folder / "record.log"
    with open(log, "wb") as log_file:
        process = subprocess.Popen(command, cwd=folder, env=machine.private_environment(folder), stdout=log_file,
                                   stdin=subprocess.DEVNULL, stderr=log_file, start_new_session=True)
        try:
            process.wait(max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            raise Failed(f"ringside record took too long; it said: {_tail(log)}") from error
        finally:
            _end(process, folder / "qemu.pid")
    if process.returncode:
        raise Failed(f"ringside record ended with status {process.returncode}; it said: {_tail(log)}")
    return recording


def _end(process, pid_file):
    """Ends ringside by its process id and, should it have left QEMU behind, QEMU by its own."""
    machine.end_process(process)
    try:
        qemu = int(pid_file.read_text())
        if b"-pidfile\0" + os.fsencode(pid_file) in pathlib.Path(f"/proc/{qemu}/cmdline").read_bytes():
            os.kill(qemu, signal.SIGKILL)
    except (OSError, ValueError):
        pass  # QEMU removes the file when it ends


def _tail(path):
    return path.read_text(errors="replace")[-1500:].strip() or "nothing"


def read_back(options, deadline, *arguments):
    """What a verb of ringside's prints about the recording."""
    result = subprocess.run([options.ringside, *arguments], stdin=subprocess.DEVNULL, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=max(1, deadline - time.monotonic()))
    if result.returncode:
        raise Failed(f"ringside {arguments[0]} ended with status {result.returncode}: {result.stderr[-800:]}")
    return result.stdout


def run(options, folder):
    deadline = time.monotonic() + options.limit
    recording = record(options, folder, deadline)
    profile = read_back(options, deadline, "export", "--format", "folded", "-i", str(recording), "-o", "-")
    report = read_back(options, deadline, "report", "--stdio", "-i", str(recording))
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
        name = f"{options.workload}-{options.kernel.stem}-{options.cpus}"
        (options.keep / f"{name}.folded").write_text(profile)
        (options.keep / f"{name}.report").write_text(report)
    status = truth.compare(options.truth.read_text(), profile, options.busy, options.points)
    for line in report_totals.check(report, folded.parse(profile)):
        print(f"FAILED: {line}")
        status = status or 1
    return 1 if status else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--kernel", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--truth", required=True, type=pathlib.Path)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--busy", type=int, default=10000, help="busy samples wanted (default 10000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off")
    parser.add_argument("--interval", type=float, default=1.0, help="milliseconds between samples (default 1)")
    parser.add_argument("--limit", type=float, default=170, help="seconds that all of it may take (default 170)")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the folded profile and the report in this folder")
    parser.add_argument("--record-option", action="append", default=[], help="a further option of ringside record")
    return parser.parse_args()


def main():
    options = parse_options()
    machine.exit_on_signals()
    with tempfile.TemporaryDirectory(prefix="ringside-truth-") as folder:
        try:
            return run(options, pathlib.Path(folder))
        except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
            print(f"FAILED: {error}")
            return 1


if __name__ == "__main__":
    sys.exit(main())
