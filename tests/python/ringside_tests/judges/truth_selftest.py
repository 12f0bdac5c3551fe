"""Tests of the truth checker: it must accept true profiles and refuse each kind of false one."""
import collections
import contextlib
import io
import random
import unittest

from ringside_tests.harness import folded
from ringside_tests.judges import legal_stacks, truth

TRUTH = """
# a workload
share 50 burn_a
share 30 void burn<int, 2>(char const*)
share 20 tick
busy all
chain start;main loop;outer;burn_a
chain start;main loop;void burn<int, 2>(char const*)
chain [user];system_call;read
over irq_entry;handler;tick
nest 2
"""
TRUE_PROFILE = """start;main loop;outer;burn_a 5000
start;main loop;void burn<int, 2>(char const*) 3000
start;main loop;outer;irq_entry;handler;tick 2000
"""


def verdict(profile, expected=TRUTH, busy=1000):
    """The failure lines of a comparison."""
    _, failures = truth.check(legal_stacks.parse(expected), folded.parse(profile), busy, 2.0)
    return failures


class Shares(unittest.TestCase):
    def test_a_true_profile_passes(self):
        self.assertEqual(verdict(TRUE_PROFILE), [])

    def test_two_points_off_passes_and_more_fails(self):
        self.assertEqual(verdict(TRUE_PROFILE.replace("5000", "5200").replace("3000", "2800")), [])
        failures = verdict(TRUE_PROFILE.replace("5000", "5300").replace("3000", "2700"))
        self.assertIn("share of burn_a: expected 50.00 %, got 53.00 %", failures[0])

    def test_a_function_that_is_missing_fails(self):
        failures = verdict("start;main loop;outer;burn_a 5000\n")
        self.assertTrue(any("expected 20.00 %, got 0.00 %" in line for line in failures))

    def test_of_shares_known_together_the_sum_counts(self):
        together = TRUTH + "together void burn<int, 2>(char const*);tick\n"
        divided = TRUE_PROFILE.replace("3000", "1500").replace("2000", "3500")
        self.assertTrue(verdict(divided))
        self.assertEqual(verdict(divided, together), [])
        failures = verdict(divided.replace("5000", "5700"), together)
        self.assertIn("share of void burn<int, 2>(char const*) and tick: expected 50.00 %, got 46.73 %", failures[1])
        with self.assertRaisesRegex(ValueError, "line 12: .*without a share"):
            legal_stacks.parse(TRUTH + "together tick;tock\n")

    def test_only_the_leaf_counts_for_a_share(self):
        failures = verdict("start;main loop;outer;burn_a;tick 10000\n")
        self.assertTrue(any("share of burn_a: expected 50.00 %, got 0.00 %" in line for line in failures))

    def test_too_few_samples_fail(self):
        self.assertIn("10000 busy samples, fewer than 10001", verdict(TRUE_PROFILE, busy=10001))

    def test_an_empty_profile_fails(self):
        self.assertTrue(verdict(""))


