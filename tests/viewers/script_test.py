"""ringside script and perf script of one file, and the reports of both: the same lines, of what perf recorded and of ringside's own recordings."""
import collections
import re
import subprocess
import unittest

import viewer_case
from ringside_tests.harness import limits
from ringside_tests.judges import perf_reports

PROGRAM = """
#include <stdio.h>

__attribute__((noinline)) unsigned spin(unsigned n) {
  volatile unsigned sum = n;
  for (unsigned i = 0; i < n; ++i) sum = sum * 7 + i;
  return sum;
}

__attribute__((noinline)) unsigned even(unsigned n) { return spin(n) + 1; }
__attribute__((noinline)) unsigned odd(unsigned n) { return spin(2 * n) + 2; }

int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 60; ++i) sum += i % 2 ? odd(300000) : even(300000);
  printf("%u\\n", sum);
}
"""
FRAME = re.compile(r"^(\t| ?) *([0-9a-f]+) (.*?)(\+0x[0-9a-f]+)? \((\S*)\)$")
ONE_LINE = re.compile(r"^(.*: ) *([0-9a-f]+) (.*?)(?:\+0x[0-9a-f]+)? \((\S*)\)$")
# ringside has 0 there, as readers take no other number, and no vCPU where there is none.
NO_THREAD = re.compile(r"^(\S+ +)-1 ")
NO_VCPU = "[-01] "
RECORDINGS = {"chains": ["-g", "-e", "cpu-clock:u"], "several": ["-g", "-e", "cpu-clock:u,task-clock:u"],
              "alone": ["-e", "cpu-clock:u,task-clock:u"]}


def placed(line, program):
    """A line without a name that the two may choose in another way: in the program, no function has two names."""
    frame = FRAME.match(line)
    if frame is None or frame.group(5).endswith(program):
        return line
    return f"{frame.group(1)}{frame.group(2)} ({frame.group(5)})"


def is_of_program(difference):
    """Whether a difference of two reports is not only of names that the two may choose in another way."""
    kind, _, rest = difference.partition(" ")
    names = r"\b(spin|even|odd|main)\b"
    if kind == "calls":
        return bool(re.search(names, rest.rpartition(": ")[2]))
    return bool(re.search(names + r"|spins\.c:\d|\d:spins\b|\d\.\d{6}\b", rest))


