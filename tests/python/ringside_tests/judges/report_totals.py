"""Checks that the numbers of `ringside report` add up and agree with the folded export of the same recording."""
import re

from ringside_tests.harness import folded, launched

# An overhead line of the table: the own share first, `12.34%` or `12.34 %`.
_OVERHEAD = re.compile(r"^\s*(\d+\.\d+)\s?%")
OPTIONS = ("--no-children", "-g", "none")  # of a report whose rows add up
_DUE = "vcpu ticks due"
_OUTCOMES = ("sampled", "idle", "skipped", "failed", "lost")
_STATISTIC = re.compile(r"^[\s#]*([a-z][a-z0-9 _-]*?)(?:\s*:\s*|\s{2,})([\d,]+)\b(?![.\d])", re.IGNORECASE)

_LOST = re.compile(r"^[\s#]*lost\s+([\d,]+)\s")
_REASON = re.compile(r"^[\s#]*([\d,]+)\s+\d+\.\d+%\s+[a-z]", re.IGNORECASE)  # below the row "lost"


def statistics(report):
    """The `name: number` and `name  number` lines of a report, names in lower case; the first of a name counts."""
    found = {}
    for line in report.splitlines():
        match = _STATISTIC.match(line)
        if match:
            found.setdefault(match.group(1).lower(), int(match.group(2).replace(",", "")))
    return found


def check(report, stacks):
    """The totals that do not add up, as lines; empty when all do."""
    failures = []
    numbers = statistics(report)
    told = numbers.get("sampled")
    counted = sum(count for _, count in stacks)
    if told is not None and told != counted:
        failures.append(f"the report tells {told} samples, the folded stacks hold {counted}")
    return failures + _check_due(numbers, told) + _check_reasons(report) + _check_overhead(report)


def read(ringside, recording, deadline):
    """The report of a recording, its folded stacks, and the totals that do not add up, as lines."""
    report = launched.read_back(ringside, deadline, "report", "--header", "--stdio", *OPTIONS, "-i", str(recording))
    stacks = folded.parse(launched.folded_text(ringside, recording, deadline))
    return report, stacks, check(report, stacks)


def _check_due(numbers, samples):
    """All that was due is told, and what became of it."""
    if missing := [name for name in (_DUE, *_OUTCOMES) if name not in numbers]:
        return [f"the report has no line `{name}  N`" for name in missing]
    parts = [numbers[name] for name in _OUTCOMES if name != "sampled"]
    if samples is None or numbers[_DUE] == samples + sum(parts):
        return []
    return [f"{numbers[_DUE]} samples were due, but {samples} taken and {sum(parts)} not taken make "
            f"{samples + sum(parts)}"]


def _number(match):
    return int(match.group(1).replace(",", ""))


def _check_reasons(report):
    """The reasons below the row of lost ticks add up to it, and each is known."""
    lines = report.splitlines()
    rows = [at for at, line in enumerate(lines) if _LOST.match(line)]
    if not rows:
        return []
    reasons = 0
    for line in lines[rows[0] + 1:]:
        reason = _REASON.match(line)
        if not reason:
            break
        reasons += _number(reason)
        if "not recorded" in line:
            return [f"ticks were lost for no reason: {line.strip()}"]
    lost = _number(_LOST.match(lines[rows[0]]))
    return [] if reasons == lost else [f"{lost} ticks were lost, and there are reasons for {reasons}"]


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
