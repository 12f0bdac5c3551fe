"""Processes that run in turns, so that all of them meet the same noise of the machine."""
import os
import random
import signal
import time


def hold(pid):
    """Stops a child until its next turn; returns when all its threads have stopped, or it has ended."""
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


def let_go(pid):
    os.kill(pid, signal.SIGCONT)


def take_turns(are_done, seconds):
    """are_done: by process id, a function that says whether the process has done its work. All must be held. One at a
    time runs for so many seconds, in another random order each time, until all have done theirs; all are held again."""
    left = dict(are_done)
    while left:
        for pid in random.sample(list(left), len(left)):
            let_go(pid)
            time.sleep(seconds)
            hold(pid)
            if left[pid]():
                del left[pid]
