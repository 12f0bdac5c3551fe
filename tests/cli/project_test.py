"""ringside.toml: what it sets, what overrides it, and what is wrong with it."""
import os
import sys
import unittest

import cli_case
from cli_case import DONE, FAILED, NOT_RECORDED, WRONG_USAGE
from ringside_tests.harness import limits


class Project(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "path"
        self.bin.mkdir()
        self.log = self.folder / "options"
        qemu = self.bin / "qemu-system-x86_64"
        qemu.write_text(f'#!/bin/sh\npwd > {self.folder}/where\n'
                        f'exec {sys.executable} -B {cli_case.HERE}/fake_stub.py "$@"\n')
        qemu.chmod(0o755)

    def write(self, text, folder="."):
        (self.folder / folder).mkdir(exist_ok=True)
        (self.folder / folder / "ringside.toml").write_text(text)

    def run_verb(self, *arguments, before=(), **environment):
        return self.ringside(*arguments, before=before, environment={
            **environment, "PATH": f"{self.bin}:{os.environ['PATH']}", "FAKE_QEMU_LOG": str(self.log), "FAKE_QEMU_SECONDS": str(2 * limits.STEP)})

    def options(self):
        return [line[1:-1] for line in self.log.read_text().splitlines()]

    def test_record_alone_does_what_the_file_says(self):
        self.write('qemu = ["qemu-system-x86_64", "-m", 64]\nduration = 0.2\nthen-quit = true\nfreq = 200\n'
                   '[record]\noutput = "from-file.data"\n')
        result = self.run_verb("record")
        self.assertSays(result, DONE, "every 5 ms")
        self.assertEqual(self.options()[:2], ["-m", "64"])
        self.assertTrue((self.folder / "from-file.data").exists())
        report = self.ringside("report", "-i", "from-file.data", "--header")
        self.assertIn("qemu-system-x86_64 -m 64", report.stdout)

    def test_a_line_says_that_it_was_read_and_what_it_starts(self):
        self.write('qemu = ["qemu-system-x86_64", "-m", 64]\nduration = 0.2\nthen-quit = true\n')
        read = f"ringside: settings are from {self.folder.resolve()}/ringside.toml"
        self.assertIn(read + "; its QEMU command line is qemu-system-x86_64 -m 64\n", self.run_verb("record").said)
        self.assertIn(read + "\n", self.run_verb("report").said)
        self.assertNotIn("settings", self.run_verb("report", "--project", "none").said)

    def test_output_stays_in_its_folder(self):
        (self.folder / "in").mkdir()
        (self.folder / "in" / "link").symlink_to(self.folder)
        for output in ("../out.data", str(self.folder / "out.data"), "a/../../out.data", "link/out.data"):
            with self.subTest(output=output):
                self.write(f'qemu = ["qemu-system-x86_64"]\n[record]\noutput = "{output}"\n', "in")
                result = self.run_verb("record", before=["env", "-C", str(self.folder / "in")])
                self.assertSays(result, WRONG_USAGE, "ringside.toml:3: 'output'", "outside")
                self.assertFalse((self.folder / "out.data").exists())
        with cli_case.FakeStub(self.gdb):  # the command line may name any place
            self.assertSays(self.run_verb("record", "--gdb", self.gdb, "--duration", "0.2", "-o",
                                          str(self.folder / "out.data"),
                                          before=["env", "-C", str(self.folder / "in")]), DONE)

    def test_output_is_where_its_links_lead(self):
        inside = self.folder / "in"
        (inside / "d1" / "d2" / "d3").mkdir(parents=True)
        (inside / "a").symlink_to("d1/d2/d3")
        (self.folder / "in.folded").write_text("main;work 2\n")

        def export(output):
            self.write(f'[export]\noutput = "{output}"\n', "in")
            return self.run_verb("export", "../in.folded", before=["env", "-C", str(inside)])

        for output, place in (("a/../../x.folded", "in/d1/x.folded"), ("a/y.folded", "in/d1/d2/d3/y.folded"),
                              ("a/../../../z.folded", "in/z.folded"), ("gone/../w.folded", "in/w.folded")):
            with self.subTest(output=output):
                self.assertSays(export(output), DONE)
                self.assertEqual((self.folder / place).read_text(), "main;work 2\n")
                (self.folder / place).unlink()
        (inside / "to-new.folded").symlink_to(self.folder / "new.folded")
        (inside / "to-gone").symlink_to(self.folder / "gone")
        for output in ("a/../../../../x.folded", "to-new.folded", "to-gone/new.folded"):
            with self.subTest(output=output):
                self.assertSays(export(output), WRONG_USAGE, "ringside.toml:2: 'output'", "outside", "-o")
        self.assertEqual([path.name for path in self.folder.rglob("*.folded")], ["in.folded", "to-new.folded"])

    def test_doctor_runs_nothing_that_only_the_file_names(self):
        program = self.folder / "qemu-system-x86_64"
        program.write_text(f"#!/bin/sh\ntouch {self.folder}/was-run\n")
        program.chmod(0o755)
        self.write('qemu = ["./qemu-system-x86_64"]\n')
        result = self.run_verb("doctor")
        self.assertEqual(result.returncode, DONE, result.said)
        self.assertIn("only the project file names it", result.stdout)
        self.assertFalse((self.folder / "was-run").exists())
        (self.bin / "qemu-system-x86_64").unlink()  # a script, which doctor does not run
        fake = self.stand_in(self.bin / "qemu-system-x86_64")
        self.write('qemu = ["qemu-system-x86_64"]\n')  # in PATH
        self.assertRegex(self.run_verb("doctor", **fake).stdout, "(?m)^  engine ")

    def test_the_command_line_and_profiles_override(self):
        self.write('qemu = ["qemu-system-x86_64", "-m", "64"]\nduration = 0.2\nthen-quit = true\ninterval = 50\n'
                   '[profile.release]\nqemu = ["qemu-system-x86_64", "-m", "128"]\nfreq = 100\n'
                   '[profile.release.record]\noutput = "release.data"\n')
        result = self.run_verb("record", "--profile", "release")
        self.assertSays(result, DONE, "every 10 ms")  # its -F, not the default's --interval
        self.assertEqual(self.options()[1], "128")
        self.assertTrue((self.folder / "release.data").exists())
        self.log.unlink()
        result = self.run_verb("record", "--interval", "4", "--", "qemu-system-x86_64", "-m", "32")
        self.assertSays(result, DONE, "every 4 ms")
        self.assertEqual(self.options()[1], "32")

    def test_paths_and_the_command_are_relative_to_the_file(self):
        self.write('qemu = ["qemu-system-x86_64"]\nduration = 0.2\nthen-quit = true\n[record]\noutput = "o.data"\n')
        (self.folder / "deep" / "er").mkdir(parents=True)
        inside = ["env", "-C", str(self.folder / "deep" / "er")]
        self.assertSays(self.run_verb("record", before=inside), DONE, "samples are in")
        self.assertTrue((self.folder / "o.data").exists())
        self.assertEqual((self.folder / "where").read_text().strip(), str(self.folder.resolve()))
        self.write("kernle = 1\n", "deep")  # the nearest one counts
        self.assertSays(self.run_verb("record", before=inside), WRONG_USAGE, "deep/ringside.toml:1", "kernle")
        self.assertSays(self.run_verb("record", "--project", "none", before=inside), WRONG_USAGE, "which guest")

    def test_an_option_that_may_be_given_often_is_a_list(self):
        for listed in ('["1000=init:gone/init.elf", "2000=sh:gone/sh.elf"]', '"1000=init:gone/init.elf"'):
            self.write(f'process = {listed}\nqemu = ["qemu-system-x86_64"]\n')
            (self.folder / "deep").mkdir(exist_ok=True)
            result = self.run_verb("record", before=["env", "-C", str(self.folder / "deep")])
            self.assertSays(result, NOT_RECORDED, f"{self.folder.resolve()}/gone/init.elf")

    def test_programs_are_searched_in_the_files_folder(self):
        self.write('[profile.emerald]\nos = "emerald"\nprograms = "userspace"\nqemu = ["qemu-system-x86_64"]\n')
        (self.folder / "deep").mkdir(exist_ok=True)
        result = self.run_verb("record", "--profile", "emerald", before=["env", "-C", str(self.folder / "deep")])
        self.assertSays(result, NOT_RECORDED, f"{self.folder.resolve()}/userspace: No such file")

    def test_a_folder_is_in_the_files_folder(self):
        self.write('sysroot = "gone"\nqemu = ["qemu-system-x86_64"]\n')
        (self.folder / "deep").mkdir(exist_ok=True)
        result = self.run_verb("record", before=["env", "-C", str(self.folder / "deep")])
        self.assertSays(result, WRONG_USAGE, f"{self.folder.resolve()}/gone")

    def test_attaching_leaves_the_files_qemu_out(self):
        self.write('qemu = ["qemu-system-x86_64"]\n')
        result, _ = self.record("--duration", "0.2")
        self.assertSays(result, DONE, "samples are in")
        self.assertFalse(self.log.exists())

    def test_what_is_wrong_is_reported_with_its_line(self):
        for text, line, expected in (("a = ", 1, ""), ('\nkernle = "x"', 2, "no command has an option 'kernle'"),
                                 ("[recrod]\nfreq = 1", 1, "[recrod] is no command"),
                                 ("[report]\nfreq = 1", 2, "'report' has no option 'freq'"),
                                 ("[profile.x]\n\nhelp = true", 3, "no command has an option 'help'"),
                                 ('output = "x"', 1, "[record]"), ("freq = 90000", 1, "'freq'"),
                                 ("freq = true", 1, "no values of it"), ("then-quit = 1", 1, "give true or false"),
                                 ('qemu = "make qemu"', 1, "is a list"), ("freq = [1, 2]", 1, "takes one value")):
            self.write(text + "\n")
            result = self.run_verb("record")
            self.assertSays(result, WRONG_USAGE, f"ringside.toml:{line}:", expected)

    def test_a_profile_that_is_not_there(self):
        self.assertSays(self.run_verb("record", "--profile", "x"), WRONG_USAGE, "there is no ringside.toml")
        self.write("[profile.debug]\n[profile.release]\n")
        self.assertSays(self.run_verb("record", "--profile", "x"), WRONG_USAGE, "has debug, release")

    def test_the_verb_profile_has_its_own_table(self):
        self.write('[profile]\none-shot = true\n')
        with cli_case.FakeStub(self.gdb):
            result = self.ringside("profile", "--gdb", self.gdb)
        self.assertEqual(result.returncode, DONE, result.said)
        self.assertTrue(result.stdout.startswith("vCPU 0:"), result.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_another_users_file_is_not_read(self):
        self.write("kernle = 1\n")
        os.chown(self.folder / "ringside.toml", 12345, 12345)
        self.assertSays(self.run_verb("record"), WRONG_USAGE, "belongs to another user", "which guest")
        self.assertSays(self.run_verb("record", "--project", "ringside.toml"), WRONG_USAGE, "kernle")
        self.assertSays(self.run_verb("report", "--project", "gone.toml"), FAILED, "gone.toml")
        # Nor another user's link to a file of this one, whose paths would then lead to the other's files.
        (self.folder / "ringside.toml").rename(self.folder / "own.toml")
        os.chown(self.folder / "own.toml", 0, 0)
        (self.folder / "ringside.toml").symlink_to("own.toml")
        os.lchown(self.folder / "ringside.toml", 12345, 12345)
        self.assertSays(self.run_verb("record"), WRONG_USAGE, "belongs to another user", "which guest")


if __name__ == "__main__":
    cli_case.main()
