"""report, flamegraph and export choose among the sources and values of one recording, and each total adds up.

mixed_recording.cpp writes it; the sums here are made from its numbers, not from ringside's output.
"""
import json
import re
import subprocess

import cli_case

FORMATS = ("folded", "speedscope", "perf-script", "perf-data", "pprof", "callgrind", "firefox", "asterinas-json")
REQUESTS, THREADS = 300, 500
TICKS = range(3000)
MONITOR = [i for i in TICKS if i % 5 == 0]
STRETCHES = [i for i in TICKS if i % 15 == 0]
ALLOCATIONS = [i for i in TICKS if i % 3 == 0]
MARKS = [sum((mark + 1) * (function + 1) * 100 + 1 for function in range(4)) for mark in range(4)]
# (what to choose, sum of its weights, unit, samples)
CHOICES = [
    ((), sum(i % 10 != 9 for i in TICKS), "ticks", 2700),
    (("--source", "cpu"), 2700, "ticks", 2700),
    (("--source", "monitor"), 2 * len(MONITOR), "ticks", len(MONITOR)),
    (("--source", "cpu,monitor"), 2700 + 2 * len(MONITOR), "ticks", 2700 + len(MONITOR)),
    (("--source", "off-cpu"), len(STRETCHES), "events", len(STRETCHES)),
    (("--source", "off-cpu", "--value", "time"), sum(1000 * (i + 1) for i in STRETCHES), "ns", len(STRETCHES)),
    (("--source", "allocations"), sum(1 + i % 2 for i in ALLOCATIONS), "events", len(ALLOCATIONS)),
    (("--source", "allocations", "--value", "bytes"), 16 * sum(ALLOCATIONS), "bytes", len(ALLOCATIONS)),
    (("--source", "allocations", "--value", "change"), 16 * sum(-i if i % 2 else i for i in ALLOCATIONS), "bytes",
     len(ALLOCATIONS)),
    (("--source", "requests"), REQUESTS, "events", REQUESTS),
    (("--source", "requests", "--value", "duration"), sum(100 * i for i in range(REQUESTS)), "ns", REQUESTS),
    (("--source", "requests", "--value", "bytes"), sum(512 * (1 + i % 8) for i in range(REQUESTS)), "bytes", REQUESTS),
    (("--source", "instructions"), sum(MARKS), "instructions", 8),
    (("--source", "threads"), THREADS, "events", THREADS),
    (("--source", "cpu", "--time", "0.5,1"), sum(i % 10 != 9 for i in range(500, 1000)), "ticks", 450),
    (("--source", "allocations", "--value", "bytes", "--time", "1,"), 16 * sum(i for i in ALLOCATIONS if i >= 1000), "bytes",
     sum(i >= 1000 for i in ALLOCATIONS)),
    (("--source", "instructions", "--time", "1,"), sum(MARKS[1:]), "instructions", 8),
    (("--source", "threads", "--comm", "thread-7,thread-8"), 2, "events", 2),
    (("--source", "off-cpu", "--pid", "1"), sum(1 + i % 20 == 1 for i in STRETCHES), "events",
     sum(1 + i % 20 == 1 for i in STRETCHES)),
]


