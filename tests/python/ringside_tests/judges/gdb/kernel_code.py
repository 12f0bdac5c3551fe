"""A kernel's code and which of it gdb has call-frame information for: all of its vmlinux, or a part of it in
tests/unwind-cases."""
import bisect
import mmap
import struct

PT_LOAD = 1


class KernelCode:
    """slide: where the kernel runs minus where it is linked. Addresses are those at which it runs."""

    def __init__(self, path, slide=0):
        with open(path, "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._map[:4] != b"\x7fELF":
            raise ValueError(f"{path}: not an ELF file")
        self.is_64, self.slide = self._map[4] == 2, slide
        self._segments = self._read_segments()
        self._described = self._read_described()
        self._starts = [start for start, _ in self._described]
        self._modules, self._modules_described = [], False

    def close(self):
        self._map.close()

    def _read_segments(self):
        """(address, file offset, bytes in the file) of what is loaded."""
        offset, size, count = struct.unpack_from("<32xQ14xHH" if self.is_64 else "<28xI10xHH", self._map, 0)
        found = []
        for i in range(count):
            fields = struct.unpack_from("<IIQQQQ" if self.is_64 else "<IIIII", self._map, offset + i * size)
            kind, at, address, length = ((fields[0], fields[2], fields[3], fields[5]) if self.is_64 else
                                         (fields[0], fields[1], fields[2], fields[4]))
            if kind == PT_LOAD:
                found.append((address, at, length))
        return found

    def _section(self, wanted):
        table, size, count, names = struct.unpack_from("<40xQ10xHHH" if self.is_64 else "<32xI10xHHH", self._map, 0)
        header = struct.Struct("<IIQQQQIIQQ" if self.is_64 else "<IIIIIIIIII")
        headers = [header.unpack_from(self._map, table + i * size) for i in range(count)]
        for fields in headers:
            name = headers[names][4] + fields[0]
            if self._map[name:self._map.find(b"\0", name)] == wanted:
                return self._map[fields[4]:fields[4] + fields[5]]
        return b""

    def _read_described(self):
        """(start, end) of each description of .debug_frame, sorted: DWARF 5, section 6.4.1. Linux is built without
        .eh_frame."""
        data, at, found = self._section(b".debug_frame"), 0, []
        address = struct.Struct("<QQ" if self.is_64 else "<II")
        while at + 8 <= len(data):
            length, identity = struct.unpack_from("<II", data, at)
            if length == 0xffffffff:
                raise ValueError("64-bit DWARF")
            if identity != 0xffffffff and at + 8 + address.size <= len(data):
                start, size = address.unpack_from(data, at + 8)
                found.append((start, start + size))
            at += 4 + length
        return sorted(found)

    def add_modules(self, ranges, described):
        """Where the modules' code is, as (start, end), and whether gdb has their call-frame information."""
        self._modules, self._modules_described = ranges, described

    def is_module(self, address):
        return any(start <= address < end for start, end in self._modules)

    def is_described(self, address):
        """Whether call-frame information covers the instruction at an address."""
        if self.is_module(address):
            return self._modules_described
        linked = address - self.slide
        at = bisect.bisect_right(self._starts, linked) - 1
        return at >= 0 and linked < self._described[at][1]

    def bytes_at(self, address, size):
        """Code as it is in the file; shorter where the file has less."""
        linked = address - self.slide
        for start, offset, length in self._segments:
            if start <= linked < start + length:
                return self._map[offset + linked - start:offset + min(linked - start + size, length)]
        return b""
