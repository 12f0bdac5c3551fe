"""The format trace-dat, as trace-cmd and KernelShark read it: samples, events and stacks are those of json-lines.

A trace has no functions that are inlined into the kernel's, so a frame of the kernel is compared by the function that was
compiled there.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import viewer_case
from ringside_tests.harness import limits

HEAD = re.compile(r" *(.*?)-(-?\d+) +\[(\d+)\](?: \S+)? +(\d+)\.(\d{9}): +(\S+): +(.*)$")
FRAME = re.compile(r"=> (.*) \([0-9a-f]+\)$")
TASK = r"process=(-?\d+) comm=(.*) mode=(\w+)"
VALUE = re.compile(r"(-?\d+)(?: \w+)?$")  # with its unit
RECORDINGS = (*viewer_case.KINDS, "hostile")
KERNELSHARK_ROWS = pathlib.Path(__file__).with_name("kernelshark_rows.py")
EVENT_EXTRAS = ("duration", "key", "snapshot")

Entry = collections.namedtuple("Entry", "cpu time thread name event text stack")


def read_report(text):
    """The events of a report; those of stacks are put into the one in front of them: (function, …), leaf first."""
    entries = []
    for line in text.split("\n"):
        head = HEAD.match(line)
        if head:
            name, thread, cpu, seconds, rest, event, text = head.groups()
            if event not in ("kernel_stack", "user_stack"):
                entries.append(Entry(int(cpu), int(seconds + rest), int(thread), name, event, text, []))
            elif (int(cpu), int(seconds + rest), int(thread)) != entries[-1][:3]:
                raise AssertionError(f"a stack of no event: {line}")
        elif line.startswith("=> "):
            entries[-1].stack.append(FRAME.match(line).group(1))
        elif line.strip() and not re.match(r"cpus=\d+$|CPU \d+ is empty$", line):
            raise AssertionError(f"trace-cmd says: {line}")
    return entries


def word(name):
    """A name as an identifier."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


def symbol_word(name):
    """A name as kallsyms has it."""
    return ("_" if name.startswith("$") else "") + name.replace(" ", "_")


def stack_of(line):
    """The functions of a line of json-lines, leaf first."""
    names = []
    for stack in line["stacks"]:
        for frame in stack["frames"] if "role" not in stack else ():
            functions = [name.replace(";", ":") for name in viewer_case.name_of(frame, line)]
            names += functions[::-1] if frame["kind"] == "user" else [symbol_word(functions[0])]
    return tuple(names)


def time_of(time):
    """A time of json-lines as the trace has it: never 0."""
    return max(time, 1)


def mode_of(line):
    if line["disposition"] == "idle":
        return "idle"
    frames = [frame for stack in line["stacks"] if "role" not in stack for frame in stack["frames"]]
    return "interrupt" if frames and frames[0]["kind"] == "interrupt" else line["level"]


