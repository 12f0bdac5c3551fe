"""Compares what several engines say of one guest: the shares of its hottest functions, and how many stacks are complete."""
import collections
import dataclasses
import itertools
import math

from ringside_tests.judges.truth import percent

HOTTEST = 10
_WHOLE = ("end of stack", "reached user mode")


@dataclasses.dataclass
class Measure:
    """Sums over one engine's recordings."""
    own: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # samples by leaf
    complete: int = 0
    judged: int = 0
    shares: list = dataclasses.field(default_factory=list)  # of each recording: {leaf: percent}

    @property
    def samples(self):
        return sum(self.own.values())

    def share(self, function):
        return percent(self.own[function], self.samples)

    def add(self, stacks, samples):
        """stacks: the folded ones of a recording; samples: the same as `export --format json-lines` tells them."""
        own = collections.Counter()
        for stack, count in stacks:
            own[stack[-1]] += count
        self.own += own
        self.shares.append({leaf: percent(count, sum(own.values())) for leaf, count in own.items()})
        # User code below the kernel's stack is not judged: a stripped busybox has no unwind information.
        for sample in samples:
            if sample.get("level") == "kernel" and sample["disposition"] == "sampled":
                self.judged += 1
                self.complete += bool(sample["stacks"]) and sample["stacks"][0]["stop"] in _WHOLE

    def error(self, function):
        """The standard error of a share, as the recordings' differences tell it; 0 for a single recording."""
        values = [shares.get(function, 0.0) for shares in self.shares]
        if len(values) < 2:
            return 0.0
        mean = sum(values) / len(values)
        return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def hottest(measures):
    """The functions that are among the ten hottest of any engine, hottest first."""
    names = {name for measure in measures.values() for name, _ in measure.own.most_common(HOTTEST)}
    return sorted(names, key=lambda name: (-sum(measure.share(name) for measure in measures.values()), name))


def allowed(first, second, function, points):
    """`points`, or what chance may do where samples are few: four standard deviations of the difference."""
    part = (first.own[function] + second.own[function]) / max(1, first.samples + second.samples)
    return max(points, 400 * math.sqrt(part * (1 - part) * (1 / max(1, first.samples) + 1 / max(1, second.samples))))


def table(measures):
    """The totals, and the shares side by side, as lines."""
    lines = [f"{name}: {one.samples} busy samples in {len(one.shares)} recordings, "
             f"{percent(one.complete, one.judged):.2f} % of {one.judged} kernel stacks complete"
             for name, one in measures.items()]
    lines += ["  ".join(f"{name:>14}" for name in measures) + "  (standard error, from recording to recording)"]
    for function in hottest(measures):
        cells = [f"{measure.share(function):6.2f} ({measure.error(function):4.2f})" for measure in measures.values()]
        lines.append("  ".join(f"{cell:>14}" for cell in cells) + f"  {function}")
    return lines


def check(measures, busy, points, complete):
    """Failures, as lines. measures: by engine; busy: samples wanted of each; complete: percent of the stacks."""
    few = [line for name, measure in measures.items() for line in check_count(name, measure, busy)]
    return few + check_stacks(measures, complete) + check_shares(measures, points)


def check_count(name, measure, busy):
    return [f"{name}: {measure.samples} busy samples, {busy} wanted"] if measure.samples < busy else []


def check_stacks(measures, complete):
    failures = []
    for name, measure in measures.items():
        if not measure.judged:
            failures.append(f"{name}: no kernel stack at all")
        elif percent(measure.complete, measure.judged) < complete:
            failures.append(f"{name}: {percent(measure.complete, measure.judged):.2f} % of {measure.judged} stacks are "
                            f"complete, {complete:g} % wanted")
    return failures


def check_shares(measures, points):
    failures = []
    for (one, first), (other, second) in itertools.combinations(measures.items(), 2):
        for function in hottest({one: first, other: second}):
            apart = abs(first.share(function) - second.share(function))
            if apart > (limit := allowed(first, second, function, points)):
                failures.append(f"{function}: {first.share(function):.2f} % by {one}, {second.share(function):.2f} % by "
                                f"{other}: more than {limit:.3g} points apart")
    return failures
