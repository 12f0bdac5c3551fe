"""The format pprof, as `go tool pprof` reads it: stacks, values, labels and mappings are ringside's own."""
import collections
import re

import viewer_case

LOCATION = re.compile(r"\s*(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*)")
LINE = re.compile(r"(.*?) (\S*):(\d+) s=\d+(?:\(.*\))?$")
LABEL = re.compile(r"(\w+):\[([^\]]*)\]")


def read_raw(text):
    """(names of values, [(values, location ids, labels)], {location: function names, innermost first}, mapping lines)."""
    values, samples, locations, mappings = [], [], {}, []
    part = None
    for line in text.splitlines():
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Samples:" and not values:
            values = [word.partition("/")[0] for word in line.replace("[dflt]", "").split()]
        elif part == "Samples:" and re.match(r"\s*-?\d", line):
            numbers, _, ids = line.partition(":")
            samples.append(([int(number) for number in numbers.split()], [int(word) for word in ids.split()], {}))
        elif part == "Samples:":
            samples[-1][2].update(LABEL.findall(line))
        elif part == "Locations":
            found = LOCATION.match(line)
            if found:
                current = locations.setdefault(int(found.group(1)), [])
                line = found.group(4)
            if LINE.match(line.strip()):
                current.append(LINE.match(line.strip()).group(1))
        elif part == "Mappings":
            mappings.append(line)
    return values, samples, locations, mappings


class Pprof(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        self.go = viewer_case.need("go", "golang-go")

    def pprof(self, *arguments):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "PPROF_TMPDIR": str(self.folder)}
        return viewer_case.run(self.go, "tool", "pprof", *arguments, env=environment).stdout

    def test_stacks_and_labels_are_those_of_the_samples(self):
        def check(name):
            values, samples, locations, _ = read_raw(self.pprof("-raw", self.export(name, "out.pb.gz", "--source", "cpu")))
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

    def interval(self, name):
        text = self.ringside("export", "-i", self.recording(name), "--format", "json-lines", "-o", "-")
        return int(re.search(r'"interval_ns":(\d+)', text).group(1))

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
        values, samples, _, _ = read_raw(self.pprof("-raw", self.export("mixed", "out.pb.gz")))
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
            _, _, _, mappings = read_raw(self.pprof("-raw", self.export(name, "out.pb.gz")))
            self.assertRegex("\n".join(mappings), r"vmlinuz\S* [0-9a-f]{40} \[FN\]|vmlinuz\S* [0-9a-f]{40}")
        self.each_recording(check, "linux")

    def test_idle_is_there_where_it_is_asked_for(self):
        def check(name):
            values, samples, _, _ = read_raw(self.pprof("-raw", self.export(name, "out.pb.gz", "--show-idle")))
            idle = sum(sample.weight for sample in self.samples(name)
                       if sample.source == "cpu" and sample.disposition == "idle")
            self.assertTrue(idle)
            column = values.index("cpu_ticks")
            self.assertEqual(sum(numbers[column] for numbers, _, labels in samples if labels["mode"] == "idle"), idle)
        self.each_recording(check, "mixed")


if __name__ == "__main__":
    viewer_case.main()
