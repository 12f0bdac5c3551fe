#!/usr/bin/env python3
"""Every option of `ringside COMMAND --help` is in the manual: manual_options_test.py RINGSIDE [ROOT].

An option stands, as code, in docs/manual.md or in a page of its command: one that docs/manual.md links in the row of
its first table that has the command in the first cell. Where an option has several long names, one of them is enough.
"""

import pathlib
import re
import subprocess
import sys

NAMES = re.compile(r"^  (-[\w-]+(?:, -[\w-]+)*)", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([\w-]+\.md)")
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent.parent
MANUAL = ROOT / "docs/manual.md"


def help_of(path: list[str]) -> str:
    return subprocess.run([PROGRAM, *path, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def commands(path: list[str]) -> list[list[str]]:
    """The command and those below it, each with what leads to it."""
    section = re.search(r"^Commands:\n((?:  .*\n)+)", help_of(path), re.MULTILINE)
    below = re.findall(r"^  (\w+)", section[1], re.MULTILINE) if section else []
    return [path, *(found for name in below for found in commands([*path, name]))]


def options_in(text: str) -> set[str]:
    """The options that stand in the code of a page."""
    return {name for code in CODE.findall(text) for name in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", code)}


def pages_of(manual: str, command: str) -> list[str]:
    rows = re.search(r"^\|.*\n(?:\|.*\n)+", manual, re.MULTILINE)[0].splitlines()
    return [page for row in rows if f"`{command}`" in row.split("|")[1] for page in LINK.findall(row)]


def missing(help_text: str, documented: set[str]) -> list[str]:
    found = []
    for names in (group.split(", ") for group in NAMES.findall(help_text)):
        long_names = [name for name in names if name.startswith("--")] or names
        if not documented.intersection(long_names):
            found.append(" or ".join(long_names))
    return found


def self_test() -> None:
    manual = "| command | does |\n|---|---|\n| `a`, `b` | [x](x.md), [y](y.md#z) |\n| `c` | |\n\n| `c` | [n](n.md) |\n"
    assert pages_of(manual, "b") == ["x.md", "y.md"] and not pages_of(manual, "c")
    assert options_in("--no `--yes-it-is N`, `-k`\n```\nringside a --too\n```\n") == {"--yes-it-is", "-k", "--too"}
    text = "Options:\n  -a, --all, --every N   Text --not-one\n  -g                    Text\n      --deep\n"
    assert missing(text, {"-a"}) == ["--all or --every", "-g"] and not missing(text, {"--every", "-g"})


def main() -> None:
    self_test()
    manual = MANUAL.read_text()
    count, faults = 0, 0
    for path in commands([]):
        pages = pages_of(manual, path[0]) if path else []
        documented = options_in(manual).union(*(options_in((MANUAL.parent / page).read_text()) for page in pages))
        text = help_of(path)
        count += len(NAMES.findall(text))
        for option in missing(text, documented):
            print(f"ringside {' '.join([*path, option])}: not in {', '.join(['docs/manual.md', *pages])}")
            faults += 1
    print(f"{count} options, {faults} faults")
    sys.exit(1 if faults or count < 100 else 0)


if __name__ == "__main__":
    main()
