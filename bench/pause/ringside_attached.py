"""ringside attached to a guest, as a user would: `ringside record --gdb SOCKET --kernel VMLINUX`."""
import pathlib
import re
import subprocess
import time

import processor_time


WARM_UP = 2.0  # seconds


class RingsideError(Exception):
    """ringside failed; the message holds what it said."""


def record(program, machine, vmlinux, seconds, interval_ms, output, options=(), attach_options=None):
    """Samples for that many seconds; returns the events meanwhile, and ringside's processor time a sample in µs (None if
    it sampled too shortly). `output` becomes the recording.

    attach_options: options that say how to attach; the guest's gdb stub when left out.
    """
    command = [program, "record", *(attach_options or ["--gdb", machine.gdb]), "--kernel", vmlinux, "--interval", f"{interval_ms}ms",
               "--duration", str(seconds), "-o", str(output), *options]
    log = pathlib.Path(f"{output}.log")
    with open(log, "wb") as log_file, \
            subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log_file, stderr=log_file) as process:
        meter = processor_time.Meter(process.pid, WARM_UP, seconds - 0.5)
        try:
            began = time.monotonic()
            for _ in range(int(seconds * 5) + 300):
                machine.qmp.listen(0.2)
                meter.read(time.monotonic() - began, machine.qmp.events)
                if process.poll() is not None:
                    break
        finally:
            process.kill()
    if process.returncode != 0:
        raise RingsideError(f"{' '.join(command)}: status {process.returncode}: {log.read_text()[-500:]}")
    return machine.qmp.take_events(), meter.microseconds_a_sample()


def report(program, recording):
    """The text of ringside's own report of a recording, statistics included."""
    return subprocess.run([program, "report", "-i", str(recording), "--header", "--stdio"], check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def stack_bytes(report_text):
    """The stack bytes copied per sample as ringside's report tells them, or None when it does not."""
    match = re.search(r"stack bytes[^\d\n]*([\d,]+(?:\.\d+)?)", report_text, re.IGNORECASE)
    return float(match.group(1).replace(",", "")) if match else None
