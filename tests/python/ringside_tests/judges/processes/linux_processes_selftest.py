"""Tests of the judges of linux_processes_test.py, short_lived_test.py and late_module_test.py, by hand-written input."""
import pathlib
import struct
import tempfile
import unittest

from ringside_tests.judges import kernel_symbols, late_module
from ringside_tests.judges.processes import joined_stacks, libc_calls, process_list, short_lived

SERIAL = """ringside-guest: proc 2 2 0 kthreadd\r
ringside-guest: proc 9 9 2 kworker/0:1-events\r
ringside-guest: proc 70 70 1 dash\r
ringside-guest: map 70 5000-6000 00001000 /usr/bin/dash\r
ringside-guest: map 70 7000-8000 00000000 [vdso]\r
"""
DASH = 70


def elf(entry=0x2010):
    """A 64-bit file whose bytes from 0x1000 on are linked at 0x2000."""
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 3, 62, 1, entry, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack("<IIQQQQQQ", 1, 5, 0x1000, 0x2000, 0x2000, 0x1000, 0x1000, 0x1000)


def frame(address, name="f", rule="call-frame information", exact=False, kind="user", image="dash"):
    """With the address at which the code is linked; with image=None, at which it is in memory."""
    return {"address": hex(address), "exact": exact, "kind": kind, "rule": rule, "functions": [name] if name else [],
            **({"image": image} if image else {})}


KERNEL = {"stop": "reached user mode", "stopped_at": "0x0", "frames": [frame(0xffff, kind="kernel")]}


def sample(frames=(), stop="end of stack", pid=DASH, comm="dash", **members):
    stacks = [KERNEL, {"stop": stop, "stopped_at": "0x0", "frames": list(frames)}]
    return {"level": "kernel", "pid": pid, "tid": pid, "comm": comm, "stacks": stacks, **members}


class Identities(unittest.TestCase):
    def wrong(self, *samples):
        return sum(joined_stacks.identity(process_list.parse(SERIAL), samples).wrong.values())

    def test_the_names_that_the_guest_reported_are_right(self):
        self.assertEqual(self.wrong(sample(), sample(pid=9, comm="kworker/0:1"), sample(pid=0, comm="swapper/0")), 0)

    def test_another_name_process_or_thread_is_wrong(self):
        for bad in (sample(comm="dd"), sample(pid=9, comm="kworker/0:2"), sample(pid=71), sample(tid=71), sample(comm="")):
            self.assertEqual(self.wrong(bad), 1)

    def test_a_later_kernel_worker_is_counted(self):
        found = joined_stacks.identity(process_list.parse(SERIAL), [sample(pid=99, comm="kworker/0:3")])
        self.assertEqual((found.later, sum(found.wrong.values())), (1, 0))

    def test_samples_of_nobody_count_apart_when_they_are_the_first(self):
        nobody, kernel = {"level": "user", "stacks": []}, {"level": "kernel", "stacks": []}
        samples = [kernel, nobody, sample(level="user"), kernel, nobody, sample(), kernel]
        found = joined_stacks.identity(process_list.parse(SERIAL), samples)
        self.assertEqual((found.samples, found.first, found.unknown), (7, 3, {"user": 1, "kernel": 1}))

    def test_a_guest_that_reported_nothing_is_an_error(self):
        with self.assertRaises(ValueError):
            process_list.parse("ringside-guest: ready")


