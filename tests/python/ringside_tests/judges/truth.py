"""Compares a profile in folded form with a workload's truth file: number of samples, shares, unknown frames, stacks.

    python3 -m ringside_tests.judges.truth TRUTH.txt FOLDED.txt [--busy 10000] [--points 2.0] [--per-cpu N]

FOLDED.txt may be -. With --per-cpu the first frame of each stack is `vcpu NUMBER`, and the shares of each of the N vCPUs
are compared.

Exit status: 0 the profile tells the truth, 1 it does not (the worst offenders are printed), 2 bad input, 3 only its shares
are not true.
"""
import argparse
import collections
import math
import pathlib
import sys

from ringside_tests.harness import folded
from ringside_tests.judges import legal_stacks

UNKNOWN = "<unknown:"
NOT_KERNEL_LEAVES = (legal_stacks.USER, "[firmware]")
UNKNOWN_LIMIT_PERCENT = 1.0
LEGAL_PERCENT = 99.0
SHOWN = 8
SHARES_ONLY = 3
_APART = "points apart"
_MISPLACED = "samples in a wrong function"


def percent(part, whole):
    return 100.0 * part / whole if whole else 0.0


def check(truth, stacks, busy, points):
    """Compares; returns (summary lines, failure lines). No failures: the profile tells the truth."""
    total = sum(count for _, count in stacks)
    summary = [f"busy samples: {total} (at least {busy} wanted)"]
    failures = []
    if total < busy:
        failures.append(f"{total} busy samples, fewer than {busy}")
    own = _own(stacks)
    for part in (_check_shares(truth, own, total, points), _check_distance(truth, own, total, points),
                 _check_unknown(stacks, total), _check_legal(truth, stacks)):
        summary += part[0]
        failures += part[1]
    return summary, failures


def check_vcpus(truth, stacks, vcpus, points):
    """Compares the shares of each vCPU; the stacks start with `vcpu NUMBER`. Returns lines as check() does.

    A vCPU has fewer samples than the guest, so chance may move its shares further: up to four standard deviations.
    """
    by_vcpu = {f"vcpu {number}": [] for number in range(vcpus)}
    summary, failures = [], []
    for stack, count in stacks:
        if stack[0] in by_vcpu and len(stack) > 1:
            by_vcpu[stack[0]].append((stack[1:], count))
        else:
            failures.append(f"not a stack of one of {vcpus} vCPUs: {';'.join(stack)}")
    for name, of_vcpu in by_vcpu.items():
        total = sum(count for _, count in of_vcpu)
        summary.append(f"{name}: {total} busy samples")
        if truth.busy == "0" and name != "vcpu 0":
            failures += [f"{name} has {total} busy samples, and no work"] if total else []
            continue
        if not total:
            failures.append(f"{name} has no busy samples")
            continue
        part = _check_shares(truth, _own(of_vcpu), total, points, by_chance=True)
        summary += [f"    {line}" for line in part[0]]
        failures += [line if line.startswith(" ") else f"{name}: {line}" for line in part[1]]
    return summary, failures


def _own(stacks):
    own = collections.Counter()
    for stack, count in stacks:
        own[stack[-1]] += count
    return own


# About so many of one vCPU's samples, one every 2 ms, fall into one call of a function: they are not independent.
_SAMPLES_A_CALL = 3


def _tolerance(share, total, points, by_chance):
    """For one vCPU's few samples: four standard deviations, and twice the room in any case."""
    if not by_chance:
        return points
    part = min(max(share / 100, 0.0), 1.0)
    return max(2 * points, 4 * math.sqrt(part * (1 - part) * _SAMPLES_A_CALL / total) * 100)


def _check_shares(truth, own, total, points, by_chance=False):
    summary, failures = [], []
    for functions, expected in truth.judged_shares():
        got = percent(sum(own[function] for function in functions), total)
        line = f"share of {' and '.join(functions)}: expected {expected:.2f} %, got {got:.2f} %"
        if expected >= points:
            summary.append(line)
        allowed = _tolerance(expected, total, points, by_chance)
        if abs(got - expected) > allowed:
            failures.append(f"{line}: more than {allowed:.3g} {_APART}")
    if failures:
        failures += [f"    own share {percent(count, total):6.2f} %  {name}" for name, count in own.most_common(SHOWN)]
    return summary, failures


