"""Outputs that cannot be written, or are there already."""
import os
import pathlib
import re
import shlex
import unittest

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE
from fake_stub import FakeStub


class Outputs(cli_case.CliCase):
    def profile(self, *arguments):
        with FakeStub(self.gdb) as stub:
            result = self.ringside("profile", "--gdb", self.gdb, "--duration", "0.2", *arguments)
            return result, stub

    def test_a_flame_graph_of_folded_stacks_ignores_no_option(self):
        self.assertSays(self.record("--duration", "0.2")[0], DONE)
        for options in (["--colors", "module"], ["--theme", "dark"], ["--icicle"], ["--reverse"], ["--title", "x"],
                        ["--width", "500"], ["--min-width", "3"]):
            result = self.ringside("flamegraph", "-o", "out.folded", *options)
            self.assertSays(result, WRONG_USAGE, options[0], "out.folded")
            self.assertFalse((self.folder / "out.folded").exists())
        for options in ([], ["--per-cpu"], ["--show-idle"], ["--by", "none"]):
            self.assertSays(self.ringside("flamegraph", "-o", "out.folded", *options), DONE)
            self.assertSays(self.ringside("export", "-o", "same.folded", *options), DONE)
            self.assertEqual((self.folder / "out.folded").read_text(), (self.folder / "same.folded").read_text())

    def test_a_recording_in_a_folder_that_is_not_there(self):
        result, stub = self.record("-o", "nowhere/ringside.data")
        self.assertSays(result, FAILED, "nowhere/ringside.data", "no such file")
        self.assertEqual(stub.rounds, 0, "the guest was touched although nothing could be recorded")

    def test_a_recording_where_a_file_cannot_be(self):
        for path in ("/proc/ringside.data", "/dev/null/ringside.data"):
            with self.subTest(path=path):
                result, stub = self.record("-o", path)
                self.assertSays(result, FAILED, path)
                self.assertTrue(stub.running)
                pathlib.Path(self.gdb).unlink()

    def test_a_recording_where_a_folder_is(self):
        (self.folder / "taken").mkdir()
        result, stub = self.record("-o", "taken")
        self.assertSays(result, FAILED, "taken", "directory")
        self.assertTrue(stub.running)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_the_right_to_write(self):
        (self.folder / "closed").mkdir(0o555)
        result, stub = self.record("-o", "closed/ringside.data")
        self.assertSays(result, FAILED, "closed/ringside.data", "permission denied")
        self.assertEqual(stub.rounds, 0)

    def test_an_older_recording_is_kept(self):
        (self.folder / "ringside.data").write_bytes(b"older")
        result, _ = self.record()
        self.assertSays(result, DONE)
        self.assertEqual((self.folder / "ringside.data.old").read_bytes(), b"older")
        self.assertNotEqual((self.folder / "ringside.data").read_bytes(), b"older")

    def test_a_failed_attach_leaves_the_older_recording_where_it_is(self):
        (self.folder / "ringside.data").write_bytes(b"older")
        self.assertSays(self.ringside("record", "--gdb", self.gdb), FAILED)
        self.assertEqual((self.folder / "ringside.data").read_bytes(), b"older")

    def test_a_recording_on_a_full_disk(self):
        result, stub = self.record("-o", "/dev/full", "--duration", "0.2")
        self.assertSays(result, FAILED, "/dev/full", "no space left")
        self.assertTrue(stub.running)

    def test_what_was_recorded_until_the_disk_was_full_can_be_read(self):
        # A limit on the size of files, which a full disk is like.
        (self.folder / "in.folded").write_text("".join(f"main;work{number} 1\n" for number in range(40_000)))
        limit = ("prlimit", "--fsize=80000")
        # How large the first block of records is depends on how fast the host is.
        for most in (1400, 2000, 2800, 4000, 5600):
            with FakeStub(self.gdb) as stub:
                recorded = self.ringside("record", "--gdb", self.gdb, "-o", "a b.data", "-F", "1000", "--duration", "5",
                                         before=("prlimit", f"--fsize={most}"))
            self.assertTrue(stub.running)
            (self.folder / "gdb").unlink()
            if "can be read" in recorded.said:
                break
        for result in (recorded, self.ringside("import", "in.folded", "-o", "a b.data", before=limit)):
            self.assertSays(result, FAILED, "cannot write a b.data: File too large")
            what_to_do = re.search("; what was recorded until then can be read: (ringside report -i .*)$", result.said)
            command = shlex.split(what_to_do.group(1))
            self.assertEqual(command, ["ringside", "report", "-i", "a b.data"])
            report = self.ringside(*command[1:], "--stdio")
            self.assertSays(report, DONE)
            self.assertRegex(report.stdout, r"(?m)^ +[0-9.]+%")

    def test_where_nothing_was_recorded_nothing_can_be_read(self):
        (self.folder / "in.folded").write_text("main;work 1\n")
        result = self.ringside("import", "in.folded", "-o", "a.data", before=("prlimit", "--fsize=30"))
        self.assertSays(result, FAILED, "cannot write a.data: File too large")
        self.assertNotIn("can be read", result.said)

    def test_a_temporary_recording_is_not_recommended(self):
        (self.folder / "in.folded").write_text("".join(f"main;work{number} 1\n" for number in range(40_000)))
        self.assertSays(self.ringside("export", "in.folded", "--format", "pprof", "-o", "in.pprof"), DONE)
        result = self.ringside("report", "-i", "in.pprof", before=("prlimit", "--fsize=80000"))
        self.assertSays(result, FAILED, "cannot write ", "ringside.data: File too large")
        self.assertNotIn("can be read", result.said)
        self.assertEqual(list(self.folder.glob("ringside-run-*")), [])

    def test_a_descriptor_is_written_to_and_not_replaced(self):
        (self.folder / "in.folded").write_text("main;work 2\n")
        (self.folder / "link.folded").symlink_to("/dev/stdout")
        (self.folder / "folder").symlink_to("/dev/fd")
        out = self.folder / "out"

        def export(path, command):
            return self.ringside("export", "in.folded", "-o", path, before=("sh", "-c", command, "sh"))

        for path in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/../dev/stdout", "link.folded", "folder/1"):
            with self.subTest(path=path):
                out.write_text("before\n")
                self.assertSays(export(path, '"$@" >> out'), DONE)
                self.assertEqual(out.read_text(), "before\nmain;work 2\n")
                self.assertSays(export(path, '{ echo x; "$@"; echo y; } > out'), DONE)
                self.assertEqual(out.read_text(), "x\nmain;work 2\ny\n")
        for path in ("/dev/fd/7", "/proc/self/fd/7", "folder/7"):
            with self.subTest(path=path):
                out.write_text("before\n")
                result = export(path, '"$@" 7>> out')
                self.assertSays(result, DONE)
                self.assertEqual((out.read_text(), result.stdout), ("before\nmain;work 2\n", ""))
        self.assertSays(export("/dev/fd/7", '"$@" 7>&-'), FAILED, "/dev/fd/7")
        self.assertSays(export("/dev/stdout", '"$@" >&-'), FAILED, "cannot write")
        self.assertTrue((self.folder / "link.folded").is_symlink())
        # The file itself by its name is replaced.
        out.write_text("before\n")
        self.assertSays(export("out", '"$@"'), DONE)
        self.assertEqual(out.read_text(), "main;work 2\n")

    def test_a_descriptor_has_no_folder_beside_it(self):
        recording = self.recording()
        for path in ("-", "/dev/stdout", "/dev/fd/7"):
            with self.subTest(path=path):
                result = self.ringside("export", "-i", recording, "--format", "perf-data", "-o", path,
                                       before=("sh", "-c", '"$@" > out 7>&1', "sh"))
                self.assertSays(result, DONE)
                self.assertNotIn("to read it", result.said)
                self.assertEqual((self.folder / "out").read_bytes()[:8], b"PERFILE2")

    def test_views_on_a_full_disk(self):
        recording = self.recording()
        for verb in ("export", "flamegraph"):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(verb, "-i", recording, "-o", "/dev/full"), FAILED, "/dev/full",
                                "no space left")

    def test_views_on_a_full_standard_output(self):
        recording = self.recording()
        for arguments in (["report"], ["export", "-o", "-"], ["flamegraph", "-o", "-"]):
            with self.subTest(verb=arguments[0]), open("/dev/full", "wb", buffering=0) as full:
                self.assertSays(self.ringside(*arguments, "-i", recording, stdout=full), FAILED, "no space left")

    def test_everything_else_on_a_full_standard_output(self):
        for arguments in (["--help"], ["--version"], ["--completion", "bash"], ["report", "--help"], ["doctor"]):
            with self.subTest(arguments=arguments), open("/dev/full", "wb", buffering=0) as full:
                self.assertSays(self.ringside(*arguments, stdout=full), FAILED, "standard output", "no space left")

    def test_a_recording_is_for_its_owner_alone(self):
        self.assertSays(self.record("-o", "a.data", "--duration", "0.2")[0], DONE)
        self.assertEqual((self.folder / "a.data").stat().st_mode & 0o777, 0o600)

    def test_a_recording_is_never_written_through_a_link(self):
        for target in ("precious", "gone"):
            with self.subTest(target=target):
                (self.folder / "precious").write_text("precious")
                (self.folder / "link").symlink_to(self.folder / target)
                result, stub = self.record("-o", "link")
                self.assertSays(result, WRONG_USAGE, "link", "symbolic link")
                self.assertEqual(stub.rounds, 0, "the guest was touched although nothing could be recorded")
                self.assertEqual((self.folder / "precious").read_text(), "precious")
                self.assertFalse((self.folder / "gone").exists())
                (self.folder / "link").unlink()
                pathlib.Path(self.gdb).unlink()

    def test_views_that_cannot_be_written(self):
        recording = self.recording()
        for verb in ("export", "flamegraph"):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(verb, "-i", recording, "-o", "nowhere/out"), FAILED, "nowhere/out",
                                "no such file")

    def test_a_profile_writes_what_its_extension_says(self):
        for name, begin in (("out.svg", "<"), ("out.folded", "")):
            with self.subTest(name=name):
                result, _ = self.profile("-o", name)
                self.assertSays(result, DONE)
                self.assertTrue((self.folder / name).read_text().startswith(begin))
                pathlib.Path(self.gdb).unlink()

    def test_the_extension_chooses_the_format(self):
        recording = self.recording()
        begins = {"folded": r".* \d+$", "svg": r"<\?xml", "json": "{"}
        for verb, name, options, content in (
                ("export", "out", (), "folded"), ("export", "out.txt", (), "folded"),
                ("export", "out.svg", (), "svg"), ("export", "out.jsonl", (), "json"),
                ("export", "out.json", ("--format", "json-lines"), "json"), ("flamegraph", "out", (), "svg"),
                ("flamegraph", "out.folded", (), "folded"), ("flamegraph", "out.svg", (), "svg")):
            with self.subTest(verb=verb, name=name):
                self.assertSays(self.ringside(verb, recording, "-o", name, *options), DONE)
                self.assertRegex((self.folder / name).read_text().splitlines()[0], "^" + begins[content])
                (self.folder / name).unlink()
        for verb, name, options in (("export", "out.png", ()), ("flamegraph", "out.png", ()),
                                    ("flamegraph", "out.jsonl", ()), ("export", "out.json", ()),
                                    ("export", "out.svg", ("--format", "folded")),
                                    ("export", "out.folded", ("--format", "json-lines"))):
            with self.subTest(verb=verb, name=name):
                self.assertSays(self.ringside(verb, recording, "-o", name, *options), WRONG_USAGE, name)
                self.assertFalse((self.folder / name).exists())

    def test_a_profile_without_an_extension_follows_its_style(self):
        for options, is_svg in (((), True), (("--folded-style", "plain"), False)):
            with self.subTest(options=options):
                result, _ = self.profile("-o", "out", *options)
                self.assertSays(result, DONE)
                self.assertEqual((self.folder / "out").read_text().startswith("<?xml"), is_svg)
                pathlib.Path(self.gdb).unlink()

    def test_a_profile_that_cannot_be_written_says_so_before_it_samples(self):
        result, stub = self.profile("-o", "nowhere/out.svg")
        self.assertSays(result, FAILED, "nowhere/out.svg", "no such file")
        self.assertEqual(stub.rounds, 0, "the guest was sampled for nothing")

    def test_a_recording_by_perfs_name_is_perfs_file(self):
        result, _ = self.record("-o", "t.perf.data", "--duration", "0.3")
        self.assertSays(result, DONE, "wrote t.perf.data")
        self.assertEqual((self.folder / "t.perf.data").read_bytes()[:8], b"PERFILE2")
        self.assertFalse((self.folder / "t.perf.data.ringside").exists())
        folded = self.ringside("export", "-i", "t.perf.data", "--format", "folded").stdout
        self.assertRegex(folded, r" [1-9]\d*\n$")

    def test_where_perfs_file_cannot_be_written_the_recording_is_kept(self):
        with FakeStub(self.gdb) as _:
            (self.folder / "t.perf.data.buildid").write_text("a file where the folder is to be")
            result = self.ringside("record", "--gdb", self.gdb, "-o", "t.perf.data", "--duration", "0.3")
        self.assertSays(result, FAILED, "the recording is kept in t.perf.data.ringside")
        self.assertSays(self.ringside("report", "-i", "t.perf.data.ringside"), DONE)


if __name__ == "__main__":
    cli_case.main()
