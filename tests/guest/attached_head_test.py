#!/usr/bin/env python3
"""The recording of an attached guest has in its head and subtitle what a launched one's has: the kernel's release and
build id, QEMU's command line, the vCPUs and the date. Debian's kernel, of which no file is given.

    attached_head_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--judge]

--judge: compares the build id with that of the kernel's ELF file (590 MB).
Exit status: 0 as it should be, 1 not, 77 the guest cannot be fetched.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import time

from ringside_tests.harness import limits, linux_guest, linux_program
from ringside_tests.harness.ports import free_port


def run(options, folder, *arguments):
    done = subprocess.run([options.ringside, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, cwd=folder, timeout=limits.STEP, check=False)
    return done.stdout


def head_of(text):
    return dict(re.findall(r"^# ([a-z][^:]*?) +: (.*)$", text, re.MULTILINE | re.IGNORECASE))


def faults(options, paths, folder, guest, way):
    """Lines."""
    said = run(options, folder, "record", *way, "--duration", "2", "-o", "a.data")
    head = head_of(run(options, folder, "report", "-i", "a.data", "--header"))
    qemu = tuple(guest.process.args)
    wanted = {"guest": "linux", "kernel": paths["VERSION"], "kernel release": paths["VERSION"], "vCPUs": str(options.cpus)}
    found = [f"{name}: {head.get(name)} for {value}" for name, value in wanted.items() if head.get(name) != value]
    if tuple(shlex.split(head.get("command line", ""))) != qemu:
        found.append(f"command line: {head.get('command line')} for {shlex.join(qemu)}")
    build_id = head.get("kernel build id", "")
    if not re.fullmatch(r"[0-9a-f]{40}", build_id):
        found.append(f"kernel build id: {build_id}")
    if options.judge:
        notes = subprocess.run(["readelf", "-n", paths["VMLINUX"]], stdout=subprocess.PIPE, text=True, check=True).stdout
        if f"Build ID: {build_id}" not in notes:
            found.append(f"kernel build id: {build_id} for {notes}")
    today = [time.strftime("%Y-%m-%d", time.gmtime(time.time() - age)) for age in (0, 600)]
    if not any(head.get("recorded on", "").startswith(day) for day in today):
        found.append(f"recorded on: {head.get('recorded on')}")
    run(options, folder, "flamegraph", "-i", "a.data", "-o", "a.svg")
    subtitle = re.search(r'id="subtitle"[^>]*>([^<]*)<', (folder / "a.svg").read_text())[1]
    found += [f"the subtitle lacks {part}: {subtitle}" for part in (paths["VERSION"], f"{options.cpus} vCPU", head["recorded on"])
              if part not in subtitle]
    return [f"{' '.join(way)}: {fault}" for fault in found] + ([said] if found else [])


def check(options, folder):
    paths = linux_guest.fetch(vmlinux=options.judge, arch=options.arch)
    port = f"127.0.0.1:{free_port()}"
    extra = ["-qmp", f"tcp:{port},server=on,wait=off"]
    with linux_guest.boot(paths, "dd", cpus=options.cpus, kaslr=True, extra=extra) as guest:
        ways = [("--gdb", guest.gdb), ("--qmp", guest.monitor), ("--qmp", port)]
        return [fault for way in ways for fault in faults(options, paths, folder, guest, way)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--arch", choices=sorted(linux_guest.ARCHES), default="amd64")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--cpus", type=int, default=2)
    options = parser.parse_args()
    return linux_program.exit_status(check, options)


if __name__ == "__main__":
    sys.exit(main())
