"""Names, inlined functions and source lines of a kernel with debug information, in every reader."""
import re
import subprocess

import cli_case
import fake_stub
from cli_case import DONE

# The fake stub's guest always runs in the 64 nops.
SOURCE = """namespace kernel {
inline __attribute__((always_inline)) void spin() {
  asm volatile(".rept 64; nop; .endr");
}
template <class T>
void run(T) {
  spin();
}
template void run<int>(int);
}
"""
FULL, SHORT, RAW = "void kernel::run<int>(int)", "kernel::run", "_ZN6kernel3runIiEEvT_"


class SourceNames(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        (self.folder / "code.cpp").write_text(SOURCE)
        layout = f"-Wl,-Ttext-segment={fake_stub.CODE - 0x1000:#x},-z,max-page-size=0x1000,-e,{RAW}"
        options = ["-O2", "-g", "-ffreestanding", "-fno-pie", "-mcmodel=kernel", "-fno-asynchronous-unwind-tables",
                   "-fcf-protection=none", "-nostdlib", "-static", "-no-pie", layout]
        subprocess.run(["g++", *options, "-o", "kernel.elf", "code.cpp"], cwd=self.folder, check=True)
        self.recording("--duration", "1", "--kernel", "kernel.elf")  # a busy host finds the kernel within a second

    def stacks(self, *options):
        result = self.ringside("export", "-i", "good.data", *options)
        self.assertSays(result, DONE)
        return {line.rpartition(" ")[0] for line in result.stdout.splitlines()}

    def test_inlined_functions_are_frames(self):
        self.assertEqual(self.stacks(), {f"{FULL};kernel::spin()"})
        self.assertEqual(self.stacks("--no-inline"), {FULL})
        report = self.ringside("report", "-i", "good.data").stdout
        self.assertRegex(report, r"(?m)^ +100\.00% +100\.00% .*run<int>\(int\)")
        self.assertRegex(report, r"(?m)^ +kernel::spin\(\) \(inlined\)$")  # in the row's tree
        self.assertNotIn("inlined", self.ringside("report", "-g", "none", "-i", "good.data").stdout)
        report = self.ringside("report", "-i", "good.data", "--inline").stdout
        self.assertRegex(report, r"(?m)kernel::spin\(\) \(inlined\)")
        self.assertNotRegex(report, r"run<int>\(int\) \(inlined\)")
        picture = self.ringside("flamegraph", "-i", "good.data", "-o", "-").stdout
        self.assertIn("kernel::spin() (inlined)", picture)

    def test_demangle(self):
        self.assertEqual(self.stacks("--demangle", "short"), {f"{SHORT};kernel::spin"})
        self.assertEqual(self.stacks("--demangle", "none"), {f"{RAW};_ZN6kernel4spinEv"})
        self.assertEqual(self.stacks("--demangle", "verbose"), self.stacks("--demangle", "full"))
        for style, name in (("full", FULL), ("short", SHORT), ("none", RAW)):
            said = self.ringside("symbolize", "-e", "kernel.elf", "--demangle", style, f"{fake_stub.CODE + 4:x}").stdout
            self.assertEqual(said.splitlines()[2], name)
            self.assertIn(name, self.ringside("report", "-i", "good.data", "--demangle", style).stdout)

    def test_json_lines_have_inlined_functions_and_lines(self):
        self.assertSays(self.ringside("export", "-i", "good.data", "-o", "lines.jsonl"), DONE)
        for options in ([], ["--show-lines"], ["--format", "perf-script"]):
            there, here = [self.ringside("export", "-i", name, *options).stdout for name in ("lines.jsonl", "good.data")]
            self.assertEqual(there, re.sub(r"(?m)\+0x[0-9a-f]+(?= \()", "", here))  # lines have no offsets in functions
        there = self.ringside("export", "-i", "lines.jsonl", "--format", "json-lines").stdout
        self.assertEqual(there, (self.folder / "lines.jsonl").read_text())

    def test_source_lines(self):
        self.assertEqual(self.stacks("--show-lines"), {f"{FULL} code.cpp:7;kernel::spin() code.cpp:3"})
        report = self.ringside("report", "-i", "good.data", "--show-lines", "--inline").stdout
        self.assertIn("kernel::spin() code.cpp:3 (inlined)", report)


if __name__ == "__main__":
    cli_case.main()
