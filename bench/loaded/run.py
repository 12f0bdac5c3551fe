#!/usr/bin/env python3
"""Measures which share of the samples that it should take the plugin takes on a busy host.

Three busy loops a processor run in a control group of their own, beside a QEMU that runs the bundled kernel's `chains` on
one vCPU with the plugin alone. A vCPU that uses so much processor time, while not idle, should be sampled once in each
interval of that time. Prints, for each interval, the median of that share over the rounds, and each round's. Where a
control group can't be made, the loops are in a session of their own (the kernel groups tasks by session then), which is
said. Exit status: 0 done, 1 failed, 2 wrong usage.
"""
import argparse
import contextlib
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import cpu_time
from ringside_tests.harness import machine, qmp

ROOT = pathlib.Path(__file__).resolve().parents[2]
INTERVALS = (1000, 100)  # microseconds
GROUPS = ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup")
LOOP = "while :; do :; done"


@contextlib.contextmanager
def load(loops):
    """Busy loops in a control group of their own, or in a session of their own; yields which."""
    group = None
    for top in GROUPS:
        path = pathlib.Path(top, f"ringside-load-{os.getpid()}")
        try:
            path.mkdir()
            (path / "cgroup.procs").read_text()
        except OSError:
            continue
        group = path
        break
    processes = [subprocess.Popen(["sh", "-c", LOOP], start_new_session=True) for _ in range(loops)]
    try:
        if group:
            for process in processes:
                (group / "cgroup.procs").write_text(str(process.pid))
        yield "control group" if group else "session"
    finally:
        for process in processes:
            machine.end_process(process)
        if group:
            with contextlib.suppress(OSError):
                group.rmdir()


def share(options, interval, folder):
    """The plugin's samples as a share of those that the vCPU's processor time is worth; and the plugin's last line."""
    log = folder / "qemu.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [*machine.BASE, "-smp", "1", "-m", "128", "-kernel", options.kernel, "-append", "workload=chains seconds=0",
             "-serial", f"file:{folder}/serial.log", "-qmp", f"unix:{folder}/qmp,server=on,wait=off",
             "-plugin", f"{options.plugin},out={folder}/samples,interval={interval}"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            monitor = qmp.Qmp(f"{folder}/qmp")
            thread = monitor.command("query-cpus-fast")[0]["thread-id"]
            time.sleep(options.seconds)
            used = cpu_time.of_thread(process.pid, thread)
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        finally:
            machine.end_process(process)
    line = re.search(r"^ringside: .* ticks due: .*", log.read_text(errors="replace"), re.MULTILINE)
    if not line:
        raise machine.GuestError(f"the plugin printed no last line: {log.read_text(errors='replace')}")
    return int(re.findall(r"\d+", line.group())[1]) * interval / 1e6 / used, f"{used:.2f} s used; {line.group()}"


def run(options):
    shares = {interval: [] for interval in INTERVALS}
    with load(options.loops) as where:
        print(f"{options.loops} busy loops in a {where} of their own, {os.cpu_count()} processors", file=sys.stderr)
        for number in range(options.rounds):
            for interval in INTERVALS:
                with tempfile.TemporaryDirectory(prefix="ringside-loaded-") as folder:
                    found, line = share(options, interval, pathlib.Path(folder))
                print(f"round {number + 1}, {interval} us: {found:.3f} ({line})", file=sys.stderr)
                shares[interval].append(found)
    for interval, found in shares.items():
        print(f"{interval} us: median {statistics.median(found):.3f} of " + ", ".join(f"{x:.3f}" for x in sorted(found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--loops", type=int, default=3 * os.cpu_count(), help="0: a quiet host")
    parser.add_argument("--plugin", type=os.path.abspath, default=str(ROOT / "build/release/plugin/libringside-tcg.so"))
    parser.add_argument("--kernel", type=os.path.abspath,
                        default=str(ROOT / "build/release/demo/kernel/ringside-demo-fp.elf"))
    options = parser.parse_args()
    machine.exit_on_signals()
    try:
        run(options)
    except (machine.GuestError, qmp.QmpError, OSError, subprocess.SubprocessError) as error:
        print(f"loaded: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
