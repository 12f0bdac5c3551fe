"""Tests of the pause benchmark's arithmetic and of its reading of ringside's report."""
import unittest

import pauses
import result
import ringside_attached


class Pairing(unittest.TestCase):
    def test_stop_and_resume_make_a_pause(self):
        events = [("STOP", 1.0), ("RESUME", 1.25), ("STOP", 2.0), ("RESUME", 2.5)]
        self.assertEqual(pauses.pair(events), [0.25, 0.5])

    def test_what_does_not_pair_is_left_out(self):
        self.assertEqual(pauses.pair([("RESUME", 1.0), ("STOP", 2.0)]), [])
        self.assertEqual(pauses.pair([("STOP", 1.0), ("NIC_RX_FILTER_CHANGED", 1.1), ("RESUME", 1.5)]), [0.5])


class Statistics(unittest.TestCase):
    def test_percentile_is_the_nearest_rank(self):
        values = list(range(1, 101))
        self.assertEqual(pauses.percentile(values, 99), 99)
        self.assertEqual(pauses.percentile([7], 99), 7)
        self.assertEqual(pauses.percentile([3, 1, 2], 99), 3)

    def test_summary_is_in_microseconds(self):
        summary = pauses.summarise([0.0001, 0.0003, 0.0002])
        self.assertEqual((summary["count"], summary["median_us"], summary["max_us"]), (3, 200.0, 300.0))
        self.assertEqual(pauses.summarise([]), {"count": 0})

    def test_ratios_are_to_ringside(self):
        ways = [result.Way("ringside", "", pauses=[0.0001]), result.Way("gdb-attached", "", pauses=[0.02]),
                result.Way("gdb-fresh", "")]
        summaries = {way.name: way.summary() for way in ways}
        self.assertEqual(result.ratios(summaries), {"gdb-attached": 200.0})
        self.assertEqual(len(result.table(summaries)), 4)


class Report(unittest.TestCase):
    def test_stack_bytes_are_found_or_not_reported(self):
        self.assertEqual(ringside_attached.stack_bytes("samples: 12\nstack bytes per sample: 2,048\n"), 2048)
        self.assertEqual(ringside_attached.stack_bytes("  Stack bytes copied: 4096.5 a sample"), 4096.5)
        self.assertIsNone(ringside_attached.stack_bytes("samples: 12\n"))


if __name__ == "__main__":
    unittest.main()
