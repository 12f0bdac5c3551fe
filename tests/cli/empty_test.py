"""Recordings without a sample, and options that leave no sample over: a failure, with the reason."""
import json

import cli_case
from cli_case import DONE, FAILED
from fake_stub import FakeStub


class Empty(cli_case.CliCase):
    def test_attached(self):
        result, _ = self.record("--duration", "0.3", halted=(0,))
        self.assertSays(result, FAILED, "no sample was taken", "found the vCPU idle")

    def test_all_idle_is_a_result_of_profile(self):
        with FakeStub(self.gdb, halted=(0,)):
            result = self.ringside("profile", "--gdb", self.gdb, "--duration", "0.3")
        self.assertSays(result, DONE)
        self.assertIn("No samples.", result.stdout)

    def test_read(self):
        self.record("-o", "idle.data", "--duration", "0.3", halted=(0,))
        for verb in (["report"], ["flamegraph", "-o", "x.svg"], ["export"], ["export", "-o", "x.perf.data"]):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(*verb, "-i", "idle.data"), FAILED, "there is no sample", "idle")
        self.assertEqual(sorted(path.name for path in self.folder.glob("x.*")), [])

    def test_left_out_by_options(self):
        recording = self.recording()
        for verb in (["report"], ["flamegraph", "-o", "x.svg"], ["export"], ["export", "-o", "x.perf.data"]):
            with self.subTest(verb=verb):
                result = self.ringside(*verb, "-i", recording, "--time", "1000,2000")
                self.assertSays(result, FAILED, "there is no sample: the options that choose samples leave out all")
        self.assertEqual(sorted(path.name for path in self.folder.glob("x.*")), [])

    def test_user_code_of_a_kernel_that_idles(self):
        recording = self.recording()  # of kernel code alone
        for verb in (["report"], ["export", "-o", "x.perf.data"]):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(*verb, "-i", recording, "-u"), FAILED, "leave out all")

    def test_one_sample_is_enough(self):
        report = json.loads(self.ringside("report", "-i", self.recording(), "--format", "json").stdout)
        self.assertGreater(report["counts"]["sampled"], 0)


if __name__ == "__main__":
    cli_case.main()
