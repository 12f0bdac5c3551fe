"""Base of the tests of formats: recordings, ringside's own numbers about them, and the programs that read other formats.

The numbers are those of `export --format json-lines`, which shares no code with the formats but the recording's reader and
the finding of names.
"""
import argparse
import collections
import csv
import dataclasses
import functools
import io
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from ringside_tests.harness import limits

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
KINDS = {"demo": "the bundled kernel", "linux": "Debian's kernel with joined stacks", "mixed": "a made-up recording"}
_options = argparse.Namespace()


@dataclasses.dataclass(frozen=True)
class Sample:
    """One sample of a recording. pid and tid: -1 where they are not known. frames: names with inlined functions, leaf
    first; images: those of each. addresses: of the frames that are not inlined."""
    source: str
    time_ns: int
    vcpu: int
    level: str
    disposition: str
    pid: int
    tid: int
    comm: str
    weight: int
    values: tuple
    frames: tuple
    images: tuple
    addresses: tuple

    @property
    def thread(self):
        """The tid, in formats where a sample of a process has a thread. One that is not known is the first of its process."""
        return self.pid if self.tid < 0 else self.tid


def name_of(frame, line):
    """The functions of a frame of a line of json-lines, as reports have them. User code in no image has an address where it
    is known what its process maps."""
    if frame["functions"]:
        return frame["functions"]
    if frame["kind"] == "firmware":
        return ["[firmware]"]
    if frame["kind"] == "user" and "image" not in frame and "address_space" not in line:
        return ["[user]"]
    return [f"<unknown:{frame['address']}>"]


def comm_of(line):
    """The name of a line's thread as perf has it: ":TID" of one without a name, "[unknown]" of no process."""
    thread = line.get("tid", line.get("pid"))
    return line.get("comm") or ("[unknown]" if thread is None else f":{thread}")


def _sample(line):
    stacks = [stack for stack in line["stacks"] if "role" not in stack]
    frames = [frame for stack in stacks for frame in stack["frames"]]
    return Sample(source=line.get("source", "cpu"), time_ns=line["time_ns"], vcpu=line.get("vcpu", -1), level=line["level"],
                  disposition=line["disposition"], pid=line.get("pid", -1), tid=line.get("tid", -1),
                  comm=comm_of(line), weight=line["weight"], values=tuple(line.get("values", {}).items()),
                  frames=tuple(name for frame in frames for name in reversed(name_of(frame, line))),
                  images=tuple(frame.get("image", "") for frame in frames for _ in name_of(frame, line)),
                  addresses=tuple(int(frame["address"], 16) for frame in frames))


def run(*command, limit=limits.STEP, **more):
    """The result of a command, whose standard error stands behind its standard output where it failed."""
    result = subprocess.run([*map(str, command)], check=False, text=True, errors="replace", stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limit, **more)
    if result.returncode:
        raise AssertionError(f"{command[0]} ended with status {result.returncode}: {result.stdout[-800:]} "
                             f"{result.stderr[-2000:]}")
    return result


@functools.cache
def viewers():
    """The paths that script/fetch-viewers prints. Skips the test where they cannot be had."""
    result = subprocess.run([ROOT / "script" / "fetch-viewers"], check=False, text=True, stdout=subprocess.PIPE)
    if result.returncode == 3:
        raise unittest.SkipTest("no network: the viewers cannot be fetched")
    if result.returncode:
        raise AssertionError("script/fetch-viewers failed")
    return dict(line.split("=", 1) for line in result.stdout.splitlines())


@functools.cache
def _lines_of(recording, *options):
    text = run(_options.ringside, "export", "-i", recording, "--format", "json-lines", "-o", "-", *options).stdout
    return [json.loads(line) for line in text.splitlines()]


class ViewerCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ringside-viewers-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def each_recording(self, check, *names):
        """Calls a function with the name of each recording that is there, in a subtest of its own."""
        for name in names or KINDS:
            if not self.recording(name).exists():
                print(f"skipped: no recording of {KINDS.get(name, name)}")
                continue
            with self.subTest(recording=name):
                check(name)

    def assert_same(self, there, here):
        """Two dictionaries are equal; a failure shows a few of the keys that differ. (assertEqual takes minutes for that.)"""
        wrong = [f"{key}: {there.get(key)} there, {here.get(key)} here" for key in {**there, **here}
                 if there.get(key) != here.get(key)]
        self.assertEqual(len(wrong), 0, "\n".join(wrong[:8]))
        self.assertTrue(here, "there is nothing to compare")

    @staticmethod
    def recording(name):
        """The path of the recording of that name. A path is itself: of a file that another tool wrote, for example."""
        return name if isinstance(name, pathlib.Path) else _options.recordings / f"{name}.data"

    def ringside(self, *arguments, limit=limits.STEP, **more):
        """The standard output of the program."""
        return run(_options.ringside, *arguments, limit=limit, cwd=self.folder, **more).stdout

    def export(self, name, output, *arguments):
        """Writes a recording in another format; returns the file's path."""
        self.ringside("export", "-i", self.recording(name), "-o", output, *arguments)
        return self.folder / output

    def piped(self, name, form, *options):
        """The bytes that a pipe gets of a recording in another format."""
        return subprocess.run([_options.ringside, "export", "-i", self.recording(name), "--format", form, "-o", "-", *options],
                              check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=limits.STEP).stdout

    def view(self, name, *options, xdg_open=None):
        """The link that `ringside view` prints, whose server runs until the test is over. xdg_open: a script in place of the
        desktop's; without one, no browser is opened."""
        environment = dict(os.environ)
        if xdg_open is not None:
            tools = self.folder / "tools"
            tools.mkdir()
            (tools / "xdg-open").write_text(xdg_open)
            (tools / "xdg-open").chmod(0o755)
            environment |= {"PATH": f"{tools}:{environment['PATH']}", "DISPLAY": ":7"}
        opens = [] if xdg_open is not None else ["--no-open"]
        server = subprocess.Popen([_options.ringside, "view", *opens, *map(str, options), self.recording(name)],
                                  cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment)
        self.addCleanup(self._end_view, server)
        says, _, _ = select.select([server.stdout], [], [], limits.STEP)
        link = server.stdout.readline().strip() if says else ""
        if not link:
            server.kill()
            self.fail(f"view prints no link: {server.communicate(timeout=limits.STEP)[1]}")
        return link

    def _end_view(self, server):
        server.send_signal(signal.SIGINT)
        try:
            _, said = server.communicate(timeout=limits.STEP)
        finally:
            server.kill()
            server.wait()
        self.assertEqual(server.returncode, 0, said)

    def lines(self, name, *options):
        """The objects of json-lines: a recording's header, samples, events and counters."""
        return _lines_of(self.recording(name), *options)

    def interval(self, name):
        """Nanoseconds between two ticks."""
        return self.lines(name)[0]["interval_ns"]

    def samples(self, name, *options):
        """All samples of a recording, in its order."""
        return [_sample(line) for line in self.lines(name, *options) if "time_ns" in line and "stacks" in line]

    def sampled(self, name, source="cpu", options=()):
        """Those of one source that have a stack."""
        return [sample for sample in self.samples(name, *options)
                if sample.disposition == "sampled" and sample.source == source]

    def thread_of(self, name):
        """A function from a sample to its thread, "12/13", or to the name that those of none have together: where no
        process is known in the whole recording, that of the vCPU."""
        knows_processes = any(sample.pid >= 0 for sample in self.samples(name))
        return lambda sample: (f"{sample.pid}/{sample.thread}" if sample.pid >= 0
                               else "[unknown]" if knows_processes else f"vcpu {sample.vcpu}")

    def function_sums(self, name, *options):
        """(samples whose leaf a function is, samples that it is in) by name, of the vCPUs' ticks. Where functions of several
        images have one name, the second is their sum."""
        own, whole = collections.Counter(), collections.Counter()
        for sample in self.sampled(name, options=options):
            own[sample.frames[0]] += sample.weight
            for function, _ in set(zip(sample.frames, sample.images, strict=True)):
                whole[function] += sample.weight
        return own, whole

    def report_rows(self, path, fields, *options):
        """The rows of a report of any file as dictionaries, by the names of the columns of its CSV."""
        return csv.DictReader(io.StringIO(self.ringside("report", "-i", path, "--format", "csv", "--sort", fields, *options)))

    def report(self, name, fields, *options):
        """The rows of a report as a dictionary from the fields, joined by a space, to samples. The field sym is the
        name alone."""
        names = ["symbol" if field == "sym" else field for field in fields.split(",")]
        text = self.ringside("report", "-i", self.recording(name), "--format", "csv", "-F", "sample," + fields, *options)
        rows = collections.Counter()
        for row in csv.DictReader(io.StringIO(text)):
            rows[" ".join(row[field] or "[unknown]" for field in names)] += int(row["samples"])
        return rows


def need(program, package):
    """The path of a program. Skips the test where it is not installed."""
    path = shutil.which(program) or (program if os.access(program, os.X_OK) else None)
    if path is None:
        raise unittest.SkipTest(f"no {program}: install {package}")
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ringside", required=True, type=os.path.abspath)
    parser.add_argument("--recordings", required=True, type=pathlib.Path)
    options, rest = parser.parse_known_args(namespace=_options)
    options.recordings = options.recordings.resolve()
    program = unittest.main(argv=[sys.argv[0], *rest], exit=False)
    if not program.result.wasSuccessful():
        sys.exit(1)
    skipped = {getattr(test, "test_case", test).id() for test, _ in program.result.skipped}  # once for all subtests of one
    sys.exit(SKIPPED if program.result.testsRun == len(skipped) else 0)
