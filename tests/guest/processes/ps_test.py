#!/usr/bin/env python3
"""`ringside ps` lists what the guest's own ps and /proc say while nothing but the idle loop runs.

    ps_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--know vmlinux|vmlinuz|nothing]

The guest writes its processes to its serial port (workload `processes`, which is made here) and sleeps. The process that
writes them and its children change meanwhile and are left out, and so are kworkers, which come and go. Names of users are
those that procps' ps has there: its /etc/passwd is one of two pages on a tmpfs that was mounted over another /etc, and
another passwd, still open, was there before.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched.
"""
import argparse
import re
import sys
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, user_program

WORKLOAD = "processes"
SCRIPT = """#!/bin/sh
if [ "$1" = 1 ]; then
    sleep 50001 &
    renice -n 5 -p $!
    setsid sleep 50002 &
    terminal=/dev/$(cat /sys/class/tty/console/active)
    setsid -c sleep 50003 <$terminal >$terminal 2>&1 &
fi
[ "$1" = 0 ] || exec sleep 100000
sleep 50000 &
mkdir -p /etc
seq 1001 1004 | sed 's/.*/other&:x:&:&::\\/:\\/bin\\/sh/' >/etc/passwd
for user in 1001 1002 1003 1004; do (su other$user -c "exec sleep 6$user" &); done
sleep 1
mount -t tmpfs etc /etc
echo old:x:1001:1001::/: >/etc/passwd
sleep 50004 </etc/passwd &
cp /workload/passwd /etc/passwd+
mv /etc/passwd+ /etc/passwd
sleep 2
exec >/dev/console
echo "processes: self $$"
ps -o pid,ppid,stat,vsz,rss,comm | sed 's/^/processes: ps /'
for folder in /proc/[0-9]*; do
    echo "processes: stat $(cat $folder/stat)"
    echo "processes: args ${folder#/proc/} $(tr '\\0' ' ' <$folder/cmdline)"
done 2>/dev/null
/usr/bin/ps axo user=,pid= | sed 's/^/processes: user /'
echo "processes: end"
while :; do sleep 100000; done
"""
TICKS = 100  # USER_HZ
PASSWD = "\n".join(["root:x:0:0:root:/root:/bin/sh", "www-data:x:1001:1001::/:", "third:x:1003", "#third:x:1003:1003::/:",
                    "systemd-network:x:1002:1002:of more than 8 letters:/:"]
                   + [f"user{number}:x:{number}:{number}:{'x' * 50}:/nonexistent:/bin/false" for number in range(2000, 2050)]
                   + ["third:x:1003:1003::/:", "fourth:x:1003:1003::/:", ""])
USERS = {"root", "www-data", "systemd+", "third", "1004"}  # as ps has them


def flags_of(pid, fields):
    """The flags that procps' ps writes after the state (ps(1), PROCESS STATE CODES), from the fields of /proc/PID/stat from
    field 3 on; without L, which is not there."""
    group, session, _, foreground = map(int, fields[2:6])
    nice, threads = int(fields[16]), int(fields[17])
    flags = ("<" if nice < 0 else "N" if nice > 0 else "") + ("s" if session == pid else "")
    return flags + ("l" if threads > 1 else "") + ("+" if group == foreground else "")


def guests_processes(serial):
    """The processes that the guest reported: {pid: {ppid, state, vsz, rss, comm, seconds, flags, args, user}}, without the
    process that reported, its children, and the kworkers, which come and go."""
    itself = int(re.search(r"processes: self (\d+)", serial).group(1))
    found = {}
    row = r"processes: ps +(\d+) +(\d+) (\S)\S* +(\d+) +(\d+) (.*?)\r?$"
    for pid, ppid, state, vsz, rss, comm in re.findall(row, serial, re.MULTILINE):
        if itself not in (int(pid), int(ppid)) and not comm.startswith("kworker/"):
            found[int(pid)] = {"ppid": int(ppid), "state": state, "vsz": int(vsz), "rss": int(rss), "comm": comm}
    for pid, rest in re.findall(r"processes: stat (\d+) \(.*\) (.*?)\r?$", serial, re.MULTILINE):
        fields = rest.split()  # from field 3, the state, on (proc(5))
        if int(pid) in found:
            found[int(pid)]["seconds"] = (int(fields[11]) + int(fields[12])) / TICKS
            found[int(pid)]["flags"] = flags_of(int(pid), fields)
            found[int(pid)]["comm"] = re.search(rf"processes: stat {pid} \((.*)\)", serial).group(1)
    for pid, args in re.findall(r"processes: args (\d+) (.*?) ?\r?$", serial, re.MULTILINE):
        if int(pid) in found:
            found[int(pid)]["args"] = args
    for user, pid in re.findall(r"processes: user (\S+) +(\d+)", serial):
        if int(pid) in found:
            found[int(pid)]["user"] = user
    return found


