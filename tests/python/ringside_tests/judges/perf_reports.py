"""Reads what `perf report --stdio` and `ringside report` print, and compares them: head lines, rows and trees.

Rows and calls that weigh the same stand in any order. Not compared are rows of code without a name, of which perf has one for
each address, nor rows of linkage tables, nor those of several functions of one name: perf has one for each, ringside one for
all. Nobody is [unknown], which perf has for a process that it has the number -1 of.
"""
import collections
import dataclasses
import re

_HEAD = ("# Total Lost Samples: ", "# Samples: ", "# Event count (approx.): ")
_SHARE = re.compile(r"^([ |]*)--(-?[\d.]+%)--(.*)$")
_NAMELESS = re.compile(r"^(\[\S\] )?(0x[0-9a-f]+|[0-9a-f]{16}|0|<unknown\S*|\[user\]|\[unknown\]|\S*@plt)( \(inlined\))?$")
KERNEL = "[kernel.kallsyms]"
_ONLY = "---"  # before the first function that all stacks of a row have
_MARK = re.compile(r"^\[(\S)\] ")


@dataclasses.dataclass
class Report:
    head: list = dataclasses.field(default_factory=list)
    columns: list = dataclasses.field(default_factory=list)
    rows: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    trees: dict = dataclasses.field(default_factory=dict)  # by row: {names from the top: share}


def is_nameless(name):
    return bool(_NAMELESS.match(name))


def read(text):
    """The first table of a report. It must be of one event."""
    report, row, level = Report(), None, []
    for line in text.splitlines():
        if line.startswith("# (Tip:") or line.startswith("# vCPU "):
            break
        if line.startswith("#"):
            _read_comment(report, line)
        elif not line.strip() or line.endswith(" more rows)"):
            row = None
        elif re.match(r"^ {0,11}[\d.]+%  ", line) or not report.columns:
            row = tuple(cell.strip() for cell in re.split(r"  +", line.strip()))
            report.rows[row] += 1
            report.trees[row] = {}
            level = []
        elif row is not None:
            _read_call(report.trees[row], level, line.rstrip())
    return report


def _read_comment(report, line):
    if line.startswith(_HEAD):
        report.head.append(line.rstrip())
    elif re.match(r"^# +(Children|Overhead) ", line):
        report.columns = line[1:].split()


def _read_call(tree, level, line):
    """level: [(column, names)] of the calls that the line stands in."""
    share = _SHARE.match(line)
    if share:
        while level and level[-1][0] >= len(share[1]):
            level.pop()
        above = level[-1][1] if level else ()
        level.append((len(share[1]), above + (share[3],), share[2]))
    elif line.strip(" |") == "":
        return
    elif line.strip().startswith(_ONLY):
        level.append((len(line) - len(line.lstrip()), (line.strip()[len(_ONLY):],), "all"))
    else:
        column, names, weight = level.pop()
        level.append((column, names + (line.lstrip(" |"),), weight))
    column, names, weight = level[-1]
    if not any(map(is_nameless, names)):
        tree[names] = weight


def _what(row):
    """A row without its numbers; times are none."""
    return tuple(cell for cell in row if not re.fullmatch(r"-?[\d.]+%|-?\d+", cell))


def _compared(rows, several):
    return collections.Counter({row: count for row, count in rows.items()
                                if not is_nameless(row[-1]) and _what(row) not in several})


def compare(there, here, rename=lambda name: name, kernel=KERNEL):
    """Differences of two reports, as lines: of their heads, and of rows and calls. rename: perf's name of a function as
    ringside has it; kernel: ringside's name of what perf calls [kernel.kallsyms]."""
    heads, failures = [], []
    if there.head != here.head:
        heads.append(f"head lines: {there.head} by perf, {here.head}")
    if there.columns != here.columns:
        heads.append(f"columns: {there.columns} by perf, {here.columns}")
    rows = collections.Counter()
    for row, count in there.rows.items():
        rows[_renamed(row, rename, kernel)] += count
    whats = collections.Counter(_what(row) for row in rows.elements())
    several = {what for what, count in whats.items() if count > 1}
    theirs, ours = _compared(rows, several), _compared(here.rows, several)
    failures += [f"row {row} is perf's alone" for row in theirs - ours]
    failures += [f"row {row} is not perf's" for row in ours - theirs]
    for row, tree in there.trees.items():
        other = here.trees.get(_renamed(row, rename, kernel))
        if other is None or is_nameless(row[-1]) or _what(_renamed(row, rename, kernel)) in several:
            continue
        tree = {tuple(map(rename, names)): share for names, share in tree.items()}
        failures += [f"calls of {row[-1]}: {' > '.join(names)} is {tree.get(names)} by perf, {other.get(names)}"
                     for names in {*tree, *other} if tree.get(names) != other.get(names)]
    return heads, failures


def _renamed(row, rename, kernel):
    """perf's row as ringside has it."""
    cells = [{":-1": "[unknown]", "-1::-1": "-1:[unknown]", KERNEL: kernel}.get(cell, cell) for cell in row]
    if mark := _MARK.match(cells[-1]):
        cells[-1] = mark[0] + rename(cells[-1][4:])
    return tuple(cells)
