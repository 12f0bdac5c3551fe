"""`annotate`: samples at addresses that the test chooses are shown at their instructions and source lines."""
import collections
import json
import os
import pathlib
import re
import struct
import subprocess
import tempfile

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE

SOURCE = """\
typedef unsigned long u64;
static inline __attribute__((always_inline)) u64 mix(u64 x) {
  asm volatile("rolq $13, %0" : "+r"(x));  /* mixed */
  return x;
}
static __attribute__((noinline)) u64 helper(u64 x) {
  asm volatile("" : "+r"(x));
  return x * 7;  /* helped */
}
__attribute__((noinline)) u64 hot(u64 n) {
  u64 x = 1;
  do {
    x = mix(x);
    if (n % 16 == 0) x += helper(n);  /* called */
  } while (--n);
  return x;
}
void _start(void) { hot(100); other(3); }
"""
OTHER = """\
typedef unsigned long u64;
static __attribute__((noinline)) u64 helper(u64 x) {
  asm volatile("" : "+r"(x));
  return x ^ 5;  /* the other one */
}
u64 other(u64 x) { return helper(x) + 1; }
"""
OPTIONS = ["-O2", "-g", "-falign-functions=1", "-ffreestanding", "-fno-pie", "-mcmodel=kernel", "-fcf-protection=none", "-fno-asynchronous-unwind-tables",
           "-Wno-implicit-function-declaration", "-nostdlib", "-static", "-no-pie", "-Wl,-Ttext=0xffffffff80001000",
           "-Wl,-z,max-page-size=0x1000"]
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(.*)$", re.MULTILINE)


