#!/usr/bin/env python3
"""Checks how the documents are written: prose_rule.py [--figures] [ROOT].

For README.md, docs/*.md and the README.md of other folders, outside of code blocks: lines of at most 100
characters, sentences of at most 35 words, no sentence that begins with "Of" or "What" unless it asks or
is a heading, no chain of semicolons, no parentheses inside parentheses, none of the words in AVOID. Relative links lead to
files, and paths in backticks exist. The map has a limit of lines. --figures prints the length of each page and of its sentences.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/*.md", "bench/*/README.md", "demo/README.md", "examples/README.md", "guest/README.md",
         "tests/*/README.md")
LINE, SENTENCE = 100, 35
PAGE_LINES = {"docs/design.md": 150}  # a map
AVOID = re.compile(r"\b(tells?|told|says?|said|known|news|ways? in)\b", re.IGNORECASE)
FOLDERS = ("src/", "plugin/", "tests/", "docs/", "script/", "bench/", "cmake/", "demo/", "examples/")
ITEM = re.compile(r"\s*(?:[*+-]|\d+\.)\s+(?:\[.\]\s+)?")
CODE, LINK = re.compile(r"`([^`]*)`"), re.compile(r"!?\[([^\]]*)\]\(([^)\s]+)\)")


def prose(text: str) -> list[tuple[int, str]]:
    """The lines outside of code blocks, with their numbers."""
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def paragraphs(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Paragraphs, list items, headings and cells of tables, each with the number of its first line."""
    found, open_ = [], False
    for number, line in lines:
        row = line.lstrip().startswith("|")
        if row or line.startswith("#") or not line.strip():
            cells = re.split(r"(?<!\\)\|", line) if row else [line]
            found += [(number, cell.strip()) for cell in cells if cell.strip(" :-")]
            open_ = False
        elif ITEM.match(line) or not open_:
            found.append((number, ITEM.sub("", line, count=1).strip()))
            open_ = True
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found


def sentences(paragraph: str) -> list[str]:
    """Code counts as one word, and a link as its text."""
    plain = LINK.sub(r"\1", CODE.sub("CODE", paragraph)).replace("**", "")
    return [one for one in re.split(r"(?<=[.!?])[\"”)*]*\s+", plain) if re.search(r"\w", one)]


def words(sentence: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def faults_of_style(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    found = [(number, f"{len(line)} characters") for number, line in lines if len(line) > LINE]
    for number, paragraph in paragraphs(lines):
        for one in sentences(paragraph):
            start = one[:40]
            if words(one) > SENTENCE:
                found.append((number, f"a sentence of {words(one)} words: {start} …"))
            if re.match(r"[^\w#]*(Of|What)\b", one) and not one.rstrip('"”*)').endswith("?"):
                found.append((number, f"a fragment: {start} …"))
            if one.count(";") > 1:
                found.append((number, f"a chain of semicolons: {start} …"))
            if re.search(r"\([^()]*\(", one.replace("()", "")):
                found.append((number, f"parentheses inside parentheses: {start} …"))
            if word := AVOID.search(one):
                found.append((number, f"'{word[0]}': write reported, detected, identified: {start} …"))
    return found


def faults_of_paths(lines: list[tuple[int, str]], page: pathlib.Path, root: pathlib.Path) -> list[tuple[int, str]]:
    found = []
    for number, text in paragraphs(lines):
        for target in (link[1].partition("#")[0] for link in LINK.findall(text)):
            if target and "://" not in target and not (page.parent / target).exists():
                found.append((number, f"no file {target}"))
        for code in CODE.findall(text):
            path = code.split()[0] if code.split() else ""
            if not path.startswith(FOLDERS) or re.search(r"[A-Z]{4}|[{<…]", path):
                continue  # a placeholder, such as src/memory/ARCH; below, a class may lack its extension
            path = path.rstrip("/")
            if not any(any(place.glob(path + end)) for place in (root, page.parent) for end in ("", ".*")):
                found.append((number, f"no file {path}"))
    return found


def self_test() -> None:
    for text, expected in (
            ("Short. `src/one two three` is code.", []), ("a\n" * 35, []), ("a\n" * 36, ["a sentence"]),
            ("Of the two one counts.", ["a fragment"]), ("## What it is", []), ("What counts? One.", []), ("x" * 101, ["101"]),
            ("* an item\n  goes on\n* What counts is one.", ["a fragment"]), ("```\n" + "x" * 101 + "\n```", []),
            ("a; b; c", ["a chain"]), ("a (b (c))", ["parentheses"]), ("It tells nothing.", ["'tells'"]),
            ("| " + "a " * 20 + "| " + "a " * 20 + "|", [])):
        found = [fault for _, fault in faults_of_style(prose(text))]
        assert len(found) == len(expected) and all(map(str.startswith, found, expected)), (text, found)
    for text, expected in (("[a](README.md#x) [b](absent.md)", 1), ("`docs/design.md` `src/absent.h`", 1),
                           ("`tests/prose_rule` `src/memory/ARCH/page_walk` `src/*/testing`", 0)):
        assert len(faults_of_paths(prose(text), ROOT / "README.md", ROOT)) == expected, text


def main() -> None:
    self_test()
    arguments = [argument for argument in sys.argv[1:] if argument != "--figures"]
    root = pathlib.Path(arguments[0]) if arguments else ROOT
    pages = [page for pattern in PAGES for page in sorted(root.glob(pattern))]
    faults = 0
    for page in pages:
        name, lines = page.relative_to(root).as_posix(), prose(page.read_text())
        found = sorted(faults_of_paths(lines, page, root) + faults_of_style(lines))
        if (length := len(page.read_text().splitlines())) > PAGE_LINES.get(name, length):
            found.append((length, f"{length} lines, more than {PAGE_LINES[name]}"))
        for number, fault in found:
            print(f"{name}:{number}: {fault}")
        faults += len(found)
        if "--figures" in sys.argv:
            counts = [words(one) for _, text in paragraphs(lines) for one in sentences(text)]
            print(f"{name}: {len(page.read_text().splitlines())} lines, {len(page.read_text().split())} words, "
                  f"longest sentence {max(counts)}, over {SENTENCE}: "
                  f"{100 * sum(count > SENTENCE for count in counts) / len(counts):.1f} %")
    print(f"{len(pages)} pages, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
