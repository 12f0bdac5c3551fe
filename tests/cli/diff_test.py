"""ringside diff: tables in three formats, limits and their exit status, the picture, inputs that cannot be compared."""
import json
import re
import xml.etree.ElementTree as ElementTree

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE

PASSED = 3  # a limit


def perf_script(shares, samples, interval_us=1000):
    """Text of perf script: each 100 samples have so many of each function, one run of it after the other."""
    names = [name for name, count in shares.items() for _ in range(count)]
    lines = []
    for number in range(samples):
        at = number * interval_us
        lines.append(f"work 12 [000] {100 + at // 1000000}.{at % 1000000:06}: 1 cpu-clock:\n"
                     f"\tffffffff81000010 {names[number % len(names)]} ([kernel.kallsyms])\n"
                     f"\tffffffff81000105 sys_work ([kernel.kallsyms])\n\n")
    return "".join(lines)


def speedscope(weights):
    """A speedscope file of a sampled profile in microseconds, without a number of samples."""
    names = list(weights)
    return json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json",
                       "shared": {"frames": [{"name": name} for name in names]},
                       "profiles": [{"type": "sampled", "name": "p", "unit": "bytes", "startValue": 0,
                                     "endValue": sum(weights.values()), "samples": [[i] for i in range(len(names))],
                                     "weights": list(weights.values())}]})


