"""Where in a kernel's functions the frame pointer names their own frame: by objdump's instructions of each, in order."""
import bisect
import pathlib
import re
import subprocess
import tempfile

from ringside_tests.judges.gdb.kernel_code import KernelCode

_ROW = re.compile(r"^\s*([0-9a-f]+):\t(.*)$")
_SETS = re.compile(r"^mov\s+%[er]sp,%[er]bp\b")
_GIVES_BACK = re.compile(r"^(leave|pop\s+%[er]bp\b)")
_LEAVES = re.compile(r"^(ret|jmp)")


class FrameState:
    """The frame states in an x86 kernel's file, at the addresses where it is linked."""

    def __init__(self, kernel):
        self._code = KernelCode(kernel)
        text = subprocess.run(["nm", "-S", "--defined-only", kernel], stdout=subprocess.PIPE, check=True,
                              text=True).stdout
        self._sizes = {}  # by start; 0 of assembly that does not say
        for row in map(str.split, text.splitlines()):
            if row[-2] in "tTwW":
                size = int(row[1], 16) if len(row) == 4 else 0
                self._sizes[int(row[0], 16)] = max(size, self._sizes.get(int(row[0], 16), 0))
        self._starts = sorted(self._sizes)
        self._has_frame = {}

    def learn(self, addresses):
        """Disassembles what comes before each of these addresses in its function, in one go."""
        parts, blob = [], b""
        for address in sorted(set(addresses) - self._has_frame.keys()):
            at = bisect.bisect_right(self._starts, address) - 1
            if at < 0:
                self._has_frame[address] = False
                continue
            parts.append((len(blob), address))
            # Nothing of the last instruction reaches into the next part.
            blob += self._code.bytes_at(self._starts[at], address - self._starts[at]) + b"\x90" * 16
        with tempfile.NamedTemporaryFile() as file:
            pathlib.Path(file.name).write_bytes(blob)
            machine = "i386:x86-64" if self._code.is_64 else "i386"
            text = subprocess.run(["objdump", "-D", "-b", "binary", "-m", machine, "--no-show-raw-insn", file.name],
                                  stdout=subprocess.PIPE, check=True, text=True).stdout
        rows = [(int(row.group(1), 16), row.group(2)) for row in map(_ROW.match, text.splitlines()) if row]
        offsets = [offset for offset, _ in rows]
        for number, (begin, address) in enumerate(parts):
            end = (parts[number + 1][0] if number + 1 < len(parts) else len(blob)) - 16
            first, last = bisect.bisect_left(offsets, begin), bisect.bisect_left(offsets, end)
            self._has_frame[address] = self._follow(instruction for _, instruction in rows[first:last])

    @staticmethod
    def _follow(instructions):
        is_set = was_set = False
        for instruction in instructions:
            if _SETS.match(instruction):
                is_set = was_set = True
            elif _GIVES_BACK.match(instruction):
                is_set = False
            elif _LEAVES.match(instruction):
                is_set = was_set  # what follows is reached from inside of the function
        return is_set

    def is_in_function(self, address):
        """False for what stands outside of its function, as Linux' .altinstr_aux does, and for code of no file."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0 or not self._code.bytes_at(address, 1):
            return False
        size = self._sizes[self._starts[at]]
        return size == 0 or address < self._starts[at] + size

    def has_frame(self, address):
        """Whether the frame pointer names the function's own frame before the instruction at an address."""
        if address not in self._has_frame:
            self.learn([address])
        return self._has_frame[address]