class Vcpus(unittest.TestCase):
    """Shares of each vCPU: vcpu 1 has a quarter of the samples."""
    IDLE = TRUTH.replace("busy all", "busy 0")

    def profile(self, counts):
        """counts: samples of burn_a, burn and tick for each vCPU."""
        frames = [line.rpartition(" ")[0] for line in TRUE_PROFILE.splitlines()]
        return "".join(f"vcpu {number};{stack} {count}\n" for number, of_vcpu in counts.items()
                       for stack, count in zip(frames, of_vcpu))

    def verdict(self, counts, expected=TRUTH, vcpus=2):
        return truth.check_vcpus(legal_stacks.parse(expected), folded.parse(self.profile(counts)), vcpus, 2.0)[1]

    def test_true_shares_pass(self):
        self.assertEqual(self.verdict({0: (5000, 3000, 2000), 1: (500, 300, 200)}), [])

    def test_wrong_shares_that_even_out_between_the_vcpus_fail(self):
        failures = self.verdict({0: (6000, 2000, 2000), 1: (4000, 4000, 2000)})
        self.assertTrue(any(line.startswith("vcpu 0: share of burn_a: expected 50.00 %, got 60.00 %")
                            for line in failures), failures)
        self.assertTrue(any(line.startswith("vcpu 1: ") for line in failures), failures)

    def test_few_samples_get_the_room_that_chance_takes(self):
        self.assertEqual(self.verdict({0: (5000, 3000, 2000), 1: (212, 108, 80)}), [])
        self.assertTrue(self.verdict({0: (5000, 3000, 2000), 1: (290, 40, 70)}))
        self.assertTrue(self.verdict({0: (5500, 2500, 2000), 1: (200, 120, 80)}))

    def test_a_vcpu_without_samples_fails(self):
        self.assertIn("vcpu 1 has no busy samples", self.verdict({0: (5000, 3000, 2000)}))

    def test_an_idle_vcpu_has_no_samples(self):
        self.assertEqual(self.verdict({0: (5000, 3000, 2000)}, self.IDLE), [])
        self.assertIn("vcpu 1 has 1 busy samples, and no work",
                      self.verdict({0: (5000, 3000, 2000), 1: (1, 0, 0)}, self.IDLE))
        self.assertIn("vcpu 0 has no busy samples", self.verdict({}, self.IDLE))

    def test_a_stack_of_no_vcpu_fails(self):
        self.assertTrue(self.verdict({0: (5000, 3000, 2000), 1: (500, 300, 200), 2: (1, 0, 0)}))
        self.assertEqual(len(truth.check_vcpus(legal_stacks.parse(TRUTH), folded.parse(TRUE_PROFILE), 1, 2.0)[1]), 4)


class ManySmallShares(unittest.TestCase):
    """The shape of the skid workload: 256 functions; block i costs 64 + 97 i mod 256."""

    def setUp(self):
        self.costs = [64 + 97 * number % 256 for number in range(256)]
        self.truth = "busy all\n" + "".join(
            f"share {cost / sum(self.costs) * 100:.4f} block_{number}\nchain pass;block_{number}\n"
            for number, cost in enumerate(self.costs))

    def sample(self, skid):
        """10,000 random samples of which the given share is charged to the next function."""
        chance = random.Random(7)
        found = collections.Counter()
        for number in chance.choices(range(256), self.costs, k=10000):
            found[(number + (chance.random() < skid)) % 256] += 1
        return "".join(f"pass;block_{number} {count}\n" for number, count in found.items())

    def test_chance_alone_passes(self):
        self.assertEqual(verdict(self.sample(0.0), self.truth), [])

    def test_skid_to_the_next_function_fails(self):
        for skid in (0.5, 1.0):
            self.assertIn("samples in a wrong function", verdict(self.sample(skid), self.truth)[0])


class Unknown(unittest.TestCase):
    def test_an_unknown_frame_anywhere_counts(self):
        for stack in ("<unknown:0xffffffff80001234>", "start;<unknown:0x10>;outer;burn_a"):
            with self.subTest(stack=stack):
                failures = verdict(TRUE_PROFILE + f"{stack} 200\n")
                self.assertTrue(any("unknown frame" in line for line in failures))
                self.assertTrue(any(stack in line for line in failures))

    def test_under_one_percent_passes(self):
        self.assertEqual(verdict(TRUE_PROFILE + "<unknown:0x10> 50\n"), [])

    def test_exactly_one_percent_fails(self):
        self.assertTrue(verdict(TRUE_PROFILE.replace("5000", "4900") + "<unknown:0x10> 100\n"))


