#!/usr/bin/env python3
"""Checks that text reaches a terminal through few places only: those that leave nothing in it that drives a terminal.

Guests, recordings and monitors send any bytes. The first three of OUTLETS make them harmless
(src/base/text.h); code that wrote to standard output or standard error past them could forget to.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTLETS = {
    "src/app/messages.cpp",
    "src/cli/terminal.cpp",
    "src/exporters/sink.cpp",
    "src/recording/writer.cpp",  # a recording, which is no text
}
WRITES = re.compile(r"\b(?:v?f?printf|f?puts|f?putc|putchar|fwrite|perror|psignal|dprintf)\s*\(|"
                    r"\bfmt::print|\bstd::(?:cout|cerr|clog)\b|\bSTD(?:OUT|ERR)_FILENO\b")


def violations(root: pathlib.Path) -> list[str]:
    found = []
    for path in sorted((root / "src").rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix not in (".h", ".cpp") or name in OUTLETS or "/testing/" in name:
            continue
        if name.endswith(("_test.cpp", "_fuzzer.cpp", "_bench.cpp")):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if WRITES.search(line.partition("//")[0]):
                found.append(f"{name}:{number}: {line.strip()}")
    return found


def main() -> None:
    found = violations(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
    for line in found:
        print(line)
    if found:
        sys.exit("text for people goes through src/app/messages.h, src/cli/terminal.h or an exporter's Sink")


if __name__ == "__main__":
    main()
