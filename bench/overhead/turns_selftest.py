#!/usr/bin/env python3
"""Tests of the turns that processes take. No guest, no ringside."""
import contextlib
import pathlib
import subprocess
import sys
import unittest

import turns

# Counts on its output for ever.
_COUNT = "import itertools\nfor n in itertools.count(): print(n, flush=True)"


def state(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


@contextlib.contextmanager
def held_processes(number):
    processes = [subprocess.Popen([sys.executable, "-c", _COUNT], stdout=subprocess.DEVNULL) for _ in range(number)]
    try:
        for process in processes:
            turns.hold(process.pid)
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


class Turns(unittest.TestCase):
    def test_each_has_its_turns_alone(self):
        taken = []
        with held_processes(3) as pids:
            def is_done(pid, wanted):
                taken.append(pid)
                self.assertEqual({state(other) for other in pids if other != pid}, {"T"})
                return taken.count(pid) == wanted
            turns.take_turns({pid: (lambda pid=pid, wanted=wanted: is_done(pid, wanted))
                              for pid, wanted in zip(pids, (1, 4, 4))}, 0.01)
            self.assertEqual([taken.count(pid) for pid in pids], [1, 4, 4])
            # Who is not done has one turn in each round.
            self.assertEqual(set(taken[:3]), set(pids))
            for first in (3, 5, 7):
                self.assertEqual(set(taken[first:first + 2]), set(pids[1:]))
            self.assertEqual({state(pid) for pid in pids}, {"T"})


if __name__ == "__main__":
    unittest.main()
