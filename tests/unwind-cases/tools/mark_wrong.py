#!/usr/bin/env python3
"""Renews the lines "wrong" of cases: one for each source of rules by which ringside finds another stack than the
expected one, and none where it is right. Expected stacks stay as they are.

    mark_wrong.py RINGSIDE PATH …         # cases, or folders of cases
"""
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from unwind_case import SUFFIX, Case  # noqa: E402


def _short(words):
    return " ".join(words) if words[0] == "stop" else f"{words[2]} ({words[0]})"


def reason_of(difference):
    """Where two stacks part, from the lines that `case show` prints of them."""
    wanted = [line[2:].split() for line in difference.splitlines() if line[:2] in ("  ", "- ")]
    found = [line[2:].split() for line in difference.splitlines() if line[:2] in ("  ", "+ ")]
    for i, (want, got) in enumerate(zip(wanted, found)):
        if want[:3] != got[:3]:  # address, pc or call, function; or why the stack ends
            return f"behind {_short(wanted[i - 1])} it finds {_short(got)}, not {_short(want)}"
    want, got = next((want, got) for want, got in zip(wanted, found) if want != got)
    return f"{_short(want)} is of the kind {want[3]}, not {got[3]}"


def mark(ringside, path):
    shown = subprocess.run([ringside, "case", "show", path], check=True, text=True, stdout=subprocess.PIPE).stdout
    case = Case(path)
    before, case.wrong = case.wrong, {}
    for part in re.split(r"^with ", shown, flags=re.MULTILINE)[1:]:
        head, _, difference = part.partition("\n")
        if "another stack" in head:
            case.wrong[head.split()[0]] = reason_of(difference)
    if case.wrong != before:
        case.write_expected()
        print(f"{case.name}: wrong with {', '.join(case.wrong) or 'no'} rules")


def main():
    ringside, *paths = sys.argv[1:]
    for path in map(pathlib.Path, paths):
        for case in sorted(path.glob("**/*" + SUFFIX)) if path.is_dir() else [path]:
            mark(ringside, case)


if __name__ == "__main__":
    main()
