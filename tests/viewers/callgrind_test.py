"""The format callgrind: callgrind_annotate shows each function's own samples, and those that it is in."""
import collections
import re

import callgrind_table
import viewer_case


class Callgrind(viewer_case.ViewerCase):
    @staticmethod
    def annotate(path, *options):
        """Samples by function."""
        samples = collections.Counter()
        for line, function, count in callgrind_table.rows(path, *options):
            if not line.endswith("[[process]]"):
                samples[function] += count
        return samples

    def test_functions_have_their_samples(self):
        def check(name):
            path = self.export(name, "out.callgrind", "--source", "cpu")
            own, whole = self.function_sums(name)
            self.assert_same(+self.annotate(path), +own)
            self.assert_same(+self.annotate(path, "--inclusive=yes"), +whole)
        self.each_recording(check)

    def test_costs_of_other_sources_are_no_function_s_own(self):
        own, whole = self.function_sums("mixed")
        path = self.export("mixed", "out.callgrind")  # of all sources
        there = +self.annotate(path)
        self.assert_same({name: there[name] for name in own}, own)
        there = self.annotate(path, "--inclusive=yes")
        self.assert_same({name: there[name] for name in whole}, whole)

    def test_lines_are_those_of_the_frames(self):
        """Own costs by source line, of the demo kernel, which has debug information."""
        path = self.export("demo", "out.callgrind", "--source", "cpu")
        program = viewer_case.need("callgrind_annotate", "valgrind")
        text = viewer_case.run(program, "--threshold=100", "--auto=yes", f"--include={viewer_case.ROOT}", path).stdout
        self.assertRegex(text, r"-- Auto-annotated source: \S*demo/kernel/\S+")

    def test_all_values_are_there(self):
        text = self.export("mixed", "out.callgrind").read_text()
        events = re.search(r"^events: (.*)$", text, re.M).group(1).split()
        summary = dict(zip(events, map(int, re.search(r"^summary: (.*)$", text, re.M).group(1).split()), strict=True))
        for source, value in (("allocations", "bytes"), ("off-cpu", "time"), ("allocations", "change")):
            self.assertEqual(summary[f"{source}_{value}"],
                             sum(dict(sample.values)[value] for sample in self.sampled("mixed", source)))


if __name__ == "__main__":
    viewer_case.main()
