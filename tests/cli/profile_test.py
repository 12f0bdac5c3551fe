"""How long `profile` samples, and what --one-shot prints."""
import json
import re

import cli_case
import fake_stub


class Profile(cli_case.CliCase):
    def profile(self, *arguments, **stub):
        with fake_stub.FakeStub(self.gdb, **stub):
            return self.ringside("profile", "--gdb", self.gdb, *arguments)

    def test_one_shot_prints_every_vcpu(self):
        result = self.profile("--one-shot", vcpus=3)
        self.assertSays(result, cli_case.DONE)
        self.assertEqual(re.findall(r"^vCPU (\d+)", result.stdout, re.MULTILINE), ["0", "1", "2"], result.stdout)

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
                result = self.profile("--samples", "3", "--interval", "20", *arguments, vcpus=2, halted=(1,))
                self.assertSays(result, cli_case.DONE)
                self.assertRegex(result.stdout + result.stderr, rf"(?m)^\s*sampled +{sampled} ")
        captures = json.loads((self.folder / "a.json").read_text())["stack_traces"]
        self.assertEqual([sorted(capture) for capture in captures], [["0", "1"]] * 3)
        self.assertTrue(all(stack for capture in captures for stack in capture.values()), captures)

    def test_a_number_of_samples_is_not_cut_at_the_default_of_5_s(self):
        result = self.profile("--samples", "13", "--interval", "500")  # milliseconds: 6.5 s
        self.assertSays(result, cli_case.DONE)
        self.assertRegex(result.stdout + result.stderr, r"(?m)^\s*sampled +13 ")

    def test_without_a_number_the_default_is_5_s(self):
        result = self.profile("--interval", "500")
        self.assertSays(result, cli_case.DONE)
        sampled = re.search(r"(?m)^\s*sampled +(\d+) ", result.stdout + result.stderr)
        self.assertTrue(sampled and 1 <= int(sampled[1]) <= 11, result.stdout + result.stderr)


if __name__ == "__main__":
    cli_case.main()