class Stacks(unittest.TestCase):
    def setUp(self):
        self.truth = legal_stacks.parse(TRUTH)

    def legal(self, stack):
        return self.truth.is_legal(tuple(stack.split(";")))

    def test_chains_and_their_prefixes_are_legal(self):
        for stack in ("start", "start;main loop", "start;main loop;outer", "start;main loop;outer;burn_a"):
            self.assertTrue(self.legal(stack), stack)

    def test_a_skipped_caller_is_illegal(self):
        for stack in ("start;main loop;burn_a", "start;outer;burn_a", "main loop;outer;burn_a", "burn_a", "outer"):
            self.assertFalse(self.legal(stack), stack)

    def test_a_frame_too_many_is_illegal(self):
        self.assertFalse(self.legal("start;main loop;outer;burn_a;burn_a"))
        self.assertFalse(self.legal("start;start;main loop"))

    def test_an_interrupt_may_stand_on_any_legal_stack(self):
        for base in ("start", "start;main loop;outer;burn_a"):
            for over in ("irq_entry", "irq_entry;handler", "irq_entry;handler;tick"):
                self.assertTrue(self.legal(f"{base};{over}"))

    def test_an_interrupt_with_a_skipped_frame_or_on_an_illegal_stack_is_illegal(self):
        self.assertFalse(self.legal("start;irq_entry;tick"))
        self.assertFalse(self.legal("start;handler;tick"))
        self.assertFalse(self.legal("main loop;irq_entry;handler"))

    def test_an_interrupt_alone_needs_a_chain_of_its_own(self):
        self.assertFalse(self.legal("irq_entry;handler"))
        self.assertFalse(self.legal("[user];irq_entry;handler"))
        truth_with_it = legal_stacks.parse(TRUTH + "chain irq_entry;handler;tick\n")
        self.assertTrue(truth_with_it.is_legal(("irq_entry", "handler")))

    def test_nesting_is_bounded(self):
        self.assertTrue(self.legal("start;irq_entry;handler;irq_entry;handler;tick"))
        self.assertFalse(self.legal("start;irq_entry;irq_entry;irq_entry"))

    def test_code_called_by_nobody_after_an_interrupt_is_illegal(self):
        self.assertFalse(self.legal("start;irq_entry;handler;outer"))

    def test_the_user_frame_under_a_system_call_is_optional(self):
        self.assertTrue(self.legal("[user];system_call;read"))
        self.assertTrue(self.legal("system_call;read"))

    def test_user_samples_are_not_kernel_samples(self):
        profile = TRUE_PROFILE + "[user] 100\n[firmware] 10\n"
        self.assertEqual(verdict(profile), [])

    def test_one_percent_of_illegal_stacks_passes_and_two_fail(self):
        self.assertEqual(verdict(TRUE_PROFILE + "start;outer;burn_a 100\n"), [])
        failures = verdict(TRUE_PROFILE + "start;outer;burn_a 200\n")
        self.assertTrue(any("legal stack" in line for line in failures))
        self.assertTrue(any("200  start;outer;burn_a" in line for line in failures))

    def test_deep_recursion(self):
        deep = legal_stacks.parse("chain start;" + ";".join(["again"] * 40))
        self.assertTrue(deep.is_legal(("start",) + ("again",) * 40))
        self.assertFalse(deep.is_legal(("start",) + ("again",) * 41))
        self.assertFalse(deep.is_legal(("again",) * 40))


class Input(unittest.TestCase):
    def test_bad_lines_are_refused_with_their_number(self):
        for text in ("frame\n", "frame x\n", "a;;b 3\n", " 3\n"):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, "line 1"):
                folded.parse(text)
        for text in ("share x f\n", "share 5\n", "busy 3\n", "nest many\n", "colour red\n", "chain a;;b\n"):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, "line 1"):
                legal_stacks.parse(text)

    def test_bad_input_is_status_two(self):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.assertEqual(truth.compare("", TRUE_PROFILE, 10, 2.0), 2)
        self.assertIn("neither shares nor chains", said.getvalue())

    def test_the_status_and_the_offenders_are_reported(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(truth.compare(TRUTH, TRUE_PROFILE, 10000, 2.0), 0)
            self.assertEqual(truth.compare(TRUTH, "burn_a 10\n", 10000, 2.0), 1)
        self.assertIn("FAILED: 10 busy samples", said.getvalue())


if __name__ == "__main__":
    unittest.main()