def _check_distance(truth, own, total, points):
    """Hundreds of shares, each smaller than the tolerance, prove nothing one by one: they are compared as a whole.

    The distance is half the sum of all differences: the part of the samples that stands in a wrong function. By
    chance alone it is the mean deviation of a binomial, sqrt(2 p / (pi n)) for each small share p.
    """
    if sum(share < points for share in truth.shares.values()) * 2 <= len(truth.shares) or not total:
        return [], []
    distance = sum(abs(percent(own[name], total) - share) for name, share in truth.shares.items()) / 2
    chance = 50 * sum(math.sqrt(2 * share / 100 / (math.pi * total)) for share in truth.shares.values())
    limit = 2 * points + 1.25 * chance
    line = f"{_MISPLACED}: {distance:.1f} % (by chance {chance:.1f} %, at most {limit:.1f} %)"
    return [line], [line] if distance > limit else []


def _check_unknown(stacks, total):
    bad = _rank((stack, count) for stack, count in stacks if any(frame.startswith(UNKNOWN) for frame in stack))
    share = percent(sum(bad.values()), total)
    line = f"samples with an unknown frame: {share:.2f} %"
    if share < UNKNOWN_LIMIT_PERCENT:
        return [line], []
    return [line], [f"{line}, not under {UNKNOWN_LIMIT_PERCENT:g} %"] + _show(bad)


def _check_legal(truth, stacks):
    kernel = [(stack, count) for stack, count in stacks if stack[-1] not in NOT_KERNEL_LEAVES]
    total = sum(count for _, count in kernel)
    bad = _rank((stack, count) for stack, count in kernel if not truth.is_legal(stack))
    share = percent(total - sum(bad.values()), total) if total else 100.0
    line = f"kernel samples with a legal stack: {share:.2f} % of {total}"
    if share >= LEGAL_PERCENT:
        return [line], []
    return [line], [f"{line}, fewer than {LEGAL_PERCENT:g} %"] + _show(bad)


def _rank(stacks):
    counter = collections.Counter()
    for stack, count in stacks:
        counter[stack] += count
    return counter


def _show(stacks):
    return [f"    {count:7}  {';'.join(stack)}" for stack, count in stacks.most_common(SHOWN)]


def compare(truth_text, folded_text, busy, points):
    """Compares two texts, prints what was found; returns the exit status. SHARES_ONLY: all else is true."""
    return _judge(truth_text, folded_text, lambda truth, stacks: check(truth, stacks, busy, points))


def compare_vcpus(truth_text, folded_text, vcpus, points):
    """The same for the shares of each vCPU."""
    return _judge(truth_text, folded_text, lambda truth, stacks: check_vcpus(truth, stacks, vcpus, points))


def _judge(truth_text, folded_text, checker):
    try:
        truth, stacks = legal_stacks.parse(truth_text), folded.parse(folded_text)
    except ValueError as error:
        print(f"truth: {error}", file=sys.stderr)
        return 2
    summary, failures = checker(truth, stacks)
    print("\n".join(summary))
    for line in failures:
        print(line if line.startswith(" ") else f"FAILED: {line}")
    if not failures:
        return 0
    of_shares = all(line.startswith(" ") or line.endswith(_APART) or line.startswith(_MISPLACED) for line in failures)
    return SHARES_ONLY if of_shares else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("truth", type=pathlib.Path)
    parser.add_argument("folded")
    parser.add_argument("--busy", type=int, default=10000, help="busy samples wanted at least (default 10000)")
    parser.add_argument("--points", type=float, default=2.0, help="how far a share may be off, in percentage points")
    parser.add_argument("--per-cpu", type=int, metavar="N", help="the profile has a first frame for each of N vCPUs")
    options = parser.parse_args()
    try:
        profile = sys.stdin.read() if options.folded == "-" else pathlib.Path(options.folded).read_text()
        expected = options.truth.read_text()
    except (OSError, UnicodeDecodeError) as error:
        print(f"truth: {error}", file=sys.stderr)
        return 2
    if options.per_cpu:
        return compare_vcpus(expected, profile, options.per_cpu, options.points)
    return compare(expected, profile, options.busy, options.points)


if __name__ == "__main__":
    sys.exit(main())
