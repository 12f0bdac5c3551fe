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
    def test_captures_have_the_stacks_of_vcpus(self):
        def check(name):
            content = json.loads(self.export(name, "out.asterinas.json", "--source", "cpu").read_text())
            there, last = collections.Counter(), None
            for capture in content["stack_traces"]:
                self.assertTrue(capture)
                if last is not None:  # a capture goes on until a vCPU comes again
                    self.assertIn(next(iter(capture)), last)
                last = capture
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