class TraceDat(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        self.trace_cmd = viewer_case.need("trace-cmd", "trace-cmd")

    def report(self, path, *options):
        """The output of `trace-cmd report`, which must not complain."""
        result = subprocess.run([self.trace_cmd, "report", "-t", *options, "-i", str(path)], check=False, capture_output=True,
                                cwd=self.folder, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}, timeout=limits.STEP)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        return result.stdout.decode()

    def processors(self, name):
        return self.lines(name)[0]["vcpus"]

    def place(self, name, line):
        """(processor, thread, process, name) of a sample or an event."""
        if line.get("disposition") == "idle":
            return line["vcpu"], 0, 0, "swapper"
        process = line.get("pid", -1)
        return line.get("vcpu", self.processors(name)), line.get("tid", process), process, viewer_case.comm_of(line)

    def test_every_sample_is_there(self):
        def check(name):
            there = collections.Counter()
            for entry in read_report(self.report(self.export(name, "out.dat", "--show-idle"))):
                match = re.match(TASK + r"((?: \S+=-?\d+(?: \w+)?)*)$", entry.text)
                if not entry.event.startswith("sample"):
                    continue
                process, comm, mode, values = match.groups()
                values = tuple((key, int(value)) for key, value in re.findall(r" (\S+)=(-?\d+)", values))
                there[entry.event, entry.cpu, entry.time, entry.thread, int(process), comm, mode, values,
                      tuple(entry.stack)] += 1
            here = collections.Counter()
            for line in self.lines(name):
                if line.get("disposition") in ("sampled", "idle") and "time_ns" in line:
                    source = line.get("source")
                    values = tuple((word(key), value) for key, value in line.get("values", {}).items())
                    cpu, thread, process, comm = self.place(name, line)
                    stack = stack_of(line)
                    if line["disposition"] == "sampled":
                        stack = stack or ("[no_stack]",)
                    here["sample_" + word(source) if source else "sample", cpu, time_of(line["time_ns"]), thread, process, comm,
                         mode_of(line), values or ((line["unit"], line["weight"]),), stack] += 1
            # JSON lines have sums of counters in lines of another kind.
            sources = {key[0] for key in here}
            self.assert_same(collections.Counter({key: count for key, count in there.items() if key[0] in sources}), here)
        self.each_recording(check, *RECORDINGS)

    def test_every_event_is_there_with_its_fields(self):
        def check(name):
            lines = [line for line in self.lines(name) if "event" in line]
            fields_of = {word(line["event"]): list(map(word, line["fields"])) for line in lines}
            there = collections.Counter()
            for entry in read_report(self.report(self.export(name, "out.dat"))):
                if entry.event not in fields_of:
                    continue
                pattern = TASK + "".join(rf"(?: {extra}=(\d+)(?: ns)?)?" for extra in EVENT_EXTRAS)
                pattern += "".join(rf" {field}=(.*)" for field in fields_of[entry.event])
                process, comm, _, *values = re.match(pattern + "$", entry.text).groups()
                extras, fields = values[:len(EVENT_EXTRAS)], values[len(EVENT_EXTRAS):]
                there[entry.event, entry.cpu, entry.time, entry.thread, int(process), comm,
                      tuple(int(extra or 0) for extra in extras), tuple(VALUE.sub(r"\1", value) for value in fields),
                      tuple(entry.stack)] += 1
            here = collections.Counter()
            for line in lines:
                fields = tuple(value["functions"][0] if isinstance(value, dict) else str(value)
                               for value in line["fields"].values())
                cpu, thread, process, comm = self.place(name, line)
                here[word(line["event"]), cpu, time_of(line["time"]), thread, process, comm,
                     tuple(line.get(extra, 0) for extra in EVENT_EXTRAS), fields, stack_of(line)] += 1
            self.assert_same(there, here)
        self.each_recording(check, "mixed", "hostile")

    def test_threads_have_names_of_theirs(self):
        def check(name):
            names = collections.defaultdict(set)
            names[-1].add("[unknown]")  # of sums
            for line in self.lines(name):
                if "stacks" in line:
                    _, thread, _, comm = self.place(name, line)
                    names[thread].add(comm)
            for entry in read_report(self.report(self.export(name, "out.dat"))):
                self.assertIn(entry.name, names[entry.thread])
        self.each_recording(check)

    def test_each_processor_is_in_order_of_time(self):
        def check(name):
            output = self.export(name, "out.dat")
            for cpu in range(self.processors(name)):
                times = [entry.time for entry in read_report(self.report(output, "--cpu", str(cpu)))]
                self.assertTrue(times)
                self.assertEqual(times, sorted(times))
        self.each_recording(check)

    def test_kernelshark_has_the_same_rows(self):
        def check(name):
            output = self.export(name, "out.dat", "--show-idle")
            rows = subprocess.run([sys.executable, "-B", KERNELSHARK_ROWS, output], check=False, text=True, cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limits.STEP)
            if rows.returncode == viewer_case.SKIPPED:
                self.skipTest("no libkshark.so.2: install libkshark2")
            self.assertEqual(rows.returncode, 0, rows.stderr)
            rows = list(map(json.loads, rows.stdout.splitlines()))
            times = [row[0] for row in rows]
            self.assertEqual(times, sorted(times))
            there = collections.Counter(tuple(row) for row in rows if row[4].startswith("ringside/"))
            here = collections.Counter(
                (entry.time, entry.cpu, entry.thread, entry.name, f"ringside/{entry.event}", entry.text)
                for entry in read_report(self.report(output)))
            self.assert_same(there, here)
        self.each_recording(check, *RECORDINGS)

    def test_a_pipe_gets_the_same_bytes(self):
        def check(name):
            output = self.export(name, "out.dat")
            self.assertTrue(self.piped(name, "trace-dat") == output.read_bytes(), "a pipe gets other bytes than a file")
        self.each_recording(check)


if __name__ == "__main__":
    viewer_case.main()
