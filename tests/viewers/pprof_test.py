"""The format pprof, as `go tool pprof` reads it: stacks, values, labels and mappings are ringside's own."""
import collections
import re

import go_tool
import viewer_case


class Pprof(viewer_case.ViewerCase):
    def pprof(self, *arguments):
        return go_tool.go(self.folder, "tool", "pprof", *arguments)

    def test_stacks_and_labels_are_those_of_the_samples(self):
        def check(name):
            values, samples, locations, _ = go_tool.read_raw(self.pprof("-raw", self.export(name, "out.pb.gz", "--source", "cpu")))
            self.assertEqual(values[:2], ["ticks", "time"])
            interval = self.interval(name)
            there = collections.Counter()
            for numbers, ids, labels in samples:
                frames = tuple(function for location in ids for function in locations[location])
                there[(labels.get("pid", "-1"), labels.get("tid", "-1"), labels["vcpu"], labels["mode"], frames)] += numbers[0]
                self.assertEqual(numbers[1], numbers[0] * interval)
            here = collections.Counter()
            for sample in self.sampled(name):
                here[(str(sample.pid), str(sample.tid), str(sample.vcpu), sample.level, sample.frames)] += sample.weight
            self.assert_same(there, here)
        self.each_recording(check)

    def test_tags_are_the_report_s_commands(self):
        def check(name):
            text = self.pprof("-tags", self.export(name, "out.pb.gz", "--source", "cpu"))
            comms = text.partition(" comm: Total ")[2].partition("\n\n")[0]
            there = {comm: int(float(count)) for count, comm in re.findall(r"^\s+([\d.]+) \([^)]*\): (.*)$", comms, re.M)}
            self.assert_same(there, {comm: count for comm, count in self.report(name, "comm").items() if count})
        self.each_recording(check)

    def test_functions_are_the_report_s(self):
        def check(name):
            text = self.pprof("-top", "-nodecount=100000", "-nodefraction=0",
                              self.export(name, "out.pb.gz", "--source", "cpu", "--no-inline"))
            there = collections.Counter()
            for flat, symbol in re.findall(r"^\s+(\d+)\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+(.*)$", text, re.M):
                there[symbol.removesuffix(" (inline)").removesuffix(" (partial-inline)")] += int(flat)
            self.assert_same(+there, +self.report(name, "sym", "--no-inline"))
        self.each_recording(check)

    def test_all_sources_are_there_with_all_values(self):
        values, samples, _, _ = go_tool.read_raw(self.pprof("-raw", self.export("mixed", "out.pb.gz")))
        for column in ("cpu_ticks", "cpu_time", "monitor_ticks", "off-cpu_count", "off-cpu_time", "allocations_bytes",
                       "requests_duration"):
            self.assertIn(column, values)
        sums = {column: sum(numbers[index] for numbers, _, _ in samples) for index, column in enumerate(values)}
        for source in ("cpu", "off-cpu", "allocations"):
            here = [sample for sample in self.samples("mixed")
                    if sample.source == source and sample.disposition == "sampled"]
            self.assertTrue(here)
            self.assertEqual(sums[f"{source}_{'ticks' if source == 'cpu' else 'count'}"], sum(s.weight for s in here))
            for index, (value, _) in enumerate(here[0].values):
                self.assertEqual(sums[f"{source}_{value}"], sum(sample.values[index][1] for sample in here))

    def test_mappings_have_build_ids(self):
        def check(name):
            _, _, _, mappings = go_tool.read_raw(self.pprof("-raw", self.export(name, "out.pb.gz")))
            self.assertRegex("\n".join(mappings), r"vmlinuz\S* [0-9a-f]{40} \[FN\]|vmlinuz\S* [0-9a-f]{40}")
        self.each_recording(check, "linux")

    def test_idle_is_there_where_it_is_asked_for(self):
        def check(name):
            values, samples, _, _ = go_tool.read_raw(self.pprof("-raw", self.export(name, "out.pb.gz", "--show-idle")))
            idle = sum(sample.weight for sample in self.samples(name)
                       if sample.source == "cpu" and sample.disposition == "idle")
            self.assertTrue(idle)
            column = values.index("cpu_ticks")
            self.assertEqual(sum(numbers[column] for numbers, _, labels in samples if labels["mode"] == "idle"), idle)
        self.each_recording(check, "mixed")


if __name__ == "__main__":
    viewer_case.main()
