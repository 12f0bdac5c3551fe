"""The parts of a kernel's ELF file that the tools need: sections and code symbols, 32 or 64 bit, little endian."""
import bisect
import mmap
import struct

SHT_SYMTAB = 2
SHN_UNDEF = 0
STT_OBJECT, STT_FUNC = 1, 2
EM = {3: "i386", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


class Elf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._map[:4] != b"\x7fELF":
            raise ValueError(f"{path}: not an ELF file")
        self.is_64 = self._map[4] == 2
        self.machine = struct.unpack_from("<H", self._map, 18)[0]
        self.arch = EM[self.machine]
        self.sections = {}
        self._read_sections()
        self._symbols = None

    def _read_sections(self):
        if self.is_64:
            offset, size, count, names = struct.unpack_from("<40xQ10xHHH", self._map, 0)
            header = struct.Struct("<IIQQQQIIQQ")
        else:
            offset, size, count, names = struct.unpack_from("<32xI10xHHH", self._map, 0)
            header = struct.Struct("<IIIIIIIIII")
        headers = [header.unpack_from(self._map, offset + i * size) for i in range(count)]
        strings = headers[names][4]
        for entry in headers:
            at = strings + entry[0]
            name = self._map[at:self._map.find(b"\0", at)].decode()
            # sh_type, sh_addr, sh_offset, sh_size, sh_link
            self.sections.setdefault(name, (entry[1], entry[3], entry[4], entry[5], entry[6]))
        self._by_index = headers

    def section(self, name):
        """(address, bytes) of a section that is not compressed; None if there is none."""
        if name not in self.sections:
            return None
        _, address, offset, size, _ = self.sections[name]
        return address, self._map[offset:offset + size]

    def is_code(self, name):
        """Whether the section of that name has code in it."""
        _, address, offset, size, _ = self.sections[name]
        return any(fields[2] & 4 and fields[3] == address and fields[4] == offset and fields[5] == size
                   for fields in self._by_index)

    def _load_symbols(self):
        _, _, offset, size, link = self.sections[".symtab"]
        strings = self._by_index[link][4]
        entry = struct.Struct("<IBBHQQ" if self.is_64 else "<IIIBBH")
        by_start = {}
        sizes = {}
        for fields in entry.iter_unpack(self._map[offset:offset + size]):
            name, value, length, info, index = (
                (fields[0], fields[4], fields[5], fields[1], fields[3]) if self.is_64 else
                (fields[0], fields[1], fields[2], fields[3], fields[5]))
            if index == SHN_UNDEF or (info & 15) not in (0, STT_FUNC):
                continue
            at = strings + name
            text = self._map[at:self._map.find(b"\0", at)].decode(errors="replace")
            if text and not text.startswith("$") and not text.startswith(".L"):
                by_start.setdefault(value, []).append(text)
                sizes[value] = max(sizes.get(value, 0), length)
        self._symbols = (sorted(by_start), by_start, sizes)

    def names_at(self, address):
        """All names of the functions that an address lies in: of the symbols at the nearest start, and of
        enclosing ones that have a size."""
        if self._symbols is None:
            self._load_symbols()
        starts, by_start, sizes = self._symbols
        at = bisect.bisect_right(starts, address) - 1
        names = list(by_start[starts[at]]) if at >= 0 else []
        for i in range(at - 1, max(at - 65, -1), -1):  # 32 retpolines are in one array
            if starts[i] + sizes[starts[i]] > address:
                names += by_start[starts[i]]
        return names

    def function_at(self, address):
        """The name that a reader expects: of the innermost function that says how long it is, else the nearest."""
        names = self.names_at(address)
        starts, by_start, sizes = self._symbols
        at = bisect.bisect_right(starts, address) - 1
        for i in range(at, max(at - 65, -1), -1):
            if starts[i] + sizes[starts[i]] > address:
                return by_start[starts[i]][0]
        return names[0] if names else "?"

    def start_of(self, address):
        """Where the function that an address lies in begins: its nearest symbol."""
        self.names_at(address)
        at = bisect.bisect_right(self._symbols[0], address) - 1
        return self._symbols[0][at] if at >= 0 else None

    def code_at(self, address, size):
        """Bytes of an executable section, as they are in the file; empty outside."""
        for fields in self._by_index:
            flags, start, offset, length = fields[2], fields[3], fields[4], fields[5]
            if flags & 4 and fields[1] == 1 and start <= address < start + length:
                return self._map[offset + address - start:offset + min(address - start + size, length)]
        return b""

    def address_of(self, name):
        if self._symbols is None:
            self._load_symbols()
        return next((start for start, names in self._symbols[1].items() if name in names), None)
