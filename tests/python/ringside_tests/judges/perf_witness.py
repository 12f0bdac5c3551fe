"""A second witness of what a TCG guest does: `perf record` on its vCPUs' threads, with QEMU's own table of the code that it
has translated (-perfmap). perf takes its samples by the host's timer, whatever QEMU and the guest are doing."""
import bisect
import collections
import pathlib
import shutil
import subprocess

QEMU_OPTION = "-perfmap"
BETWEEN = "(between two blocks)"  # which of them that time is of is not known
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
    """Parses the output of `perf script -F ip,sym`: a paragraph a sample, innermost frame first."""
    blocks, elsewhere = collections.Counter(), 0
    for sample in text.split("\n\n"):
        names = [line.split(None, 1)[1].strip() for line in sample.splitlines() if len(line.split(None, 1)) == 2]
        found = next((name for name in names if name.startswith(_BLOCK)), None)
        if found:
            blocks[int(found[len(_BLOCK):], 16)] += 1
        elif names:
            elsewhere += 1
    return blocks, elsewhere


def kernel_functions(symbols, blocks, known):
    """Samples by function, the nearest symbol in front of a block; of several at one address, one of the known ones.
    Samples outside of kernel code go to None."""
    starts = sorted((start, name not in known, name) for name, start in symbols.starts())
    addresses = [start for start, _, _ in starts]
    own = collections.Counter()
    for address, count in blocks.items():
        at = bisect.bisect_right(addresses, address) - 1
        at = bisect.bisect_left(addresses, addresses[at]) if at >= 0 else at
        own[starts[at][2] if at >= 0 and symbols.has_code_at(address) else None] += count
    return own


def agree(share, name, points, is_entry):
    """Whether tcg's share of a function is perf's, or up to all more that perf has between two blocks where is_entry."""
    difference = share["tcg"].get(name, 0) - share["perf"][name]
    return -points <= difference <= points + (share["perf"].get(BETWEEN, 0) if is_entry else 0)


def forget(pid):
    """QEMU leaves its table behind."""
    pathlib.Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
