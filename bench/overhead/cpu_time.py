"""Processor time of threads: the first number of /proc/PID/task/TID/schedstat, in nanoseconds (Linux's
Documentation/scheduler/sched-stats.rst)."""
import os
import pathlib


def of_thread(pid, tid):
    """In seconds. It is exact while the thread sleeps, and up to a scheduler tick old while it runs."""
    return int(pathlib.Path(f"/proc/{pid}/task/{tid}/schedstat").read_text().split()[0]) / 1e9


def of_process(pid):
    """The processor time of all threads that exist now, in seconds."""
    total = 0.0
    for tid in os.listdir(f"/proc/{pid}/task"):
        try:
            total += of_thread(pid, tid)
        except FileNotFoundError:
            pass  # it has just ended
    return total


def thread_named(pid, name):
    """The id of the first thread with that name, or None."""
    for tid in os.listdir(f"/proc/{pid}/task"):
        if pathlib.Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip() == name:
            return int(tid)
    return None
