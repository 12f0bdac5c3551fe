"""All formats of export: extensions, options that do not go with one, full disks, names that are made to do harm."""
import gzip
import os
import re
import subprocess

import cli_case
import elf_files
from cli_case import DONE, FAILED, WRONG_USAGE

ESCAPES = "\x1b]0;title\x07\x1b[31m\x9b31m\u202e\x7f</script>\"'&;\\"


class Formats(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        self.mixed = self.folder / "mixed.data"
        subprocess.run([cli_case.built("ringside_mixed_recording"), self.mixed], check=True)

    def formats(self):
        """Name and first extension of each, as --help lists them."""
        text = " ".join(self.ringside("export", "--help").stdout.split())
        found = dict(re.findall(r"([\w-]+): [^;]*?\((\.[\w.-]+)[^)]*\)", text.partition("--format NAME")[2]))
        self.assertGreaterEqual(len(found), 11, text)
        return found

    def test_an_extension_chooses_what_the_name_chooses(self):
        for name, extension in self.formats().items():
            with self.subTest(format=name):
                by_name, by_extension = self.folder / f"name.{name}", self.folder / f"extension{extension}"
                self.assertSays(self.ringside("export", self.mixed, "--format", name, "-o", by_name), DONE)
                self.assertSays(self.ringside("export", self.mixed, "-o", by_extension), DONE)
                self.assertTrue(by_name.stat().st_size)
                self.assertEqual(by_name.read_bytes(), by_extension.read_bytes())

    def test_the_same_input_gives_the_same_bytes(self):
        for name in self.formats():
            with self.subTest(format=name):
                contents = []
                for number in (1, 2):
                    path = self.folder / f"{name}.{number}"
                    self.assertSays(self.ringside("export", self.mixed, "--format", name, "-o", path), DONE)
                    contents.append(path.read_bytes())
                self.assertEqual(*contents)

    def test_a_full_disk_leaves_the_old_file(self):
        for name, extension in self.formats().items():
            with self.subTest(format=name):
                self.assertSays(self.ringside("export", self.mixed, "--format", name, "-o", "/dev/full"), FAILED, "/dev/full",
                                "no space left")
                old = self.folder / f"old{extension}"
                old.write_text("old")
                limited = self.ringside("export", self.mixed, "-o", old, before=("prlimit", "--fsize=100"))
                self.assertNotEqual(limited.returncode, DONE)
                self.assertEqual(old.read_text(), "old")
                self.assertEqual([path.name for path in self.folder.iterdir() if ".tmp" in path.name], [])

    def test_names_are_harmless(self):
        recording = self.recording()
        kernel = self.folder / "kernel.elf"
        kernel.write_bytes(elf_files.elf(function=ESCAPES + "evil\nline 1"))
        for name, extension in self.formats().items():
            with self.subTest(format=name):
                path = self.folder / f"out{extension}"
                self.assertSays(self.ringside("export", recording, "--kernel", kernel, "-o", path), DONE)
                content = path.read_bytes()
                if content.startswith(b"\x1f\x8b"):
                    content = gzip.decompress(content)
                self.assertIn(b"evil", content if name != "perf-data" else self.side_files(path))
                for evil in (b"\x1b]0", b"\x1b[31m", b"evil\nline", "\x9b".encode(), "\u202e".encode()):
                    self.assertNotIn(evil, content)
                if extension.endswith(".svg"):
                    self.assertNotIn(b"</script>\"'&;", content)

    @staticmethod
    def side_files(path):
        folder = path.with_name(path.name + ".buildid")
        return b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())

    def test_an_option_of_another_format_is_refused(self):
        for arguments in (["--format", "pprof", "--per-cpu"], ["--format", "speedscope", "--annotate-kernel"],
                          ["--format", "callgrind", "--folded-style", "emerald"], ["--redox-style", "o"],
                          ["--format", "json-lines", "--show-idle"]):
            with self.subTest(arguments=arguments):
                result = self.ringside("export", self.mixed, "-o", "out", *arguments)
                self.assertSays(result, WRONG_USAGE, "does not go with the format")
                self.assertFalse((self.folder / "out").exists())

    def test_folded_text_is_written_in_all_formats(self):
        (self.folder / "stacks.folded").write_text("a;b 3\n")
        for name in self.formats():
            with self.subTest(format=name):
                self.assertSays(self.ringside("export", "stacks.folded", "--format", name, "-o", "out"), DONE)
                self.assertTrue((self.folder / "out").stat().st_size)

    def test_a_terminal_gets_no_binary_file(self):
        controller, terminal = os.openpty()
        with open(terminal, "wb", buffering=0) as stream:
            result = self.ringside("export", self.mixed, "--format", "pprof", stdout=stream)
        os.close(controller)
        self.assertSays(result, WRONG_USAGE, "pprof", "-o")

    def test_filters_hold_in_all_formats(self):
        """Where no sample is left, no format writes anything, and the reason is given."""
        for name in self.formats():
            if name == "json-lines":
                continue
            with self.subTest(format=name):
                path = self.folder / f"empty.{name}"
                result = self.ringside("export", self.mixed, "--format", name, "--time", "1000,1001", "-o", path,
                                       "--source", "cpu")
                self.assertSays(result, FAILED, "there is no sample", "leave out all")
                self.assertFalse(path.exists())

    def test_a_recording_is_never_replaced(self):
        before = self.mixed.read_bytes()
        for arguments in (["-o", self.mixed], ["--format", "folded", "-o", self.mixed]):
            with self.subTest(arguments=arguments):
                self.assertNotEqual(self.ringside("export", self.mixed, *arguments).returncode, DONE)
                self.assertEqual(self.mixed.read_bytes(), before)


if __name__ == "__main__":
    cli_case.main()
