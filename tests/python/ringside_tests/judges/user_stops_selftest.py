"""Tests of user_stops.py, which reads QEMU's trace: which of a user's stops are judged, and which of those were undone."""
import unittest

from ringside_tests.judges import user_stops

RUNS = "runstate_set current_run_state 4 (paused) new_state 9 (running)\n"
STOPS = "runstate_set current_run_state 9 (running) new_state 4 (paused)\n"
STUB = "gdbstub_err_unexpected_runpkt unexpected packet (0x24) while target running\n"
USER_STOP = "monitor_qmp_cmd_in_band user-stop-0\n"
USER_CONT = "monitor_qmp_cmd_in_band user-cont-0\n"
SAMPLE = "monitor_qmp_cmd_in_band 17\n"
FLUSH = "vm_stop_flush_all ret 0\n"


def read(*lines):
    """(all stops, judged, judged and undone)."""
    stops = user_stops.read_trace(list(lines))
    judged = user_stops.judged(stops)
    return len(stops), len(judged), sum(stop.undone for stop in judged)


class UserStop(unittest.TestCase):
    def test_a_stop_that_lasts_is_judged(self):
        self.assertEqual(read(RUNS, USER_STOP, STOPS, FLUSH, USER_CONT, RUNS), (1, 1, 0))

    def test_a_stop_that_a_sample_undoes_is_counted(self):
        self.assertEqual(read(RUNS, USER_STOP, STOPS, FLUSH, RUNS, STUB, STOPS, RUNS, USER_CONT), (1, 1, 1))

    def test_a_stop_within_a_samples_is_not_judged(self):
        self.assertEqual(read(RUNS, STUB, STOPS, USER_STOP, RUNS, USER_CONT), (1, 0, 0))

    def test_a_stop_that_the_stub_was_quicker_than_is_not_judged(self):
        self.assertEqual(read(RUNS, USER_STOP, STUB, STOPS, FLUSH, RUNS, USER_CONT), (1, 0, 0))

    def test_a_stop_behind_a_samples_last_question_is_not_judged(self):
        self.assertEqual(read(RUNS, USER_STOP, STOPS, FLUSH, SAMPLE, FLUSH, RUNS, USER_CONT), (1, 0, 0))


if __name__ == "__main__":
    unittest.main()
