"""A count has one value for one recording, wherever it is shown (docs/counts.md)."""
import json
import re

import cli_case
import elf_files


class Counts(cli_case.CliCase):
    def test_the_end_of_record_and_every_reader_agree(self):
        # Ticks of vCPU 0 are skipped.
        result, _ = self.record("-o", "r.data", "--duration", "0.4", "--interval", "5", "--cpu", "1", vcpus=2)
        self.assertSays(result, cli_case.DONE)
        samples = int(re.search(r"(\d+) samples are in", result.said)[1])
        self.assertGreater(samples, 0)

        def row(name, text):
            return int(re.search(rf"(?m)^[# ]*{name} +([\d,]+)", text)[1].replace(",", ""))
        report = self.ringside("report", "-i", "r.data", "--header").stdout
        for text in (result.said, report):
            self.assertEqual(row("sampled", text), samples)
            self.assertEqual(row("skipped", text), row("skipped", report))
            self.assertEqual(row("vCPU ticks due", text),
                             sum(row(name, text) for name in ("sampled", "idle", "skipped", "failed", "lost")))
        self.assertIn(f"# All vCPUs: {samples} ticks sampled, {row('skipped', report)} skipped", report)
        doctor = self.ringside("doctor", "-i", "r.data").stdout
        self.assertRegex(doctor, rf"samples +{samples}, of {samples} vCPU ticks sampled")
        svg = self.ringside("flamegraph", "-i", "r.data", "-o", "-").stdout
        self.assertIn(f" {samples} ticks sampled", svg)
        lines = self.ringside("export", "-i", "r.data", "--format", "json-lines").stdout.splitlines()
        self.assertEqual(sum(json.loads(line).get("disposition") == "sampled" for line in lines), samples)

    def test_stacks_that_are_cut_are_said_at_the_end_and_in_the_reports_head(self):
        (self.folder / "kernel.elf").write_bytes(elf_files.elf(function="hot_loop"))
        result, _ = self.record("-o", "r.data", "--duration", "0.5", "--interval", "5", "--kernel", "kernel.elf",
                                "--stack-bytes", "65536", frames=600)
        words = r"\d+ of \d+ stacks \([\d.]+%\) are deeper than ringside's limit of 512 frames"
        self.assertSays(result, cli_case.DONE)
        self.assertRegex(result.said, f"(?m)^ringside: {words}")
        self.assertRegex(self.ringside("report", "-i", "r.data").stdout, f"(?m)^# warning: {words}")
        self.assertRegex(self.ringside("report", "-i", "r.data", "--header").stdout, f"(?m)^# warning +: {words}")
        self.assertRegex(self.ringside("doctor", "-i", "r.data").stdout, f"warning +{words}")

    def test_nothing_is_said_where_nothing_is_cut(self):
        result, _ = self.record("-o", "r.data", "--duration", "0.2", frames=20)
        self.assertNotIn("deeper than", result.said)
        self.assertNotIn("deeper than", self.ringside("report", "-i", "r.data").stdout)

    def test_folded_stacks_and_their_recording_agree(self):
        (self.folder / "x.folded").write_text("a;b 3\na;c 2\n", encoding="utf-8")
        self.assertSays(self.ringside("import", "x.folded", "-o", "x.data"), cli_case.DONE)
        for name in ("x.folded", "x.data"):
            report = self.ringside("report", "-n", "-i", name).stdout
            self.assertRegex(report, "(?m)^# (All vCPUs|Samples): 5 ")
            self.assertRegex(report, r"(?m)^ +60.00% +60.00% +3 .*\[c\] b$")
            self.assertRegex(report, r"(?m)^ +40.00% +40.00% +2 .*\[c\] c$")
        doctor = self.ringside("doctor", "-i", "x.data").stdout
        self.assertRegex(doctor, r"(?m)^  samples +5$")
        self.assertNotRegex(doctor, "ticks sampled|lost ticks")

    def test_large_counts_of_folded_stacks(self):
        (self.folder / "x.folded").write_text("a;b 5000000000\na;b 4294967295\na;c 9000000000000000000\n", encoding="utf-8")
        self.assertSays(self.ringside("import", "x.folded", "-o", "x.data"), cli_case.DONE)
        for name in ("x.folded", "x.data"):
            report = self.ringside("report", "-n", "-i", name).stdout
            self.assertRegex(report, r"(?m) 9294967295 .*\[c\] b$")
            self.assertRegex(report, r"(?m) 9000000000000000000 .*\[c\] c$")


if __name__ == "__main__":
    cli_case.main()
