"""The processor time that a running program takes for a sample."""
import time


def nanoseconds(pid):
    """The processor time of a process until now: all of its threads, those that have ended too, and no child."""
    per_process = 2  # CPUCLOCK_SCHED, as clock_getcpuclockid(3) makes it
    return time.clock_gettime_ns((~pid << 3) | per_process)


class Meter:
    """Processor time a sample, in the seconds from `first` to `last` after the start, in which the program only samples: it
    reads symbols and searches for the kernel before, and ends the recording afterwards."""

    def __init__(self, pid, first, last):
        self._pid, self._first, self._last = pid, first, last
        self._readings = []  # (nanoseconds, stops)

    def read(self, seconds, events):
        """To be called every now and then, with the seconds since the start and the guest's events so far."""
        if not self._first <= seconds <= self._last:
            return
        try:
            self._readings.append((nanoseconds(self._pid), sum(name == "STOP" for name, _ in events)))
        except OSError:
            pass  # it has ended

    def microseconds_a_sample(self):
        """None where nothing was sampled meanwhile."""
        if not self._readings or self._readings[-1][1] == self._readings[0][1]:
            return None
        return (self._readings[-1][0] - self._readings[0][0]) / 1000 / (self._readings[-1][1] - self._readings[0][1])
