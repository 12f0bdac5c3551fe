"""Checks that the numbers of `ringside report` add up and agree with the folded export of the same recording."""
import re

# An overhead line of the table: the own share first, `12.34%` or `12.34 %`.
_OVERHEAD = re.compile(r"^\s*(\d+\.\d+)\s?%")
_STATISTIC = re.compile(r"^[\s#]*([a-z][a-z0-9 _-]*?)(?:\s*:\s*|\s{2,})([\d,]+)\b(?![.\d])", re.IGNORECASE)


def statistics(report):
    """The `name: number` and `name  number` lines of a report, names in lower case; the first of a name counts."""
    found = {}
    for line in report.splitlines():
        match = _STATISTIC.match(line)
        if match:
            found.setdefault(match.group(1).lower(), int(match.group(2).replace(",", "")))
    return found


def check(report, stacks):
    """What does not add up, as lines; empty when all does."""
    failures = []
    numbers = statistics(report)
    told = numbers.get("samples", numbers.get("sampled"))
    counted = sum(count for _, count in stacks)
    if told is None:
        failures.append("the report has no line `samples: N`")
    elif told != counted:
        failures.append(f"the report tells {told} samples, the folded stacks hold {counted}")
    return failures + _check_due(numbers, told) + _check_overhead(report)


def _check_due(numbers, samples):
    """What was due is what became of it, where the report tells all of it."""
    parts = [numbers.get(name) for name in ("idle", "skipped", "failed", "lost")]
    due = numbers.get("vcpu ticks due", numbers.get("due"))
    if due is None or samples is None or None in parts or due == samples + sum(parts):
        return []
    return [f"{due} samples were due, but {samples} taken and {sum(parts)} not taken make {samples + sum(parts)}"]


def _check_overhead(report):
    shares = [float(match.group(1)) for match in map(_OVERHEAD.match, _first_table(report)) if match]
    if not shares:
        return ["the report has no table with overheads"]
    total = sum(shares)
    if not 98.0 <= total <= 100.0 + 0.01 * len(shares):
        return [f"the overheads of the report's first table sum up to {total:.2f} %"]
    return []


def _first_table(report):
    """The lines of the first run of overhead lines."""
    table = []
    for line in report.splitlines():
        if _OVERHEAD.match(line):
            table.append(line)
        elif table:
            break
    return table
