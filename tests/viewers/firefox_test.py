"""The format firefox, as the Firefox Profiler's command-line tool reads it: threads, functions, categories and markers are
ringside's own."""
import collections
import gzip
import itertools
import json

import viewer_case
from firefox_tool import FirefoxToolCase

FRAME_KINDS = {"kernel": "Kernel", "user": "User", "firmware": "Firmware", "interrupt": "Interrupt"}


class Firefox(FirefoxToolCase):
    def load_recording(self, name):
        self.load(self.export(name, f"{name}.firefox.json.gz"))

    def check_functions(self, handle, samples):
        own, total = self.functions(handle)
        here_own, here_total = collections.Counter(), collections.Counter()
        for sample in samples:
            here_own[sample.frames[0] if sample.frames else "[no stack]"] += sample.weight
            for function in set(sample.frames):
                here_total[function] += sample.weight
        self.assert_same(own, here_own)
        # Functions of the same name in two files are two there: both may be in one stack.
        for function, count in here_total.items():
            self.assertGreaterEqual(total[function], count, function)

    def test_functions_of_vcpus_and_guest_threads_are_those_of_the_samples(self):
        def check(name):
            self.load_recording(name)
            threads = self.threads()
            by_vcpu, by_thread = collections.defaultdict(list), collections.defaultdict(list)
            for sample in self.sampled(name):
                by_vcpu[f"vCPU {sample.vcpu}"].append(sample)
                by_thread[sample.pid, sample.thread].append(sample)
            vcpus = {thread["name"]: handle for handle, thread in threads.items() if thread["pid"] == "vCPUs"}
            self.assertEqual(sorted(vcpus), sorted(by_vcpu))
            for vcpu, samples in by_vcpu.items():
                self.check_functions(vcpus[vcpu], samples)
            guest = {(int(thread["pid"]), int(thread["tid"])): handle for handle, thread in threads.items()
                     if str(thread["pid"]).isdigit()}
            known = {key: samples for key, samples in by_thread.items() if key != (-1, -1)}
            self.assertEqual(set(guest), set(known))
            busiest = sorted(known, key=lambda key: -len(known[key]))[:4]
            for key in busiest:
                self.check_functions(guest[key], known[key])

        self.each_recording(check)

    def test_categories_are_the_kinds_of_the_innermost_frames(self):
        def check(name):
            self.load_recording(name)
            here = collections.defaultdict(collections.Counter)
            for line in self.lines(name):
                if "stacks" not in line or "time_ns" not in line or line.get("source", "cpu") != "cpu":
                    continue
                if line["disposition"] == "idle":
                    here[line["vcpu"]]["Idle"] += line["weight"]
                elif line["disposition"] == "sampled":
                    frames = [frame for stack in line["stacks"] for frame in stack["frames"]]
                    here[line["vcpu"]][FRAME_KINDS[frames[0]["kind"]] if frames else "Other"] += line["weight"]
            for handle, thread in self.threads().items():
                if thread["pid"] != "vCPUs":
                    continue
                listed = self.json("thread", "samples", "--thread", handle, "--include-idle")["categoryBreakdown"]["categories"]
                there = collections.Counter({row["name"]: row["samples"] for row in listed})
                self.assert_same(there, here[int(thread["name"].split()[1])])

        self.each_recording(check)

    def test_times_are_those_of_the_samples(self):
        """By the words of the format: deltas of milliseconds. The tool shows none."""
        def check(name):
            profile = json.loads(gzip.decompress(self.export(name, "out.firefox.json.gz").read_bytes()))
            shared = profile["shared"]

            def leaf(stack):
                function = shared["frameTable"]["func"][shared["stackTable"]["frame"][stack]]
                return shared["stringArray"][shared["funcTable"]["name"][function]]

            here = collections.Counter()
            for sample in self.samples(name):
                function = sample.frames[0] if sample.frames else "[idle]"
                if sample.source == "cpu" and sample.disposition in ("sampled", "idle"):
                    here["vCPUs", f"vCPU {sample.vcpu}", sample.time_ns, function] += 1
                if sample.source == "cpu" and sample.disposition == "sampled" and sample.pid >= 0:
                    here[str(sample.pid), sample.thread, sample.time_ns, function] += 1
            there = collections.Counter()
            for thread in profile["threads"]:
                nanoseconds = (round(delta * 1e6) for delta in thread["samples"]["timeDeltas"])
                who = thread["name"] if thread["pid"] == "vCPUs" else thread["tid"]
                for time, stack in zip(itertools.accumulate(nanoseconds), thread["samples"]["stack"], strict=True):
                    if thread["pid"] == "vCPUs" or thread["pid"].isdigit():
                        there[thread["pid"], who, time, leaf(stack)] += 1
            self.assert_same(there, here)

        self.each_recording(check)

    def test_other_sources_are_threads_of_their_own(self):
        self.load_recording("mixed")
        threads = {thread["name"]: handle for handle, thread in self.threads().items()}
        here = collections.Counter()
        for sample in self.sampled("mixed", "allocations"):
            here[sample.frames[0]] += dict(sample.values)["bytes"]
        there, _ = self.functions(threads["allocations bytes"])
        self.assert_same(there, here)

    def test_events_are_markers_with_their_fields(self):
        here = collections.Counter(line["event"] for line in self.lines("mixed") if "event" in line)
        self.load_recording("mixed")
        handle = next(handle for handle, thread in self.threads().items() if thread["name"] == "Events")
        listed = self.json("thread", "markers", "--thread", handle, "--top-n", "1000")["byType"]
        self.assert_same({row["markerName"]: row["count"] for row in listed}, here)


if __name__ == "__main__":
    viewer_case.main()
