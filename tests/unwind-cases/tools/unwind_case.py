"""A test case of the unwinder as a folder: README.md beside this folder says what lies in it."""
import pathlib
import struct

POINTER = {"x86_64": 8, "i386": 4, "aarch64": 8, "riscv64": 8}
PC = {"x86_64": "rip", "i386": "eip", "aarch64": "pc", "riscv64": "pc"}
SP = {"x86_64": "rsp", "i386": "esp", "aarch64": "sp", "riscv64": "sp"}


class Memory:
    """The pieces of a capture. `pieces`: (address, kind, bytes)."""

    def __init__(self, pieces, pointer):
        self.pieces = pieces
        self._pointer = pointer

    def bytes_at(self, address, size):
        for start, _, data in self.pieces:
            if start <= address and address + size <= start + len(data):
                return data[address - start:address - start + size]
        return None

    def word(self, address):
        """A pointer-sized word; None where it was not captured."""
        data = self.bytes_at(address & (1 << 8 * self._pointer) - 1, self._pointer)
        return None if data is None else int.from_bytes(data, "little")

    def links(self):
        return [start for start, kind, _ in self.pieces if kind == "stack-link"]


class Frame:
    """A line of `expected`. ways: the set of how it was confirmed."""

    def __init__(self, address, exact, function, kind, ways=()):
        self.address, self.exact, self.function, self.kind = address, exact, function, kind
        self.ways = set(ways)

    def __str__(self):
        line = f"{self.address:#x} {'pc  ' if self.exact else 'call'} {self.function} {self.kind}"
        return line + (" " + ",".join(sorted(self.ways)) if self.ways else "")


class Case:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.registers = {}
        for line in (self.folder / "registers").read_text().splitlines():
            name, value = line.split()
            self.registers[name] = value if name in ("arch", "level") else int(value, 0)
        self.arch = self.registers["arch"]
        data = (self.folder / "memory.bin").read_bytes()
        pieces = []
        for line in (self.folder / "memory").read_text().splitlines():
            words = line.split("#")[0].split()
            if words:
                size = int(words[1])
                pieces.append((int(words[0], 0), words[2], data[:size]))
                data = data[size:]
        self.memory = Memory(pieces, POINTER[self.arch])
        self.read_expected()

    def read_expected(self):
        self.frames, self.stop, self.stop_ways, self.wrong = [], None, set(), {}
        self.class_name = self.class_text = ""
        for line in (self.folder / "expected").read_text().splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "stop":
                self.stop = words[1]
                self.stop_ways = set(words[2].split(",")) if len(words) > 2 else set()
            elif words[0] == "wrong":
                self.wrong[words[1]] = " ".join(words[2:])
            elif words[0] == "class":
                self.class_name, self.class_text = words[1], " ".join(words[2:])
            else:
                ways = words[4].split(",") if len(words) > 4 else ()
                self.frames.append(Frame(int(words[0], 0), words[1] == "pc", words[2], words[3], ways))

    def write_expected(self):
        lines = ["# address, pc or call, function, kind, how it was confirmed"]
        lines += [str(frame) for frame in self.frames]
        lines.append(f"stop {self.stop}" + (" " + ",".join(sorted(self.stop_ways)) if self.stop_ways else ""))
        if self.class_name:
            lines.append(f"class {self.class_name} {self.class_text}".rstrip())
        lines += [f"wrong {rules} {reason}" for rules, reason in sorted(self.wrong.items())]
        (self.folder / "expected").write_text("\n".join(lines) + "\n")

    @property
    def pc(self):
        return self.registers[PC[self.arch]]

    @property
    def sp(self):
        return self.registers[SP[self.arch]]


def to_signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


def unpack(layout, data, offset=0):
    return struct.unpack_from(layout, data, offset)
