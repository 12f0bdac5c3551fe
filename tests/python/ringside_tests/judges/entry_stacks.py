"""Judges the stacks of programs/entries.cpp, which is where the expected ones come from."""
import collections
import dataclasses
import json

_RUN = ("_start", "run")
FAULTS = _RUN + ("use_memory", "touch_pages")
DROPS = _RUN + ("use_memory", "drop_pages")
READS = _RUN + ("use_files", "read_zeros")
_LONGEST = (FAULTS, DROPS, READS, _RUN + ("count",))
LEGAL = {chain[:length] for chain in _LONGEST for length in range(1, len(chain) + 1)}
FUNCTIONS = {name for chain in _LONGEST for name in chain}
SHOWN = 8


@dataclasses.dataclass
class Counts:
    """Samples in kernel mode by the kind of entry: on the expected user stack, with its leaf alone, with none, with another."""
    joined: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    leaf_alone: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    without: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    wrong: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    illegal: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # by stack

    def total(self, kind):
        return sum(one[kind] for one in (self.joined, self.leaf_alone, self.without, self.wrong))


def entry_kind(kernel):
    """(name, the user stacks that it may have) of the kernel's part of a stack; (None, …) where it says neither."""
    if any(name.endswith("_sys_madvise") for name in kernel):
        return "system call", {DROPS}
    if any(name.endswith("_sys_read") for name in kernel):
        return "system call", {READS}
    if kernel[0].startswith("entry_"):
        return "system call", {DROPS, READS}
    # i386: all exceptions have one entry, handle_exception.
    if kernel[0] == "asm_exc_page_fault" or kernel[1:2] == ("exc_page_fault",):
        return "page fault", {FAULTS}
    if any(name.removeprefix("asm_").startswith(("sysvec_", "common_interrupt")) for name in kernel[:2]):
        return "interrupt", LEGAL
    return None, LEGAL


def in_order(lines):
    """(stack, 1) of each sample among the lines of `export --format json-lines`, in the order of the recording."""
    samples = (sample for sample in map(json.loads, lines) if "stacks" in sample)
    return [(tuple(name for frame in reversed([frame for part in sample["stacks"] for frame in part["frames"]])
                   for name in reversed(frame["functions"] or ["?"])), 1) for sample in samples]


def since_known(stacks):
    """(how many come before it, the stacks from the first on in which kernel code stands on a whole user stack). Until then
    ringside compares the program's file with the guest's memory, finds out where the thread's stack is, and asks the engine
    for it; a busy host takes long over each."""
    whole = (at for at, (stack, _) in enumerate(stacks) if stack[:1] == _RUN[:1] and FUNCTIONS.isdisjoint(stack[-1:]))
    first = next(whole, len(stacks))
    return first, stacks[first:]


def count(stacks):
    """stacks: folded ones, of all processes; those of others are left out where they have no user code."""
    counts = Counts()
    for stack, number in stacks:
        cut = next((at for at, name in enumerate(stack) if name not in FUNCTIONS), len(stack))
        user, kernel = stack[:cut], stack[cut:]
        kind, expected = entry_kind(kernel) if kernel else ("user code", LEGAL)
        if user in expected:
            counts.joined[kind] += number
        elif not user:
            counts.without[kind] += number
        elif len(user) == 1 and any(user[0] == chain[-1] for chain in expected):
            counts.leaf_alone[kind] += number
        else:
            counts.wrong[kind] += number
            counts.illegal[stack] += number
    return counts


def check(counts, least, percent):
    """(summary lines, failures): at least so many samples by faults and by system calls, and of these so many percent
    on the expected user stack; none on another."""
    summary, failures = [], []
    for kind in ("page fault", "system call", "interrupt"):
        total = counts.total(kind)
        line = (f"{kind}: {total} samples, {counts.joined[kind]} on their user stack, {counts.leaf_alone[kind]} on its leaf, "
                f"{counts.without[kind]} on nothing, {counts.wrong[kind]} on another")
        summary.append(line)
        # A few interrupts come in a test's time.
        if kind != "interrupt" and (total < least or 100 * counts.joined[kind] < percent * total):
            failures.append(line)
    wrong = sum(counts.wrong.values())
    everything = sum(sum(one.values()) for one in (counts.joined, counts.leaf_alone, counts.without, counts.wrong))
    if 500 * wrong > everything:
        failures.append(f"{wrong} of {everything} samples are on a stack that the program does not have")
    summary += [f"    {number} times: {';'.join(stack)}" for stack, number in counts.illegal.most_common(SHOWN)]
    return summary, failures
