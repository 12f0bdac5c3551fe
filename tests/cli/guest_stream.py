"""Streams of ringside's guest library with allocations, written by src/wire/GUEST_RING.md."""
import itertools
import struct

X86_64 = 1
BYTES, PAGES, OBJECTS = range(3)


def fnv(words):
    check = 0x811C9DC5
    for word in words:
        for half in (word & 0xFFFFFFFF, word >> 32):
            check = (check ^ half) * 0x01000193 % (1 << 32)
    return check


def text_words(text, count):
    return struct.unpack(f"<{count}Q", text.encode().ljust(8 * count, b"\0")[:8 * count])


class Stream:
    """One CPU's. Times are ticks of a clock of `rate` a second, 0: unknown."""

    def __init__(self, rate=1_000_000):
        self.sequence = itertools.count()
        self.raw = b""
        info = [X86_64 | 8 << 8, 1 | 1 << 32, 0xffff800000000000, rate, 0, *text_words("", 3), 0]
        self.add(1, 0, info, 0)

    def add(self, kind, time, words, sequence=None):
        sequence = next(self.sequence) if sequence is None else sequence
        head = 0x5352 | (3 + len(words)) << 16 | kind << 32
        check = fnv([head, sequence, time, *words])
        self.raw += struct.pack(f"<{3 + len(words)}Q", head, sequence | check << 32, time, *words)

    def allocation(self, time, allocator, operation, pointer, size, frames, old=0, unit=BYTES, pid=1):
        shape = operation | unit << 8 | len(frames) << 32
        self.add(3, time, [shape, 0x7000, pid | pid << 32, *text_words(f"task{pid}", 2), *text_words(allocator, 2),
                           pointer, old, size, *frames])
