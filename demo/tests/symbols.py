"""Names of the functions of an ELF file, as `nm` and `c++filt` give them, Rust names without their hash."""
import bisect
import re
import subprocess

RUST_HASH = re.compile(r"::h[0-9a-f]{16}$|\[[0-9a-f]{6,16}\]")


class Symbols:
    def __init__(self, elf: str):
        listing = subprocess.run(["nm", "-S", "--defined-only", elf], check=True, capture_output=True, text=True).stdout
        rows = [line.split(" ", 3) for line in listing.splitlines()]
        functions = sorted((int(row[0], 16), int(row[1], 16), row[3])
                           for row in rows if len(row) == 4 and row[2] in "tTwW")
        names = "\n".join(name for _, _, name in functions)
        demangled = subprocess.run(["c++filt"], input=names, check=True, capture_output=True, text=True).stdout
        self._starts = [start for start, _, _ in functions]
        self._ends = [start + size for start, size, _ in functions]
        self._names = [RUST_HASH.sub("", name) for name in demangled.splitlines()]

    def names(self) -> set[str]:
        return set(self._names)

    def name(self, address: int) -> str:
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0 or address >= self._ends[index]:
            return f"<unknown:{address:#x}>"
        return self._names[index]
