"""How long the tests wait for what should happen. All of these limits are here.

A limit ends a hang and decides nothing else. It has room for a busy machine: a step takes seconds
on an idle one. RINGSIDE_TIME_SCALE says how many times as long a step may take here, and
RINGSIDE_TEST_SECONDS how long a whole test may. cmake/time_limits.cmake gives both to the tests
that ctest runs.
"""
import os
import time

SCALE = max(1.0, float(os.environ.get("RINGSIDE_TIME_SCALE") or 1))
STEP = 120 * SCALE  # seconds that one command, answer or line of output may take
BOOT = 600 * SCALE  # seconds until a Linux guest has begun its work
# Options of ringside's beside a number of samples: a busy host has few at a time.
ENOUGH_TIME = ("--duration", f"{STEP / 2:g}")
SOON = 20 * SCALE  # seconds for what has to be prompt: it takes milliseconds on an idle machine
TEST = float(os.environ.get("RINGSIDE_TEST_SECONDS") or 900 * SCALE)  # seconds of all of a test


def step_end():
    """When a step that begins now is a hang, by time.monotonic()."""
    return time.monotonic() + STEP


def test_end():
    """When all of a test that begins now is a hang."""
    return time.monotonic() + TEST


def wait_until(condition, pause=0.005):
    """Whether it comes true within a step."""
    end = step_end()
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(pause)
    return True


def add_option(parser, whole=TEST):
    """--limit, in seconds."""
    parser.add_argument("--limit", type=float, default=whole, help=f"seconds that it may take (default {whole:g})")
