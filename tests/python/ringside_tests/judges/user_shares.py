"""Compares samples of the program tests/guest/programs/shares.cpp with the shares that it measured itself."""
import bisect
import collections
import re

from ringside_tests.harness import user_program
from ringside_tests.harness.machine import GuestError

FUNCTIONS = ("half", "third", "fifth")


def measured_shares(serial):
    """The shares that the guest measured: percent by function. Its processes differ by little: their least times count."""
    found = re.findall("shares:" + "".join(rf" {name} (\d+)" for name in FUNCTIONS), serial)
    if not found:
        raise GuestError(f"the program did not say what it measured: {serial[-400:]}")
    least = [min(int(line[i]) for line in found) for i in range(len(FUNCTIONS))]
    return {name: 100 * ticks / sum(least) for name, ticks in zip(FUNCTIONS, least)}


class Functions:
    """Names addresses by the program's symbols, as llvm-nm lists them."""

    def __init__(self, listing):
        found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tT] (\w+)$", listing, re.MULTILINE)
        self._all = sorted((int(start, 16), int(start, 16) + int(size, 16), name) for start, size, name in found)
        if missing := set(FUNCTIONS) - {name for _, _, name in self._all}:
            raise ValueError(f"the program has no {', '.join(sorted(missing))}")

    def name(self, address):
        """None outside of the program."""
        at = bisect.bisect_right(self._all, (address, 1 << 64, "")) - 1
        return self._all[at][2] if at >= 0 and address < self._all[at][1] else None


def functions(program):
    return Functions(user_program.symbols(program))


def user_addresses(samples):
    """Where user code ran, of the lines of `export --format json-lines`: the first frame of the stack is its pc. None
    without one."""
    for sample in samples:
        if sample.get("level") == "user" and sample["disposition"] == "sampled":
            frames = sample["stacks"][0]["frames"] if sample["stacks"] else []
            yield int(frames[0]["address"], 16) if frames else None


def user_samples(functions_of_program, samples):
    """Counts the user samples among them, by function; None: in no function of the program."""
    return collections.Counter(None if address is None else functions_of_program.name(address)
                               for address in user_addresses(samples))


def check(engine, counts, expected, busy, points):
    """(summary line, failures) of one engine's samples against the expected percentages."""
    total = sum(counts.values())
    shares = {name: 100 * counts[name] / total if total else 0.0 for name in FUNCTIONS}
    line = f"{engine}: {total} user samples: " + ", ".join(
        f"{name} {shares[name]:.2f} % (guest: {expected[name]:.2f} %)" for name in FUNCTIONS)
    failures = [f"{engine}: {total} user samples, {busy} wanted"] if total < busy else []
    failures += [f"{engine}: {name} has {shares[name]:.2f} % of the user samples, and {expected[name]:.2f} % of the time"
                 for name in FUNCTIONS if abs(shares[name] - expected[name]) > points]
    return line, failures
