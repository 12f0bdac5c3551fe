#!/usr/bin/env python3
"""Checks that the limits of tests stand in three places only, where they scale with the machine.

They are those of CMake, of Python and of C++, in PLACES. How long a test records, or a fake waits,
is its input and no limit.
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACES = ("cmake/time_limits.cmake", "tests/python/ringside_tests/harness/limits.py", "src/base/testing/time_limits.h")
# Parameters, options and constants that are limits by their names. Methods whose last argument is.
NAMES = ("timeout", "limit", "patience", "grace", "within", "ready_within")
METHODS = ("settimeout", "wait", "join", "communicate", "wait_end", "wait_said", "wait_serial", "wait_status",
           "wait_nothing_left", "advances", "wait_for_samples")
CMAKE = re.compile(r"\bTIMEOUT\s+\d")
CPP = re.compile(r"\+\+\w+\)\s*::usleep\(|::poll\([^;)]*,\s*[1-9][\d']{2,}\)|(?:monotonic_ns|::now)\(\)\s*\+\s*[\d']*\d|"
                 r"EXPECT_L[TE]\([^;]*::now\(\)[^;]*\b\d+(?:m?s|ns|us)?\)")


def is_number(node):
    return (isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value > 0
            or isinstance(node, ast.BinOp) and is_number(node.left) and is_number(node.right))


def defaults(function):
    """(name, default) of a function's parameters."""
    plain = function.args.posonlyargs + function.args.args
    yield from zip((each.arg for each in plain[len(plain) - len(function.args.defaults):]), function.args.defaults)
    yield from zip((each.arg for each in function.args.kwonlyargs), function.args.kw_defaults)


def of_call(call):
    """Whether a number in it is a limit."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name == "add_argument" and any(isinstance(word, ast.Constant) and str(word.value).lstrip("-") in NAMES
                                      for word in call.args):
        return any(word.arg == "default" and is_number(word.value) for word in call.keywords)
    if name == "select":  # short ones are for looking again
        return len(call.args) == 4 and is_number(call.args[3]) and ast.literal_eval(call.args[3]) > 1
    if name in ("assertLess", "assertLessEqual"):
        return "monotonic()" in ast.unparse(call.args[0]) and is_number(call.args[1])
    return (any(word.arg in NAMES and is_number(word.value) for word in call.keywords)
            or name in METHODS and bool(call.args) and is_number(call.args[-1]))


def is_limit(node):
    if isinstance(node, ast.Call):
        return of_call(node)
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return any(name in NAMES and is_number(value) for name, value in defaults(node))
    if isinstance(node, ast.Assign) and is_number(node.value):
        return any(isinstance(target, ast.Name) and target.id.lower().strip("_") in NAMES for target in node.targets)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Call):
        return getattr(node.left.func, "attr", "") == "monotonic" and is_number(node.right)
    return False


def lines_in(path):
    """The numbers of the lines with a limit."""
    text = path.read_text()
    if path.suffix == ".py":
        return {node.lineno for node in ast.walk(ast.parse(text)) if is_limit(node)}
    pattern = CPP if path.suffix in (".cpp", ".h") else CMAKE
    starts = (text.count("\n", 0, found.end()) + 1 for found in pattern.finditer(text))
    return set(starts)


def files(root):
    yield from (path for path in root.rglob("CMakeLists.txt") if "build" not in path.relative_to(root).parts)
    yield from (root / "cmake").glob("*.cmake")
    for folder in ("tests", "demo/tests", "examples"):
        yield from (path for path in (root / folder).rglob("*.py") if "unwind-cases" not in path.parts)
    for folder in ("src", "plugin"):
        yield from (root / folder).rglob("*_test.cpp")
        yield from (path for path in (root / folder).rglob("testing/*") if path.suffix in (".cpp", ".h"))


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = []
    for path in sorted(set(files(root))):
        name = path.relative_to(root).as_posix()
        if name in PLACES:
            continue
        lines = path.read_text().splitlines()
        found += [f"{name}:{number}: {lines[number - 1].strip()}" for number in sorted(lines_in(path))]
    print("\n".join(found), end="\n" if found else "")
    if found:
        sys.exit(f"limits of tests are in {', '.join(PLACES)}, and scale there")


if __name__ == "__main__":
    main()