def seconds(text):
    """[DD-]HH:MM:SS, or M:SS."""
    days, _, clock = text.rpartition("-")
    total = 0
    for part in clock.split(":"):
        total = total * 60 + int(part)
    return total + 86400 * int(days or 0)


def compare(pid, what, expected, got, failures):
    if expected != got and expected != "R":  # what ran while the guest looked sleeps again
        failures.append(f"process {pid}: {what} is {got!r}, and the guest says {expected!r}")


def check_time(pid, text, wanted, failures):
    """Kernel threads run on; what the host lets a vCPU wait counts as their time."""
    later = seconds(text) - wanted["seconds"]
    if later < -1 or (wanted["args"] and later > 1):
        failures.append(f"process {pid}: TIME is {text}, and the guest says {wanted['seconds']} s")


def check_threads(text, expected):
    """Checks the output of `ps`."""
    failures, seen = [], set()
    for line in text.splitlines()[1:]:
        pid, ppid, tid, state, _, cpu_time, rss, comm = line.split(None, 7)
        seen.add(int(tid))
        if int(pid) not in expected:
            continue
        wanted = expected[int(pid)]
        name = wanted["comm"] if wanted["args"] else f"[{wanted['comm']}]"
        for what, a, b in (("tid", pid, tid), ("parent", wanted["ppid"], int(ppid)), ("state", wanted["state"], state),
                           ("RSS", wanted["rss"], int(rss)), ("COMM", name, comm)):
            compare(pid, what, a, b, failures)
        check_time(pid, cpu_time, wanted, failures)
    return failures + [f"process {pid} is missing" for pid in expected if pid not in seen]


def check_aux(text, expected):
    """Checks the output of `ps aux`."""
    failures, seen = [], set()
    for line in text.splitlines()[1:]:
        user, pid, _, _, vsz, rss, _, state, _, cpu_time, command = line.split(None, 10)
        seen.add(int(pid))
        if int(pid) not in expected:
            continue
        wanted = expected[int(pid)]
        for what, a, b in (("USER", wanted["user"], user), ("VSZ", wanted["vsz"], int(vsz)), ("RSS", wanted["rss"], int(rss)),
                           ("state", wanted["state"], state[0]), ("STAT's flags", wanted["flags"], state[1:]),
                           ("COMMAND", wanted["args"] or f"[{wanted['comm']}]", command)):
            compare(pid, what, a, b, failures)
        check_time(pid, cpu_time, wanted, failures)
    return failures + [f"process {pid} is missing in aux" for pid in expected if pid not in seen]


def run(options, folder):
    deadline = time.monotonic() + options.limit
    paths = linux_guest.fetch(vmlinux=options.know == "vmlinux", arch=options.arch, userland=True)
    script, passwd = folder / WORKLOAD, folder / "passwd"
    script.write_text(SCRIPT)
    passwd.write_text(PASSWD)
    paths["INITRD"] = str(user_program.add_to_initrd(paths["USERLAND_INITRD"], folder, script, passwd))
    with linux_guest.boot(paths, WORKLOAD, cpus=options.cpus, kaslr=options.kaslr, cpu=options.cpu) as guest:
        guest.wait_serial("processes: end", limits.STEP)
        expected = guests_processes(guest.serial())
        kernel = [] if options.know == "nothing" else ["--kernel", paths[options.know.upper()]]
        failures = []
        for arguments, check in ((["ps"], check_threads), (["ps", "aux"], check_aux)):
            text = launched.read_back(options.ringside, deadline, *arguments, "--gdb", guest.gdb, *kernel)
            failures += check(text, expected)
    print(f"{options.arch}, {options.know}: {len(expected)} processes compared")
    if not {"", "N", "s", "s+"} <= {process["flags"] for process in expected.values()}:
        failures.append("the guest has too few kinds of processes to compare STAT: "
                        + ", ".join(f"{one['comm']} {one['flags']}" for one in expected.values() if one["args"]))
    if not USERS <= {process["user"] for process in expected.values()}:
        failures.append("the guest has too few users: " + ", ".join(one["user"] for one in expected.values()))
    if len(expected) < 20:
        failures.append(f"the guest told of {len(expected)} processes only")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    linux_program.add_guest_options(parser, "vmlinuz")
    limits.add_option(parser)
    return linux_program.exit_status(run, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