class AnnotateCase(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "tree" / "kernel").mkdir(parents=True)
        self.build(SOURCE)

    def build(self, main):
        (self.folder / "tree" / "kernel" / "main.c").write_text(main)
        (self.folder / "tree" / "kernel" / "other.c").write_text(OTHER)
        sources = [str(self.folder / "tree" / "kernel" / name) for name in ("main.c", "other.c")]
        subprocess.run(["gcc", *OPTIONS, "-Wl,--build-id=sha1", "-o", "kernel.elf", *sources], cwd=self.folder, check=True)
        self.functions = self.disassembled()

    def disassembled(self):
        """objdump's addresses by function, in their order: [(name, [(address, text)])]."""
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "kernel.elf"], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        parts = re.split(r"^[0-9a-f]+ <(.*)>:$", text, flags=re.MULTILINE)[1:]
        return [(name, [(int(at, 16), code) for at, code in INSTRUCTION.findall(body)])
                for name, body in zip(parts[::2], parts[1::2], strict=True)]

    def addresses(self, name, number=0):
        return [at for at, _ in [body for function, body in self.functions if function == name][number]]

    def frames(self, address):
        """addr2line's [(function, line)] there, innermost first."""
        said = subprocess.run(["addr2line", "-f", "-i", "-e", "kernel.elf", hex(address)], cwd=self.folder, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()
        return [(function, int(re.match(r".*:(\d+)", place).group(1))) for function, place in zip(said[::2], said[1::2], strict=True)]

    def record(self, samples):
        """Makes the recording of {address: samples}, as Maestro's raw data."""
        (self.folder / "raw").write_bytes(b"".join(struct.pack("<BQ", 1, address) * count
                                                   for address, count in samples.items()))
        self.assertSays(self.ringside("import", "--input-format", "maestro", "raw", "--kernel", "kernel.elf"), DONE)

    def annotate(self, *arguments, status=DONE, **more):
        result = self.ringside("annotate", *arguments, **more)
        self.assertSays(result, status)
        return result.stdout

    def json(self, *arguments, **more):
        return json.loads(self.annotate(*arguments, "--format", "json", **more))


class Annotate(AnnotateCase):
    def spread(self):
        """Different counts at all instructions of all functions."""
        samples = {}
        for number, (_, body) in enumerate(self.functions):
            for place, (address, _) in enumerate(body):
                samples[address] = 3 + 5 * place + 40 * number
        self.record(samples)
        return samples

    def test_samples_are_at_their_instructions(self):
        samples = self.spread()
        content = self.json("hot")
        self.assertEqual(content["samples"], sum(samples.values()))
        function, = content["functions"]
        rows = {int(row["address"], 16): row for row in function["instructions"]}
        self.assertEqual(sorted(rows), self.addresses("hot"))
        whole = sum(samples[address] for address in rows)
        self.assertEqual((function["samples"], function["weight"]), (whole, whole))
        for address, row in rows.items():
            self.assertEqual(row["samples"], samples[address])
            self.assertAlmostEqual(row["percent"], 100 * samples[address] / whole, places=3)
        self.assertEqual(function["outside"]["samples"], 0)

    def test_samples_are_at_their_lines(self):
        samples = self.spread()
        function, = self.json("hot")["functions"]
        lines = collections.Counter()
        for address in self.addresses("hot"):
            lines[self.frames(address)[0][1]] += samples[address]
        self.assertEqual({row["line"]: row["samples"] for row in function["lines"] if row["samples"]}, dict(lines))
        source = SOURCE.splitlines()
        for row in function["lines"]:
            if row["line"]:
                self.assertEqual(row["text"], source[row["line"] - 1].strip())
                self.assertTrue(row["file"].endswith("tree/kernel/main.c"))

    def test_calls_jumps_and_inlined_functions(self):
        self.spread()
        function, = self.json("hot")["functions"]
        rows = function["instructions"]
        call, = [row for row in rows if row["text"].startswith("call")]
        self.assertEqual(call["target"]["name"], "helper")
        self.assertFalse(call["target"]["inside"])
        for row in rows:
            self.assertEqual(["hot", *row["inlined"]], [name for name, _ in reversed(self.frames(int(row["address"], 16)))], row)
            if row.get("target", {}).get("inside"):
                self.assertTrue([other for other in rows if other["address"] == row["target"]["address"]][0]["is_target"])
        text = self.annotate("hot")
        self.assertRegex(text, r"(?m)^ +mix \(inlined\) main\.c:3  asm volatile.*mixed \*/$")
        self.assertRegex(text, r"(?m)callq? .* -> helper$")
        self.assertRegex(text, r"(?m) j[a-z]+ +↑ [0-9a-f]+$")
        self.assertRegex(text, r"(?m)^ *\d+\.\d\d% +>[0-9a-f]+  ")

    def test_text_has_the_lines_first(self):
        address = self.addresses("hot")[2]
        self.record({address: 30, self.addresses("other")[0]: 70})
        lines = self.annotate("hot").splitlines()
        self.assertRegex(lines[0], r"^# hot  \[kernel\]  at 0xffffffff80001\w+, \d+ bytes$")
        self.assertEqual(lines[1], "# 30.00% of all samples: 30 of 100 ticks")
        self.assertRegex(lines[5], r"^100\.00%  main\.c:\d+ +\S")
        # Without a name: the heaviest.
        text = self.annotate()
        self.assertIn("# other  [kernel]", text)
        self.assertIn("# 1 more function, with 30.00% of all samples", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("\x1b[31m", self.annotate("--color", "always"))
        self.assertIn(f"{address:x}", self.annotate("hot", "--show-addresses"))

    def test_functions_of_one_name_are_all_shown(self):
        first, second = self.addresses("helper", 0), self.addresses("helper", 1)
        self.record({first[0]: 20, second[1]: 80})
        functions = self.json("helper")["functions"]
        self.assertEqual([int(function["address"], 16) for function in functions], [second[0], first[0]])
        self.assertEqual([function["samples"] for function in functions], [80, 20])
        one = self.json("helper", "--functions", "1")
        self.assertEqual((len(one["functions"]), one["left_out"]["samples"]), (1, 20))

    def test_a_function_that_is_only_inlined(self):
        samples = self.spread()
        function, = self.json("mix")["functions"]
        self.assertEqual((function["name"], function["inlined"]), ("hot", "mix"))
        wanted = [address for address in self.addresses("hot") if self.frames(address)[0][0] == "mix"]
        self.assertEqual([int(row["address"], 16) for row in function["instructions"]], wanted)
        self.assertEqual(function["samples"], sum(samples[address] for address in wanted))
        self.assertEqual(self.json("mix (inlined)"), self.json("mix"))

    def test_inlined_functions_that_a_text_names(self):
        inside = [at for at in self.addresses("hot") if self.frames(at)[0][0] == "mix"][0]
        rest = [at for at in self.addresses("hot") if self.frames(at)[0][0] == "hot"][0]

        def sample(address, *names):
            frames = "".join(f"\t{address:16x} {name}\n" for name in names)
            return f"x 1/1 [000] 1.000001: 1 cycles:\n{frames}\t{self.addresses('_start')[0]:16x} _start+0x1 ([kernel.kallsyms])\n\n"
        hot = "hot+0x1 ([kernel.kallsyms])"
        (self.folder / "text").write_text(3 * sample(inside, "mix (inlined)", hot) + 2 * sample(rest, hot))
        function, = self.json("mix", "-i", "text", "--kernel", "kernel.elf")["functions"]
        self.assertEqual((function["name"], function["inlined"], function["samples"]), ("hot", "mix", 3))
        self.assertIn("mix (inlined) in hot", self.annotate("mix (inlined)", "-i", "text", "--kernel", "kernel.elf"))
        function, = self.json("hot", "-i", "text", "--kernel", "kernel.elf")["functions"]
        self.assertEqual((function["name"], function["samples"]), ("hot", 5))
        # Without debug information all of the function is shown.
        subprocess.run(["strip", "--strip-debug", "kernel.elf"], cwd=self.folder, check=True)
        text = self.annotate("mix", "-i", "text", "--kernel", "kernel.elf")
        self.assertIn("mix (inlined) in hot", text)
        self.assertIn("# mix is inlined there: no debug information is here that tells its instructions from others of hot", text)
        self.assertRegex(text, r"(?m)^100\.00% ")

    def test_a_function_that_only_calls_others(self):
        address = self.addresses("helper")[0]
        (self.folder / "text").write_text(
            f"x 1/1 [000] 1.000001: 1 cycles:\n\t{address:x} helper+0x0 ([kernel.kallsyms])\n\t{address + 9:x} hot+0x1 ([kernel.kallsyms])\n\n")
        self.assertSays(self.ringside("annotate", "hot", "-i", "text"), FAILED, "no sample is in hot itself, only in functions that it calls")

    def test_sources_that_have_moved(self):
        self.spread()
        (self.folder / "tree").rename(self.folder / "elsewhere")
        function, = self.json("hot")["functions"]
        self.assertEqual({row["text"] for row in function["lines"]}, {None})
        note, = function["notes"]
        self.assertIn("tree/kernel/main.c is not shown", note)
        self.assertIn("--source FOLDER", note)
        for folder in ("elsewhere", "elsewhere/kernel"):
            self.assertIn("/* called */", self.annotate("hot", "--source", folder))
        (self.folder / "empty").mkdir()
        self.assertIn("/* called */", self.annotate("hot", "--source", "empty", "--source", "elsewhere"))
        self.assertSays(self.ringside("annotate", "hot", "--source", "nowhere"), WRONG_USAGE, "nowhere")

    def test_sources_below_the_working_folder_and_the_kernels(self):
        self.spread()
        folder = tempfile.TemporaryDirectory(prefix="ringside-away-")
        self.addCleanup(folder.cleanup)
        away = ["-i", self.folder / "ringside.data"]
        for options, is_shown in ([], False), (["--kernel", self.folder / "kernel.elf"], True):
            with self.subTest(options=options):
                said = self.annotate("hot", *away, *options, before=["env", "-C", folder.name])
                self.assertEqual("/* called */" in said, is_shown, said)
                self.assertEqual("--source FOLDER" in said, not is_shown, said)

    def test_a_file_that_debug_information_names_is_not_shown_if_it_is_elsewhere(self):
        """The kernel's file is hostile: its line table names files of this machine."""
        outside = tempfile.TemporaryDirectory(prefix="ringside-outside-")
        self.addCleanup(outside.cleanup)
        key = pathlib.Path(outside.name) / "key"
        key.write_text("a secret\n" * 30)
        tree = self.folder / "tree"
        (tree / "link").symlink_to(key)
        (tree / "folder").symlink_to(outside.name)
        (tree / ".env").write_text("a secret\n" * 30)
        os.mkfifo(tree / "pipe")
        for name in key, tree / "link", tree / "folder" / "key", tree / ".." / ".." / key.parent.name / "key", tree / ".env", tree / "pipe":
            with self.subTest(name=name):
                self.build(SOURCE.replace("__attribute__((noinline)) u64 hot", f'#line 1 "{name}"\n__attribute__((noinline)) u64 hot'))
                self.spread()
                said = self.annotate("hot")
                self.assertIn(f"{name.name}:", said)
                self.assertNotIn("a secret", said)
                self.assertIn(f"{name} is not shown", said)
                self.assertIn("--source FOLDER", said)
                self.assertNotIn("a secret", json.dumps(self.json("hot")))
        self.build(SOURCE.replace("__attribute__((noinline)) u64 hot", f'#line 1 "{key}"\n__attribute__((noinline)) u64 hot'))
        self.spread()
        self.assertIn("a secret", self.annotate("hot", "--source", outside.name))

    def test_a_project_file_names_no_sources_outside_of_its_folder(self):
        self.spread()
        for folder, status in (("tree", DONE), (".", DONE), ("..", WRONG_USAGE), ("/etc", WRONG_USAGE)):
            (self.folder / "ringside.toml").write_text(f'[annotate]\nsource = ["tree", "{folder}"]\n')
            self.assertSays(self.ringside("annotate", "hot"), status, *(["ringside.toml:2", "outside", "--source"] if status else []))

    def test_a_project_files_sources_are_where_its_links_lead(self):
        self.spread()
        project = self.folder / "own" / "project"
        (project / "d1" / "d2" / "d3").mkdir(parents=True)
        (project / "a").symlink_to("d1/d2/d3")
        for setting, options, is_shown in (
                ('[annotate]\nsource = "a/../../.."', [], False),
                ('[annotate]\nsource = ["d1", "a/../../.."]', [], False),
                ('kernel = "../../kernel.elf"', [], False),
                ("", ["--kernel", self.folder / "kernel.elf"], True),
                ('kernel = "gone.elf"', ["--kernel", self.folder / "kernel.elf"], True)):
            with self.subTest(setting=setting, options=options):
                (project / "ringside.toml").write_text(setting + "\n")
                said = self.annotate("hot", "-i", self.folder / "ringside.data", *options, before=["env", "-C", str(project)])
                self.assertEqual("/* called */" in said, is_shown, said)
        (self.folder / "tree").rename(project / "d1" / "tree")
        (project / "ringside.toml").write_text('[annotate]\nsource = "a/../../tree"\n')
        self.assertIn("/* called */", self.annotate("hot", "-i", self.folder / "ringside.data", before=["env", "-C", str(project)]))

    def test_without_a_disassembler(self):
        samples = self.spread()
        function, = self.json("hot", environment={"RINGSIDE_LIBLLVM": "/nonexistent.so"}.items())["functions"]
        self.assertTrue(any("libllvm14" in note for note in function["notes"]), function["notes"])
        self.assertEqual({int(row["address"], 16): row["samples"] for row in function["instructions"]},
                         {address: samples[address] for address in self.addresses("hot")})
        self.assertIn("/* called */", self.annotate("hot", environment={"RINGSIDE_LIBLLVM": "/nonexistent.so"}.items()))

    def test_without_the_kernels_file(self):
        samples = self.spread()
        subprocess.run(["gcc", *OPTIONS, "-Wl,--build-id=0x1234", "-o", "kernel.elf", str(self.folder / "tree/kernel/other.c"),
                        "-Wl,-e,other"], cwd=self.folder, check=True)
        result = self.ringside("annotate", "hot", "--format", "json")
        self.assertSays(result, DONE, "is not the file that was recorded", "--kernel")
        function, = json.loads(result.stdout)["functions"]
        self.assertEqual(function["samples"], sum(samples[address] for address in self.addresses("hot")))
        self.assertTrue(any("with --kernel" in note for note in function["notes"]), function["notes"])
        self.assertEqual(len(function["instructions"]), len(self.addresses("hot")))


class WrongInput(AnnotateCase):
    def test_an_unknown_function(self):
        self.record({self.addresses("helper")[0]: 3})
        self.assertSays(self.ringside("annotate", "helpr"), FAILED, "helpr", "helper")
        self.assertSays(self.ringside("annotate", "zzzzzzzz"), FAILED, "zzzzzzzz", "ringside report")

    def test_names_without_addresses(self):
        (self.folder / "stacks.folded").write_text("main;work 30\nmain;idle 2\n")
        self.assertSays(self.ringside("annotate", "work", "-i", "stacks.folded"), FAILED, "no addresses", "perf-data", "pprof")

    def test_no_recording(self):
        self.assertSays(self.ringside("annotate"), FAILED, "ringside.data: No such file", "ringside record")
        (self.folder / "empty").write_bytes(b"")
        self.assertSays(self.ringside("annotate", "empty"), FAILED, "empty is a file", "-i")
        self.assertSays(self.ringside("annotate", "f", "-i", "empty"), FAILED, "empty")

    def test_other_sources_are_reported(self):
        subprocess.run([cli_case.built("ringside_mixed_recording"), self.folder / "mixed.data"], check=True)
        result = self.ringside("annotate", "-i", "mixed.data")
        self.assertSays(result, DONE, "not shown are", "--sample-source")
        chosen = self.json("-i", "mixed.data", "--sample-source", "allocations", "--value", "bytes")
        self.assertEqual(chosen["unit"], "bytes")
        self.assertSays(self.ringside("annotate", "-i", "mixed.data", "--sample-source", "nothing"), WRONG_USAGE, "allocations")

    def test_wrong_options(self):
        for options in (["--functions", "0"], ["--format", "csv"], ["--disassembler-style", "masm"]):
            with self.subTest(options=options):
                self.assertSays(self.ringside("annotate", *options), WRONG_USAGE, options[0])

    def test_functions_without_bound(self):
        """Symbols that are longer than their code, and code that no function is as long as: little memory, and a note."""
        (self.folder / "kernel.s").write_text(
            '.text\n.globl a\n.type a,@function\na: .skip 4096, 0x90\n.size a, 0x7fffffff\n'
            '.globl long\n.type long,@function\nlong: .skip 40000000, 0x90\n.size long, . - long\n')
        subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-Wl,-e,a,--build-id=sha1", "-Wl,-Ttext=0xffffffff80001000",
                        "-o", "kernel.elf", "kernel.s"], cwd=self.folder, check=True)
        base = 0xffffffff80001000
        self.record({base + 17: 5, base + 4096 + 100: 7, base + 4096 + 30000000: 11})
        # AddressSanitizer reserves terabytes of addresses.
        is_plain = b"__asan_init" not in pathlib.Path(cli_case.program()).read_bytes()
        limited = ("prlimit", "--as=1000000000") if is_plain else ()
        function, = self.json("a", before=limited)["functions"]
        self.assertEqual(sum(row["samples"] for row in function["instructions"]), 5)
        if is_plain:  # with AddressSanitizer it takes half a minute
            function, = self.json("long", before=limited)["functions"]
            self.assertEqual(sum(row["samples"] for row in function["instructions"]), 7)
            self.assertEqual(function["outside"]["samples"], 11)
            self.assertTrue(any("only the first 262144" in note for note in function["notes"]), function["notes"])
        text = self.annotate("long")
        self.assertIn("only the first 262144", text)
        self.assertRegex(text, r"61\.11% +at addresses of no instruction shown")  # 11 of 18 samples


if __name__ == "__main__":
    cli_case.main()
