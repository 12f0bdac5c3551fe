#!/usr/bin/env python3
"""draft"""
import argparse, os, pathlib, re, shutil, subprocess, sys, tarfile, time
from ringside_tests.harness import launched, linux_guest, linux_program, user_program

WORKLOAD = "perf"
DONE = "perf-guest: done"
PLACE = "perf"
SCRIPT = f"""#!/bin/busybox sh
[ "$1" = 0 ] || exit 0
perf() {{ /{PLACE}/loader --library-path /{PLACE} /{PLACE}/perf "$@"; }}
export HOME=/tmp/home
mkdir -p $HOME
cd $HOME
/workload/programs 0 &
/workload/mixed 0 &
until [ -e /tmp/started ]; do sleep 1; done
for how in SEP; do
    perf record -e cpu-clock -F 500 -a $how -o data$how -- sleep SECONDS >log$how 2>&1
done
kill -9 -1
cp /proc/kallsyms kallsyms
tar -c -f /dev/vda .
sync
echo {DONE} >/dev/console
"""

def find_perf():
    candidates = [shutil.which("perf"), *map(str, sorted(pathlib.Path("/usr/bin").glob("perf_*")))]
    for c in filter(None, candidates):
        with open(c, "rb") as f:
            if f.read(4) == b"\x7fELF":
                return c
    raise linux_guest.NoNetwork("there is no perf")

def tree(folder):
    perf = find_perf()
    place = folder / "guest" / PLACE
    place.mkdir(parents=True)
    shutil.copy(perf, place / "perf")
    text = subprocess.run(["ldd", perf], check=True, text=True, stdout=subprocess.PIPE).stdout
    for name, path in re.findall(r"^\s*(?:(\S+) => )?(/\S+) \(", text, re.M):
        shutil.copy(path, place / (name or "loader"))
    (folder / "guest" / "workload").mkdir()
    script = SCRIPT.replace("SEP", "-g --call-graph=dwarf").replace("SECONDS", "5")
    (folder / "guest" / "workload" / WORKLOAD).write_text(script)
    return folder / "guest"

folder = pathlib.Path(sys.argv[1]); folder.mkdir()
paths = linux_guest.fetch(vmlinux=False, userland=True)
paths["INITRD"] = str(user_program.add_tree_to_initrd(paths["USERLAND_INITRD"], folder, tree(folder)))
drive = linux_guest.disk(folder)
with open(folder / "disk.img", "r+b") as image:
    image.truncate(256 << 20); image.write(b"to be written over")
t = time.time()
with linux_guest.boot(paths, WORKLOAD, 2, extra=drive, kaslr=True) as guest:
    print("ready", time.time() - t)
    try:
        guest.wait_serial(DONE, 90)
    finally:
        print(guest.serial()[-2000:])
print("done", time.time() - t)
with tarfile.open(folder / "disk.img") as t: t.extractall(folder / "out", filter="fully_trusted")
