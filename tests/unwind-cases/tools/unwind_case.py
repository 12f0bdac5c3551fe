"""Reads and changes a test case of the unwinder, a file NAME.case: README.md in the folder above shows one."""
import pathlib
import re
import struct
import typing

SUFFIX = ".case"
POINTER = {"x86_64": 8, "i386": 4, "aarch64": 8, "riscv64": 8}
PC = {"x86_64": "rip", "i386": "eip", "aarch64": "pc", "riscv64": "pc"}
SP = {"x86_64": "rsp", "i386": "esp", "aarch64": "sp", "riscv64": "sp"}
FIRST_LINE = "unwind-case 1"
SECTIONS = ["images", "registers", "memory", "expected"]
ENTERED_FROM = "entered-from"  # a section that may be missing


def files(folder):
    """The cases in a folder."""
    return sorted(pathlib.Path(folder).glob("*" + SUFFIX))


def _words(text):
    """The words of each line that has any."""
    return [words for words in (line.split("#")[0].split() for line in text.splitlines()) if words]


class Piece(typing.NamedTuple):
    """A piece of memory. asked: how many bytes were asked for; data is shorter where memory ended."""

    address: int
    kind: str
    data: bytes
    asked: int


class Memory:
    """The pieces of a capture."""

    def __init__(self, pieces, pointer):
        self.pieces = pieces
        self._pointer = pointer

    def bytes_at(self, address, size):
        for piece in self.pieces:
            if piece.address <= address and address + size <= piece.address + len(piece.data):
                return piece.data[address - piece.address:address - piece.address + size]
        return None

    def word(self, address):
        """A pointer-sized word; None where it was not captured."""
        data = self.bytes_at(address & (1 << 8 * self._pointer) - 1, self._pointer)
        return None if data is None else int.from_bytes(data, "little")

    def links(self):
        return [piece.address for piece in self.pieces if piece.kind == "stack-link"]


class Frame:
    """A line of the section `expected`. ways: the set of how it was confirmed."""

    def __init__(self, address, exact, function, kind, ways=()):
        self.address, self.exact, self.function, self.kind = address, exact, function, kind
        self.ways = set(ways)

    def __str__(self):
        line = f"{self.address:#x} {'pc  ' if self.exact else 'call'} {self.function} {self.kind}"
        return line + (" " + ",".join(sorted(self.ways)) if self.ways else "")


class Case:
    """path: the file. A tool may change only the sections `expected` and `entered-from`: the methods write_…()
    write them into the file, whose other sections stay as they are whatever became of them here."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.name = self.path.stem
        sections = self._sections()
        self.registers = {name: value if name in ("arch", "level") else int(value, 0)
                          for name, value in _words(sections["registers"])}
        self.arch = self.registers["arch"]
        self.memory = Memory(self._pieces(sections["memory"]), POINTER[self.arch])
        # Where the guest went when it was let run on: registers, or "user": 1; empty where that was not seen.
        self.entered_from = {name: int(value, 0) for name, value in _words(sections.get(ENTERED_FROM, ""))}
        self._read_expected(sections["expected"])

    def _fail(self, what):
        raise ValueError(f"{self.path}: {what}")

    def _sections(self):
        """The text of each section, by its name."""
        first, *parts = re.split(r"^\[(.*)\][ \t]*(?:#.*)?$", self.path.read_text(), flags=re.MULTILINE)
        if first.strip() != FIRST_LINE:
            self._fail(f"not a case, which begins with '{FIRST_LINE}'")
        if parts[::2] not in (SECTIONS, [*SECTIONS, ENTERED_FROM]):
            self._fail(f"its sections are {', '.join(parts[::2])}")
        return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2])}

    def _write_section(self, name, text):
        sections = {**self._sections(), name: text}
        parts = [FIRST_LINE, *(f"[{each}]\n{body}" for each, body in sections.items())]
        self.path.write_text("\n\n".join(parts) + "\n")

    def _pieces(self, text):
        pieces, sizes = [], []
        for words in _words(text):
            if words[0] == "piece":
                address, kind, size, _, asked = words[1:]
                pieces.append(Piece(int(address, 0), kind, b"", int(asked)))
                sizes.append(int(size))
                continue
            piece = pieces[-1]
            if int(words[0], 0) != piece.address + len(piece.data):
                self._fail(f"bytes are missing before those at {words[0]}")
            data = bytes(int(words[2])) if words[1] == "zeros" else bytes.fromhex("".join(words[1:]))
            pieces[-1] = piece._replace(data=piece.data + data)
        if sizes != [len(piece.data) for piece in pieces]:
            self._fail("a piece has not as many bytes as its line says")
        return pieces

    def read_expected(self):
        """Reads again what is in the file."""
        self._read_expected(self._sections()["expected"])

    def _read_expected(self, text):
        self.frames, self.stop, self.stop_ways, self.wrong = [], None, set(), {}
        self.class_name = self.class_text = ""
        for words in _words(text):
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

    def take_stack(self, other):
        """Expects the stack that another case does."""
        self.frames, self.stop, self.stop_ways, self.wrong = other.frames, other.stop, other.stop_ways, other.wrong

    def write_expected(self):
        lines = ["# address, pc or call, function, kind, how it was confirmed"]
        lines += [str(frame) for frame in self.frames]
        lines.append(f"stop {self.stop}" + (" " + ",".join(sorted(self.stop_ways)) if self.stop_ways else ""))
        if self.class_name:
            lines.append(f"class {self.class_name} {self.class_text}".rstrip())
        lines += [f"wrong {rules} {reason}" for rules, reason in sorted(self.wrong.items())]
        self._write_section("expected", "\n".join(lines))

    def write_entered_from(self):
        self._write_section(ENTERED_FROM, "\n".join(f"{name} {value:#x}" for name, value in self.entered_from.items()))

    def rename(self, name):
        """Gives the file another name in its folder."""
        self.path = self.path.rename(self.path.with_name(name + SUFFIX))
        self.name = name

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
