"""ringside doctor: what it says of QEMUs, a command line and a recording."""
import os
import pathlib
import re
import shutil

import cli_case
import elf_files
from cli_case import DONE, FAILED, WRONG_USAGE


class Doctor(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.bin = self.folder / "path"
        self.bin.mkdir()
        for name in ("qemu-system-x86_64", "qemu-system-aarch64", "qemu-system-sparc"):
            self.fake = self.stand_in(self.bin / name)

    def doctor(self, *arguments, version="10.0.2", api="2 4", path=None):
        """Asks anew each time."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        return self.ringside("doctor", *arguments, environment={
            **self.fake, "PATH": path or f"{self.bin}:/usr/bin:/bin", "FAKE_QEMU_VERSION": version,
            "FAKE_QEMU_PLUGIN_API": api})

    def line(self, result, key):
        found = [line for line in result.stdout.splitlines() if line.strip().startswith(key + " ")]
        self.assertEqual(len(found), 1, result.stdout + result.said)
        return found[0]

    def test_qemus_of_known_architectures(self):
        result = self.doctor()
        self.assertEqual(result.returncode, DONE, result.said)
        self.assertIn("10.0.2: TCG plugin (API 4), gdb, QMP", self.line(result, "qemu-system-aarch64"))
        self.assertNotIn("sparc", result.stdout)
        self.assertIn(str(len(os.sched_getaffinity(0))), self.line(result, "processors"))
        old = self.line(self.doctor(version="7.2.22"), "qemu-system-x86_64")
        self.assertIn("no TCG plugin: QEMU 7.2.22 found; the TCG plugin needs 9.2", old)
        self.assertIn("bookworm-backports", old)
        self.assertIn("install", self.line(self.doctor(path=str(self.folder)), "none"))

    def test_the_load_and_what_helps(self):
        before = os.getloadavg()[0]
        line = self.line(self.doctor(), "load")
        tasks = float(re.search(r"(\d+\.\d) tasks in the last minute", line)[1])
        after = os.getloadavg()[0]  # it changes every five seconds
        self.assertTrue(min(before, after) - 0.1 <= tasks <= max(before, after) + 0.1, line)
        if abs(tasks - os.cpu_count()) > 0.1:  # else it is rounded away
            self.assertEqual("priority" in line, tasks > os.cpu_count(), line)

    def test_a_command_line(self):
        result = self.doctor("--", "qemu-system-x86_64", "-s", version="7.2.22")
        self.assertIn("gdb: QEMU 7.2.22 found; the TCG plugin needs 9.2", self.line(result, "engine"))
        self.assertIn("9.2 or later", self.line(result, "better"))
        self.assertIn("gdb: the guest runs under hvf", self.line(self.doctor("--", "qemu-system-x86_64", "-accel", "hvf"),
                                                              "engine"))
        self.assertIn("is not QEMU", self.line(self.doctor("--", "make"), "make"))
        self.assertSays(self.doctor("--", "qemu-system-nothing"), FAILED, "qemu-system-nothing")

    def test_the_plugin_for_each_version_of_the_api(self):
        def said(version, api):
            return self.line(self.doctor(version=version, api=api), "qemu-system-x86_64")
        self.assertIn("TCG plugin (API 4)", said("10.1.0", "2 5"))
        self.assertIn("TCG plugin (API 6)", said("11.0.0", "6 6"))
        self.assertIn("TCG plugin (API 7)", said("11.1.3", "7 7"))
        self.assertIn("loads plugins for version 9 of its API and later", said("12.0.0", "9 11"))
        self.assertIn("built without plugins", said("10.0.2", "none"))
        self.assertIn("loads no plugin for version 4", said("9.2.0", "lacks"))
        self.assertIn("tcg: QEMU 11.1.3 runs", self.line(self.doctor("--", "qemu-system-x86_64", version="11.1.3", api="7 7"),
                                                       "engine"))

    def test_only_the_path_of_the_plugin(self):
        family = self.folder / "plugins"
        family.mkdir()
        for name in ("libringside-tcg.so", "libringside-tcg-6.so"):
            (family / name).touch()
        self.fake["RINGSIDE_PLUGIN"] = str(family / "libringside-tcg.so")

        def path(*arguments, **fake):
            result = self.doctor("--plugin", *arguments, **fake)
            self.assertSays(result, DONE)
            self.assertEqual(result.said, "")
            return result.stdout
        self.assertEqual(path(), f"{family}/libringside-tcg.so\n")
        self.assertEqual(path(version="11.0.0", api="6 6"), f"{family}/libringside-tcg-6.so\n")
        self.assertEqual(path("--", "qemu-system-aarch64", version="11.0.0", api="6 6"), f"{family}/libringside-tcg-6.so\n")

        def refused(*arguments, says, **fake):
            result = self.doctor("--plugin", *arguments, **fake)
            self.assertSays(result, FAILED, says)
            self.assertEqual((result.stdout, result.said.count("\n")), ("", 1))
        refused(version="7.2.22", says="the TCG plugin needs 9.2")
        refused(version="11.1.0", api="7 7", says="the newest TCG plugin here is for 6")
        refused("--", "qemu-system-nothing", says="qemu-system-nothing: there is no such program in PATH")
        # None that is not named is asked instead.
        refused("--", "./qemu-system-x86_64", says="./qemu-system-x86_64: there is no such program")
        refused("--", "./anything", says="./anything: there is no such program")
        (self.folder / "anything").write_text("#!/bin/sh\nexec qemu-system-x86_64\n")
        (self.folder / "anything").chmod(0o755)
        refused("--", "./anything", says="./anything is not QEMU, and the plugin depends on the QEMU that it starts")
        refused("--", "sh", "anything", says="sh is not QEMU")
        for arguments in (("--", "./nothing"), ("--", "./nothing/qemu-system-x86_64")):
            self.assertSays(self.doctor(*arguments), FAILED, f"{arguments[1]}: there is no such program")
        refused(path=str(self.folder), says="no QEMU is in PATH")
        self.fake["RINGSIDE_PLUGIN"] = str(family / "gone.so")
        refused(says="is not found")
        self.assertSays(self.doctor("--plugin", "-i", "x"), WRONG_USAGE, "--plugin")

    def test_the_plugin_for_the_first_qemu_that_loads_one(self):
        (self.bin / "qemu-system-x86_64").write_text("#!/bin/sh\n")
        with_plugin = self.doctor("--plugin", version="10.0.2")
        self.assertRegex(with_plugin.stdout, r"\A/.*/libringside-tcg\.so\n\Z")
        self.assertSays(self.doctor("--plugin", "--", "qemu-system-x86_64"), FAILED, "a script that names no QEMU")

    def test_a_script_is_not_run(self):
        (self.folder / "ran.sh").write_text(f"#!/bin/sh\ntouch {self.folder}/ran\n")
        (self.folder / "ran.sh").chmod(0o755)
        (self.folder / "ran.sh").rename(self.bin / "qemu-system-i386")
        self.assertIn("not run to ask it", self.line(self.doctor(), "qemu-system-i386"))
        (self.bin / "qemu-system-i386").write_text(f"#!/bin/sh\nexec {self.bin}/qemu-system-x86_64 -m 1G \"$@\"\n")
        self.assertIn("10.0.2: TCG plugin (API 4)", self.line(self.doctor(), "qemu-system-i386"))
        self.assertFalse((self.folder / "ran").exists())

    def test_a_program_that_only_the_project_file_names_is_not_run(self):
        self.stand_in(self.folder / "own" / "qemu-system-x86_64")
        (self.folder / "ringside.toml").write_text('qemu = ["./own/qemu-system-x86_64"]\n')
        self.assertIn("only the project file names it", self.line(self.doctor(), "./own/qemu-system-x86_64"))
        self.assertSays(self.doctor("--plugin"), FAILED, "only the project file names it")
        (self.folder / "ringside.toml").write_text('qemu = ["qemu-system-x86_64"]\n')
        self.assertIn("tcg", self.line(self.doctor(), "engine"))

    def test_the_kernels_that_are_kept(self):
        def cache(*arguments):
            result = self.ringside("doctor", *arguments)
            self.assertSays(result, DONE)
            return result
        self.assertIn("0 kernels, 0.0 MiB", self.line(cache("--cache"), "in all"))
        self.assertEqual(cache("--clear-cache").stdout, "removed 0 kernels, 0.0 MiB\n")
        kernels = self.folder / "cache" / "ringside" / "kernels"
        kernels.mkdir(parents=True, mode=0o700)
        (kernels / "1.kernel").write_bytes(bytes(3 << 20))
        (kernels / "another").write_bytes(b"file")
        self.assertIn("damaged", self.line(cache("--cache"), "3.0 MiB"))
        self.assertIn("1 kernel, 3.0 MiB, at most 256 MiB", self.line(cache("--cache"), "in all"))
        self.assertEqual(cache("--clear-cache").stdout, "removed 1 kernel, 3.0 MiB\n")
        self.assertEqual([file.name for file in kernels.iterdir()], ["another"])
        kernels.chmod(0o777)
        (kernels / "1.kernel").write_bytes(b"of whoever")
        self.assertIn("another user", self.line(cache("--cache"), "not used"))
        for others in (("--cache", "-i", "x"), ("--cache", "--plugin"), ("--clear-cache", "--cache"),
                       ("--clear-cache", "--plugin"), ("--clear-cache", "-i", "x")):
            self.assertSays(self.ringside("doctor", *others), WRONG_USAGE, others[0])

    def test_a_recording(self):
        result = self.doctor("-i", self.recording())
        self.assertEqual(result.returncode, DONE, result.said)
        stacks = int(self.line(result, "stacks").split()[1].rstrip(","))
        self.assertGreater(stacks, 0)
        report = self.ringside("report", "-i", "good.data", "--header")
        self.assertRegex(report.stdout, rf"\b{stacks}\b")
        self.assertSays(self.doctor("-i", "gone.data"), FAILED, "gone.data")

    def test_what_is_broken_in_a_recording(self):
        known = ("--kernel", "kernel.elf")
        for name, options, share, advice in (("nameless.data", (), "0.0", "in no known image"),
                                             ("whole.data", known, "100.0", None),
                                             ("cut.data", (*known, "--stack-bytes", "64"), "0.0", "larger --stack-bytes")):
            if options:  # one that lay there would be found
                (self.folder / "kernel.elf").write_bytes(elf_files.elf(function="loop"))
            pathlib.Path(self.gdb).unlink(missing_ok=True)
            result, _ = self.record("-o", name, "--duration", "0.3", *options, frames=30)
            with self.subTest(name=name):
                self.assertSays(result, DONE)
                said = self.doctor("-i", name).stdout
                stacks, complete = map(int, re.search(r"kernel parts +(\d+), (\d+) of them complete", said).groups())
                self.assertEqual(stacks, int(re.search(r"(?m)^  stacks +(\d+)", said).group(1)))
                self.assertIn(f"complete ({share} %)", said)
                self.assertNotIn("user parts", said)
                self.assertEqual(f"broken stacks          {stacks - complete} of {stacks} kernel stacks" in said,
                                 advice is not None)
                header = self.ringside("report", "-i", name, "--header").stdout
                self.assertRegex(header, rf"#   kernel part complete +{complete} .* of {stacks}\n")
                for text in (said, header, result.said):
                    self.assertEqual("are not complete" in text, advice is not None)
                    self.assertIn(advice or "", text)


if __name__ == "__main__":
    cli_case.main()
