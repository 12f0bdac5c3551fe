"""Maestro's memtrace as it is in memory: written and replayed here by its description alone, apart from ringside's reader."""
import random
import struct

PAGES = ("buddy",)
ALLOC, REALLOC, FREE = range(3)


def record(allocator, operation, pointer, size, frames):
    name = allocator.encode("utf-8", "surrogateescape")
    return (bytes([len(name)]) + name + struct.pack("<BQQB", operation, pointer, size, len(frames)) +
            struct.pack(f"<{len(frames)}Q", *frames))


def records(raw):
    """(allocator, operation, pointer, size, frames) of each whole record."""
    at = 0
    while at < len(raw):
        name = raw[at + 1:at + 1 + raw[at]].decode()
        at += 1 + raw[at]
        operation, pointer, size, count = struct.unpack_from("<BQQB", raw, at)
        at += 18
        yield name, operation, pointer, size, struct.unpack_from(f"<{count}Q", raw, at)
        at += 8 * count


def random_trace(seed, events, allocators=("malloc", "buddy", "slab:64", "arena")):
    """Few pointers, so that blocks are freed twice, allocated twice and freed without having been seen."""
    chance = random.Random(seed)
    functions = [0xc0100005 + 0x40 * number for number in range(40)]
    stacks = [tuple(chance.choice(functions) for _ in range(chance.randint(0, 6))) for _ in range(60)]
    out = []
    for _ in range(events):
        operation = chance.choices((ALLOC, REALLOC, FREE), (5, 2, 5))[0]
        size = 0 if operation == FREE else chance.choice((0, 1, 8, chance.randrange(1 << 12), chance.randrange(1 << 30)))
        out.append(record(chance.choice(allocators), operation, 0x1000 * chance.randrange(80), size, chance.choice(stacks)))
    return b"".join(out)


class Replay:
    """Follows the blocks of one allocator. All sums are made at the end, from lists of blocks."""

    def __init__(self, since=None):
        self.since = since
        self.live = {}  # by pointer: [stack, size, time of the alloc]
        self.freed_pointers = set()
        self.ended = []  # (stack, "freed" or "replaced", size, lifetime)
        self.grown = []  # (stack, bytes): allocated, with what reallocs added
        self.shrunk = []
        self.started = []  # stacks
        self.counts = dict.fromkeys(("alloc", "realloc", "free", "other", "unknown_reallocs", "unknown_frees", "double_frees",
                                     "too_large"), 0)
        self.peak = []  # blocks
        self.peak_size = 0
        self.peak_time = 0
        self.before = None

    def blocks(self):
        return [tuple(block) for block in self.live.values()]

    def start(self, pointer, size, time, stack):
        self.end(pointer)
        self.live[pointer] = [stack, size, time]
        self.started.append(stack)
        self.grown.append((stack, size))

    def free(self, pointer, time):
        block = self.live.pop(pointer)
        self.freed_pointers.add(pointer)
        self.ended.append((block[0], "freed", block[1], time - block[2]))

    def end(self, pointer):
        if pointer in self.live:
            there = self.live[pointer]
            self.ended.append((there[0], "replaced", there[1], None))
        self.freed_pointers.discard(pointer)

    def reallocate(self, old, pointer, size, time):
        if pointer == 0 and old != 0:
            self.free(old, time)
            return
        block = self.live[old]
        (self.grown if size > block[1] else self.shrunk).append((block[0], abs(size - block[1])))
        block[1] = size
        if pointer != old:
            del self.live[old]
            self.freed_pointers.add(old)
            self.end(pointer)
            self.live[pointer] = block

    def add(self, time, operation, pointer, size, stack, old=0):
        """A realloc's old pointer is 0 where it is not known: it is that pointer then."""
        if self.since is not None and time >= self.since and self.before is None:
            self.before = self.blocks()
        self.counts[("alloc", "realloc", "free")[operation]] += 1
        if operation == ALLOC:
            self.start(pointer, size, time, stack)
        elif operation == REALLOC and (old or pointer) in self.live:
            self.reallocate(old or pointer, pointer, size, time)
        elif operation == REALLOC:
            self.counts["unknown_reallocs"] += 1
            self.start(pointer, size, time, stack)
        elif pointer in self.live:
            self.free(pointer, time)
        else:
            self.counts["double_frees" if pointer in self.freed_pointers else "unknown_frees"] += 1
        total = sum(block[1] for block in self.live.values())
        if total > self.peak_size:
            self.peak, self.peak_size, self.peak_time = self.blocks(), total, time

    def sums(self, end, older_than=None):
        """By stack, and of all under None: {"live": {"count": …, "size": …}, …} as `mem report --format json` has them."""
        keys = {stack for stack in self.started} | {None}

        def amount(blocks, key):
            sizes = [block[1] for block in blocks if key is None or block[0] == key]
            return {"count": len(sizes), "size": sum(sizes)}

        def spans(values):
            return {"count": len(values), "mean": round(sum(values) / len(values), 3) if values else 0,
                    "longest": max(values, default=0)}

        result = {}
        for key in keys:
            def of(pairs, key=key):
                return sum(size for stack, size in pairs if key is None or stack == key)
            ended = [one for one in self.ended if key is None or one[0] == key]
            freed = [one for one in ended if one[1] == "freed"]
            replaced = [one for one in ended if one[1] == "replaced"]
            live = [block for block in self.blocks() if key is None or block[0] == key]
            sums = {
                "live": amount(self.blocks(), key),
                "peak": amount(self.peak, key),
                "allocated": {"count": len([one for one in self.started if key is None or one == key]), "size": of(self.grown)},
                "freed": {"count": len(freed), "size": sum(one[2] for one in freed) + of(self.shrunk)},
                "replaced": {"count": len(replaced), "size": sum(one[2] for one in replaced)},
                "age": spans([end - block[2] for block in live]),
                "lifetime": spans([one[3] for one in freed])}
            if older_than is not None:
                sums["older"] = amount([block for block in self.blocks() if end - block[2] > older_than], key)
            if self.since is not None:
                sums["before"] = amount(self.blocks() if self.before is None else self.before, key)
            result[key] = sums
        return result


def replay(raw, since=None):
    """({allocator: Replay}, the number of the last event)"""
    replays = {}
    time = 0
    for time, (name, operation, pointer, size, stack) in enumerate(records(raw)):
        replays.setdefault(name, Replay(since)).add(time, operation, pointer, size, stack)
    return replays, time
