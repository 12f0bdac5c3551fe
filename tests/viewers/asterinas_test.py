"""The format asterinas-json: read by the rules of Asterinas' profiler, it has ringside's captures."""
import collections
import json
import re

import viewer_case


def cleaned(name):
    """The clean-up of Asterinas' profiler, by its own steps: brackets, impl and closure blocks, arguments, second word."""
    if name.startswith("<unknown"):
        return "??"
    text, depth = "", 0
    for character in name:
        if character == "<":
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            text += character
    text = re.sub(r"::\{.*?\}", "", text.replace("(anonymous namespace)::", ""))
    return re.sub(r"\(.*", "", text).split()[0]


class Asterinas(viewer_case.ViewerCase):
    def round_ns(self, name):
        """How long a round takes: a stop has one time; vCPUs that sample themselves do so once in an interval."""
        header = self.lines(name)[0]
        return 1 if header["engine"] in ("gdb", "qmp") else header["interval_ns"]

    def test_captures_have_the_stacks_of_vcpus(self):
        def check(name):
            content = json.loads(self.export(name, "out.asterinas.json", "--source", "cpu").read_text())
            there = collections.Counter()
            samples, began, last = iter(self.sampled(name)), 0, {}
            for capture in content["stack_traces"]:
                self.assertTrue(capture)
                times = [next(samples).time_ns for _ in capture]
                # A capture goes on until a vCPU comes again, or its round is over.
                self.assertTrue(not last or next(iter(capture)) in last or times[0] - began >= self.round_ns(name))
                self.assertLess(times[-1] - times[0], self.round_ns(name))
                began, last = times[0], capture
                for vcpu, frames in capture.items():
                    there[int(vcpu), tuple(frames)] += 1
            here = collections.Counter((sample.vcpu, tuple(map(cleaned, sample.frames))) for sample in self.sampled(name))
            self.assert_same(there, here)
        self.each_recording(check, "demo", "mixed")

    def test_folded_stacks_have_the_same_names(self):
        text = self.export("demo", "out.folded", "--demangle", "asterinas", "--by", "none").read_text()
        there = {function for line in text.splitlines() for function in line.rpartition(" ")[0].split(";")}
        here = {cleaned(function) for sample in self.sampled("demo") for function in sample.frames
                if not function.startswith("<unknown")}
        self.assertEqual(here - there, set())


if __name__ == "__main__":
    viewer_case.main()
