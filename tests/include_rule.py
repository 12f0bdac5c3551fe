#!/usr/bin/env python3
"""Checks that each source file and header includes what it uses: include_rule.py [ROOT].

Files that are compiled together, and precompiled headers, hide a missing include. Each name that a file mentions is declared
by a header that it includes, or that one of those includes: the project's types, constants and functions, and the names of
the standard library in the table below. Only a compiler finds a class that is declared and has to be defined: script/prove
alone compiles each file by itself.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cmake"))

from source_names import Sources, is_name  # noqa: E402

FOLDERS = ("src", "plugin", "examples", "bench", "tests")
STANDARD = {header: set(names.split()) for header, names in {
    "algorithm": "sort stable_sort lower_bound upper_bound equal_range find find_if any_of all_of none_of transform reverse"
                 " max_element min_element unique remove_if erase_if rotate partition_point is_sorted clamp",
    "array": "array to_array",
    "atomic": "atomic atomic_thread_fence memory_order_acquire memory_order_release memory_order_relaxed",
    "bit": "bit_cast bit_width countr_zero countl_zero popcount has_single_bit",
    "charconv": "from_chars to_chars",
    "chrono": "chrono",
    "condition_variable": "condition_variable",
    "cstring": "memcpy memcmp memchr memset strlen strerror strcmp",
    "deque": "deque",
    "filesystem": "filesystem",
    "functional": "function reference_wrapper ref cref hash bind_front",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr weak_ptr make_unique make_shared enable_shared_from_this",
    "mutex": "mutex lock_guard unique_lock scoped_lock once_flag call_once",
    "numeric": "accumulate iota partial_sum",
    "optional": "optional nullopt make_optional",
    "random": "mt19937 mt19937_64 uniform_int_distribution",
    "set": "set multiset",
    "span": "span as_bytes as_writable_bytes",
    "string": "string to_string stoul getline",
    "string_view": "string_view",
    "thread": "thread jthread this_thread",
    "tuple": "tuple tie make_tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant visit monostate holds_alternative get_if",
    "vector": "vector",
}.items()}
# Headers that bring others with them, by the standard.
ALSO = {"string": {"string_view"}, "span": {"array"}}
ALSO_ERASE_IF = {"vector", "string", "map", "set", "unordered_map", "deque"}
STANDARD_NAME = re.compile(r"\bstd::(?:ranges::)?(\w+)")
# A name of another folder has that folder's namespace in front: elf::ElfFile. One of the same folder is a type, a constant or
# a function that is called.
QUALIFIED = re.compile(r"(?<![\w:])(\w+)::(\w+)")
OWN_FOLDER = re.compile(r"(?<![\w.:>])([A-Z]\w*[a-z]\w*|k[A-Z]\w*)\b|(?<=[(,=!;{}?] )([a-z]\w*_\w*)\(|\breturn ([a-z]\w*_\w*)\(")
TEST_NAME = re.compile(r"\bTEST\w*\([^)]*\)")
DECLARED = re.compile(r"\b(?:enum class|struct|class|enum|using|typename|namespace) (\w+)|\b(k[A-Z]\w*)\s*[=,}]")


def folder_of(root: pathlib.Path, path: pathlib.Path) -> str:
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def project_names(sources: Sources, root: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    declaring: dict[tuple[str, str], pathlib.Path] = {}
    for path in files:
        if path.suffix == ".h":
            for name in filter(is_name, sources.declares(path)):
                declaring.setdefault((folder_of(root, path), name), path)
    found = []
    for path in files:
        text, folder = sources.text(path), folder_of(root, path)
        used = {pair for pair in QUALIFIED.findall(text) if pair[0] != folder}
        used |= {(folder, next(filter(None, names))) for names in OWN_FOLDER.findall(TEST_NAME.sub("", text))}
        own = {name for names in DECLARED.findall(text) for name in names} | set(sources.declares(path))
        seen = set().union(*(sources.words(header) for header in sources.includes(path)))
        for namespace, name in sorted(used & declaring.keys()):
            if name not in seen and not (namespace == folder and name in own):
                header = declaring[namespace, name].relative_to(root)
                found.append(f"{path.relative_to(root)} uses {name}, and includes nothing that declares it ({header})")
    return found


def standard_names(sources: Sources, root: pathlib.Path, files: list[pathlib.Path]) -> list[str]:
    found = []
    for path in files:
        outside = set(sources.outside(path)).union(*map(sources.outside, sources.includes(path)))
        for name in list(outside):
            outside |= ALSO.get(name, set())
        names = set(STANDARD_NAME.findall(sources.text(path)))
        for header, its in STANDARD.items():
            missing = names & its
            if missing == {"erase_if"} and outside & ALSO_ERASE_IF:
                continue
            if missing and header not in outside:
                found.append(f"{path.relative_to(root)} uses std::{min(missing)}, and nothing includes <{header}>")
    return found


def violations(root: pathlib.Path) -> list[str]:
    sources = Sources(root / "src", root)
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*")
                   if path.suffix in (".h", ".cpp") and path.is_file() and "testdata" not in path.parts)
    return project_names(sources, root, files) + standard_names(sources, root, files)


def main() -> None:
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    found = violations(root)
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
