#!/usr/bin/env python3
"""Measures which share of the samples that it should take the plugin takes on a busy host.

Three busy loops a processor run beside a QEMU that runs the bundled kernel's `chains` with the plugin alone: in a control
group of their own (`apart`), and in QEMU's (`together`), as in a CI job. A vCPU that uses so much processor time, while not
idle, should be sampled once in each interval of that time. Prints, for each interval, the median of that share over the
rounds, and each round's. Where a control group can't be made, the loops apart are in a session of their own (the kernel
groups tasks by session then), which is said. Exit status: 0 done, 1 failed, 2 wrong usage.
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
def load(loops, apart):
    """Busy loops, apart in a control group of their own or else in a session of their own; yields where they are."""
    group = None
    for top in GROUPS if apart else ():
        path = pathlib.Path(top, f"ringside-load-{os.getpid()}")
        try:
            path.mkdir()
            (path / "cgroup.procs").read_text()
        except OSError:
            continue
        group = path
        break
    processes = [subprocess.Popen(["sh", "-c", LOOP], start_new_session=apart) for _ in range(loops)]
    try:
        if group:
            for process in processes:
                (group / "cgroup.procs").write_text(str(process.pid))
        yield f"a {'control group' if group else 'session'} of their own" if apart else "QEMU's session"
    finally:
        for process in processes:
            machine.end_process(process)
        if group:
            with contextlib.suppress(OSError):
                group.rmdir()


def share(options, vcpus, interval, folder):
    """The plugin's samples as a share of those that the vCPUs' processor time is worth; and the plugin's last line."""
    log = folder / "qemu.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(
            [*machine.BASE, "-smp", str(vcpus), "-m", "128", "-kernel", options.kernel, "-append", "workload=chains seconds=0",
             "-serial", f"file:{folder}/serial.log", "-qmp", f"unix:{folder}/qmp,server=on,wait=off",
             "-plugin", f"{options.plugin},out={folder}/samples,interval={interval}"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            monitor = qmp.Qmp(f"{folder}/qmp")
            threads = [cpu["thread-id"] for cpu in monitor.command("query-cpus-fast")]
            time.sleep(options.seconds)
            used = sum(cpu_time.of_thread(process.pid, thread) for thread in threads)
            process.send_signal(signal.SIGTERM)
            process.wait(30)
        finally:
            machine.end_process(process)
    line = re.search(r"^ringside: .* ticks due: .*", log.read_text(errors="replace"), re.MULTILINE)
    if not line:
        raise machine.GuestError(f"the plugin printed no last line: {log.read_text(errors='replace')}")
    return int(re.findall(r"\d+", line.group())[1]) * interval / 1e6 / used, f"{used:.2f} s used; {line.group()}"


def run(options):
    for apart in (True, False) if options.loops else (True,):
        for vcpus in options.vcpus:
            run_beside(options, apart, vcpus)


def run_beside(options, apart, vcpus):
    shares = {interval: [] for interval in INTERVALS}
    with load(options.loops, apart) as where:
        beside = f"{options.loops} busy loops in {where}" if options.loops else "no busy loops"
        print(f"{vcpus} vCPUs, {beside}, {os.cpu_count()} processors", flush=True)
        for number in range(options.rounds):
            for interval in INTERVALS:
                with tempfile.TemporaryDirectory(prefix="ringside-loaded-") as folder:
                    found, line = share(options, vcpus, interval, pathlib.Path(folder))
                print(f"round {number + 1}, {interval} us: {found:.3f} ({line})", file=sys.stderr)
                shares[interval].append(found)
    for interval, found in shares.items():
        print(f"  {interval} us: median {statistics.median(found):.3f} of " + ", ".join(f"{x:.3f}" for x in sorted(found)),
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--loops", type=int, default=3 * os.cpu_count(), help="0: none, for a quiet host")
    parser.add_argument("--vcpus", type=lambda text: [int(word) for word in text.split(",")], default=[1],
                        help="such as 1,2,4 (default 1)")
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
