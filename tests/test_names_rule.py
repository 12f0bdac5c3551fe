#!/usr/bin/env python3
"""test_names_rule.py BUILD: no name that `ctest -N` shows ends in bytes of memory, which is what GoogleTest prints of a
parameter without a PrintTo(). Such a name differs from run to run. And script/test leaves out no group of suites by the
name of one of them."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    shown = subprocess.run(["ctest", "--test-dir", sys.argv[1], "-N"], check=True, text=True, stdout=subprocess.PIPE).stdout
    wrong = [line.strip() for line in shown.splitlines() if "-byte object" in line]
    for line in wrong:
        print(f"give its parameter's type a PrintTo(): {line[:120]}")
    too_slow = re.search("^too_slow='(.*)'$", (ROOT / "script/unit_tests.sh").read_text(), re.MULTILINE).group(1)
    names = re.findall(r"^ *Test +#\d+: (.*)$", shown, re.MULTILINE)
    hidden = [name for name in names if "+" in name and re.search(too_slow, name)]
    for name in hidden:
        print(f"script/unit_tests.sh leaves out all of {name}: add the suite to RINGSIDE_LONE_UNITS in cmake/ci_tests.cmake")
    print(f"{len(shown.splitlines())} lines of names")
    return 1 if wrong or hidden else 0


if __name__ == "__main__":
    sys.exit(main())