class Diff(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.before = self.write("before", perf_script({"copy": 10, "search.isra.0": 40, "old": 20, "rest": 30}, 2000))
        self.after = self.write("after", perf_script({"copy": 14, "search.constprop.1": 40, "new": 16, "rest": 30}, 2000))

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def diff(self, *arguments):
        return self.ringside("diff", *arguments)

    def rows(self, *arguments):
        """Own shares of diff's JSON, by function."""
        result = self.diff(*arguments, "--format", "json")
        self.assertSays(result, DONE)
        comparison = json.loads(result.stdout)["comparisons"][0]
        return {row["name"]: row["self"] for row in comparison["functions"]}, comparison

    def test_shares_changes_and_verdicts(self):
        rows, comparison = self.rows(self.before, self.after)
        self.assertEqual(rows.pop("sys_work")["verdict"], "few samples")
        seen = {name: (row["before_percent"], row["after_percent"], row["change_points"], row["verdict"])
                for name, row in rows.items()}
        self.assertEqual(seen, {"copy": (10, 14, 4, "grew"), "search": (40, 40, 0, "unsure"), "old": (20, 0, -20, "gone"),
                                "new": (0, 16, 16, "new"), "rest": (30, 30, 0, "unsure")})
        self.assertEqual(comparison["before"]["samples"], 2000)
        self.assertEqual(comparison["test"]["name"], "series")
        self.assertLess(rows["copy"]["corrected_p"], 0.001)

    def test_the_same_file_has_no_change(self):
        rows, _ = self.rows(self.before, self.before)
        self.assertEqual({row["change_points"] for row in rows.values()}, {0})
        self.assertEqual({row["verdict"] for row in rows.values()}, {"unsure", "few samples"})
        self.assertSays(self.diff(self.before, self.before, "--fail-if-any", "> 0%", "--fail-if", "copy > 0%"), DONE)

    def test_data_without_times_is_compared_by_counts(self):
        old = self.write("old.folded", "main;copy 200\nmain;rest 1800\n")
        new = self.write("new.folded", "main;copy 280\nmain;rest 1720\n")
        rows, comparison = self.rows(old, new)
        self.assertEqual(comparison["test"]["name"], "counts")
        self.assertAlmostEqual(rows["copy"]["p"], 0.000121125, 8)  # computed with math.erfc
        self.assertIn("z-test", self.diff(old, new).stdout)

    def test_text_and_markdown(self):
        text = self.diff(self.before, self.after).stdout
        self.assertRegex(text, r"10\.00% +14\.00% +\+4\.00% +\d\.\d\d% +<?0\.\d{4} +grew +kernel +copy  \[kernel\]")
        self.assertIn("# Before: before, 2,000 samples", text)
        limited = self.diff(self.before, self.after, "--rows", "2").stdout
        self.assertRegex(limited, r"\(\d more functions\)")
        markdown = self.diff(self.before, self.after, "--format", "markdown").stdout
        self.assertRegex(markdown, r"\| `copy` `\[kernel\]` \| 10\.00% \| 14\.00% \| \*\*\+4\.00%\*\* \|")
        self.assertIn("<details><summary>2 functions whose change is not sure</summary>", markdown)
        folded = markdown[markdown.index("<details>"):]
        self.assertIn("search", folded)
        self.assertNotIn("copy", folded)

    def test_shares_are_those_of_report(self):
        """Also where the input marks inlined functions, whose time is their caller's."""
        text = perf_script({"hot": 30, "cold": 70}, 1000)
        inlined = self.write("inlined", text.replace("\tffffffff81000010", "\tffffffff81000010 spin (inlined)\n\tffffffff81000010"))
        report = json.loads(self.ringside("report", inlined, "--format", "json").stdout)
        there = {row["symbol"]: row["overhead_percent"] for row in report["tables"][0]["rows"] if row["self"]}
        rows, _ = self.rows(inlined, inlined)
        self.assertEqual({name: row["before_percent"] for name, row in rows.items() if row["before_percent"]}, there)
        self.assertEqual(there, {"hot": 30, "cold": 70})

    def test_names_are_code_in_markdown(self):
        old = self.write("old.folded", "main;@you|`x` 100\nmain;rest 900\n")
        new = self.write("new.folded", "main;@you|`x` 900\nmain;rest 100\n")
        markdown = self.diff(old, new, old, "--format", "markdown", "--fail-if", "@you|`x` > 1%").stdout
        self.assertIn("| `` @you\\|`x` `` | 10.00% | 90.00% | **+80.00%** |", markdown)
        self.assertIn("* Limit `` @you\\|`x` > 1% `` is passed: `` @you\\|`x` `` went from 10.00% to 90.00%.", markdown)
        self.assertIn(".\n\nBefore:", markdown)

    def test_weights_that_are_no_samples_have_no_test(self):
        old = self.write("old.json", speedscope({"copy": 200, "rest": 1800}))
        new = self.write("new.json", speedscope({"copy": 900, "rest": 1100}))
        rows, comparison = self.rows(old, new)
        self.assertIsNone(comparison["before"]["samples"])
        self.assertEqual((rows["copy"]["change_points"], rows["copy"]["verdict"]), (35, "no test"))
        self.assertSays(self.diff(old, new, "--fail-if", "copy > 1%"), WRONG_USAGE, "old.json", "--value")

    def test_sums_of_periods_are_no_numbers_of_samples(self):
        """Programs that fold stacks write periods where perf recorded some: equal runs must not differ then."""
        def folded(name, counts, period):
            return self.write(name, "".join(f"main;f{number} {count * period}\n" for number, count in enumerate(counts)))

        fewer, more = (50, 40, 30, 20, 10, 9, 8, 7), (50, 40, 30, 20, 10, 9, 8, 17)
        for period in (1, 250000, 999983):
            with self.subTest(period=period):
                rows, comparison = self.rows(folded("old", fewer, period), folded("new", more, period))
                self.assertEqual(comparison["test"]["name"], "counts" if period == 1 else "none")
                self.assertEqual({row["verdict"] for row in rows.values()} - {"unsure", "few samples"},
                                 set() if period == 1 else {"no test"})
        loops = self.write("loops", "".join(f"main;f{number} {20 * number + 20}\n" for number in range(10)))
        many = self.write("many", "".join(f"main;f{number} {800 + 199 * number}\n" for number in range(12)))
        captures = self.write("captures", json.dumps({"stack_traces": [{"0": [f"f{n % 9}", "main"]} for n in range(900)]}))
        for counts in (loops, many, captures):  # a small common factor, large counts, one sample each
            self.assertEqual(self.rows(counts, counts)[1]["test"]["name"], "counts", counts)
        fractions = self.write("fractions", "main;a 1.500001\nmain;b 2.25\nmain;c 3\n")
        self.assertEqual(self.rows(fractions, fractions)[1]["test"]["name"], "none")
        cycles = [count * 1000003 + 7 * count**2 + number for number, count in enumerate(fewer)]  # no common factor
        old = self.write("old", "".join(f"main;f{number} {weight}\n" for number, weight in enumerate(cycles)))
        rows, comparison = self.rows(old, old)
        self.assertIn("old has weights, but neither times nor numbers of samples", comparison["test"]["in_words"])
        self.assertIn("Test: none: old has weights", self.diff(old, old).stdout)
        self.assertSays(self.diff(old, old, "--fail-if", "f1 > 1%"), WRONG_USAGE, "has weights", "--value")

    def test_weights_against_numbers_of_samples_are_no_numbers(self):
        """JSON has neither nan nor inf where one of two has no number of samples."""
        weights = self.write("old.folded", "".join(f"main;f{number} {(number + 1) * 250000}\n" for number in range(9)))
        result = self.diff(weights, self.after, "--format", "json")
        self.assertSays(result, DONE)
        self.assertNotRegex(result.stdout, r":-?(nan|inf)\b")
        comparison = json.loads(result.stdout, parse_constant=self.fail)["comparisons"][0]
        self.assertEqual((comparison["before"]["samples"], comparison["after"]["samples"]), (None, 2000))
        self.assertEqual({row["self"]["verdict"] for row in comparison["functions"]}, {"no test"})

    def test_the_head_has_what_shares_do_not_show(self):
        """A build that hung after a second has the same shares as one that ran on."""
        hung = self.write("hung", perf_script({"copy": 10, "search.isra.0": 40, "old": 20, "rest": 30}, 1000))
        text = self.diff(self.before, hung).stdout
        self.assertRegex(text, r"# Before: before, 2,000 samples, over 2(\.00)? s")
        self.assertRegex(text, r"# After:  hung, 1,000 samples, over (1(\.00)? s|999(\.\d+)? ms)")
        _, comparison = self.rows(self.before, hung)
        self.assertEqual([comparison[side]["duration_ns"] // 10**6 for side in ("before", "after")], [1999, 999])

    def test_recordings_of_a_build_add_up(self):
        """The scatter of three recordings each decides: 10 % and 14 % of 2,000 samples that never scatter, then of runs that do."""
        rest = {"search": 40, "rest": 30}
        def runs(name, shares):
            return [self.write(f"{name}{number}", perf_script({"copy": share, "old": 30 - share, **rest}, 1000))
                    for number, share in enumerate(shares)]

        rows, comparison = self.rows("--before", *runs("a", (10, 10, 10)), "--after", *runs("b", (14, 14, 14)))
        self.assertEqual((rows["copy"]["verdict"], rows["rest"]["verdict"]), ("grew", "unsure"))
        self.assertEqual([comparison[side][key] for side in ("before", "after") for key in ("input", "recordings", "samples")],
                         ["a0", 3, 3000, "b0", 3, 3000])
        self.assertEqual(comparison["test"]["name"], "runs")
        self.write("weights", "".join(f"main;f{number} {(number + 1) * 250000}\n" for number in range(9)))
        counts = self.write("counts", "main;f0 3\nmain;f1 4\n")
        self.assertIn("Test: none: weights has", self.diff("--before", counts, "weights", "--after", counts).stdout)
        self.assertSays(self.diff("--before", "a0", "weights", "--after", "b0"), WRONG_USAGE, "values of one unit")
        rows, _ = self.rows("--before", *runs("c", (4, 10, 16)), "--after", *runs("d", (8, 14, 20)))
        self.assertEqual((rows["copy"]["before_percent"], rows["copy"]["after_percent"], rows["copy"]["verdict"]), (10, 14, "unsure"))
        text = self.diff("--before", "a0", "a1", "--after", "b0").stdout
        self.assertIn("# Before: a0 and 1 more, 2,000 samples", text)
        self.assertIn("t-test of the shares of 2 and 1 recordings", text)
        for words, said in ((["--before", "a0", "--after", "b0"], "ringside diff a0 b0"), (["--before", "a0"], "go together"),
                            (["a0", "b0", "--before", "a1", "--after", "b1"], "take the place"), ([], "--before FILE"),
                            (["--before", "a0", "a1", "--after", "b0", "--flamegraph", "x.svg"], "of two recordings")):
            self.assertSays(self.diff(*words), WRONG_USAGE, said)

    def test_a_limit_that_is_passed_by_what_the_table_calls_unsure(self):
        """The table corrects p for all functions, a limit with a name for the limits."""
        def work(hot):
            return "".join(f"main;f{number} {96 + number % 9 if number else hot}\n" for number in range(60))

        old, new = self.write("old.folded", work(100)), self.write("new.folded", work(158))
        rows, _ = self.rows(old, new)
        self.assertEqual(rows["f0"]["verdict"], "unsure")
        self.assertLess(rows["f0"]["p"], 0.001)
        self.assertSays(self.diff(old, new, "--fail-if", "f0 > 0.1%"), PASSED, "f0 changed", "in the table",
                        "corrected for 61 functions: unsure there")

    def test_negative_weights_are_no_shares(self):
        old = self.write("old.folded", "main;copy 300\nmain;freed -100\n")
        new = self.write("new.folded", "main;copy 600\nmain;freed -100\n")
        rows, _ = self.rows(old, new)
        self.assertEqual((rows["copy"]["before_percent"], rows["freed"]["before_percent"]), (150, -50))
        self.assertEqual({row["verdict"] for row in rows.values()}, {"few samples"})
        self.assertRegex(self.diff(old, new).stdout, r"-50\.00% .* freed")

    def test_children(self):
        text = self.diff(self.before, self.after, "--children").stdout
        self.assertRegex(text, r"100\.00% +100\.00% +\+0\.00% .* sys_work")

    def test_limits(self):
        for limits, status, said in ((["--fail-if", "kernel:copy > +2%"], PASSED, ["copy changed from 10.00% to 14.00%"]),
                                     (["--fail-if", "copy > 5%"], DONE, []),
                                     (["--fail-if", "user:copy > 2%"], DONE, ["no sample of either recording"]),
                                     (["--fail-if", "old < -5%"], PASSED, ["old changed"]),
                                     (["--fail-if", "sys_work > 1%"], DONE, []),
                                     (["--fail-if-any", "> 10%"], PASSED, ["new changed"]),
                                     (["--fail-if-any", "> 17%"], DONE, []),
                                     (["--fail-if", "copy > -1%"], WRONG_USAGE, ["is no limit"]),
                                     (["--fail-if", "copy < 1%"], WRONG_USAGE, ["is no limit"]),
                                     (["--fail-if", "copy"], WRONG_USAGE, ["'copy' is no limit", "kernel:vfs_write > +2%"]),
                                     (["--fail-if-any", "copy > 1%"], WRONG_USAGE, ["is no limit", "> 1%"])):
            with self.subTest(limits=limits):
                self.assertSays(self.diff(self.before, self.after, *limits), status, *said)
        judged = json.loads(self.diff(self.before, self.after, "--fail-if-any", "> 2%", "--format", "json").stdout)
        self.assertEqual({breach["name"] for breach in judged["comparisons"][0]["breaches"]}, {"copy", "new"})

    def test_a_change_that_may_be_chance_keeps_the_limit(self):
        old = self.write("old.folded", "main;copy 20\nmain;rest 180\n")
        new = self.write("new.folded", "main;copy 28\nmain;rest 172\n")
        self.assertSays(self.diff(old, new, "--fail-if", "copy > 2%"), DONE, "may be chance", "record more samples")

    def test_several_recordings(self):
        result = self.diff(self.before, self.before, self.after, "--format", "json", "--fail-if", "copy > 2%")
        self.assertEqual(result.returncode, PASSED)
        comparisons = json.loads(result.stdout)["comparisons"]
        self.assertEqual([one["after"]["input"] for one in comparisons], ["before", "after"])
        self.assertEqual([len(one["breaches"]) for one in comparisons], [0, 1])

    def test_the_picture_has_both_towers(self):
        self.assertSays(self.diff(self.before, self.after, "--flamegraph", "d.svg"), DONE, "wrote d.svg")
        tree = ElementTree.parse(self.folder / "d.svg")
        hints = {}
        for frame in tree.iter("{http://www.w3.org/2000/svg}g"):
            if "frame" in frame.get("class", "").split():
                hint = frame.find("{http://www.w3.org/2000/svg}title").text
                hints.setdefault(frame.get("data-name"), []).append((frame.get("class"), hint))
        shares = [re.search(r"before (\S+)%, after (\S+)%, change (\S+)", hint).groups() for _, hint in hints["copy"]]
        self.assertEqual(shares, [("10.00", "14.00", "+4.00")] * 2)
        self.assertEqual([hint.split(", ")[-1] for _, hint in hints["old"] + hints["new"]], ["gone", "new"])
        self.assertIn("down4", hints["old"][0][0])
        self.assertIn("up4", hints["new"][0][0])
        self.assertIn(" same", hints["sys_work"][0][0])
        self.assertEqual(sorted(name for name in hints if ": " in name), ["after: after", "before: before"])
        self.assertSays(self.diff(self.before, self.after, "--flamegraph", "i.svg", "--icicle"), DONE)
        self.assertEqual([(self.folder / name).read_text().count('data-roots="top"') for name in ("d.svg", "i.svg")], [0, 1])

    def test_unlike_recordings_are_compared_with_a_warning(self):
        slow = self.write("slow", perf_script({"copy": 10, "search": 40, "old": 20, "rest": 30}, 500, 4000))
        result = self.diff(self.before, slow, "--format", "json")
        self.assertSays(result, DONE)
        tick = self.write("tick.json", json.dumps({"stack_traces": [{"0": ["copy", "main"]}] * 20}))
        self.assertSays(self.diff(self.before, tick), DONE, "are unlike")

    def test_the_recording_that_is_cut_is_named(self):
        self.assertSays(self.ringside("import", self.after, "-o", "whole.data"), DONE)
        (self.folder / "cut.data").write_bytes((self.folder / "whole.data").read_bytes()[:-40])
        result = self.diff(self.before, "cut.data")
        self.assertSays(result, DONE)
        self.assertRegex(result.said, r"(?m)^ringside: cut\.data: at offset .*its writer did not finish it$")
        self.assertNotIn("did not finish", self.diff(self.before, "whole.data").said)

    def test_what_is_refused(self):
        empty = self.write("empty.folded", "")
        for arguments, status, said in (([self.before], WRONG_USAGE, ["2 required"]),
                                        ([self.before, "absent"], FAILED, ["absent"]),
                                        ([self.before, empty], FAILED, ["empty.folded"]),
                                        ([self.before, self.after, "--comm", "nobody"], FAILED, ["nobody"]),
                                        ([self.before, self.after, "--user-only"], FAILED, ["leave out all"]),
                                        ([self.before, self.after, "--reverse"], WRONG_USAGE, ["--flamegraph"]),
                                        ([self.before, self.after, "--icicle"], WRONG_USAGE, ["--flamegraph"]),
                                        ([self.before, self.after, "--flamegraph", self.after], WRONG_USAGE,
                                         ["--flamegraph after: this is the input"]),
                                        ([self.before] * 3 + ["--flamegraph", "d.svg"], WRONG_USAGE, ["two recordings"]),
                                        ([self.before, self.after, "--flamegraph", "-"], WRONG_USAGE, ["standard output"]),
                                        (["-", "-"], WRONG_USAGE, ["standard input"]),
                                        ([self.before, self.after, "--confidence", "nan"], WRONG_USAGE, ["nan"]),
                                        ([self.before, self.after, "--show-lines"], WRONG_USAGE, ["--show-lines"])):
            with self.subTest(arguments=arguments):
                self.assertSays(self.diff(*arguments), status, *said)
        self.assertFalse((self.folder / "d.svg").exists())


if __name__ == "__main__":
    cli_case.main()
