#!/usr/bin/env python3
"""Checks the one dependency rule: a folder under src/ includes only folders on a lower row.

The rows are read from docs/design.md (the block under "Folders and the one dependency rule"), so that the
document and the code cannot part. Each row names folders that exist. plugin/ may include wire/ and what that stands
on, arch/ and base/, and nothing else of ours. An outside library whose headers take a compiler seconds is included by one file.
The parts of demo/kernel (a header and the source of its name) do not include each other in a circle.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OUTSIDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)
ONE_FILE = {"CLI": "src/cli/options.cpp", "toml++": "src/project/project_file.cpp",
            "boost/asio": "src/app/loopback_server.cpp", "boost/beast": "src/app/loopback_server.cpp",
            "boost/math": "src/views/comparison/share_difference.cpp"}


def read_rows(design: str) -> dict[str, int]:
    """Maps each folder to its row: lines such as ' 3  unwind    symbols   profile'."""
    block = re.search(r"one dependency rule\b.*?```(?:\w*)\n(.*?)```", design, re.DOTALL)
    if not block:
        sys.exit("docs/design.md: no block of rows under 'one dependency rule'")
    rows = {}
    for line in block.group(1).splitlines():
        match = re.match(r"\s*(\d+)\s{2}(\S.*)", line)
        if not match:
            continue
        # Folders come first; three or more spaces part them from the remark of the row.
        for word in re.split(r"\s{10,}", match.group(2))[0].split():
            rows[word] = int(match.group(1))
    return rows


def violations(root: pathlib.Path, rows: dict[str, int]) -> list[str]:
    found = [f"docs/design.md: row {row} names {folder}, and there is no src/{folder}"
             for folder, row in rows.items() if not (root / "src" / folder).is_dir()]
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp") or not path.is_file():
            continue
        folder = path.relative_to(root / "src").parts[0]
        name = path.relative_to(root)
        if folder not in rows:
            found.append(f"{name}: folder {folder} has no row in docs/design.md")
            continue
        text = path.read_text()
        for include in OUTSIDE.findall(text):
            only = next((file for library, file in ONE_FILE.items() if include.startswith(library + "/")), str(name))
            if str(name) != only:
                found.append(f"{name} includes <{include}>, which only {only} may")
        for include in INCLUDE.findall(text):
            target = include.split("/")[0]
            if target not in rows:
                found.append(f'{name}: "{include}" is not a path from src/')
            elif target != folder and rows[target] >= rows[folder]:
                found.append(f'{name} (row {rows[folder]}) includes "{include}" (row {rows[target]})')
    for path in sorted((root / "plugin").rglob("*.[ch]*")):
        for include in INCLUDE.findall(path.read_text()):
            if "/" in include and include.split("/")[0] not in ("plugin", "arch", "wire", "base"):
                found.append(f'{path.relative_to(root)} includes "{include}"')
    return found


def circles(folder: pathlib.Path) -> list[str]:
    """Groups of parts that include each other. A part is a header and the source of the same name."""
    includes: dict[str, set[str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            part = str(path.relative_to(folder).with_suffix(""))
            targets = {str(pathlib.PurePath(name).with_suffix("")) for name in INCLUDE.findall(path.read_text())}
            includes.setdefault(part, set()).update(targets - {part})

    def reached_from(part: str) -> set[str]:
        reached, pending = set(), [part]
        while pending:
            new = includes.get(pending.pop(), set()) - reached
            reached |= new
            pending += new
        return reached

    reached = {part: reached_from(part) for part in includes}
    groups = {tuple(sorted(other for other in reached[part] if part in reached.get(other, ())))
              for part in includes if part in reached[part]}
    return ["a circle of includes: " + ", ".join(group) for group in sorted(groups)]


def main() -> None:
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    rows = read_rows((root / "docs/design.md").read_text())
    if len(rows) < 5:
        sys.exit(f"docs/design.md: only {len(rows)} folders have a row")
    found = violations(root, rows) + [f"demo/kernel: {circle}" for circle in circles(root / "demo/kernel")]
    print("\n".join(found) or f"{len(rows)} folders keep the rule")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
