"""The text of perf script, as the Firefox Profiler's tool reads it, and in the style of Redox' tool."""
import collections
import re

import viewer_case
from firefox_tool import FirefoxToolCase

HEAD = re.compile(r"^(\S.*?) +(-?\d+)/(-?\d+) +\[(\d+)\] +(\d+)\.(\d{9}): +(\d+) (.+): $")
REDOX_FRAME = re.compile(r"^\t *[0-9a-f]+ (\S.*)$")


def collapsed(frame):
    """A frame as inferno-collapse-perf names it: it splits at the last blank, and the image names a frame without a symbol."""
    name, image = REDOX_FRAME.match(frame).group(1).rsplit(" ", 1)
    return f"[{image[1:-1]}]" if name == "[unknown]" else name


class PerfScript(FirefoxToolCase):
    def test_the_firefox_tool_finds_threads_and_functions(self):
        def check(name):
            path = self.export(name, f"{name}.perf-script", "--source", "cpu", "--no-inline")
            self.load(path)
            here = collections.defaultdict(collections.Counter)
            for sample in self.sampled(name, options=("--no-inline",)):
                kept = [frame for frame in sample.frames if not frame.startswith("(")]  # it drops "(anonymous namespace)::f"
                if kept:
                    here[max(sample.pid, 0), max(sample.thread, 0)][kept[0]] += 1
            there = collections.defaultdict(collections.Counter)
            for handle, thread in self.threads().items():  # one for each name that a thread has had
                there[int(thread["pid"]), int(thread["tid"])].update(self.functions(handle)[0])
            for key, functions in here.items():
                named = collections.Counter({function: count for function, count in functions.items()
                                             if not function.startswith("<unknown:")})
                got = there[key]
                for function, count in named.items():
                    self.assertEqual(got[function], count, (key, function))
        self.each_recording(check)

    def test_each_sample_is_a_block(self):
        def check(name):
            there = collections.Counter()
            for block in self.export(name, "out.perf-script", "--source", "cpu").read_text().split("\n\n"):
                if not block.strip():
                    continue
                head, *frames = block.splitlines()
                _, pid, tid, cpu, seconds, nanos, period, event = HEAD.match(head).groups()
                addresses = tuple(int(frame.split()[0], 16) for frame in frames if "(inlined)" not in frame)
                there[int(pid), int(tid), int(cpu), int(seconds) * 10**9 + int(nanos), int(period), event, addresses] += 1
            here = collections.Counter((max(sample.pid, 0), max(sample.thread, 0), sample.vcpu, sample.time_ns, sample.weight, "cpu",
                                        sample.addresses or (0,)) for sample in self.sampled(name))
            self.assert_same(there, here)
        self.each_recording(check)

    def test_redox_styles(self):
        """The naming of its published pictures, as inferno-collapse-perf makes it: [name] of "[name] (kernel)"."""
        def folded(style):
            stacks = collections.Counter()
            text = self.export("demo", "out.perf-script", "--redox-style", style).read_text()
            for block in text.split("\n\n"):
                if block.strip():
                    head, *frames = block.splitlines()
                    names = [collapsed(frame) for frame in frames]
                    stacks[(HEAD.match(head).group(1), *reversed(names))] += 1
            return stacks

        plain, offsets, both = folded("_"), folded("o"), folded("xo")
        here = collections.Counter()
        for sample in self.sampled("demo", options=("--no-inline",)):
            here[("kernel", *(f"[{name}]" if not name.startswith("<unknown") else "[[kernel]]"
                              for name in reversed(sample.frames)))] += 1
        self.assert_same(plain, here)
        self.assertEqual(sum(offsets.values()), sum(plain.values()))
        strip = re.compile(r"\+[0-9a-f]+\]$")
        without = collections.Counter()
        for stack, count in offsets.items():
            without[tuple(strip.sub("]", name) for name in stack)] += count
        self.assert_same(without, plain)
        self.assertTrue(any(strip.search(stack[-1]) for stack in offsets))
        for stack in both:  # a function, and function+offset as its child
            for parent, child in zip(stack[1:], stack[2:], strict=False):
                if strip.search(child):
                    self.assertEqual(strip.sub("]", child), parent)

    def test_redox_letters_are_checked(self):
        with self.assertRaisesRegex(AssertionError, "letters of o, x and i"):
            self.export("demo", "out.perf-script", "--redox-style", "q")


if __name__ == "__main__":
    viewer_case.main()