class PerfFiles(viewer_case.ViewerCase):
    """Files that perf records here."""
    def setUp(self):
        super().setUp()
        self.perf = viewer_case.need("perf", "linux-perf")
        (self.folder / "spins.c").write_text(PROGRAM)
        viewer_case.run(viewer_case.need("gcc", "gcc"), "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                        "-fno-inline", "spins.c", "-o", "spins", cwd=self.folder)

    def record(self, name):
        recorded = subprocess.run([self.perf, "record", "-q", "-F", "2000", *RECORDINGS[name], "-o", f"{name}.data", "./spins"],
                                  cwd=self.folder, check=False, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=limits.STEP)
        if recorded.returncode:
            raise unittest.SkipTest(f"perf record is not permitted here: {recorded.stdout[-300:]}")

    def both(self, name, *options):
        """(perf's lines, ringside's), of which there are some."""
        there = viewer_case.run(self.perf, "script", "--no-inline", "-i", f"{name}.data", *options, cwd=self.folder).stdout
        here = self.ringside("script", "--no-inline", "-i", f"{name}.data", *options)
        self.assertGreater(len(there.splitlines()), 20)
        return there.splitlines(), here.splitlines()

    def test_call_chains(self):
        for name in ("chains", "several"):
            self.record(name)
            for options in ([], ["--ns"], ["--max-stack", "2"], ["-F", "+pid,-period"], ["-F", "comm,tid,time,event"],
                            ["-F", "ip,sym,dso"], ["-F", "-sym,-symoff"], ["-S", "spin"], ["--reltime"], ["--deltatime"], ["-c", "spins"]):
                with self.subTest(recording=name, options=options):
                    there, here = self.both(name, *options)
                    self.assertEqual(len(here), len(there))
                    for mine, perfs in zip(here, there, strict=True):
                        self.assertEqual(placed(mine, "/spins"), placed(perfs, "/spins"))
        self.assertTrue(any("odd+0x" in line and line.endswith("/spins)") for line in self.both("several")[1]))

    def test_reports(self):
        self.record("chains")
        for options in ([], ["-s", "pid"], ["-s", "time,dso", "--no-children"], ["-s", "time", "--time-quantum", "20ms", "--no-children"],
                        ["-F", "overhead,srcline,sym", "--no-children"], ["-s", "srcline", "--no-children"],
                        ["--max-stack", "1"], ["--max-stack", "2"], ["--max-stack", "2", "--no-children"]):
            with self.subTest(options=options):
                arguments = ["report", "--stdio", "--no-inline", "-i", "chains.data", *options]
                there = perf_reports.read(viewer_case.run(self.perf, *arguments, cwd=self.folder).stdout)
                here = perf_reports.read(self.ringside(*arguments))
                heads, others = perf_reports.compare(there, here)
                self.assertEqual(heads + [line for line in others if is_of_program(line)], [])
                self.assertTrue(here.rows)

    def test_samples_without_callers_are_lines(self):
        """perf has the addresses of the process there, where ringside has those of the file."""
        self.record("alone")
        self.record("chains")
        for name, options in (("alone", []), ("chains", ["-G"])):
            with self.subTest(recording=name):
                there, here = self.both(name, *options)
                heads = [[ONE_LINE.match(line).group(1, 3, 4) for line in lines] for lines in (there, here)]
                self.assertEqual(*[[head for head in each if head[2].endswith("/spins")] for each in heads])
                self.assertEqual(*[[(head, image) for head, _, image in each] for each in heads])

    def test_events_and_build_ids(self):
        for name in RECORDINGS:
            self.record(name)
            for perfs, option in (("evlist", "--events"), ("buildid-list", "--build-ids")):
                there = viewer_case.run(self.perf, perfs, "-i", f"{name}.data", cwd=self.folder).stdout
                self.assertEqual(self.ringside("report", option, "-i", f"{name}.data"), there)
            there = viewer_case.run(self.perf, "evlist", "-F", "-i", f"{name}.data", cwd=self.folder).stdout
            self.assertEqual(self.ringside("report", "--events", "-v", "-i", f"{name}.data"), there)
            self.ringside("import", f"{name}.data", "-o", "imported")
            self.assertEqual(set(self.ringside("report", "--events", "-i", "imported").splitlines()),
                             set(self.ringside("report", "--events", "-i", f"{name}.data").splitlines()))
            there = self.ringside("report", "--build-ids", "-i", f"{name}.data").splitlines()
            here = self.ringside("report", "--build-ids", "-i", "imported").splitlines()  # files of callers, too
            self.assertLessEqual({line for line in there if "vdso" not in line}, set(here))

    def test_the_text_reads_back(self):
        self.record("chains")
        (self.folder / "text").write_text(self.ringside("script", "-i", "chains.data"))
        folded = [collections.Counter(line for line in self.ringside("export", "-i", name, "--format", "folded", "-o", "-").splitlines()
                                      if ";main;" in line) for name in ("chains.data", "text")]
        self.assert_same(*folded)
        self.assertTrue(any(";main;odd;spin " in line for line in folded[1]))


class OwnRecordings(viewer_case.ViewerCase):
    """Recordings as perf.data, which perf reads, beside ringside script of the recording itself."""
    def setUp(self):
        super().setUp()
        self.perf = viewer_case.need("perf", "linux-perf")

    def lines_of_perf(self, name):
        self.export(name, "out.perf.data")
        folder = self.folder / "empty"  # perf reads a vmlinux where it is started, and ~/.debug and ~/.perfconfig
        folder.mkdir(exist_ok=True)
        return viewer_case.run(self.perf, "--buildid-dir", f"{self.folder}/out.perf.data.buildid", "script", "-i",
                               self.folder / "out.perf.data", "--max-stack", "1000", cwd=folder,
                               env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C"}).stdout.splitlines()

    def test_events_and_build_ids_are_those_of_the_perf_data(self):
        def check(name):
            self.export(name, "out.perf.data")
            events = viewer_case.run(self.perf, "evlist", "-i", self.folder / "out.perf.data").stdout
            self.assertEqual(self.ringside("report", "--events", "-i", self.recording(name)), events)
            ids = dict(reversed(line.split(" ", 1)) for line in viewer_case.run(
                self.perf, "buildid-list", "-i", self.folder / "out.perf.data").stdout.splitlines())
            here = dict(reversed(line.split(" ", 1)) for line in
                        self.ringside("report", "--build-ids", "-i", self.recording(name)).splitlines())
            self.assertEqual("[kernel.kallsyms]" in here, name != "mixed")  # which has no build ids
            for path, number in here.items():  # perf's file has images of frames only
                there = ids.get(path if path.startswith("[") else "/guest" + path, number)
                self.assertEqual(there, number, path)
        self.each_recording(check)

    def test_heads_and_names_are_those_of_the_perf_data(self):
        def check(name):
            there, here = self.lines_of_perf(name), self.ringside("script", "-i", self.recording(name), "--no-inline").splitlines()
            self.assertEqual(len(here), len(there))
            kernel = 0
            for mine, perfs in zip(here, there, strict=True):
                frame = FRAME.match(mine)
                if frame is None:
                    self.assertEqual(mine, NO_THREAD.sub(r"\1 0 ", perfs.replace(NO_VCPU, "")))
                elif frame.group(5) == "[kernel.kallsyms]" and frame.group(3) != "[unknown]":
                    self.assertEqual(mine, perfs)
                    kernel += 1
                elif frame.group(3) != "[unknown]":
                    self.assertEqual(frame.group(3), FRAME.match(perfs).group(3))
            self.assertGreater(kernel, 100)
        self.each_recording(check)


if __name__ == "__main__":
    viewer_case.main()
