"""Runs one symbolizer on one list of addresses, and measures it."""
import collections
import os
import re
import subprocess
import tempfile
import time

Run = collections.namedtuple("Run", "seconds cpu_seconds peak_rss_mb private_mb output")


def _private_mb(pid):
    """Memory that belongs to this process alone (not the pages of files that it maps), in MiB; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as rollup:
            found = re.findall(r"^(?:Private_Dirty|Anonymous):\s+(\d+)", rollup.read(), re.MULTILINE)
    except OSError:
        return 0
    return max(map(int, found), default=0) / 1024


def run(command, addresses, watch_memory=False):
    """One process from start to end, with the addresses on standard input.

    Watching its memory costs time, so a run measures the one or the other. Peak memory is what was seen every millisecond.
    """
    with tempfile.TemporaryFile("w+") as questions, tempfile.TemporaryFile("w+") as answers:
        questions.write("".join(f"{address}\n" for address in addresses))
        questions.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=questions, stdout=answers, stderr=subprocess.DEVNULL)
        private = 0
        if watch_memory:
            while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                private = max(private, _private_mb(process.pid))
                time.sleep(0.001)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        answers.seek(0)
        return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, private, answers.read())
