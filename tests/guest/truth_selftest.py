"""Tests of truth_test.py with a fake ringside: a shell script that answers each verb from hand-written text."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

from ringside_tests.harness import limits

HERE = pathlib.Path(__file__).resolve().parent
TRUTH = "share 60 a\nshare 40 b\nbusy all\nchain start;a\nchain start;b\n"
FOLDED = "start;a 60\nstart;b 40\n"
PER_CPU = "vcpu 0;start;a 30\nvcpu 0;start;b 20\nvcpu 1;start;a 30\nvcpu 1;start;b 20\n"
STATISTICS = ("#   vCPU ticks due   107\n#     sampled    100\n#     idle    4\n#     skipped    0\n#     failed    1\n"
              "#     lost    2\n")
REPORT = STATISTICS + "  60.00%  a\n  40.00%  b\n"


class TruthTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        (self.folder / "truth.txt").write_text(TRUTH)

    def run_with(self, folded=FOLDED, per_cpu=PER_CPU, report=REPORT, record="exit 0", seconds=limits.STEP, tries=1, scale=1):
        (self.folder / "folded").write_text(folded)
        (self.folder / "per-cpu").write_text(per_cpu)
        (self.folder / "report").write_text(report)
        fake = self.folder / "fake-ringside"
        fake.write_text(textwrap.dedent(f"""\
            #!/bin/sh
            echo "$@" >> {self.folder}/calls
            case $1 in
                record) {record} ;;
                export) case "$*" in *--per-cpu*) cat {self.folder}/per-cpu ;; *) cat {self.folder}/folded ;; esac ;;
                report) cat {self.folder}/report ;;
            esac
            """))
        fake.chmod(0o755)
        result = subprocess.run([sys.executable, HERE / "truth_test.py", "--ringside", fake, "--kernel", "kernel.elf",
                                 "--truth", self.folder / "truth.txt", "--workload", "chains", "--cpus", "2",
                                 "--busy", "100", "--limit", str(seconds), "--tries", str(tries)], check=False, text=True, cwd="/",
                                env=os.environ | {"RINGSIDE_TIME_SCALE": str(scale)},
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def test_a_true_profile_passes(self):
        status, said = self.run_with()
        self.assertEqual(status, 0, said)
        calls = (self.folder / "calls").read_text()
        self.assertIn("record --samples 102 --interval 1ms --after ringside-demo: ready -o ", calls)
        self.assertIn("-- qemu-system-x86_64 -accel tcg", calls)
        self.assertIn("-append workload=chains seconds=0", calls)

    def test_a_false_profile_fails(self):
        status, said = self.run_with(folded="start;a 30\nstart;b 70\n")
        self.assertEqual(status, 1)
        self.assertIn("FAILED: share of a: expected 60.00 %, got 30.00 %", said)

    def test_one_that_is_wrong_and_silent_fails_at_once(self):
        status, said = self.run_with(folded="start;a 30\nstart;b 70\n", tries=5)
        self.assertEqual(status, 1)
        self.assertNotIn("try 2 of 5", said)
        self.assertIn("and does not say so", said)

    def test_one_that_says_that_it_is_bent_is_made_again(self):
        bent = "# warning : shares are bent by the host: it did not run the vCPU\n" + REPORT.replace("60.00", "30.00").replace(
            "40.00", "70.00")
        for scale, expected in ((1, 1), (4, 77)):  # an idle host does not bend five of five
            status, said = self.run_with(folded="start;a 30\nstart;b 70\n", report=bent, tries=5, scale=scale)
            self.assertEqual(status, expected, said)
            self.assertIn("all 5 recordings said that their shares are bent", said)
        status, said = self.run_with(report=bent.replace("30.00", "60.00").replace("70.00", "40.00"), tries=5)
        self.assertEqual(status, 0, said)
        self.assertIn("0 of 1 recordings were wrong", said)

    def test_what_the_host_cannot_bend_fails_at_once(self):
        status, said = self.run_with(folded="a;b 30\nstart;b 70\n", tries=5, report="shares are bent by the host\n" + REPORT)
        self.assertEqual(status, 1)
        self.assertNotIn("try 2 of 5", said)

    def test_a_report_with_other_totals_fails(self):
        status, said = self.run_with(report=REPORT.replace("100", "101").replace("107", "108"))
        self.assertEqual(status, 1)
        self.assertIn("the report tells 101 samples, the folded stacks hold 100", said)
        status, said = self.run_with(report=REPORT.replace("40.00", "50.00"))
        self.assertIn("sum up to 110.00 %", said)
        self.assertEqual(status, 1)

    def test_what_was_due_is_what_became_of_it(self):
        status, said = self.run_with(report=REPORT.replace("107", "108"))
        self.assertEqual(status, 1)
        self.assertIn("108 samples were due", said)

    def test_a_statistic_that_is_missing_fails(self):
        for line in STATISTICS.splitlines(keepends=True):
            with self.subTest(line=line):
                status, said = self.run_with(report=REPORT.replace(line, ""))
                self.assertEqual(status, 1)
                name = line.lower().strip("# 0123456789\n")
                self.assertIn(f"the report has no line `{name}  N`", said)

    def test_a_vcpu_with_false_shares_fails(self):
        status, said = self.run_with(per_cpu="vcpu 0;start;a 5000\nvcpu 1;start;a 1000\nvcpu 1;start;b 4000\n")
        self.assertEqual(status, 1)
        self.assertIn("FAILED: vcpu 0: share of a: expected 60.00 %, got 100.00 %", said)

    def test_a_failing_ringside_is_reported_with_what_it_said(self):
        status, said = self.run_with(record="echo no socket >&2; exit 1")
        self.assertEqual(status, 1)
        self.assertIn("status 1; it said: no socket", said)

    def test_a_hanging_ringside_and_its_qemu_are_ended(self):
        began = time.monotonic()
        status, said = self.run_with(record=f"echo $$ > {self.folder}/pid; exec sleep 1000", seconds=1)
        self.assertEqual(status, 1)
        self.assertIn("took too long", said)
        self.assertLess(time.monotonic() - began, limits.SOON)
        pid = (self.folder / "pid").read_text().strip()
        self.assertFalse(pathlib.Path(f"/proc/{pid}").exists())


if __name__ == "__main__":
    unittest.main()
