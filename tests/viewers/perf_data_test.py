"""The format perf-data, as perf and hotspot read it, in the forms of a file and of a pipe.

Counts, names, threads and times are ringside's own. perf.data has no inlined functions, so a frame is compared by the
function that was compiled there.
"""
import collections
import json
import os
import pathlib
import re
import struct
import subprocess

import viewer_case
from ringside_tests.harness import limits
from ringside_tests.judges import perf_reports

HOTSPOT_PARSER = "/usr/lib/x86_64-linux-gnu/libexec/hotspot-perfparser"
HEAD = re.compile(r" *(.*?) +(-?\d+)/(-?\d+) +\[(-?\d+)\] +(\d+)\.(\d{9}): +(\d+) +(.*): *$")
FRAME = re.compile(r"\s+[0-9a-f]+ (.*) \((.*?)\)$")
COMMAND = re.compile(r"to read it: (perf .*)")


def read_script(text):
    """[(event, comm, pid, tid, cpu, time in ns, period, function names)]"""
    samples = []
    for line in text.splitlines():
        if HEAD.match(line):
            comm, pid, tid, cpu, seconds, rest, period, event = HEAD.match(line).groups()
            samples.append((event, comm, int(pid), int(tid), int(cpu), int(seconds + rest), int(period), []))
        elif line.strip():
            samples[-1][7].append(FRAME.match(line).group(1))
    return [(*sample[:7], tuple(sample[7])) for sample in samples]


class HotspotStream:
    """The output of hotspot-perfparser, which hotspot reads: messages of a QDataStream, whose numbers are big-endian."""
    COMMAND, LOCATION, SYMBOL, STRING, ATTRIBUTES, SAMPLE = 2, 3, 4, 5, 11, 13

    def __init__(self, data):
        self.strings, self.addresses, self.parents, self.symbols, self.attributes, self.samples = {}, {}, {}, {}, {}, []
        at = data.index(b"\0") + 5
        while at < len(data):
            size, = struct.unpack_from("<I", data, at)
            self._read(data[at + 4:at + 4 + size])
            at += 4 + size

    def _read(self, message):
        number, = struct.unpack_from(">i", message, 1)
        if message[0] == self.LOCATION:
            self.addresses[number], = struct.unpack_from(">Q", message, 5)
            self.parents[number], = struct.unpack(">i", message[-4:])
        elif message[0] == self.SYMBOL:
            self.symbols[number], = struct.unpack_from(">i", message, 5)
        elif message[0] == self.STRING:
            self.strings[number] = message[9:].decode()
        elif message[0] == self.ATTRIBUTES:
            self.attributes[number] = struct.unpack_from(">IQi", message, 5)[2]
        elif message[0] == self.SAMPLE:
            pid, tid, time, cpu, count = struct.unpack_from(">iiQiI", message, 1)
            frames = struct.unpack_from(f">{count}i", message, 25)
            event, period = struct.unpack_from(">iQ", message, 25 + 4 * count + 5)
            self.samples.append((event, pid, tid, cpu, time, period, frames))

    def _name(self, location):
        owner = self.parents[location] if self.parents[location] in self.symbols else location
        return self.strings.get(self.symbols[owner], "")

    def _names(self, frames):
        """Without the leaf of kernel code, which hotspot puts once more before the first frame of user code."""
        leaf = self.addresses[frames[0]]
        names = [(self._name(frame), self.addresses[frame]) for frame in frames]
        return tuple(name for name, address in names if name or address != leaf)

    def named_samples(self):
        """[(event, pid, tid, cpu, time in ns, period, function names)]"""
        return [(self.strings[self.attributes[event]], *rest, self._names(frames))
                for event, *rest, frames in self.samples]


