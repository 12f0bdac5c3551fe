"""Tests of what engines_agree.py demands, with hand-written stacks."""
import unittest

from ringside_tests.harness import folded
from ringside_tests.judges import engines_agree



def sample(stop, level="kernel", disposition="sampled"):
    return {"level": level, "disposition": disposition, "stacks": [{"stop": stop}] if stop else []}


COMPLETE = [{"image": "vmlinux"}, *[sample("reached user mode")] * 1990, *[sample("no unwind rule")] * 10]


def measure(text, samples=COMPLETE, times=1):
    made = engines_agree.Measure()
    for _ in range(times):
        made.add(folded.parse(text), samples)
    return made


def check(measures, busy=100, points=2.0, complete=99.0):
    return engines_agree.check(measures, busy, points, complete)


HALVES = "start;hot 5000\nstart;cold 5000\n"


class Agree(unittest.TestCase):
    def test_equal_profiles_agree(self):
        self.assertEqual(check({"tcg": measure(HALVES), "gdb": measure(HALVES)}), [])

    def test_own_time_counts_whatever_the_callers(self):
        other = "start;hot 2500\nirq;hot 2500\nstart;cold 5000\n"
        self.assertEqual(check({"tcg": measure(HALVES), "gdb": measure(other)}), [])

    def test_shares_further_apart_than_that_fail(self):
        large = 10  # samples enough that chance has no say
        other = measure("start;hot 5210\nstart;cold 4790\n", times=large)
        failures = check({"tcg": measure(HALVES, times=large), "gdb": other})
        self.assertEqual(len(failures), 2)
        self.assertIn("50.00 % by tcg, 52.10 % by gdb: more than 2 points apart", failures[0])
        near = measure("start;hot 5190\nstart;cold 4810\n", times=large)
        self.assertEqual(check({"tcg": measure(HALVES, times=large), "gdb": near}), [])

    def test_each_two_engines_are_compared(self):
        apart = {"tcg": measure(HALVES), "gdb": measure(HALVES), "qmp": measure("start;hot 9000\nstart;cold 1000\n")}
        self.assertEqual({line.split(" by ")[1].split(",")[0] for line in check(apart)}, {"tcg", "gdb"})

    def test_a_function_that_only_one_engine_sees_fails(self):
        other = measure("start;hot 5000\nstart;cold 4000\nstart;late 1000\n")
        self.assertTrue(any(line.startswith("late: 0.00 % by tcg, 10.00 %")
                            for line in check({"tcg": measure(HALVES), "gdb": other})))

    def test_only_the_ten_hottest_count(self):
        def profile(tail):
            return measure("".join(f"start;f{i} 900\n" for i in range(10)) + tail, times=20)
        apart = {"tcg": profile("start;x 890\n"), "gdb": profile("start;y 890\n")}
        self.assertEqual(check(apart), [])

    def test_few_samples_get_the_room_of_chance_and_no_more(self):
        few = measure("start;hot 50\nstart;cold 50\n")
        self.assertEqual(check({"tcg": few, "gdb": measure("start;hot 60\nstart;cold 40\n")}), [])
        self.assertTrue(check({"tcg": few, "gdb": measure("start;hot 85\nstart;cold 15\n")}))

    def test_too_few_samples_fail(self):
        self.assertEqual(check({"tcg": measure(HALVES), "gdb": measure(HALVES)}, busy=10001),
                         ["tcg: 10000 busy samples, 10001 wanted", "gdb: 10000 busy samples, 10001 wanted"])

    def test_incomplete_stacks_fail(self):
        bad = measure(HALVES, [sample("end of stack")] * 98 + [sample("unreadable"), sample(None)])
        self.assertEqual(check({"tcg": measure(HALVES), "gdb": bad}),
                         ["gdb: 98.00 % of 100 stacks are complete, 99 % wanted"])

    def test_only_kernel_stacks_of_samples_that_have_one_count(self):
        others = [sample("no unwind rule", level="user"), sample(None, disposition="idle")]
        self.assertEqual(check({"tcg": measure(HALVES, others)}), ["tcg: no kernel stack at all"])
        self.assertEqual(check({"tcg": measure(HALVES, others + COMPLETE)}), [])

    def test_the_error_is_that_of_the_mean_of_the_recordings(self):
        made = engines_agree.Measure()
        for hot in (40, 60):  # mean 50, standard deviation 14.14, by the square root of two recordings
            made.add(folded.parse(f"hot {hot}\ncold {100 - hot}\n"), COMPLETE)
        self.assertAlmostEqual(made.error("hot"), 10.0)
        self.assertEqual(made.samples, 200)


if __name__ == "__main__":
    unittest.main()