class Stacks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "usr/bin/dash"
        path.parent.mkdir(parents=True)
        path.write_bytes(elf())
        self.files = process_list.Files(folder.name)
        self.processes = process_list.parse(SERIAL)

    def judge(self, *samples):
        return joined_stacks.judge(self.processes, self.files, samples)

    def test_a_stack_from_the_entry_is_complete(self):
        verdict = self.judge(sample([frame(0x2800, exact=True), frame(0x2020)]))
        self.assertEqual((verdict.complete, verdict.frames, verdict.named, verdict.wrong), (1, 2, 2, {}))

    def test_other_stacks_are_not(self):
        entry = frame(0x2020)
        user_only = sample([frame(0x2800), entry], level="kernel")
        user_only["stacks"] = user_only["stacks"][1:]
        truncated = sample([entry])
        truncated["stacks"] = [{**KERNEL, "stop": "stack not copied"}, truncated["stacks"][1]]
        for bad in (sample([frame(0x2800)]), sample([frame(0x2010)]), sample([entry], stop="no unwind rule"), sample([]),
                    sample([frame(0x2100, rule="guess"), entry]), truncated, user_only, sample([frame(0x7010, image=None)])):
            self.assertEqual(self.judge(bad).complete, 0, bad)

    def test_frames_without_names_are_counted_by_image(self):
        verdict = self.judge(sample([frame(0x7100, "", image=None), frame(0x100, "", image="[vdso]"), frame(0x2020)]))
        self.assertEqual((verdict.named, verdict.unnamed), (1, {"[vdso]": 2}))

    def test_a_frame_without_the_name_of_an_exported_function_is_wrong(self):
        file = self.files.find("/usr/bin/dash")
        file._functions, file._longest = [(0x2000, 0x2040, "_start")], 0x40
        self.assertEqual(sum(self.judge(sample([frame(0x2020, "")])).wrong.values()), 1)
        self.assertEqual(sum(self.judge(sample([frame(0x2041, "")])).wrong.values()), 0)

    def test_a_frame_outside_of_the_process_is_wrong(self):
        for bad in (frame(0x3001), frame(0x6001, image=None), frame(0x2100, image="libc.so.6")):
            self.assertEqual(sum(self.judge(sample([bad, frame(0x2020)])).wrong.values()), 1)

    def test_a_name_that_is_not_the_exported_functions_is_wrong(self):
        file = self.files.find("/usr/bin/dash")
        file._functions, file._longest = [(0x2000, 0x2040, "_start")], 0x40
        self.assertEqual(sum(self.judge(sample([frame(0x2020, "main")])).wrong.values()), 1)
        self.assertEqual(sum(self.judge(sample([frame(0x2020, "_start")])).wrong.values()), 0)
        self.assertEqual(sum(self.judge(sample([frame(0x2041, "static")])).wrong.values()), 0)

    def test_without_rules_nothing_may_be_guessed(self):
        good = sample([frame(0x2800)], stop="no unwind rule")
        stops, wrong = joined_stacks.judge_without_rules(self.processes, self.files, [good])
        self.assertEqual((stops, wrong), ({"no unwind rule": 1}, {}))
        for bad in (frame(0x2800, rule="guess"), frame(0x9000, image=None)):
            self.assertTrue(joined_stacks.judge_without_rules(self.processes, self.files, [sample([bad])])[1])


class LibcCalls(unittest.TestCase):
    def test_what_main_had_called(self):
        for way, functions in (("main", ()), ("main", ("on_alarm",)), ("sort_all", ("sort_all", "compare", "spin")),
                               ("sort_all", ("sort_all", "compare", "on_alarm", "spin")), ("ask_time", ("ask_time",)),
                               ("copy_all", ("copy_all", "on_alarm", "spin"))):
            self.assertEqual(libc_calls.way_of(["_start", "main", *functions]), way)

    def test_other_stacks_cannot_be(self):
        for bad in ((), ("main",), ("_start",), ("_start", "main", "compare"), ("_start", "main", "copy_all", "compare"),
                    ("_start", "main", "ask_time", "spin"), ("_start", "main", "spin"),
                    ("_start", "main", "sort_all", "read_zeros"), ("_start", "main", "on_alarm", "spin", "spin")):
            self.assertIsNone(libc_calls.way_of(list(bad)), bad)

    def judge(self, *ways, leaf="__vdso_clock_gettime", program="calls-glibc", reader="ld-musl-x86_64.so.1+0x5e0c0"):
        samples = []
        for functions in ways:
            frames = [frame(0x100, name, image=program) for name in reversed(("_start", "main", *functions))]
            if functions[-1] == "ask_time":
                frames.insert(0, frame(0x100, leaf, image="[vdso]"))
            samples.append(sample(frames, comm=program))
            if functions[-1] == "read_zeros":
                frames.insert(0, frame(0x100, reader, image="ld-musl-x86_64.so.1"))
                samples[-1]["stacks"] = [{**KERNEL, "frames": [frame(0xffff, "ksys_read", kind="kernel")]}, samples[-1]["stacks"][1]]
                samples[-1]["stacks"][1]["frames"] = frames
        return libc_calls.check(program, samples)[1]

    def test_every_way_must_be_seen_and_the_vdso_have_its_function(self):
        ways = [(way,) for way in libc_calls.WAYS] + [("copy_all", "on_alarm")]
        self.assertEqual(self.judge(*ways), [])
        self.assertEqual(len(self.judge(*ways[1:])), 1)
        self.assertEqual(len(self.judge(*ways[:-1])), 1)
        self.assertEqual(len(self.judge(*ways, ("copy_all", "compare"))), 1)
        self.assertEqual(len(self.judge(*ways, leaf="__vdso_time")), 2)
        no_reads = [way for way in ways if way != ("read_zeros",)]
        self.assertEqual(len(self.judge(*no_reads)), 2)  # the way, and the kernel's function

    def test_what_reads_in_musl_has_the_name_of_a_function_that_is_not_exported(self):
        ways = [(way,) for way in libc_calls.WAYS] + [("copy_all", "on_alarm")]
        self.assertEqual(self.judge(*ways, program="calls-musl"), [])
        for reader in ("memset", ""):
            self.assertEqual(len(self.judge(*ways, program="calls-musl", reader=reader)), 1)


