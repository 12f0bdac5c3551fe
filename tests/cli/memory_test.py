"""`ringside mem`: allocations of Maestro's memtrace, compared with a replay that is written apart from ringside's."""
import collections
import csv
import io
import json
import random

import cli_case
import elf_files
import fake_stub
import guest_stream
import memtrace
from cli_case import DONE, FAILED, WRONG_USAGE
from memory_case import MemoryCase
from memtrace import ALLOC, FREE, REALLOC, record

CODE = fake_stub.CODE


def shown(stack):
    """A stack as ringside names it without a kernel."""
    return tuple(f"<unknown:{address:#x}>" for address in reversed(stack)) or ("[no stack]",)


class Reports(MemoryCase):
    def compare(self, raw, since=None, older_than=None):
        options = [] if since is None else ["--since", since]
        options += [] if older_than is None else ["--older-than", older_than]
        found = self.json(self.write("memtrace.bin", raw), "--group", "stack", *options)
        replays, end = memtrace.replay(raw, since)
        self.assertEqual(set(found), set(replays))
        for name, replay in replays.items():
            with self.subTest(allocator=name, since=since, older_than=older_than):
                self.compare_allocator(found[name], replay, end, older_than)

    def compare_allocator(self, found, replay, end, older_than):
        self.assertEqual(found["unit"], "pages" if found["name"] in memtrace.PAGES else "bytes")
        self.assertEqual((found["time_unit"], found["end"]), ("events", end))
        self.assertEqual(found["events"], replay.counts)
        if replay.peak:
            self.assertEqual(found["peak_time"], replay.peak_time)
        sums = replay.sums(end, older_than)
        names = list(sums[None])
        self.assertEqual({name: found[name] for name in names}, sums.pop(None))
        rows = {tuple(row.pop("stack")): row for row in found["rows"]}
        self.assertEqual(rows, {shown(stack): of for stack, of in sums.items()})

    def test_random_traces_are_followed_as_a_replay_of_lists_does(self):
        for seed in range(6):
            raw = memtrace.random_trace(seed, 700)
            self.compare(raw)
            self.compare(raw, since=300)
            self.compare(raw, older_than=150, since=seed * 140)
        self.compare(memtrace.random_trace(7, 300, [f"a{number}" for number in range(60)]), older_than=10)

    def test_counts_of_odd_events_are_not_all_0(self):
        replays, _ = memtrace.replay(memtrace.random_trace(0, 700))
        for name in ("unknown_reallocs", "unknown_frees", "double_frees"):
            self.assertGreater(sum(replay.counts[name] for replay in replays.values()), 10)

    def test_a_recording_reads_as_the_trace_does(self):
        raw = memtrace.random_trace(3, 400)
        trace = self.write("memtrace.bin", raw)
        self.assertSays(self.ringside("import", trace, "-o", "memory.data"), DONE)
        self.assertEqual(self.json(trace), self.json("memory.data"))

    def test_rows_are_in_order_and_the_rest_is_one(self):
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 500))
        for value in ("live", "peak", "allocated", "freed"):
            for measure in ("size", "count"):
                rows = self.json(trace, "--order", value, "--by", measure)["malloc"]["rows"]
                numbers = [row[value][measure] for row in rows]
                self.assertEqual(numbers, sorted(numbers, reverse=True))
        whole = self.json(trace)["malloc"]
        cut = self.json(trace, "--rows", 3)["malloc"]
        self.assertEqual(cut["rows"], whole["rows"][:3])
        self.assertEqual(cut["left_out"]["rows"], len(whole["rows"]) - 3)
        self.assertEqual(cut["left_out"]["live"]["size"] + sum(row["live"]["size"] for row in cut["rows"]),
                         whole["live"]["size"])

    def test_csv_has_the_same_rows(self):
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 500))
        result = self.ringside("mem", "report", "--format", "csv", trace)
        self.assertSays(result, DONE)
        table = collections.defaultdict(list)
        for row in csv.DictReader(io.StringIO(result.stdout)):
            table[row["allocator"]].append((row["function"], int(row["live_size"]), int(row["freed_count"]), row["unit"]))
        for name, found in self.json(trace).items():
            self.assertEqual(table[name], [(row["function"], row["live"]["size"], row["freed"]["count"], found["unit"])
                                           for row in found["rows"]])

    def test_no_allocator_is_a_formula_of_a_spreadsheet(self):
        trace = self.write("memtrace.bin", record("=1+1", ALLOC, 0x10, 1000, [CODE + 5]))
        result = self.ringside("mem", "report", "--format", "csv", "--input-format", "maestro-memtrace", trace)
        self.assertSays(result, DONE)
        self.assertEqual([row["allocator"] for row in csv.DictReader(io.StringIO(result.stdout))], ["'=1+1"])

    def test_the_text_has_a_table_for_each_allocator_and_no_sum_of_them(self):
        raw = record("malloc", ALLOC, 0x10, 1000, [CODE + 5, 0x7005]) + record("buddy", ALLOC, 0x10, 3, [0x7105, CODE + 5])
        raw += record("malloc", FREE, 0x30, 0, [])
        self.write("kernel.elf", elf_files.elf(function="work"))
        result = self.ringside("mem", "report", self.write("memtrace.bin", raw), "--kernel", "kernel.elf")
        self.assertSays(result, DONE)
        malloc, buddy = result.stdout.split("# buddy:")
        self.assertRegex(malloc, r"(?m)^# live at the end +: 1,000 bytes, 1 block; mean age 2, oldest 2$")
        self.assertRegex(malloc, r"(?m)^# unknown frees +: 1, ")
        self.assertRegex(malloc, r"(?m)^ +100\.00% +1,000 +1 .*<unknown:0x7005>$")  # work is the allocator there
        self.assertRegex(buddy, r"(?m)^# at the peak +: 3 pages, 1 block, at event 1$")
        self.assertRegex(buddy, r"(?m)^ +100\.00% +3 +1 .*work$")
        self.assertNotIn("1,003", result.stdout)

    def test_a_row_is_the_function_that_allocates_or_each_of_its_call_sites(self):
        self.write("kernel.elf", elf_files.elf(function="work"))
        raw = (record("malloc", ALLOC, 0x10, 1, [0x7005, CODE + 9, 0x8005]) +
               record("malloc", ALLOC, 0x20, 2, [0x7005, CODE + 5, CODE + 9, 0x8005]))
        trace = self.write("memtrace.bin", raw)

        def rows(*options):
            found = self.json(trace, "--kernel", "kernel.elf", *options)
            return [(row["function"], row["live"]["size"]) for row in found["malloc"]["rows"]]
        self.assertEqual(rows(), [("work", 3)])
        self.assertEqual(rows("--show-addresses"), [(f"work [{CODE + 5:#x}]", 2), (f"work [{CODE + 9:#x}]", 1)])
        for options in ([], ["--show-addresses"]):
            [(function, size)] = rows("--pass", "none,w*k", *options)
            self.assertEqual((function.split()[0], size), ("<unknown:0x8005>", 3))

    def test_allocators_are_chosen(self):
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 100))
        self.assertEqual(set(self.json(trace, "--allocator", "buddy,arena")), {"buddy", "arena"})
        self.assertSays(self.ringside("mem", "report", trace, "--allocator", "slub"), WRONG_USAGE, "slub", "arena, buddy, malloc")
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 100, ["malloc", ""]))
        self.assertEqual(set(self.json(trace, "--input-format", "maestro-memtrace", "--allocator", "[unnamed]")), {"[unnamed]"})

    def test_what_is_refused(self):
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 100))
        for options, words in ((["--order", "older"], "--older-than"), (["--order", "growth"], "--since"),
                               (["--older-than", "2s"], "numbers of events"),
                               (["--older-than", "2s", "--in-events"], "--in-events counts times in events"), (["--since", "soon"], "--since soon")):
            self.assertSays(self.ringside("mem", "report", trace, *options), WRONG_USAGE, words)
        self.assertSays(self.ringside("mem", "report", self.recording()), FAILED, "good.data", "no allocations")
        self.assertSays(self.ringside("mem"), WRONG_USAGE)

    def test_a_cut_trace_is_read_up_to_the_cut(self):
        raw = memtrace.random_trace(1, 100)
        whole = self.json(self.write("memtrace.bin", raw))
        result = self.ringside("mem", "report", "--format", "json", self.write("cut.bin", raw + raw[:7]))
        self.assertSays(result, DONE, "cut.bin", f"offset {len(raw):#x}")
        self.assertEqual({one["name"]: one for one in json.loads(result.stdout)["allocators"]}, whole)

    def test_warnings_of_a_recording_are_printed_once(self):
        raw = memtrace.random_trace(1, 100)
        trace = self.write("cut.bin", raw + raw[:7])
        self.assertSays(self.ringside("import", trace, "-o", "cut.data"), DONE)
        words = f"offset {len(raw):#x} is cut"
        for name in (trace, "cut.data"):
            for what in (["report"], ["report", "--format", "csv"], ["report", "--format", "json"], ["flamegraph"]):
                with self.subTest(name=name, what=what):
                    result = self.ringside("mem", *what, name)
                    self.assertSays(result, DONE, words)
                    self.assertEqual(result.stderr.count(words), 1)
                    if "json" in what:
                        [warning] = json.loads(result.stdout)["warnings"]
                        self.assertIn(words, warning)

    def test_warnings_of_a_whole_recording_are_an_empty_list(self):
        result = self.ringside("mem", "report", "--format", "json", self.write("memtrace.bin", memtrace.random_trace(1, 100)))
        self.assertEqual(json.loads(result.stdout)["warnings"], [])

    def test_numbers_of_events_begin_at_0_in_each_way_to_count(self):
        trace = self.write("memtrace.bin", memtrace.random_trace(1, 200, ["malloc"]))
        self.assertEqual(self.json(trace, "--in-events", "--since", 50), self.json(trace, "--since", 50))
        self.assertEqual(self.json(trace)["malloc"]["end"], 199)

    def test_zeros_behind_a_trace_are_no_events(self):
        raw = memtrace.random_trace(1, 100)
        whole = self.json(self.write("memtrace.bin", raw))
        padded = self.write("padded.bin", raw + bytes(4096))
        self.assertEqual(self.json(padded), whole)
        self.assertNotIn("left out", self.ringside("mem", "report", padded).said)

    def test_shares_of_growth_are_of_all_changes(self):
        raw = (record("malloc", ALLOC, 0x10, 30, [0x7005]) + record("malloc", FREE, 0x10, 0, []) +
               record("malloc", ALLOC, 0x20, 30, [0x7105]))
        result = self.ringside("mem", "report", self.write("memtrace.bin", raw), "--since", "1")
        self.assertSays(result, DONE)
        self.assertRegex(result.stdout, r"(?m)^ +50\.00% .*<unknown:0x7105>$")
        self.assertRegex(result.stdout, r"(?m)^ +-50\.00% .*<unknown:0x7005>$")


