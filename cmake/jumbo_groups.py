#!/usr/bin/env python3
"""Chooses which source files of a target are compiled as one: no name of one may change what another one means.

A name that a source file declares for itself, in an unnamed namespace or not, is seen by all that is compiled behind it.
It may hide a name that a later file takes from elsewhere, without any error. So a file joins a group only where the files
before it declare nothing that it mentions, nor any header that it is the first of the group to include. A function that
headers of both declare is the same one; what a using-directive shows counts as declared. The same holds for namespaces of
headers that it does not include: a::testing hides testing. Other names of headers are trusted. A file that defines a macro
stays alone.

    jumbo_groups.py ROOT < TARGETS > GROUPS
    jumbo_groups.py ROOT BUILD

TARGETS has a line for each target: its name, its largest group, then its source files, separated by tabs. GROUPS gets a
line for each source file that is compiled with others: target, number of the group, file; in the order in which they have
to be compiled. ROOT is the folder that includes of "folder/header.h" start from. With BUILD it checks the groups that
CMake has written there.
"""
import json
import pathlib
import sys

from source_names import INCLUDE, MACRO, USING, Sources


class Group:
    def __init__(self) -> None:
        self.files: list[pathlib.Path] = []
        self.declared: dict[str, str] = {}
        self.defined: set[str] = set()  # of these, functions that headers declare, too
        self.included: set[pathlib.Path] = set()
        self.namespaces: set[tuple[str, str]] = set()

    def takes(self, sources: Sources, file: pathlib.Path) -> bool:
        own = sources.declares(file)
        new = sources.includes(file) - self.included
        mentioned_at_all = sources.mentions(file).union(*map(sources.mentions, new))
        for directive in (name for name in self.declared if name.startswith(USING) and name not in own):
            seen = sources.seen_through(directive.removeprefix(USING), self.included | new)
            if seen is None or seen & mentioned_at_all:
                return False

        mentioned = sources.mentions(file) | own.keys()
        qualifiers = sources.qualifiers(file)
        if any(name in qualifiers for name, _ in self.namespaces - sources.namespaces(file)):
            return False

        def is_changed(name: str, where: pathlib.Path) -> bool:
            """A using-declaration that the file repeats changes nothing, nor does a function that its headers declare."""
            if name not in self.declared or (name in self.defined and name in sources.visible(where) and name not in own):
                return False
            return not (where == file and self.declared[name] and self.declared[name] == own.get(name))

        return not (any(is_changed(name, file) for name in mentioned) or
                    any(is_changed(name, header) for header in new for name in sources.mentions(header)))

    def add(self, sources: Sources, file: pathlib.Path) -> None:
        self.files.append(file)
        self.declared |= sources.declares(file)
        self.defined |= sources.defines(file)
        self.included |= sources.includes(file)
        self.namespaces |= sources.namespaces(file)


def groups_of(sources: Sources, files: list[pathlib.Path], most: int) -> list[Group]:
    """Each file goes into the first group that takes it, or into one of its own.

    Files that include the most come first: what they read serves those behind them.
    """
    groups: list[Group] = []
    for file in sorted(files, key=lambda file: -len(sources.includes(file))):
        if MACRO.search(sources.text(file)):
            continue
        group = next((group for group in groups if len(group.files) < most and group.takes(sources, file)), None)
        if group is None:
            group = Group()
            groups.append(group)
        group.add(sources, file)
    return groups


def violations(sources: Sources, build: pathlib.Path) -> list[str]:
    """Files that a group of the build should not have, where it has them."""
    found = []
    compiled = {pathlib.Path(entry["file"]) for entry in json.loads((build / "compile_commands.json").read_text())}
    for unity in sorted(file for file in compiled if file.parent.name == "Unity"):
        group = Group()
        for name in INCLUDE.findall(unity.read_text()):
            file = pathlib.Path(name)
            if not group.takes(sources, file):
                found.append(f"{unity}: a name of the files before it is mentioned in {file}")
            group.add(sources, file)
    return found


def main() -> None:
    sources = Sources(pathlib.Path(sys.argv[1]))
    if len(sys.argv) > 2:
        found = violations(sources, pathlib.Path(sys.argv[2]))
        sys.exit("\n".join(found) or None)
    for line in sys.stdin:
        target, most, *files = line.rstrip("\n").split("\t")
        groups = groups_of(sources, list(map(pathlib.Path, files)), int(most))
        for number, group in enumerate(group for group in groups if len(group.files) > 1):
            for file in group.files:
                print(target, number, file, sep="\t")


if __name__ == "__main__":
    main()
