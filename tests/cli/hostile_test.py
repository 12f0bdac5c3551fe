"""Texts and files from outside that are made to do harm: what ringside shows of them drives no terminal."""
import json
import os
import socket
import threading

import cli_case
import elf_files
import fake_stub
import memtrace
from cli_case import DONE, FAILED, WRONG_USAGE

ESCAPES = "\x1b]0;title\x07\x1b[31m\x9b31m\u202e\x7f"


class Monitor:
    """A QMP monitor that refuses each command with a text."""

    def __init__(self, path, text):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen()
        self._text = text
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with self._listener:
            connection, _ = self._listener.accept()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            stream.write(fake_stub.QMP_GREETING.decode())
            stream.flush()
            for line in stream:
                answer = {"error": {"class": "GenericError", "desc": self._text}, "id": json.loads(line).get("id")}
                stream.write(json.dumps(answer) + "\r\n")
                stream.flush()


class Hostile(cli_case.CliCase):
    def assertTame(self, *texts):
        for text in texts:
            shown = [c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" or c in "\u202e\ufeff"]
            self.assertEqual(shown, [], text)

    def kernel(self, function=ESCAPES + "evil\nline 1"):
        path = self.folder / "kernel.elf"
        path.write_bytes(elf_files.elf(function=function))
        return path

    def test_names_of_functions(self):
        recording = self.recording()
        kernel = self.kernel()
        for arguments in (["report"], ["report", "-g", "--header"], ["annotate"], ["annotate", "--format", "json"], ["export", "-o", "-"], ["flamegraph", "-o", "-"],
                          ["export", "--format", "json-lines", "-o", "-"], ["doctor"]):
            with self.subTest(arguments=arguments):
                result = self.ringside(*arguments, "-i", recording, "--kernel", kernel) if arguments != ["doctor"] \
                    else self.ringside("doctor", "-i", recording)
                self.assertEqual(result.returncode, DONE, result.said)
                self.assertTame(result.stdout, result.said)
                if "json-lines" in arguments:
                    for line in result.stdout.splitlines():
                        json.loads(line)
        result = self.ringside("symbolize", "-e", kernel, hex(fake_stub.CODE))
        self.assertEqual(result.returncode, DONE, result.said)
        self.assertTame(result.stdout)
        self.assertEqual(len(result.stdout.splitlines()), 3, "a name is one line")

    def test_names_of_allocators(self):
        names = ["slab" + ESCAPES + "\n# all is well", "\udcff\udc80", ";,\"'/"]
        raw = b"".join(memtrace.record(name, memtrace.ALLOC, 0x10, 8, [fake_stub.CODE + 5]) for name in names)
        (self.folder / "trace").write_bytes(raw)
        options = ["trace", "--input-format", "maestro-memtrace", "--kernel", self.kernel()]
        for arguments in (["report"], ["report", "--format", "csv"], ["report", "--format", "json"], ["flamegraph", "-o", "pictures"]):
            with self.subTest(arguments=arguments):
                result = self.ringside("mem", *arguments, *options)
                self.assertEqual(result.returncode, DONE, result.said)
                self.assertTame(result.stdout, result.said)
                if "json" in arguments:
                    self.assertEqual(len(json.loads(result.stdout)["allocators"]), 3)
        self.assertNotIn("\n# all is well", self.ringside("mem", "report", *options).stdout)
        self.assertTame(*(path.name for path in (self.folder / "pictures").iterdir()))
        self.assertEqual(len(list((self.folder / "pictures").iterdir())), 3)
        result = self.ringside("mem", "report", *options, "--allocator", "x" + ESCAPES)
        self.assertEqual(result.returncode, WRONG_USAGE)
        self.assertTame(result.said)

    def test_names_of_files_in_messages(self):
        result = self.ringside("report", "-i", "gone" + ESCAPES + "\nringside: all is well")
        self.assertSays(result, FAILED, "gone", "no such file")
        self.assertTame(result.said)
        self.assertEqual(result.said.count("\n"), 1, "a message is one line")
        self.assertTame(self.ringside("report", "--no-such" + ESCAPES).said)

    def test_a_monitors_error(self):
        path = str(self.folder / "qmp")
        Monitor(path, ESCAPES + "\r\nringside: all is well")
        result = self.ringside("record", "--qmp", path, "--duration", "0.2")
        self.assertEqual(result.returncode, FAILED, result.said)
        self.assertTame(result.said)
        self.assertNotRegex(result.said, "(?m)^ringside: all is well")

    def test_a_pipe_or_a_device_where_a_file_should_be(self):
        os.mkfifo(self.folder / "pipe")
        recording = self.recording()
        for path in ("pipe", "/dev/zero"):
            with self.subTest(path=path):
                self.assertSays(self.ringside("report", "-i", path), FAILED, path, "not a regular file")
                self.assertSays(self.ringside("symbolize", "-e", path, "0"), FAILED, path, "not a regular file")
                result = self.ringside("report", "-i", recording, "--kernel", path)
                self.assertEqual(result.returncode, DONE, result.said)


if __name__ == "__main__":
    cli_case.main()