class Sources(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        subprocess.run([cli_case.built("ringside_mixed_recording"), self.folder / "mixed.data"], check=True)

    def read(self, *arguments):
        result = self.ringside(*arguments, "-i", "mixed.data")
        self.assertEqual(result.returncode, cli_case.DONE, result.said)
        return result

    def test_events_are_the_sources_with_their_samples(self):
        samples = {"cpu": 3000, "monitor": len(MONITOR), "off-cpu": len(STRETCHES), "allocations": len(ALLOCATIONS),
                   "requests": REQUESTS, "instructions": 0, "threads": THREADS}
        self.assertEqual(self.read("report", "--events").stdout, "".join(f"{name}\n" for name in samples))
        for line, (name, count) in zip(self.read("report", "--events", "-v").stdout.splitlines(), samples.items(), strict=True):
            self.assertRegex(line, rf"^{name}: .*, samples: {count}$")
        for option in (["--events", "--build-ids"], ["--events", "--comm", "dd"], ["--build-ids", "-k"]):
            result = self.ringside("report", *option, "-i", "mixed.data")
            self.assertSays(result, cli_case.WRONG_USAGE, "--events" if "--events" in option else "--build-ids")

    def test_script_prints_each_sample_in_order_of_time(self):
        lines = self.read("script", "-F", "comm,pid,tid,time,event").stdout.splitlines()
        self.assertEqual(len(lines), 2700 + len(MONITOR) + len(STRETCHES) + len(ALLOCATIONS) + REQUESTS + 8 + THREADS)
        times = [float(re.search(r" (\d+\.\d{6}): ", line).group(1)) for line in lines]
        self.assertEqual(times, sorted(times))
        self.assertSays(self.ringside("script", "-S", "nosuch,neither", "-i", "mixed.data"), cli_case.FAILED,
                        "no sample is at nosuch or neither")
        first = self.read("script", "--source", "cpu", "--time", "1,1.5", "-F", "+pid", "--ns").stdout
        self.assertEqual(first.count("\n\n"), sum(i % 10 != 9 for i in range(1000, 1500)))
        self.assertRegex(first, r"^thread-\d+ +\d+/\d+ +\[\d{3}\]     1\.000000000:          1 cpu: \n\t")

    def test_folded_stacks_add_up(self):
        for choice, total, _, _ in CHOICES:
            lines = self.read("export", *choice).stdout.splitlines()
            self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), total, choice)

    def test_reports_say_the_total_and_its_unit(self):
        for choice, total, unit, samples in CHOICES:
            text = self.read("report", *choice).stdout
            head = re.search(r"# All vCPUs: (-?[\d,]+)(?: of -?[\d,]+)? (\w+) sampled(?: \(([\d,]+)(?: of [\d,]+)? samples\))?", text)
            self.assertTrue(head, text[:400])
            number = int(head[1].replace(",", ""))
            self.assertEqual((number, head[2]), (total, unit), choice)
            self.assertEqual(int((head[3] or head[1]).replace(",", "")), samples, choice)

    def test_sections_of_vcpus_add_up(self):
        for choice, total, unit, _ in CHOICES[:14]:
            text = self.read("report", "--per-cpu", *choice).stdout
            parts = re.findall(rf"(?m)^# (?:vCPU \d+|On no vCPU): (-?[\d,]+) {unit.removesuffix('s')}", text)
            several = not any(source in choice for source in ("monitor", "allocations", "off-cpu"))
            self.assertEqual(len(parts) > 1, several, choice)
            self.assertEqual(sum(int(part.replace(",", "")) for part in parts), total if several else 0, choice)
            self.assertNotIn("65535", text)

    def test_flame_graphs_have_the_total(self):
        for choice, total, unit, _ in CHOICES:
            svg = self.read("flamegraph", *choice, "-o", "-").stdout
            self.assertIn(f"{total:,} {unit}", svg, choice)

    def test_what_takes_back_has_its_share(self):
        given, taken = (16 * sum(i for i in ALLOCATIONS if i % 2 == odd) for odd in (0, 1))
        choice = ("--source", "allocations", "--value", "change")
        text = self.read("report", *choice, "--sort", "symbol").stdout
        for function, weight in (("kmalloc", given), ("handle_fault", -taken)):
            self.assertRegex(text, rf"(?m)^ +{100 * weight / (given + taken):.2f}% .* {function}", text)
        svg = self.read("flamegraph", *choice, "--by", "none", "-o", "-").stdout
        for function, weight in (("kmalloc", given), ("handle_fault", -taken)):
            self.assertRegex(svg, rf'data-name="{function}" data-w="{abs(weight)}".*<title>{function} \({weight:,} bytes, ')

    def test_functions_of_counters_and_of_addresses_have_names(self):
        for choice in ((), ("--source", "instructions")):
            stacks = self.read("export", "--by", "none", *choice).stdout.splitlines()
            leaves = {line.rpartition(" ")[0].split(";")[-1] for line in stacks}
            nowhere = set() if choice else {"[user]"}
            self.assertEqual([line for line in stacks if "[user]" in line], ["[user] 2"] if nowhere else [])
            self.assertEqual(leaves, {"schedule", "kmalloc", "handle_fault", "submit_bio"} | nowhere)
        counted = dict(line.rsplit(" ", 1) for line in self.read("export", "--by", "none", "--source", "instructions",
                                                                 ).stdout.splitlines())
        self.assertEqual({name: int(count) for name, count in counted.items()},
                         {name: 10 * (number + 1) * 100 + 4 for number, name in
                          enumerate(("schedule", "kmalloc", "handle_fault", "submit_bio"))})

    def test_what_is_not_shown_is_counted(self):
        said = self.read("report").said
        for text in (f"{len(ALLOCATIONS)} samples of allocations (count, bytes, change), ", f"{len(MONITOR)} samples of monitor (ticks)",
                     f"{THREADS} samples of threads", "--source"):
            self.assertIn(text, said)
        self.assertEqual(self.read("report", "--source", "cpu,monitor").said.count("\n"), 1)

    def test_losses_are_of_their_source(self):
        self.assertRegex(self.read("report", "--header").stdout, r"# +lost +10\b")
        text = self.read("report", "--header", "--source", "allocations", "--value", "bytes").stdout
        self.assertNotIn("lost", text)
        self.assertRegex(text, r"# source +: allocations \(bytes\)")
        self.assertRegex(text, rf"# +bytes +{16 * sum(ALLOCATIONS):,} +bytes")

    def test_exports_are_read_again(self):
        """Also again in the second generation, whose samples are of many ticks each."""
        for choice, total in (((), 2700), (("--source", "cpu,monitor"), 2700)):
            for form in ("pprof", "callgrind"):
                with self.subTest(form=form, choice=choice):
                    self.read("export", *choice, "--format", form, "-o", "first")
                    self.assertTicks(total, "first")
                    self.assertSays(self.ringside("import", "first", "-o", "first.data"), cli_case.DONE)
                    self.assertTicks(total, "first.data")
                    for again in ("pprof", "callgrind", "firefox"):
                        self.assertSays(self.ringside("export", "-i", "first.data", "--format", again, "-o", "second"), cli_case.DONE)
                        self.assertSays(self.ringside("report", "-i", "second"), cli_case.DONE)

    def test_every_format_that_can_be_imported_is_read_again(self):
        for choice in ((), ("--source", "monitor")):
            for form in FORMATS:
                with self.subTest(form=form, choice=choice):
                    self.read("export", *choice, "--format", form, "-o", "first")
                    self.assertSays(self.ringside("report", "-i", "first"), cli_case.DONE)

    def assertTicks(self, total, path):
        result = self.ringside("report", "-i", path)
        self.assertSays(result, cli_case.DONE)
        self.assertIn(f"# Event count (approx.): {total}\n", result.stdout)

    def test_wrong_choices_list_what_there_is(self):
        for choice, *texts in ((("--source", "memory"), "no source memory", "allocations (count, bytes, change)"),
                               (("--value", "bytes"), "cpu has no value bytes"),
                               (("--source", "cpu,threads"), "several units"),
                               (("--source", "requests", "--time", "1,2"), "not seconds of the host"),
                               (("--time", "2,1"), "--time 2,1")):
            for verb in ("report", "flamegraph", "export"):
                self.assertSays(self.ringside(verb, "-i", "mixed.data", *choice), cli_case.WRONG_USAGE, *texts)

    def test_json_lines_have_everything(self):
        lines = [json.loads(line) for line in self.read("export", "--format", "json-lines").stdout.splitlines()]
        samples = [line for line in lines if "weight" in line]
        for source, numbers in ((None, TICKS), ("monitor", MONITOR), ("off-cpu", STRETCHES), ("allocations", ALLOCATIONS)):
            mine = [line for line in samples if line.get("source") == source]
            self.assertEqual([line["time_ns"] for line in mine], [1000000 * i for i in numbers], source)
        stretch = next(line for line in samples if line.get("source") == "off-cpu")
        self.assertNotIn("vcpu", stretch)
        self.assertEqual((stretch["state"], stretch["waits_for"]), ("sleeping", "futex_wait"))
        self.assertEqual([stack.get("role") for stack in stretch["stacks"]], [None, "waker"])
        self.assertEqual(stretch["values"], {"count": 1, "time": 1000})
        allocation = next(line for line in samples if line.get("source") == "allocations" and line["time_ns"] == 9000000)
        self.assertEqual((allocation["weight"], allocation["values"]), (2, {"count": 2, "bytes": 144, "change": -144}))
        requests = [line for line in lines if line.get("event") == "block_rq"]
        self.assertEqual([line["duration"] for line in requests], [100 * i for i in range(REQUESTS)])
        self.assertEqual([line["key"] for line in requests], [i // 2 for i in range(REQUESTS)])
        fields = requests[3]["fields"]
        self.assertEqual(fields.pop("caller")["functions"], ["ext4_readpages"])
        self.assertEqual(fields, {"device": "vda", "bytes": 2048, "buffer": "0xffffffff81000003", "command": "2800ff"})
        threads = [line for line in lines if line.get("event") == "thread"]
        self.assertEqual([line["comm"] for line in threads], [f"thread-{i + 1}" for i in range(THREADS)])
        self.assertEqual(sum(line["fields"]["cpu time"] for line in threads), 1000 * sum(range(THREADS)))
        self.assertEqual([line for line in lines if "reason" in line], [{"snapshot": 1, "time": 3000000000, "reason": "end"}])
        counters = [line for line in lines if "counter" in line]
        self.assertEqual([line["mark"] for line in counters[::8]], ["start", "after", "probe", "end"])
        self.assertEqual(counters[16]["name"], "submit_bio")
        self.assertEqual(counters[8]["key"], {"image": "kernel", "address": "0xffffffff81000004", "vcpu": 0})
        self.assertEqual(sum(line["values"]["instructions"] for line in counters), sum(MARKS))


if __name__ == "__main__":
    cli_case.main()
