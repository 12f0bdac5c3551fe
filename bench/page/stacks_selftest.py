"""Tests of stacks.py: the number of frames is the one that is asked for, and the stacks are the same each time."""
import unittest

import stacks


class Stacks(unittest.TestCase):
    def test_the_flame_graph_has_so_many_frames(self):
        for wanted in (1, 10, 3000):
            frames = set()
            for line in stacks.folded(wanted).splitlines():
                stack, count = line.rsplit(" ", 1)
                self.assertGreater(int(count), 0)
                names = stack.split(";")
                frames.update(tuple(names[:depth]) for depth in range(1, len(names) + 1))
            self.assertEqual(len(frames), wanted)

    def test_each_time_the_same(self):
        self.assertEqual(stacks.folded(500), stacks.folded(500))
        self.assertNotEqual(stacks.folded(500), stacks.folded(500, seed=2))


if __name__ == "__main__":
    unittest.main()
