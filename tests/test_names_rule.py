#!/usr/bin/env python3
"""test_names_rule.py BUILD: no name that `ctest -N` shows ends in bytes of memory, which is what GoogleTest prints of a
parameter without a PrintTo(). Such a name differs from run to run."""
import subprocess
import sys


def main():
    shown = subprocess.run(["ctest", "--test-dir", sys.argv[1], "-N"], check=True, text=True, stdout=subprocess.PIPE).stdout
    wrong = [line.strip() for line in shown.splitlines() if "-byte object" in line]
    for line in wrong:
        print(f"give its parameter's type a PrintTo(): {line[:120]}")
    print(f"{len(shown.splitlines())} lines of names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
