"""`ringside record` on a guest, for the length of one measurement."""
import dataclasses
import pathlib
import re
import signal
import subprocess
import time

import cpu_time
from ringside_tests.judges import report_totals


class RingsideError(Exception):
    """ringside failed; the message holds what it said."""


@dataclasses.dataclass(frozen=True)
class Sampled:
    """The results of a recording. pause_ns: of the guest for one sample, on average."""
    samples: int
    lost: int
    pause_ns: float


class Sampler:
    """Samples within its `with`, or up to stop(). attach_options: ringside's options that say how to attach."""

    def __init__(self, ringside, attach_options, frequency, recording):
        self._ringside = ringside
        self._recording = recording
        self._log_path = pathlib.Path(f"{recording}.log")
        self._command = [ringside, "record", *attach_options, "-F", f"{frequency:g}", "-v", "-o", str(recording)]
        self._process = None

    def __enter__(self):
        try:
            self._start(within=60)
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, *_):
        self._kill()

    def _start(self, within):
        with open(self._log_path, "wb") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + within
        while "ringside: sampling " not in self._log_path.read_text(errors="replace"):
            if self._process.poll() is not None or time.monotonic() > end:
                self._fail("did not begin to sample")
            time.sleep(0.02)

    def own_cpu(self):
        """ringside's processor time so far, in seconds."""
        return cpu_time.of_process(self._process.pid)

    def settle(self, within=3):
        """Until it has nothing to do, or, as one that goes on sampling an idle guest, for that many seconds."""
        end = time.monotonic() + within
        before = self.own_cpu()
        while time.monotonic() < end:
            time.sleep(0.2)
            now = self.own_cpu()
            if now - before < 0.01:
                return
            before = now

    def stop(self, within=60):
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            self._fail("did not end")
        if self._process.returncode not in (0, 130):
            self._fail(f"ended with status {self._process.returncode}")
        text = self._log_path.read_text(errors="replace")
        numbers = report_totals.statistics(text)
        return Sampled(numbers["sampled"], numbers["lost"], pause_ns(text))

    def _kill(self):
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _fail(self, what):
        raise RingsideError(f"{' '.join(self._command)}: {what}: {self._log_path.read_text(errors='replace')[-800:]}")


_UNIT_NS = {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}


def pause_ns(text):
    """The average pause as ringside's statistics tell it, such as `pause   397 ns  average`."""
    match = re.search(r"^\s*pause\s+([\d.,]+) (ns|us|µs|ms|s)\s+average", text, re.MULTILINE)
    return float(match.group(1).replace(",", "")) * _UNIT_NS[match.group(2)] if match else float("nan")
