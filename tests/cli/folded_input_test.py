"""Folded stacks as an input: from a recording of ours, from other tools' text, from a pipe."""
import re
import subprocess

import cli_case
from cli_case import DONE, FAILED
from ringside_tests.harness import limits

TEXT = "main;read;copy_[k] 12\nmain;read 3\nmain;write 2\n"


class FoldedInput(cli_case.CliCase):
    def write(self, text, name="t.folded"):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def test_what_was_exported_reads_as_the_recording_does(self):
        recording = self.recording("--duration", "0.4", "--interval", "5")
        folded = self.ringside("export", "-i", recording).stdout
        self.assertRegex(folded, r"(?m)^\S.* \d+$")
        self.write(folded)
        self.assertEqual(self.ringside("export", "-i", "t.folded").stdout, folded)

        def frames(name):
            svg = self.ringside("flamegraph", "-i", name, "-o", "-").stdout
            return re.findall(r'data-name="([^"]*)" data-w="(\d+)" data-d="(\d+)"', svg)
        self.assertGreater(len(frames(recording)), 1)
        self.assertEqual(frames("t.folded"), frames(recording))

    def test_several_files_are_refused_by_each_verb(self):
        self.write(TEXT)
        self.write(TEXT, "u.folded")
        for words in (["report"], ["flamegraph", "-o", "x.svg"], ["export"], ["export", "--format", "pprof", "-o", "x.pb.gz"]):
            with self.subTest(words=words):
                self.assertSays(self.ringside(*words, "-i", "t.folded", "-i", "u.folded"), cli_case.WRONG_USAGE, "u.folded is one of several")
        self.assertFalse((self.folder / "x.svg").exists())

    def test_report_and_picture_of_another_tools_text(self):
        self.write(TEXT)
        report = self.ringside("report", "-i", "t.folded", "--header", "-n")
        self.assertSays(report, cli_case.DONE)
        self.assertIn("# input            : folded stacks", report.stdout)
        self.assertIn("# All vCPUs: 17 samples", report.stdout)
        self.assertRegex(report.stdout, r"(?m)^ +70.59% +70.59% +12 .*\[k\] copy$")
        self.assertRegex(report.stdout, r"(?m)^ +100.00% +0.00% +0 .*\[c\] main$")
        svg = self.ringside("flamegraph", "-i", "t.folded", "-o", "-").stdout
        self.assertIn("17 samples", svg)
        self.assertRegex(svg, r'class="frame k\d" data-name="copy" data-w="12"')
        self.assertRegex(svg, r'class="frame c\d" data-name="main" data-w="17"')

    def test_standard_input(self):
        piped = subprocess.run([cli_case.program(), "export", "-i", "-", "--annotate-kernel"], input=TEXT, text=True,
                               capture_output=True, check=True, timeout=limits.STEP)
        self.assertEqual(piped.stdout, "main;read 3\nmain;read;copy_[k] 12\nmain;write 2\n")
        self.assertSays(self.ringside("report", "-i", "-"), cli_case.FAILED, "standard input is empty")

    def test_lines_that_are_no_stacks_are_reported(self):
        self.write(TEXT + "words\n")
        result = self.ringside("export", "-i", "t.folded")
        self.assertSays(result, cli_case.DONE, "t.folded: lines that are no folded stack are left out: 1 of 4; the first is line 4")

    def test_counts_with_fractions_are_multiplied(self):
        self.write("# made by a script\nmain;read 0.25\nmain;write 1.5\n")
        for name in ("t.folded", "imported"):
            if name == "imported":
                self.assertSays(self.ringside("import", "t.folded", "-o", name), DONE, "each is multiplied by 100")
            result = self.ringside("export", "--format", "folded", "-i", name)
            self.assertSays(result, DONE)
            self.assertEqual(result.stdout, "main;read 25\nmain;write 150\n")
        self.assertSays(self.ringside("report", "-i", "t.folded"), DONE,
                        "t.folded: counts have fractions: each is multiplied by 100")

    def test_most_lines_show_the_format(self):
        self.write("words\n" + TEXT)
        self.assertSays(self.ringside("export", "-i", "t.folded"), DONE, "left out: 1 of 4; the first is line 1")
        self.write("words\nwords\nmain 1\n")
        self.assertSays(self.ringside("export", "-i", "t.folded"), FAILED, "t.folded is not a recording")
        self.assertSays(self.ringside("export", "-i", "t.folded", "--input-format", "folded"), FAILED,
                        "t.folded: 2 of 3 lines are no folded stacks", "stackcollapse")

    def test_errors(self):
        self.write("words\n", "words")
        self.assertSays(self.ringside("report", "-i", "words"), cli_case.FAILED, "words is not a recording")
        self.assertSays(self.ringside("report", "-i", "words", "--input-format", "folded"), cli_case.FAILED,
                        "no line is a folded stack", "line 1 is none")
        self.assertSays(self.ringside("report", "-i", "absent", "--input-format", "folded"), cli_case.FAILED, "absent")
        self.write("a;b 1 2\n", "two")
        self.assertSays(self.ringside("report", "-i", "two"), cli_case.FAILED, "two counts")
        self.write(TEXT)
        self.assertSays(self.ringside("report", "-i", "t.folded", "--input-format", "recording"), cli_case.FAILED,
                        "t.folded is not a recording")

    def test_options_that_need_a_recording(self):
        self.write(TEXT)
        for options in (["-k"], ["-u"], ["--cpu", "0"], ["--comm", "a"], ["--show-lines"], ["--no-irq-join"]):
            self.assertSays(self.ringside("report", "-i", "t.folded", *options), cli_case.WRONG_USAGE, "is folded text")
        self.assertSays(self.ringside("export", "-i", "t.folded", "--folded-style", "emerald"), cli_case.WRONG_USAGE,
                        "needs a recording")


if __name__ == "__main__":
    cli_case.main()