class ShortLived(unittest.TestCase):
    def judge(self, *samples):
        judge = short_lived.Judge({"apple": ("apple_work", 0x100, 0x120), "pear": ("pear_work", 0x500, 0x520)})
        for one in samples:
            judge.add(one)
        return judge

    def test_samples_of_the_right_program_are_counted(self):
        judge = self.judge(sample([frame(0x110, "apple_work")], comm="apple"), sample([frame(0x510, "")], comm="pear", pid=71),
                           sample([frame(0x51f, "pear_work")], comm="pear"), sample([frame(0x700)]), sample())
        self.assertEqual((judge.samples, judge.named, judge.wrong), (3, 2, {}))

    def test_another_process_or_function_is_wrong(self):
        for bad in (sample([frame(0x110, "apple_work")], comm="pear"), sample([frame(0x110, "pear_work")], comm="apple"),
                    sample([frame(0x500, "pear_work")], comm="short_lived")):
            self.assertEqual(sum(self.judge(bad).wrong.values()), 1)

    def test_processes_are_counted_by_their_pids(self):
        pids = [100, 101, 100, 104, 32760, 10, 5]
        judge = self.judge(*(sample([frame(0x110, "apple_work")], comm="apple", pid=pid) for pid in pids))
        self.assertEqual(judge.begun, 4)  # 32760 is taken for an old one
        judge = self.judge(*(sample([frame(0x110, "apple_work")], comm="apple", pid=pid) for pid in (32760, 32761, 10, 5)))
        self.assertEqual(judge.begun, 1 + 17)

    def test_a_sample_of_nobody_is_not_known(self):
        nobody = sample([frame(0x110, "apple_work")])
        del nobody["pid"]
        self.assertEqual((self.judge(nobody).samples, self.judge(nobody).known), (1, 0))


class LateModule(unittest.TestCase):
    def setUp(self):
        self.symbols = kernel_symbols.Symbols()
        self.symbols.add(0x9000, 0x100, "read_it")
        self.symbols.add_range(0x9000, 0xa000)
        self.symbols.finish()

    def judge(self, *names):
        samples = [{"level": "kernel", "stacks": [{"frames": [frame(0x9010, name, kind="kernel")]}]} for name in names]
        return late_module.Verdict(self.symbols, [sample(), *samples])

    def test_frames_in_the_module_count(self):
        verdict = self.judge("read_it", "")
        self.assertEqual((verdict.before, verdict.samples, verdict.frames, verdict.named, verdict.wrong), (1, 2, 2, 1, {}))

    def test_another_name_is_wrong(self):
        self.assertEqual(sum(self.judge("write_it").wrong.values()), 1)


if __name__ == "__main__":
    unittest.main()