class PerfData(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        self.perf = viewer_case.need("perf", "linux-perf")
        # perf reads a vmlinux where it is started, and ~/.debug and ~/.perfconfig.
        self.empty = self.folder / "empty"
        self.empty.mkdir()
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.empty), "QT_QPA_PLATFORM": "offscreen",
                            "LC_ALL": "C"}

    def run_perf(self, output, *arguments, stdin=None):
        command = [self.perf, "--buildid-dir", f"{self.folder}/out.perf.data.buildid", *arguments, "-i", str(output)]
        result = subprocess.run(command, check=False, capture_output=True, cwd=self.empty, env=self.environment,
                                stdin=stdin, timeout=limits.STEP)
        text = result.stdout.decode(errors="replace")
        self.assertEqual(result.returncode, 0, result.stderr.decode(errors="replace"))
        return text, result.stderr.decode(errors="replace")

    def script(self, output, stdin=None):
        fields = "comm,pid,tid,cpu,time,period,event,ip,sym,dso"
        text, errors = self.run_perf(output, "script", "--ns", "-F", fields, stdin=stdin)
        # A recording of a busy host has lost ticks, and perf says so.
        self.assertEqual(re.sub(r"Warning:\nProcessed \d+ samples and lost [\d.]+%!\n+", "", errors), "")
        return read_script(text)

    def perf_report(self, output, keys, *options):
        """{row: samples}"""
        text, _ = self.run_perf(output, "report", "--stdio", "-g", "none", "--no-children", "-F", "sample," + keys,
                                *options)
        rows = collections.Counter()
        for line in text.splitlines():
            if line.strip() and not line.startswith("#"):
                count, rest = line.split(None, 1)
                rows[re.sub(r"^\[.\] ", "", rest.strip())] += int(count)
        return rows

    def truth(self, name):
        """The same as read_script() of samples with a stack, from ringside's JSON lines."""
        text = self.ringside("export", "-i", self.recording(name), "--format", "json-lines", "-o", "-")
        samples = []
        for line in map(json.loads, text.splitlines()):
            if line.get("disposition") != "sampled" or "stacks" not in line:
                continue
            frames = [frame for stack in line["stacks"] if "role" not in stack for frame in stack["frames"]]
            names = tuple(viewer_case.name_of(frame, line)[0].replace(";", ":") for frame in frames)
            names = names or ("[no stack]",)
            pid = line.get("pid", -1)
            samples.append((line.get("source", "cpu"), viewer_case.comm_of(line), pid, line.get("tid", pid),
                            line.get("vcpu", -1), line["time_ns"], line["weight"], names))
        return samples

    def same_samples(self, there, here):
        # JSON lines have no samples of events and counters; the test of reports counts those.
        sources = {sample[0] for sample in here}
        there = [sample for sample in there if sample[0] in sources]
        self.assert_same(collections.Counter(there), collections.Counter(here))

    def test_script_has_every_sample_of_a_file_and_of_a_pipe(self):
        def check(name):
            self.export(name, "out.perf.data")
            here = self.truth(name)
            self.same_samples(self.script(self.folder / "out.perf.data"), here)
            pipe = self.folder / "pipe"
            pipe.write_bytes(self.piped(name, "perf-data"))
            with open(pipe, "rb") as stream:
                self.same_samples(self.script("-", stdin=stream), here)
        self.each_recording(check)

    def test_reports_agree(self):
        def check(name):
            self.export(name, "out.perf.data", "--source", "cpu")
            output = self.folder / "out.perf.data"
            self.assert_same(self.perf_report(output, "comm"), self.report(name, "comm"))
            dsos = {"kernel": "[kernel.kallsyms]"}
            here = collections.Counter()
            for dso, count in self.report(name, "dso").items():
                here[dsos.get(dso, dso)] += count
            self.assert_same(self.perf_report(output, "dso"), +here)
            leaves = collections.Counter(sample[-1][0] for sample in self.truth(name) if sample[0] == "cpu")
            self.assert_same(self.perf_report(output, "sym"), leaves)
            if name != "demo":  # whose names have functions that are inlined
                self.assert_same(self.perf_report(output, "sym"), +self.report(name, "sym"))
        self.each_recording(check)

    def test_reports_look_alike(self):
        choices = ((), ("--no-children",), ("-g", "callee"), ("-G", "--no-children"), ("--header", "-F", "overhead,comm,parent"),
                   ("-s", "sym"), ("-s", "dso,sym", "-n", "-g", "caller,2"), ("--percent-limit", "3"),
                   ("-s", "pid"), ("-F", "overhead,pid,dso"), ("-s", "time,comm", "--no-children"),
                   ("-s", "time", "--time-quantum", "20ms", "--no-children"),
                   ("-F", "overhead,overhead_guest_sys,overhead_guest_us,sym"), ("--max-stack", "2"),
                   ("--max-stack", "2", "-g", "callee"), ("--max-stack", "3", "--no-children", "-G"),
                   ("-F", "overhead,overhead_children,overhead_sys,overhead_us,sample,period,sym"))

        def check(name):
            self.export(name, "out.perf.data", "--source", "cpu")
            is_linux = name != "demo"
            for choice in choices:
                if "overhead,comm,parent" in choice and not is_linux:
                    continue  # perf looks for parents with --sort parent alone, and this kernel has some
                theirs = " ".join(choice).replace("-g ", "-g").split()  # perf takes the mode of -g attached
                text, _ = self.run_perf(self.folder / "out.perf.data", "report", "--stdio", "--no-inline", *theirs)
                there = perf_reports.read(text)
                here = perf_reports.read(self.ringside("report", "--stdio", "--no-inline", "--source", "cpu", "-i",
                                                       self.recording(name), *choice))
                if name == "mixed":  # an export of one of its sources has no count of lost ticks
                    del there.head[0], here.head[0]
                heads, others = perf_reports.compare(there, here, kernel=perf_reports.KERNEL if is_linux else "kernel")
                with self.subTest(choice=choice):
                    self.assertEqual(heads + others[:5], [])
                    self.assertTrue(here.rows)
        self.each_recording(check)

    def test_every_source_is_an_event(self):
        self.export("mixed", "out.perf.data")
        there = collections.Counter()
        for event, *_ in self.script(self.folder / "out.perf.data"):
            there[event] += 1
        sources = ("cpu", "monitor", "off-cpu", "allocations", "requests", "instructions", "threads")
        self.assertEqual(set(there), set(sources))
        for source in sources:
            self.assertEqual(there[source], sum(self.report("mixed", "sym", "--source", source).values()), source)

    def test_the_printed_command_shows_names(self):
        command = [viewer_case._options.ringside, "export", "-i", self.recording("mixed"), "-o", "it's out.perf.data"]
        said = subprocess.run(command, check=True, cwd=self.folder, stderr=subprocess.PIPE, text=True,
                              timeout=limits.STEP).stderr
        shown = subprocess.run(["sh", "-c", COMMAND.search(said).group(1) + " --stdio"], check=True, cwd=self.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment, timeout=limits.STEP)
        self.assertIn("handle_fault", shown.stdout)

    def test_idle_processors_are_the_swapper(self):
        self.export("mixed", "out.perf.data", "--show-idle")
        idle = [sample for sample in self.script(self.folder / "out.perf.data") if sample[-1] in ((), ("[idle]",))]
        here = [sample for sample in self.samples("mixed") if sample.disposition == "idle"]
        self.assertEqual(len(idle), len(here))
        self.assertTrue(here)
        self.assertEqual({sample[1:4] for sample in idle}, {("swapper", 0, 0)})

    def test_hotspot_reads_the_same(self):
        parser = viewer_case.need(HOTSPOT_PARSER, "hotspot")

        def check(name):
            self.export(name, "out.perf.data")
            folder = self.folder / "out.perf.data.buildid"
            stream = self.folder / "stream"
            subprocess.run([parser, "--input", self.folder / "out.perf.data", "--kallsyms", folder / "kallsyms", "--debug",
                            folder / "debug", "--max-frames", "-1", "--output", stream], check=True, cwd=self.empty,
                           env=self.environment, stderr=subprocess.PIPE, timeout=limits.STEP)
            there = HotspotStream(stream.read_bytes()).named_samples()
            # It reads the kernel's names up to the first space.
            there = [(*sample[:-1], tuple(part.replace(" ", "_") for part in sample[-1])) for sample in there]
            # It takes a process -1 for the kernel and finds no files for it, then nor for others at the same address.
            truth = self.truth(name)
            nameless = {names for _, _, pid, *_, names in truth if pid == -1 and names == ("[user]",)}
            here = [(event, pid, *rest, () if names in nameless else tuple(part.replace(" ", "_") for part in names))
                    for event, _, pid, *rest, names in truth]
            self.same_samples(there, here)
        self.each_recording(check)

    def test_a_recording_and_other_files_are_not_replaced(self):
        recording = pathlib.Path(self.folder / "ringside.data")
        recording.write_bytes(self.recording("mixed").read_bytes())
        kept = self.folder / "x.perf.data.buildid"
        kept.mkdir()
        (kept / "mine").write_text("precious")
        for output, words in (("ringside.data", "this is a recording"), ("x.perf.data", "mine")):
            result = subprocess.run([viewer_case._options.ringside, "export", "-o", output], check=False, cwd=self.folder,
                                    stderr=subprocess.PIPE, text=True, timeout=limits.STEP)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(words, result.stderr)
        self.assertEqual(recording.read_bytes(), self.recording("mixed").read_bytes())
        self.assertEqual(os.listdir(kept), ["mine"])
        self.assertFalse((self.folder / "x.perf.data").exists())


if __name__ == "__main__":
    viewer_case.main()
