"""The functions of a kernel that runs, from its vmlinux and its modules' files: nm and readelf are the second way."""
import bisect
import pathlib
import subprocess


class Symbols:
    """Functions by the address at which they run."""

    def __init__(self):
        self._starts, self._symbols = [], {}
        self.ranges = []
        self.module_ranges = []
        self.slide = 0  # of the kernel: where it runs minus where it is linked
        self.entry_text = set()  # names of the functions that are assembly for entering and leaving the kernel

    def add(self, start, size, name):
        self._symbols.setdefault(start, []).append((name, size))

    def add_range(self, start, end):
        self.ranges.append((start, end))

    def finish(self):
        self._starts = sorted(self._symbols)
        return self

    def starts(self):
        """All functions as (name, address)."""
        return [(name, start) for start, found in self._symbols.items() for name, _ in found]

    def has_code_at(self, address):
        return any(start <= address < end for start, end in self.ranges)

    def names(self, address):
        """All right names of the function at an address: those whose symbol covers it by its size, and those of the
        nearest symbol in front, because symbols in assembly have no size. Empty outside of kernel code."""
        if not self.has_code_at(address):
            return set()
        at = bisect.bisect_right(self._starts, address) - 1
        found = set()
        for steps in range(min(64, at + 1)):  # a symbol that covers the address can stand behind others in it
            start = self._starts[at - steps]
            for name, size in self._symbols[start]:
                if steps == 0 or start + size > address:
                    found.add(name)
        return found


def _tool(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout


def _is_function_name(name):
    return not name.startswith(("$", ".L"))  # those mark places in code


# Where Debian's arm64 kernels map the pages that user mode enters the kernel by (TRAMP_VALIAS): what
# `objdump -d vmlinux` shows in ret_to_user as `mov x30, #…; movk; movk`.
ARM64_TRAMPOLINE = 0xfffffbfffdbf6000


def _add_trampoline(symbols, rows):
    linked = {row[-1]: int(row[0], 16) for row in rows}
    if "__entry_tramp_text_start" not in linked:
        return
    start, end = linked["__entry_tramp_text_start"], linked["__entry_tramp_text_end"]
    for row in rows:
        if start <= int(row[0], 16) < end and not row[-1].startswith(("__entry_tramp_text", "$", ".L")):
            symbols.add(int(row[0], 16) - start + ARM64_TRAMPOLINE, 0, row[-1])
    symbols.add_range(ARM64_TRAMPOLINE, ARM64_TRAMPOLINE + end - start)


def _add_kernel(symbols, vmlinux, text):
    rows = [line.split() for line in _tool("nm", "-S", "--defined-only", str(vmlinux)).splitlines()]
    borders = ("_start", "_text", "_stext", "_etext", "_sinittext", "_einittext", "__entry_text_start",
               "__entry_text_end")
    linked = {row[-1]: int(row[0], 16) for row in rows if row[-1] in borders}
    slide = symbols.slide = text - linked["_stext"]
    wrap = (1 << 64) - 1
    first, last = linked.get("__entry_text_start", 0), linked.get("__entry_text_end", 0)
    for row in rows:
        if row[-2] in "tTwW" and _is_function_name(row[-1]):
            size = int(row[1], 16) if len(row) == 4 else 0
            symbols.add((int(row[0], 16) + slide) & wrap, size, row[-1])
            if first <= int(row[0], 16) < last:
                symbols.entry_text.add(row[-1])
    _add_trampoline(symbols, rows)
    # The range between each two is code, on arm64 also that of a few sections in front of _stext or behind _etext;
    # riscv64's .head.text begins with _start.
    for first, last in (("_start", "_text"), ("_text", "_etext"), ("_sinittext", "_einittext")):
        if first in linked and last in linked:
            symbols.add_range((linked[first] + slide) & wrap, (linked[last] + slide) & wrap)


def _add_module(symbols, path, sections):
    """sections: where each section of the module is, by its name."""
    names, sizes = {}, {}
    for line in _tool("readelf", "-SW", str(path)).splitlines():
        number, bracket, rest = line.partition("]")
        fields = rest.split()
        if bracket and number.strip().startswith("[") and len(fields) > 5 and fields[0] in sections:
            names[int(number.strip()[1:])] = fields[0]
            sizes[fields[0]] = int(fields[4], 16)
    for line in _tool("readelf", "-sW", str(path)).splitlines():
        fields = line.split()
        if len(fields) == 8 and fields[3] in ("FUNC", "NOTYPE") and fields[6].isdigit() and int(fields[6]) in names:
            if _is_function_name(fields[7]):
                start = sections[names[int(fields[6])]] + int(fields[1], 16)
                symbols.add(start, int(fields[2], 0), fields[7])
    for name, size in sizes.items():
        symbols.add_range(sections[name], sections[name] + size)
        symbols.module_ranges.append((sections[name], sections[name] + size))


def load(paths, placement):
    """The symbols of a guest of linux_guest.fetch() that said where it is (linux_guest.placement)."""
    symbols = Symbols()
    _add_kernel(symbols, paths["VMLINUX"], placement.text)
    add_modules(symbols, paths, placement)
    return symbols.finish()


def add_modules(symbols, paths, placement):
    for path in pathlib.Path(paths["MODULES"]).glob("*.ko"):
        module = path.stem.replace("-", "_")
        sections = {section: start for (name, section), start in placement.sections.items() if name == module}
        if sections:
            _add_module(symbols, path, sections)
