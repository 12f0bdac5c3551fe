"""Whether samples of programs that live a few milliseconds are charged to the right one: by where their user code was."""
import collections

from ringside_tests.judges.processes import joined_stacks

PIDS = 32768  # of Linux (kernel 6.1, include/linux/threads.h, PID_MAX_DEFAULT); then they begin again


class Judge:
    """Counts the samples whose user code is in one of the programs' functions."""

    def __init__(self, functions):
        """functions: by program, (name, first, end) of the one that it spends its time in."""
        self._functions = functions
        self.samples = self.known = self.named = 0
        self.begun = 0  # processes, by their pids
        self._last = None
        self.wrong = collections.Counter()

    def add(self, sample):
        frames = joined_stacks.user_frames(joined_stacks.user_stack(sample))
        if not frames:
            return
        at = int(frames[0]["address"], 16)
        program = next((name for name, (_, start, end) in self._functions.items() if start <= at < end), None)
        if program is None:
            return
        self.samples += 1
        if "pid" in sample:
            self.known += 1
            self._count(sample["pid"])
            if sample.get("comm") != program:
                self.wrong[f"{program}'s code is charged to {sample.get('comm')}"] += 1
        names = frames[0]["functions"]
        if names:
            self.named += 1
            if names != [self._functions[program][0]]:
                self.wrong[f"{program}'s code is called {'/'.join(names)}"] += 1

    def _count(self, pid):
        further = (pid - (pid if self._last is None else self._last)) % PIDS
        if further < PIDS // 2:  # else it is one that began before
            self.begun += further
            self._last = pid
