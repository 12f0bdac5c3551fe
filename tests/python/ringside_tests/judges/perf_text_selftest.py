"""Tests of how perf_text.py compares two texts: hand-written samples."""
import pathlib
import tempfile
import unittest

from ringside_tests.judges import perf_text

PERF = """sh  7/8  [001]  12.000000500:  2000000 {event}
\tffffffff81000010 memset+0x0 ([kernel.kallsyms])
\tffffffff81000126 entry+0x6 ([kernel.kallsyms])
\t           d4ad7 __GI___execve+0x7 (/usr/lib/libc.so.6)
\t            5018 [unknown] (/usr/bin/dash)

:-1  -1/-1  [000]  12.000001500:  2000000 {event}
\tffffffff81000010 memset+0x0 ([kernel.kallsyms])
"""
OURS = PERF.replace("memset", "__memset").replace("__GI___execve", "execve").replace("12.", "0.").replace(
    ":-1  -1/-1", "[unknown] 0/0").replace("{event}", "cpu-clock: ")


def compare(perf, ours, is_unwound=False, copies=(), **options):
    """copies: paths of one program in perf's cache."""
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder)
        for path in copies:
            file = cache / path / "6a09e667" / "elf"
            file.parent.mkdir(parents=True)
            file.write_bytes(bytes(64))  # a header without segments
        return perf_text.compare(perf_text.of_perf(perf.replace("{event}", ""), cache, is_unwound),
                                 perf_text.of_ringside(ours, cache), **options)


class Compare(unittest.TestCase):
    def test_other_names_of_the_same_functions_are_equal(self):
        verdict = compare(PERF, OURS)
        self.assertEqual((verdict.failures, verdict.samples, dict(verdict.stacks)), ([], 2, {"equal": 2}))
        self.assertEqual(verdict.aliases[perf_text.file_name("/usr/lib/libc.so.6"), "__GI___execve"], "execve")

    def test_a_wrong_name_is_found(self):
        for wrong in (OURS.replace("entry+0x6", "before+0x46"), OURS.replace("5018 [unknown]", "5018 main+0x8"),
                      OURS.replace("execve+0x7", "execve+0x17")):
            self.assertEqual(len(compare(PERF, wrong).failures), 1, wrong)

    def test_a_wrong_address_file_or_sample_is_found(self):
        for wrong in (OURS.replace("5018", "5019"), OURS.replace("/dash", "/bash"), OURS.replace("sh  7/8", "sh  7/9"),
                      OURS.replace("[001]", "[000]"), OURS.replace("2000000", "1000000"),
                      OURS.split("\n\n", maxsplit=1)[0]):
            self.assertTrue(compare(PERF, wrong).failures, wrong)

    def test_copies_of_a_program_are_one(self):
        copied = OURS.replace("/usr/bin/dash", "/bin/sh")
        self.assertEqual(compare(PERF, copied, copies=("usr/bin/dash", "bin/sh")).failures, [])
        self.assertEqual(compare(PERF, OURS, copies=("usr/bin/dash", "bin/sh")).failures, [])
        self.assertTrue(compare(PERF, copied, copies=("usr/bin/dash",)).failures)

    def test_a_return_address_behind_a_function_is_of_the_one_before(self):
        perf = PERF.replace("entry+0x6", "next+0x0")
        self.assertEqual(compare(perf, OURS.replace("entry+0x6", "entry+0x40")).stacks["named otherwise"], 1)
        unnamed, ours = PERF.replace("entry+0x6", "[unknown]"), OURS.replace("entry+0x6", "entry+0x40")
        self.assertEqual(compare(unnamed, ours, sizes={"entry": 0x40}).stacks["named otherwise"], 1)
        self.assertTrue(compare(unnamed, ours, sizes={"entry": 0x41}).failures)
        # No return address: where it was interrupted.
        leaf = PERF.replace("memset+0x0", "next+0x0")
        self.assertTrue(compare(leaf, OURS.replace("__memset+0x0", "entry+0x40")).failures)

    def test_a_label_is_of_the_function_around_it(self):
        ours = OURS.replace("entry+0x6", "around+0x46")
        self.assertEqual(compare(PERF, ours, sizes={"around": 0x47}).failures, [])
        self.assertTrue(compare(PERF, ours, sizes={"around": 0x46}).failures)

    def test_a_stack_may_go_on_where_perf_cannot_unwind(self):
        longer = OURS.replace("(/usr/bin/dash)\n", "(/usr/bin/dash)\n\t 5100 [unknown] (/usr/bin/dash)\n")
        self.assertEqual(compare(PERF, longer, without_rules=("dash",)).stacks["longer"], 1)
        self.assertEqual(compare(PERF, longer).stacks["longer with rules"], 1)
        shorter = OURS.replace("\t            5018 [unknown] (/usr/bin/dash)\n", "")
        self.assertEqual(compare(PERF, shorter).stacks["shorter"], 1)

    def test_perf_takes_a_byte_off_where_it_unwinds(self):
        self.assertEqual(compare(PERF, OURS.replace("5018", "5019"), is_unwound=True).failures, [])
        self.assertTrue(compare(PERF, OURS, is_unwound=True).failures)


class Fold(unittest.TestCase):
    def test_outermost_first_with_ringsides_names(self):
        samples = perf_text.parse(PERF.replace("{event}", ""))
        stacks = perf_text.fold(samples, {("[kernel.kallsyms]", "memset"): "__memset"})
        self.assertEqual(dict(stacks), {("sh", None, "__GI___execve", "entry", "__memset"): 2000000,
                                        ("", "__memset"): 2000000})


if __name__ == "__main__":
    unittest.main()
