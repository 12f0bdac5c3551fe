"""Which engine `ringside record -- COMMAND` takes, by what the QEMU in PATH answers or does."""
import re
import shutil

import cli_case
import launch_case
from cli_case import FAILED, NOT_RECORDED
from ringside_tests.harness import limits


class LaunchEngine(launch_case.LaunchCase):
    def test_says_what_would_be_better_than_an_old_qemu(self):
        result = self.launch("qemu-system-x86_64", options=("-v", "--duration", "0.2", "--then-quit"))
        self.assertRecorded(result)
        self.assertIn("the gdb engine: QEMU 7.2.22 found; the TCG plugin needs 9.2", result.said)
        self.assertIn("bookworm-backports", result.said)

    def test_an_engine_that_cannot_be_starts_nothing(self):
        result = self.launch("qemu-system-x86_64", options=("--engine", "tcg"))
        self.assertSays(result, NOT_RECORDED, "--engine tcg: QEMU 7.2.22 found")
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")
        result = self.launch("./run.sh", "-s", options=("--engine", "qmp"))
        self.assertSays(result, NOT_RECORDED, "has a gdb stub already")
        result = self.launch("qemu-system-x86_64", options=("--deterministic",))
        self.assertSays(result, NOT_RECORDED, "--deterministic needs the tcg engine")
        self.assertFalse(self.log.exists(), "QEMU was started for nothing")

    def launch_asked(self, version, api, options=(), program="qemu-system-x86_64", **more):
        """With a QEMU that can be asked: an ELF program."""
        fake = self.stand_in(self.bin / "qemu-system-x86_64")
        self.questions = self.folder / "questions"
        return self.ringside("record", "--duration", "0.2", "--then-quit", *options, "--", program, "-m", "64",
                             environment={**self.environment(2 * limits.STEP), **fake, "FAKE_QEMU_VERSION": version,
                                          "FAKE_QEMU_PLUGIN_API": api, "FAKE_QEMU_QUESTIONS": str(self.questions), **more})

    def asked(self):
        return len(self.questions.read_text().splitlines()) if self.questions.exists() else 0

    def test_the_plugin_that_qemu_loads_is_asked_for_once(self):
        for version, api, plugin in (("11.1.3", "7 7", "-7.so,ring="), ("11.0.0", "6 6", "-6.so,ring="),
                                     ("10.0.2", "2 4", "tcg.so,ring=")):
            for run in range(2):
                self.log.unlink(missing_ok=True)
                # The stand-in loads no plugin; what counts is which one it is given.
                self.assertSays(self.launch_asked(version, api), FAILED, f"QEMU {version} runs the guest under TCG")
                options = self.options()
                self.assertEqual(options.count("-plugin"), 1)
                self.assertIn(plugin, options[options.index("-plugin") + 1])
                first = self.asked() if run == 0 else first
            self.assertEqual(self.asked(), first, "asked again")
            self.assertGreater(first, 0)
            self.questions.unlink()
            shutil.rmtree(self.folder / "cache")

    def test_an_api_that_is_newer_than_the_plugins(self):
        result = self.launch_asked("12.0.0", "9 11")
        self.assertRecorded(result)
        self.assertEqual(len(re.findall("gdb engine: QEMU 12.0.0 loads plugins for version 9", result.said)), 1, result.said)
        self.assertNotIn("-plugin", self.options())

    def test_a_qemu_that_does_not_answer(self):
        result = self.launch_asked("12.0.0", "hangs")
        self.assertRecorded(result)
        self.assertIn("gdb engine", result.said)

    def test_a_qemu_that_refuses_the_plugin_it_said_it_loads_is_started_again(self):
        self.assertSays(self.launch_asked("11.1.3", "7 7"), FAILED)
        self.log.unlink()
        # Another QEMU, of the same size and time, behind the same path.
        result = self.launch_asked("12.0.0", "9 11")
        self.assertRecorded(result)
        self.assertIn("started again", result.said)
        options = self.options()
        self.assertEqual((options.count("-plugin"), options.count("-gdb")), (1, 1))

    def test_a_script_is_not_asked_and_started_again_where_it_refuses_the_plugin(self):
        questions = self.folder / "questions"
        environment = {**self.environment(20), "FAKE_QEMU_VERSION": "11.1.3", "FAKE_QEMU_PLUGIN_API": "9 11",
                       "FAKE_QEMU_QUESTIONS": str(questions)}
        result = self.ringside("record", "--duration", "0.2", "--then-quit", "--", "qemu-system-x86_64",
                               environment=environment)
        self.assertRecorded(result)
        self.assertIn("started again", result.said)
        self.assertFalse(questions.exists(), "a script was run to ask it")
        result = self.ringside("record", "--duration", "0.2", "--", "./run.sh", environment=environment)
        self.assertSays(result, NOT_RECORDED, "start it again with --engine gdb")

    def test_a_qemu_that_ends_for_another_reason_is_not_started_again(self):
        result = self.launch_asked("11.1.3", "7 7", FAKE_QEMU_SECONDS="0")
        self.assertSays(result, FAILED, "QEMU ended")
        self.assertNotIn("started again", result.said)


if __name__ == "__main__":
    cli_case.main()
