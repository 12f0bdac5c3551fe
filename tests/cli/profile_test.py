"""How long `profile` samples, and what --one-shot prints."""
import json
import re
import socket
import subprocess
import sys
import time

import cli_case
import fake_stub


def leave_socket(path):
    """A socket's file at which nobody listens."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


class Profile(cli_case.CliCase):
    def profile(self, *arguments, **stub):
        with fake_stub.FakeStub(self.gdb, **stub):
            return self.ringside("profile", "--gdb", self.gdb, *arguments)

    def test_one_shot_prints_every_vcpu(self):
        result = self.profile("--one-shot", vcpus=3)
        self.assertSays(result, cli_case.DONE)
        self.assertEqual(re.findall(r"^vCPU (\d+)", result.stdout, re.MULTILINE), ["0", "1", "2"], result.stdout)

    def test_one_shot_in_the_words_of_emerald(self):
        for way in ("--one-shot", "--duration=0"):
            self.gdb = str(self.folder / f"stub{way}")
            result = self.profile(way, "--folded-style", "emerald", vcpus=2)
            self.assertSays(result, cli_case.DONE)
            self.assertRegex(result.stdout, r"\AvCPU 0\nCurrent stack trace \(took [\d.]+(ns|µs|ms|s)\) \(kernel\):\n  0: ")
            self.assertEqual(result.stdout.count("Current stack trace"), 2)

    def test_emeralds_lines_about_its_file(self):
        result = self.profile("--folded-style", "emerald", "-o", "e.folded", "--duration", "0.3")
        self.assertSays(result, cli_case.DONE)
        stacks = len((self.folder / "e.folded").read_text().splitlines())
        self.assertTrue(result.stdout.endswith(
            f"Writing {stacks} samples to e.folded\nFolded stack samples written to: e.folded\n"
            "Generate flamegraph with: flamegraph.pl e.folded > flamegraph.svg\n"), result.stdout)

    def test_each_sample_has_a_line(self):
        for style in ((), ("--folded-style", "emerald"), ("-o", "x.json")):
            self.gdb = str(self.folder / f"stub{len(style)}{style[-1:]}".replace("'", ""))
            result = self.profile("-v", "--duration", "0.5", "--interval", "20ms", *style, vcpus=2)
            self.assertSays(result, cli_case.DONE)
            lines = re.findall(r"^(Interval|Duration|Sample).*", result.said, re.MULTILINE)
            self.assertEqual(lines[:3], ["Interval", "Duration", "Sample"], result.said)
            self.assertIn("\nInterval: 20ms\nDuration: 500ms\n", result.said)
            samples = re.findall(r"^Sample (\d+): \d+ frames?, vCPU (\d), at (\d\.\d{3})s, took [\d.]+(?:ns|µs|ms|s)$",
                                 result.said, re.MULTILINE)
            self.assertEqual([int(number) for number, _, _ in samples], list(range(1, len(samples) + 1)))
            self.assertEqual({vcpu for _, vcpu, _ in samples}, {"0", "1"})
            times = [float(at) for _, _, at in samples]
            self.assertEqual(times, sorted(times))
            self.assertGreater(times[-1], times[0])
        self.gdb = str(self.folder / "quiet")
        self.assertNotIn("Sample ", self.profile("--duration", "0.3").said)

    def test_a_socket_in_the_folder_is_taken_where_somebody_listens(self):
        stub, monitor = self.folder / ".osdk-gdb-socket", self.folder / "qmp-socket"
        self.assertSays(self.ringside("profile"), cli_case.WRONG_USAGE, "which guest?")
        with fake_stub.FakeStub(str(stub)):
            result = self.ringside("profile", "--duration", "0.3", "--interval", "0.1")  # seconds, as OSDK has it
        self.assertSays(result, cli_case.DONE, "attaching to the gdb stub at .osdk-gdb-socket", "every 100 ms")
        stub.unlink(missing_ok=True)
        leave_socket(stub)  # of a QEMU that has ended
        self.assertSays(self.ringside("profile"), cli_case.WRONG_USAGE, "which guest?")
        (self.folder / "elsewhere").mkdir()
        bound_there = "import os, socket; s = socket.socket(socket.AF_UNIX); s.bind('.osdk-gdb-socket'); s.listen(); input()"
        with subprocess.Popen([sys.executable, "-c", bound_there], cwd=self.folder / "elsewhere", stdin=subprocess.PIPE) as other:
            while not (self.folder / "elsewhere/.osdk-gdb-socket").exists():
                time.sleep(0.01)
            self.assertSays(self.ringside("profile"), cli_case.WRONG_USAGE, "which guest?")
            other.stdin.close()
        with fake_stub.FakeStub(str(monitor), greeting=b"+$T05#b9\r\n"):
            self.assertSays(self.ringside("profile"), cli_case.FAILED, "attaching to the monitor at ./qmp-socket", "no QMP socket")
        stub.unlink()
        monitor.unlink(missing_ok=True)
        with fake_stub.FakeStub(str(stub)), fake_stub.FakeStub(str(monitor)):
            self.assertSays(self.ringside("profile"), cli_case.WRONG_USAGE, ".osdk-gdb-socket", "./qmp-socket")

    def test_an_interval_without_a_unit(self):
        for words, status, said in ((["--interval", "20", "--samples", "2"], cli_case.WRONG_USAGE, "20s or 20ms"),
                                    (["--interval", "20", "--duration", "0.3"], cli_case.DONE, "every 20 ms")):
            with self.subTest(words=words):
                self.gdb = str(self.folder / said[:3])
                self.assertSays(self.profile(*words), status, said)
        with fake_stub.FakeStub(str(self.folder / "remote")):
            self.assertSays(self.ringside("profile", "--remote", "remote", "--interval", "0.02", "--samples", "2"), cli_case.DONE,
                            "every 20 ms")

    def test_one_shot_prints_a_halted_vcpus_stack(self):
        result = self.profile("--one-shot", vcpus=2, halted=(1,))
        self.assertSays(result, cli_case.DONE, "rounds of samples were taken")
        self.assertRegex(result.stdout, r"(?m)^vCPU 1.*:\n  0: ")

    def test_one_shot_prints_a_vcpu_that_is_not_sampled(self):
        result = self.profile("--one-shot", "--cpu", "1", vcpus=2)
        self.assertSays(result, cli_case.DONE)
        self.assertEqual(re.findall(r"^vCPU (\d+)", result.stdout, re.MULTILINE), ["0", "1"], result.stdout)
        self.assertIn("vCPU 0: skipped", result.stdout)

    def test_halted_vcpus_have_stacks_in_json_and_where_they_are_wanted(self):
        for arguments, sampled in ((["-o", "a.json"], 6), (["-o", "a.folded", "--halted"], 6), (["-o", "a.folded"], 3)):
            with self.subTest(arguments=arguments):
                self.gdb = str(self.folder / f"{sampled}-{len(arguments)}")  # one stub after the other
                result = self.profile("--samples", "3", "--interval", "20ms", *arguments, vcpus=2, halted=(1,))
                self.assertSays(result, cli_case.DONE)
                self.assertRegex(result.stdout + result.stderr, rf"(?m)^\s*sampled +{sampled} ")
        captures = json.loads((self.folder / "a.json").read_text())["stack_traces"]
        self.assertEqual([sorted(capture) for capture in captures], [["0", "1"]] * 3)
        self.assertTrue(all(stack for capture in captures for stack in capture.values()), captures)

    def test_a_number_of_samples_is_not_cut_at_the_default_of_5_s(self):
        result = self.profile("--samples", "13", "--interval", "500ms")  # 6.5 s
        self.assertSays(result, cli_case.DONE)
        self.assertRegex(result.stdout + result.stderr, r"(?m)^\s*sampled +13 ")

    def test_without_a_number_the_default_is_5_s(self):
        result = self.profile("--interval", "500")
        self.assertSays(result, cli_case.DONE)
        sampled = re.search(r"(?m)^\s*sampled +(\d+) ", result.stdout + result.stderr)
        self.assertTrue(sampled and 1 <= int(sampled[1]) <= 11, result.stdout + result.stderr)


if __name__ == "__main__":
    cli_case.main()
