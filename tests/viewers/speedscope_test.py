"""The format speedscope: its own page, offline in Chromium, shows ringside's functions, times and threads."""
import collections
import json
import pathlib
import unittest

import speedscope_table
import viewer_case
from ringside_tests.harness import webdriver


class Speedscope(viewer_case.ViewerCase):
    @unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
    def test_its_page_shows_functions_and_times(self):
        def check(name):
            path = self.export(name, "out.speedscope.json", "--source", "cpu", "--no-inline")
            with webdriver.Browser() as browser:
                speedscope_table.open_file(browser, path)
                text = speedscope_table.text(browser)
            there = {symbol: seconds for symbol, (seconds, _) in speedscope_table.own_times(text).items()}
            period = 1e-9 * self.interval(name)
            own, _ = self.function_sums(name, "--no-inline")
            wrong = [f"{symbol}: {there.get(symbol)} s there, {count * period} s here"
                     for symbol, count in own.most_common(12)
                     if abs(there.get(symbol, 0) - count * period) > 0.01 * count * period]
            self.assertEqual(wrong, [])
        self.each_recording(check)

    def test_stacks_are_those_of_the_samples(self):
        """By the schema's words: the profile of all, and that of each thread in order of time."""
        def check(name):
            content = json.loads(self.export(name, "out.speedscope.json", "--source", "cpu").read_text())
            frames = [frame["name"] for frame in content["shared"]["frames"]]
            profiles = {profile["name"]: profile for profile in content["profiles"]}
            self.assertEqual(len(profiles), len(content["profiles"]))
            whole = collections.Counter()
            threads = collections.defaultdict(list)
            thread_of = self.thread_of(name)
            for sample in self.sampled(name):
                whole[sample.frames[::-1]] += sample.weight
                threads[thread_of(sample)].append((sample.time_ns, sample.frames[::-1]))
            period = self.interval(name)
            there = collections.Counter()
            for stack, weight in zip(profiles["all, time"]["samples"], profiles["all, time"]["weights"], strict=True):
                there[tuple(frames[index] for index in stack)] += weight // period
            self.assert_same(there, whole)
            in_order = {key.rpartition(" ")[2] if not key.startswith("vcpu") else key: profile
                        for key, profile in profiles.items() if not key.startswith("all, ")}
            self.assertEqual(set(in_order), set(threads))
            for key, samples in threads.items():
                self.assertEqual([tuple(frames[index] for index in stack) for stack in in_order[key]["samples"]],
                                 [stack for _, stack in sorted(samples, key=lambda sample: sample[0])])
        self.each_recording(check)

    def test_the_schema_holds(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema: install python3-jsonschema")
        schema = json.loads((pathlib.Path(viewer_case.viewers()["SPEEDSCOPE"]) / "file-format-schema.json").read_text())

        def check(name):
            content = json.loads(self.export(name, "out.speedscope.json").read_text())
            jsonschema.Draft7Validator(schema).validate(content)
        self.each_recording(check)

    def test_each_value_of_each_source_has_a_profile(self):
        content = json.loads(self.export("mixed", "out.speedscope.json").read_text())
        sums = {profile["name"]: sum(profile["weights"]) for profile in content["profiles"]}
        for source, value, unit in (("allocations", "bytes", "bytes"), ("off-cpu", "time", "nanoseconds")):
            here = sum(dict(sample.values)[value] for sample in self.sampled("mixed", source))
            self.assertEqual(sums[f"all, {source}_{value}"], here)
            self.assertEqual(next(profile["unit"] for profile in content["profiles"]
                                  if profile["name"] == f"all, {source}_{value}"), unit)


if __name__ == "__main__":
    viewer_case.main()
