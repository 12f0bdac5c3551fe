"""A second witness of what a TCG guest does: `perf record` on its vCPUs' threads, with QEMU's own table of the code that it
has translated (-perfmap). perf takes its samples by the host's timer, whatever QEMU and the guest are doing."""
import collections
import pathlib
import shutil
import subprocess

QEMU_OPTION = "-perfmap"
_BLOCK = "guest-"  # what that table calls a block: this and its address
_PERIOD = 1_000_000  # ns of processor time


class NoPerf(Exception):
    """There is no perf, or it may not sample."""


def record(threads, seconds, folder):
    """Samples for so long; returns how often each block ran, by its address, and how many samples were in none. QEMU's
    helpers count for the block that called them."""
    if not shutil.which("perf"):
        raise NoPerf("there is no perf")
    data = pathlib.Path(folder) / "perf.data"
    made = subprocess.run(["perf", "record", "-q", "--call-graph", "dwarf,1024", "-e", "cpu-clock", "-c", str(_PERIOD), "-t",
                           ",".join(map(str, threads)), "-o", data, "sleep", str(seconds)], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        raise NoPerf(f"perf: {made.stdout.strip()}")
    text = subprocess.run(["perf", "script", "-i", data, "-F", "ip,sym"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True).stdout
    return charge(text)


def charge(text):
    """What `perf script -F ip,sym` prints: a paragraph a sample, innermost frame first."""
    blocks, elsewhere = collections.Counter(), 0
    for sample in text.split("\n\n"):
        names = [line.split(None, 1)[1].strip() for line in sample.splitlines() if len(line.split(None, 1)) == 2]
        found = next((name for name in names if name.startswith(_BLOCK)), None)
        if found:
            blocks[int(found[len(_BLOCK):], 16)] += 1
        elif names:
            elsewhere += 1
    return blocks, elsewhere


def forget(pid):
    """QEMU leaves its table behind."""
    pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
