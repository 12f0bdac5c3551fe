"""Files of other profilers as inputs: which format they are, standard input, what is refused, Asterinas' way of working."""
import bz2
import gzip
import json
import lzma
import re
import struct
import subprocess

import cli_case
import fake_stub
from cli_case import DONE, FAILED, WRONG_USAGE
from ringside_tests.harness import limits

# Three captures of two CPUs; the last one has one of them only.
CAPTURES = {"stack_traces": [{"0": ["spin", "lock", "main"], "1": ["idle", "main"]},
                             {"1": ["idle", "main"], "0": ["copy", "main"]},
                             {"1": ["??", "main"]}]}
PERF_SCRIPT = """\
dd 12 [001] 100.000001: 250000 cpu-clock:
\tffffffff81000010 copy_user+0x10 ([kernel.kallsyms])
\tffffffff81000105 vfs_read+0x5 ([kernel.kallsyms])
\t          401020 main+0x20 (/bin/dd)

"""


def stored_zstd(contents):
    """One frame of zstd with one block that is stored as it is (RFC 8878): less than 256 bytes."""
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(contents)]) + struct.pack("<I", len(contents) << 3 | 1)[:3] + contents


class Imports(cli_case.CliCase):
    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def profile(self, *arguments, **stub):
        with fake_stub.FakeStub(self.gdb, **stub):
            return self.ringside("profile", "--gdb", self.gdb, *arguments)

    def folded(self, *arguments, **more):
        result = self.ringside("export", "--format", "folded", *arguments, **more)
        self.assertSays(result, DONE)
        return result.stdout

    def json_of(self, *arguments):
        result = self.ringside("export", "--format", "asterinas-json", *arguments)
        self.assertSays(result, DONE)
        return json.loads(result.stdout)

    def test_the_contents_show_the_format(self):
        captures = self.write("captures", json.dumps(CAPTURES))
        self.assertEqual(self.folded(captures), "main;<unknown> 1\nmain;copy 1\nmain;idle 2\nmain;lock;spin 1\n")
        text = self.write("text", PERF_SCRIPT)
        self.assertEqual(self.folded(text), "dd;main;vfs_read;copy_user 250000\n")

    def test_mangled_names_are_shown_in_the_style_that_is_asked_for(self):
        text = PERF_SCRIPT.replace("vfs_read", "_ZN6kernel3runIiEEvT_").replace("copy_user", "_ZN2fs4read17h0123456789abcdefE")
        raw = "_ZN6kernel3runIiEEvT_;_ZN2fs4read17h0123456789abcdefE"
        styles = {"full": "void kernel::run<int>(int);fs::read", "short": "kernel::run;fs::read", "none": raw,
                  "verbose": "void kernel::run<int>(int);fs::read::h0123456789abcdef", "asterinas": "kernel::run;fs::read"}
        files = [self.write("names.perf-script", text)]
        for ending in ("folded", "pb.gz", "speedscope.json", "callgrind", "firefox.json.gz", "data"):
            files.append(f"names.{ending}")
            words = ["import"] if ending == "data" else ["export", "--demangle", "none"]
            self.assertSays(self.ringside(*words, "names.perf-script", "-o", files[-1]), DONE)
        files.append(self.write("names.txt", "Thread 1 (Thread 1.1 (CPU#0 [running])):\n#0  _ZN2fs4read17h0123456789abcdefE ()\n"
                                "#1  0x10 in _ZN6kernel3runIiEEvT_ ()\n"))
        for name in files:
            for style, shown in styles.items():
                with self.subTest(name=name, style=style):
                    self.assertIn(f"{shown} ", self.folded("-i", name, "--demangle", style))
        report = self.ringside("report", "-i", "names.perf-script", "--demangle", "short")
        self.assertRegex(report.stdout, r"(?m) fs::read$")
        self.assertIn(">fs::read<", self.ringside("flamegraph", "-i", "names.folded", "--demangle", "short", "-o", "-").stdout)

    def test_code_of_programs_does_not_become_the_kernels(self):
        self.write("text", PERF_SCRIPT)
        self.assertSays(self.ringside("export", "-i", "text", "-o", "names.asterinas.json"), DONE)
        report = self.ringside("report", "-i", "names.asterinas.json", "--sort", "dso,symbol")
        self.assertRegex(report.stdout, r"(?m) \[c\] main$")
        self.assertNotIn("kernel", report.stdout)

    # A process of such a file is a sum of all that have its name.
    def test_processes_of_callgrind_have_names_without_numbers(self):
        self.write("text", PERF_SCRIPT + PERF_SCRIPT.replace("dd 12", "dd 13") + PERF_SCRIPT.replace("dd 12", "cat 14"))
        self.assertSays(self.ringside("export", "-i", "text", "-o", "sums.callgrind"), DONE)
        folded = "cat;main;vfs_read;copy_user 250000\ndd;main;vfs_read;copy_user 500000\n"
        for by in ("comm", "pid", "tid"):
            self.assertEqual(self.folded("-i", "sums.callgrind", "--by", by), folded)
        rows = json.loads(self.ringside("report", "-i", "sums.callgrind", "--sort", "comm,pid,symbol", "--format", "json").stdout)
        self.assertNotIn('"pid": 1', json.dumps(rows))
        lines = self.ringside("export", "-i", "sums.callgrind", "--format", "json-lines").stdout
        self.assertIn('"comm":"dd"', lines)
        self.assertNotIn('"pid"', lines)
        self.assertEqual(self.folded("-i", "sums.callgrind", "--comm", "dd"), folded.splitlines(True)[1])
        self.assertSays(self.ringside("report", "-i", "sums.callgrind", "--pid", "1"), FAILED, "there is no sample")
        trace = json.loads(self.ringside("export", "-i", "sums.callgrind", "--format", "chrome-trace").stdout)
        processes = {event["pid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "process_name"}
        self.assertEqual(sorted(processes.values()), ["cat", "dd"])

    def assert_lines_come_back(self, name, *options, is_ordered=True):
        """ringside's own JSON Lines give the same again, in every format."""
        self.assertSays(self.ringside("export", name, "-o", "lines.jsonl"), DONE)
        self.assertSays(self.ringside("import", "lines.jsonl", "-o", "back.data"), DONE)
        first = (self.folder / "lines.jsonl").read_text().splitlines()
        # Each source has batches of its own, so the order of lines may be another.
        there, here = [lines if is_ordered else sorted(lines) for lines in (
            self.ringside("export", "back.data", "--format", "json-lines").stdout.splitlines(), first)]
        here = [line for line in here if not line.startswith('{"counter"')]
        self.assertEqual([lines for lines in zip(there, here) if lines[0] != lines[1]][:2], [])
        self.assertEqual(len(there), len(here))
        for words in (["--format", "folded", "--show-idle", "--by", "tid"], ["--format", "perf-script", "--show-idle"]):
            there, here = [self.ringside("export", path, *words, *options).stdout for path in ("lines.jsonl", name)]
            here = re.sub(r"(?m)\+0x[0-9a-f]+(?= \()", "", here)  # lines have no offsets in functions
            self.assertTrue(here)
            self.assertEqual(*[text if is_ordered else sorted(text.split("\n\n")) for text in (there, here)])
        return first

    def test_json_lines_come_back_as_they_were(self):
        inlined = PERF_SCRIPT.replace("\tffffffff81000010", "\tffffffff81000010 rep_movs (inlined)\n\tffffffff81000010")
        other = inlined.replace("dd 12 [001] 100.000001", "cat 13/14 [000] 100.000002").replace("copy_user", "_ZN1f1gEi")
        self.write("text", PERF_SCRIPT + inlined + other + PERF_SCRIPT.replace("cpu-clock", "page-faults"))
        lines = self.assert_lines_come_back("text", is_ordered=False)
        self.assertTrue(any('"functions":["rep_movs"],"lines":[""],"inlined":true}' in line and '["f::g(int)"]' in line for line in lines))
        self.write("sums", self.ringside("export", "text", "--format", "callgrind").stdout)
        self.assert_lines_come_back("sums")
        self.recording("--duration", "0.4", "--interval", "5")
        self.assert_lines_come_back("good.data")
        subprocess.run([cli_case.built("ringside_mixed_recording"), self.folder / "mixed.data"], check=True)
        self.assert_lines_come_back("mixed.data", "--source", "cpu,monitor", is_ordered=False)
        for words in (["report"], ["report", "--source", "allocations", "--value", "bytes"], ["flamegraph", "-o", "-"],
                      ["export", "--format", "trace-dat", "-o", "x.dat"], ["diff", "mixed.data"]):
            self.assertSays(self.ringside(*words, "lines.jsonl"), DONE)

    def test_a_broken_line_is_left_out(self):
        self.write("text", PERF_SCRIPT * 3)
        lines = self.ringside("export", "text", "--format", "json-lines").stdout.splitlines(True)
        samples = [number for number, line in enumerate(lines) if '"stacks"' in line]
        lines[samples[1]] = lines[samples[1]][:100] + "\n"
        self.write("broken.jsonl", "".join(lines))
        report = self.ringside("report", "broken.jsonl", "--header")
        self.assertSays(report, DONE, f"broken.jsonl: one of the lines is left out, at line {samples[1] + 1}: ")
        self.assertRegex(report.stdout, r"(?m)^# +lost +1$")

    def test_lines_through_another_writer_of_json(self):
        self.write("text", PERF_SCRIPT * 3)
        lines = self.ringside("export", "text", "--format", "json-lines").stdout
        self.write("spread.jsonl", "".join(json.dumps(json.loads(line)) + "\n" for line in lines.splitlines()))
        self.assertEqual(self.ringside("export", "spread.jsonl", "--format", "json-lines").stdout, lines)

    def test_lines_that_are_cut_or_removed(self):
        self.write("text", PERF_SCRIPT * 3)
        lines = self.ringside("export", "text", "--format", "json-lines").stdout.splitlines(True)
        samples = [number for number, line in enumerate(lines) if '"stacks"' in line]
        self.write("cut.jsonl", "".join(lines[:-1]))
        report = self.ringside("report", "cut.jsonl", "--header")
        self.assertSays(report, DONE, "cut.jsonl: the lines end without statistics: ")
        self.assertNotRegex(report.stdout, r"(?m)^# +lost ")
        self.write("fewer.jsonl", "".join(lines[:samples[0]] + lines[samples[1]:]))
        self.assertRegex(self.ringside("report", "fewer.jsonl", "--header").stdout, r"(?m)^# +lost +1$")
        self.write("more.jsonl", "".join(lines[:samples[0]] + lines[samples[0]:samples[0] + 1] + lines[samples[0]:]))
        self.assertSays(self.ringside("report", "more.jsonl"), DONE, "more.jsonl: its lines have 1 more ")

    def test_an_imported_recording_reads_as_the_file_does(self):
        for name, text in (("captures", json.dumps(CAPTURES)), ("text", PERF_SCRIPT), ("folded", "main;read 12\nmain 1\n")):
            with self.subTest(name=name):
                self.assertSays(self.ringside("import", self.write(name, text), "-o", f"{name}.data"), DONE,
                                f"ringside report -i {name}.data")
                self.assertEqual(self.folded(f"{name}.data"), self.folded(name))

    def test_standard_input(self):
        for text in (json.dumps(CAPTURES), PERF_SCRIPT):
            piped = subprocess.run([cli_case.program(), "export", "-i", "-"], input=text, text=True, capture_output=True,
                                   check=True, timeout=limits.STEP)
            self.assertEqual(piped.stdout, self.folded(self.write("file", text)))

    def test_head_lines_say_that_there_are_no_times(self):
        captures = self.write("captures", json.dumps(CAPTURES))
        report = self.ringside("report", captures, "--header")
        self.assertSays(report, DONE)
        self.assertIn("# time             : none in the input", report.stdout)
        self.assertSays(self.ringside("report", captures, "--time", "1,2"), WRONG_USAGE, "--time")

    def test_what_is_refused(self):
        captures = self.write("captures", json.dumps(CAPTURES))
        self.assertSays(self.ringside("report", self.write("words", "words\n")), FAILED, "words is not a recording",
                        "--input-format")
        self.assertSays(self.ringside("import", captures, captures), WRONG_USAGE, "one of several inputs")
        self.assertSays(self.ringside("import", "absent"), FAILED, "absent")
        for arguments in (["export", captures, "-o", captures, "--format", "asterinas-json"], ["import", captures, "-o", captures],
                          ["flamegraph", captures, "-o", captures + "", "--input-format", "asterinas-json"]):
            before = (self.folder / captures).read_bytes()
            result = self.ringside(*arguments)
            self.assertSays(result, WRONG_USAGE, "this is the input")
            self.assertEqual((self.folder / captures).read_bytes(), before)
        recording = self.recording("--duration", "0.2")
        self.assertSays(self.ringside("import", recording, "-o", "other.data"), WRONG_USAGE, "is a recording already")
        self.assertSays(self.ringside("report", recording, "--cpu-freq", "2.2"), WRONG_USAGE, "--cpu-freq")

    def test_what_is_damaged_is_reported_and_the_rest_is_kept(self):
        whole = json.dumps(CAPTURES)
        self.write("cut", whole[:whole.index("copy")])
        result = self.ringside("import", "cut", "-o", "cut.data")
        self.assertSays(result, DONE, "cut", "offset 0x")
        self.assertIn("lock;spin", self.folded("cut.data"))
        self.assertSays(self.ringside("import", self.write("none", whole[:20]), "-o", "none.data"), FAILED, "none", "offset 0x")
        self.assertFalse((self.folder / "none.data").exists())

    def test_a_memtrace_is_found_by_its_records(self):
        record = b"\6malloc\0" + struct.pack("<QQBQQ", 0xc1000040, 24, 2, 0xc0100010, 0xc0100105)
        (self.folder / "memtrace.bin").write_bytes(2 * record + record[:20])
        result = self.ringside("import", "memtrace.bin", "-o", "memtrace.data")
        self.assertSays(result, DONE, "memtrace.bin", f"the record at offset {2 * len(record):#x} is cut")
        self.assertEqual(self.folded("memtrace.data", "--value", "size"), "<unknown:0xc0100105>;<unknown:0xc0100010> 48\n")
        text = self.write("lines", "\n".join(["malloc"] * 9))
        self.assertSays(self.ringside("import", text), FAILED, "--input-format")

    def test_masks_choose_cpus_and_keep_captures(self):
        captures = self.write("captures", json.dumps(CAPTURES))
        self.assertEqual(self.json_of(captures), CAPTURES)
        for mask, cpus in (("1", "0"), ("0x2", "1"), ("3", "0,1")):
            wanted = {"stack_traces": [{cpu: stack for cpu, stack in capture.items() if cpu in cpus.split(",")}
                                       for capture in CAPTURES["stack_traces"]]}
            self.assertEqual(self.json_of(captures, "--cpu-mask", mask), wanted)
            self.assertEqual(self.json_of(captures, "--cpu", cpus), wanted)
            self.assertEqual(self.folded(captures, "--cpu-mask", mask), self.folded(captures, "--cpu", cpus))
        self.assertSays(self.ringside("export", captures, "--cpu-mask", "0"), WRONG_USAGE, "--cpu-mask 0")
        self.assertSays(self.ringside("export", captures, "--cpu-mask", "1", "--cpu", "0"), WRONG_USAGE, "--cpu")

    def test_names_with_blanks_are_kept(self):
        captures = {"stack_traces": [{"0": ["<T as Drop>::drop", "call_once {shim}", "main loop"]}]}
        self.write("captures", json.dumps(captures))
        self.assertEqual(self.json_of("captures"), captures)
        self.assertEqual(self.folded("captures"), "main loop;call_once {shim};<T as Drop>::drop 1\n")

    def test_files_of_other_kinds_are_named(self):
        for contents, text in ((b"JAVA PROFILE 1.0.2\0", "asprof -o collapsed"), (b"FLR\0\0\2", "jfrconv"),
                               (b"{\"traceEvents\":[]}", "is a trace of Chrome"), ("words\n".encode("utf-16"), "iconv")):
            (self.folder / "file").write_bytes(contents)
            result = self.ringside("report", "file")
            self.assertSays(result, FAILED, "ringside: file is ", text)
            self.assertEqual(result.said.count("\n"), 1, result.said)

    def test_folders_of_perf_are_named(self):
        (self.folder / "threads").mkdir()
        self.assertSays(self.ringside("report", "-i", "threads"), FAILED, "threads is a folder, not a file")
        self.write("threads/data", "PERFILE2")
        self.assertSays(self.ringside("report", "-i", "threads"), FAILED,
                        "threads is a folder, as 'perf record --kcore' makes it: give the file in it, threads/data")
        self.write("threads/data.0", "")
        self.assertSays(self.ringside("report", "-i", "threads"), FAILED, "threads is a folder of 'perf record --threads'",
                        "'perf script -i threads'")

    def test_an_empty_file_of_callgrind_points_to_those_of_threads(self):
        self.write("cg.out", "")
        self.assertSays(self.ringside("report", "-i", "cg.out"), FAILED, "cg.out is empty: `ringside record` writes recordings")
        self.write("cg.out-01", "")
        self.assertSays(self.ringside("report", "-i", "cg.out"), FAILED, "cg.out is empty: with --separate-threads, callgrind", "cg.out-01")

    def test_compressed_files_are_unpacked(self):
        text = PERF_SCRIPT.encode()
        for pack in (gzip.compress, bz2.compress, lzma.compress, stored_zstd):
            with self.subTest(pack=pack.__name__):
                for contents, count in ((pack(text), 250000), (pack(text) + pack(text), 500000)):
                    (self.folder / "packed").write_bytes(contents)
                    self.assertEqual(self.folded("packed"), f"dd;main;vfs_read;copy_user {count}\n")
        skippable = b"\x50\x2a\x4d\x18\x04\0\0\0same"  # as pzstd has in front of its frames
        (self.folder / "packed").write_bytes(skippable + stored_zstd(text) + skippable + stored_zstd(text) + skippable)
        self.assertEqual(self.folded("packed"), "dd;main;vfs_read;copy_user 500000\n")
        (self.folder / "packed").write_bytes(gzip.compress(b"main;read 12\n"))
        self.assertEqual(self.folded("packed"), "main;read 12\n")
        (self.folder / "packed").write_bytes(gzip.compress(json.dumps(CAPTURES).encode()))
        self.assertEqual(self.json_of("packed"), CAPTURES)
        piped = subprocess.run([cli_case.program(), "export", "-i", "-"], input=bz2.compress(text), capture_output=True,
                               check=True, timeout=limits.STEP)
        self.assertEqual(piped.stdout, b"dd;main;vfs_read;copy_user 250000\n")

    def test_a_profile_of_pprof_is_read_as_it_is(self):
        self.write("t.folded", "main;read 12\n")
        self.assertSays(self.ringside("import", "t.folded", "-o", "t.data"), DONE)
        self.assertSays(self.ringside("export", "t.data", "-o", "t.pb.gz"), DONE)
        self.assertEqual((self.folder / "t.pb.gz").read_bytes()[:2], b"\x1f\x8b")
        self.assertEqual(self.folded("t.pb.gz"), "main;read 12\n")
        (self.folder / "t.pb.bz2").write_bytes(bz2.compress((self.folder / "t.pb.gz").read_bytes()))
        self.assertEqual(self.folded("t.pb.bz2"), "main;read 12\n")

    def test_compressed_files_that_cannot_be_unpacked(self):
        packed = gzip.compress(PERF_SCRIPT.encode())
        for contents, text in ((packed[:-12], "the stream is damaged or ends too early"), (packed + b"x", "behind its end"),
                               (gzip.compress(bytes(300 << 20)), "it holds more than"),
                               (packed + gzip.compress(b"") * 100000, "more than 100000 streams"),
                               (bz2.compress(b"main 1\n")[:20], "compressed with bzip2")):
            (self.folder / "packed").write_bytes(contents)
            result = self.ringside("report", "packed")
            self.assertSays(result, FAILED, "packed: it is compressed with", "cannot be unpacked", text)
            self.assertEqual(result.said.count("\n"), 1, result.said)
        (self.folder / "packed").write_bytes(gzip.compress(b""))
        self.assertSays(self.ringside("report", "packed"), FAILED, "packed is compressed, and there is nothing in it")
        maestro = b"\x1f" + struct.pack("<31Q", 0xffffffff8010008b, *range(0xffffffff80100100, 0xffffffff8010011e))
        (self.folder / "raw").write_bytes(maestro)  # it begins as gzip does
        self.assertSays(self.ringside("report", "raw", "--input-format", "maestro"), DONE)
        (self.folder / "packed").write_bytes(gzip.compress(b"words\n"))
        self.assertSays(self.ringside("report", "packed"), FAILED, "packed is not a recording")
        recording = self.recording("--duration", "0.2")
        (self.folder / "packed").write_bytes(gzip.compress((self.folder / recording).read_bytes()))
        self.assertSays(self.ringside("report", "packed"), FAILED, "packed is a compressed file of ringside: unpack it")

    def test_perf_script_of_folded_stacks_reads_back(self):
        self.write("t.folded", "main 3\nmain;read;copy 12\n")
        self.assertSays(self.ringside("import", "t.folded", "-o", "t.data"), DONE)
        text = self.ringside("export", "t.data", "--format", "perf-script")
        self.assertSays(text, DONE)
        self.assertEqual(self.folded(self.write("text", text.stdout)), "main 3\nmain;read;copy 12\n")

    def test_a_long_line_takes_the_time_of_its_length(self):
        text = self.write("text", "dd 12 cycles:\n\t 1165 main (/x)\n\nx: " + (" " * 100 + "y: ") * 30000 + "\n")
        result = self.ringside("report", text)  # within the limit of a step
        self.assertIn(result.returncode, (DONE, FAILED), result.said)

    def test_the_event_with_most_samples_is_shown(self):
        few = "dd 12 [001] 100.000000: page-faults:\n\t 401020 fault (/bin/dd)\n\n"
        text = self.write("text", few + 2 * PERF_SCRIPT)
        self.assertEqual(self.folded(text), "dd;main;vfs_read;copy_user 500000\n")

    def test_captures_that_are_empty_are_kept(self):
        captures = {"stack_traces": [{}, {"0": ["main"]}, {}, {}, {"1": ["main"]}, {}]}
        self.assertEqual(self.json_of(self.write("captures", json.dumps(captures))), captures)

    def test_parse_renders_what_was_profiled_before(self):
        captures = self.write("cpu.json", json.dumps(CAPTURES))
        self.assertSays(self.ringside("profile", "--parse", captures), DONE, "cpu.svg")
        self.assertIn("lock", (self.folder / "cpu.svg").read_text())
        self.assertSays(self.ringside("profile", "--parse", captures, "--format", "folded", "--cpu-mask", "1"), DONE, "cpu.folded")
        self.assertEqual((self.folder / "cpu.folded").read_text(), "main;copy 1\nmain;lock;spin 1\n")
        self.assertSays(self.ringside("profile", "--parse", captures, "--format", "json"), WRONG_USAGE, "this is the input")
        self.assertSays(self.ringside("profile", "--parse", captures, "-o", "two.json"), DONE)
        self.assertEqual(json.loads((self.folder / "two.json").read_text()), CAPTURES)
        self.assertSays(self.ringside("flamegraph", "--parse", captures, "--cpu", "0", "-o", "one.svg"), DONE)
        for option in (["--samples", "3"], ["--interval", "1s"], ["--gdb", "localhost:1"]):
            self.assertSays(self.ringside("profile", "--parse", captures, *option), WRONG_USAGE, "--parse")

    def test_profile_writes_captures_under_a_name_of_its_own(self):
        result = self.profile("--samples", "20", "--interval", "5ms", "--format", "json", vcpus=2)
        self.assertSays(result, DONE)
        [path] = self.folder.glob("*-profile-*.json")
        self.assertRegex(path.name, r"-profile-\d{6}\.json$")
        captures = json.loads(path.read_text())["stack_traces"]
        self.assertEqual(len(captures), 20)
        self.assertTrue(all(set(capture) == {"0", "1"} for capture in captures))

    def test_a_number_of_milliseconds_below_1_may_be_meant_as_seconds(self):
        result = self.profile("--interval", "0.1")
        self.assertSays(result, WRONG_USAGE, "100us", "0.1s")


if __name__ == "__main__":
    cli_case.main()
