#!/usr/bin/env python3
"""Checks how comments are written: comment_rule.py [ROOT [FILE or FOLDER …]].

In the sources, scripts and build files no sentence of a comment or of a docstring begins with "Of" or "What" unless it
asks: such a sentence is most often a fragment, and a noun says more. prose_rule.py checks documents.
"""
import io
import pathlib
import re
import sys
import tokenize

import prose_rule

PLACES = ("src", "plugin", "tests", "demo", "examples", "bench", "script", "cmake", ".ci", "CMakeLists.txt")
CODE = {".h": "//", ".cpp": "//", ".c": "//", ".S": "//", ".js": "//", ".proto": "//",
        ".py": "#", ".sh": "#", ".cmake": "#", ".txt": "#", "": "#"}
FRAGMENT = re.compile(r"[^\w#]*(Of|What)\b")
LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')


def comments(text: str, mark: str) -> list[tuple[int, str]]:
    """Each comment as one text, with the number of its first line: lines of nothing but a comment are one."""
    found, joins = [], False
    for number, line in enumerate(text.splitlines(), 1):
        code, found_mark, comment = LITERAL.sub('""', line).partition(mark)
        lone = bool(found_mark) and not code.strip()
        if not found_mark or line.startswith("#!") or not lone and mark == "#" and not code.endswith(" "):
            joins = False
        elif lone and joins and comment.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]} {comment.strip()}")
        else:
            found.append((number, comment.strip()))
            joins = lone and bool(comment.strip())
    return found


def docstrings(text: str) -> list[tuple[int, str]]:
    """The strings that are statements, by paragraphs."""
    found, fresh = [], True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING and fresh:
            for at, paragraph in prose_rule.paragraphs(list(enumerate(token.string.strip('rb"\'').splitlines(), token.start[0]))):
                found.append((at, paragraph))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    return found


def faults_of(text: str, suffix: str) -> list[tuple[int, str]]:
    found = comments(text, CODE[suffix]) + (docstrings(text) if suffix == ".py" else [])
    return [(number, one[:60]) for number, comment in sorted(found) for one in prose_rule.sentences(comment)
            if FRAGMENT.match(one) and not one.rstrip('"”*)').endswith("?")]


def is_source(path: pathlib.Path) -> bool:
    if not path.suffix:
        return path.parent.name in ("script", ".ci")
    return path.suffix in CODE and (path.suffix != ".txt" or path.name == "CMakeLists.txt")


def self_test() -> None:
    for text, suffix, lines in (
            ("// What it is.\n", ".h", [1]), ("// It asks: what is it?\n// What is it?\n", ".h", []),
            ("// A comment\n// goes on. Of two one\n// counts.\n", ".h", [1]), ('f("// What it is");\n', ".h", []),
            ("int a;  // What it is\nint b;  // Of b\n", ".h", [1, 2]), ("// It ends.\n//\n// Of another.\n", ".h", [3]),
            ("# What it is\n", "", [1]), ("#!/bin/sh\n# What it is\n", "", [2]), ("x=${1#What}\n", "", []),
            ('def f():\n    """What it is."""\n    return "What"\n', ".py", [2]), ("s = '''\nWhat\n'''\n", ".py", [])):
        found = [number for number, _ in faults_of(text, suffix)]
        assert found == lines, (text, found)


def main() -> int:
    self_test()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else prose_rule.ROOT
    files = [path for place in sys.argv[2:] or PLACES for path in sorted([root / place, *(root / place).rglob("*")])
             if path.is_file() and is_source(path)]
    faults = 0
    for path in files:
        for number, start in faults_of(path.read_text(errors="replace"), path.suffix):
            print(f"{path.relative_to(root)}:{number}: a fragment: {start} …")
            faults += 1
    print(f"{len(files)} sources, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