class Streams(MemoryCase):
    """Allocations that a guest has recorded itself: with times, processes, and blocks that move."""
    RATE = 1_000_000  # ticks of the guest's clock in a second
    UNITS = {"slab": guest_stream.OBJECTS, "pages": guest_stream.PAGES, "heap": guest_stream.BYTES}

    def random_stream(self, seed, events, since=None):
        """(its bytes, {allocator: Replay}, its last time); a stack of the replays is a process and its frames."""
        chance = random.Random(seed)
        stacks = [tuple(0xffff800000001005 + 0x40 * chance.randrange(30) for _ in range(chance.randint(1, 5))) for _ in range(30)]
        stream = guest_stream.Stream(self.RATE)
        replays = {}
        time = 5000
        first = None
        for _ in range(events):
            time += chance.randrange(0, 3000)
            first = time if first is None else first
            name = chance.choice(list(self.UNITS))
            operation = chance.choices((ALLOC, REALLOC, FREE), (5, 3, 4))[0]
            pointer = 0x1000 * chance.randrange(60)
            old = chance.choice((0, pointer, 0x1000 * chance.randrange(60))) if operation == REALLOC else 0
            size, pid, stack = chance.randrange(1 << 16), chance.randint(1, 3), chance.choice(stacks)
            stream.allocation(time, name, operation, pointer, size, stack, old, self.UNITS[name], pid)
            replays.setdefault(name, memtrace.Replay(since)).add((time - first) * 1000, operation, pointer, size,
                                                                 (pid, stack), old)
        return stream.raw, replays, (time - first) * 1000

    def compare(self, seed, since_ms=None, older_than_ms=None):
        since = None if since_ms is None else since_ms * 1_000_000
        raw, replays, end = self.random_stream(seed, 500, since)
        self.write("stream", raw)
        options = [] if since_ms is None else ["--since", f"{since_ms}ms"]
        options += [] if older_than_ms is None else ["--older-than", f"{older_than_ms / 1000}"]  # seconds
        whole = self.json("stream", *options)
        self.assertEqual(set(whole), set(replays))
        for name, replay in replays.items():
            sums = replay.sums(end, None if older_than_ms is None else older_than_ms * 1_000_000)
            self.assertEqual((whole[name]["time_unit"], whole[name]["end"], whole[name]["peak_time"]),
                             ("ns", end, replay.peak_time))
            self.assertEqual(whole[name]["unit"], {"slab": "objects", "pages": "pages", "heap": "bytes"}[name])
            self.assertEqual(whole[name]["events"], replay.counts)
            self.assertEqual({key: whole[name][key] for key in sums[None]}, sums[None])
            for pid in (1, 2, 3):
                self.compare_process(self.json("stream", "--group", "stack", "--pid", pid, *options)[name], sums, pid)

    def compare_process(self, found, sums, pid):
        wanted = {shown(stack[1]): of for stack, of in sums.items() if stack is not None and stack[0] == pid}
        self.assertEqual({tuple(row.pop("stack")): row for row in found["rows"]}, wanted)
        self.assertEqual({key: found[key] for key in sums[None]}, sums[None])  # of all processes

    def test_random_streams_are_followed_as_a_replay_of_lists_does(self):
        for seed in range(4):
            self.compare(seed)
            self.compare(seed, since_ms=200 * seed, older_than_ms=100)

    def test_text_has_times(self):
        stream = guest_stream.Stream(self.RATE)
        stream.allocation(1000, "heap", ALLOC, 0x10, 8, [0xffff800000001000])
        stream.allocation(2_001_000, "heap", ALLOC, 0x20, 8, [0xffff800000001000])
        stream.allocation(3_001_000, "heap", FREE, 0x20, 8, [])
        result = self.ringside("mem", "report", self.write("stream", stream.raw), "--older-than", "2500ms")
        self.assertSays(result, DONE)
        self.assertRegex(result.stdout, r"(?m)^# heap: 3 events, sizes in bytes$")
        self.assertRegex(result.stdout, r"(?m)^# live at the end .*; mean age 3.00 s, oldest 3.00 s$")
        self.assertRegex(result.stdout, r"(?m)^# at the peak .*, at 2.00 s$")
        self.assertRegex(result.stdout, r"(?m)^# freed .*; mean lifetime 1.00 s, longest 1.00 s$")
        self.assertRegex(result.stdout, r"(?m)^# older than 2500ms +: 8 bytes, 1 block$")


if __name__ == "__main__":
    cli_case.main()
