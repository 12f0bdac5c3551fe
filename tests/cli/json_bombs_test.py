"""JSON of a megabyte that would be much as a tree of values: each importer reads it in little memory."""
import pathlib
import subprocess
import sys

import zlib

import cli_case
from cli_case import DONE, FAILED
from ringside_tests.harness import limits

MEGABYTE = 1_000_000
MOST = 64 << 10  # KiB, besides what a small file takes
FIREFOX = '{"meta":{"interval":1,"preprocessedProfileVersion":60},"libs":[],'
SPEEDSCOPE = '{"$schema":"https://www.speedscope.app/file-format-schema.json",'
ASTERINAS = '{"stack_traces":['
LINES = ('{"arch":"x86_64","guest_os":"","kernel":"","engine":"gdb","interval_ns":1,"vcpus":1}\n'
         '{"source_type":"cpu","kind":"cpu","value_types":[{"name":"ticks","unit":"ticks"}]}\n{')
SAMPLE = '"time_ns":1,"level":"user","disposition":"sampled","weight":1,"unit":"ticks","stacks":'
SMALL = {"json-lines": SAMPLE + "[]}", "firefox": '"threads":[]}', "speedscope": '"profiles":[]}', "asterinas-json": "{}]}"}
HEADS = {"json-lines": LINES, "firefox": FIREFOX, "speedscope": SPEEDSCOPE, "asterinas-json": ASTERINAS}


def many(part):
    return ",".join([part] * (MEGABYTE // (len(part) + 1)))


ANYWHERE = {
    "arrays in arrays": "[" * MEGABYTE,
    "closed arrays in arrays": "[" * (MEGABYTE // 2) + "]" * (MEGABYTE // 2),
    "objects in objects": '{"a":' * (MEGABYTE // 5),
    "numbers": f"[{many('1')}]",
    "empty objects": f"[{many('{}')}]",
    "empty arrays": f"[{many('[]')}]",
    "empty strings": "[" + many('""') + "]",
    "keys": "{" + ",".join(f'"{number:x}":1' for number in range(MEGABYTE // 9)) + "}",
    "a long string": '"' + "x" * MEGABYTE + '"',
}
COMMON = ("arrays in arrays", "numbers", "empty objects", "empty strings")
# The place of a value in a file: what stands before and behind it.
PLACES = {
    "firefox": [('"x":', "}"), ('"threads":', "}"), ('"threads":[{"samples":{"stack":[0],"time":', '}}]}'),
                ('"shared":{"stackTable":{"frame":', "}}}"), ('"shared":{"stringArray":', "}}"), ('"shared":{"frameTable":', "}}")],
    "speedscope": [('"x":', "}"), ('"profiles":', "}"), ('"shared":{"frames":', "}}"),
                   ('"profiles":[{"type":"sampled","unit":"none","samples":', "}]}"),
                   ('"profiles":[{"type":"evented","unit":"none","events":', "}]}")],
    "asterinas-json": [('{"x":', "}]}"), ("", "]}")],
    "json-lines": [('"x":', "}"), (SAMPLE, "}"), (SAMPLE + '[{"stop":"lost","frames":', "}]}"), ('"fields":', "}")],
}
# As many of the larger parts as there is room for.
PARTS = {
    "firefox": ['"threads":[' + many(part) + "]}" for part in (
        '{"name":"x","pid":"1"}', '{"samples":{"stack":[0],"time":[0]}}', '{"stringArray":["a"],"samples":{"stack":[0],"time":[0]}}')] +
               [f'"meta":{{"categories":[{many("{}")}]}}}}', f'"libs":[{many("{}")}]}}'],
    "speedscope": ['"profiles":[' + many(part) + "]}" for part in (
        '{"name":"x"}', '{"unit":"none","samples":[[]],"weights":[1]}', '{"unit":"none","samples":[[0]],"weights":[1]}')],
    "asterinas-json": [many('{"cpu":0}') + "]}"],
    "json-lines": [f"{SAMPLE}[" + many(part) + "]}" for part in (
        '{"stop":"lost","frames":[]}', '{"stop":"lost","frames":[{"address":"0x1","exact":true,"kind":"user","functions":["f"]}]}')],
}


class JsonBombs(cli_case.CliCase):
    def most_kib(self, form, content):
        """The most memory that an import has had, in KiB."""
        path = self.folder / "in.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        command = [cli_case.program(), "import", path, "--input-format", form, "-o", self.folder / "out.data"]
        # In a process of its own, whose only child it is.
        code = ("import resource, subprocess, sys; r = subprocess.run(sys.argv[2:], timeout=float(sys.argv[1]), "
                "capture_output=True); print(r.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        result = subprocess.run([sys.executable, "-c", code, str(limits.STEP), *command], check=True, capture_output=True,
                                text=True, cwd=self.folder)
        status, most = map(int, result.stdout.split())
        self.assertIn(status, (DONE, FAILED))
        return most

    def setUp(self):
        super().setUp()
        if b"__asan_init" in pathlib.Path(cli_case.program()).read_bytes():
            self.skipTest("a sanitizer has memory of its own")
        self.base = {form: self.most_kib(form, HEADS[form] + SMALL[form]) for form in HEADS}

    def assertLittle(self, form, content):
        self.assertLess(self.most_kib(form, content) - self.base[form], MOST)

    def test_small_values_anywhere(self):
        for form, places in PLACES.items():
            for before, behind in places:
                for name in ANYWHERE if before.endswith('"x":') else COMMON:
                    bomb = ANYWHERE[name]
                    with self.subTest(form=form, before=before, bomb=name):
                        self.assertLittle(form, HEADS[form] + before + bomb + behind)

    def test_parts_of_each_format(self):
        for form, contents in PARTS.items():
            for content in contents:
                with self.subTest(form=form, content=content[:60]):
                    self.assertLittle(form, HEADS[form] + content)

    def test_compressed_ones(self):
        for name, fill, behind in (("a string", b"x", b'"}'), ("blanks", b" ", b'"')):
            packer = zlib.compressobj(9, zlib.DEFLATED, 31)
            packed = packer.compress(FIREFOX.encode() + b'"x":"'[:5 if fill == b"x" else 4])
            while len(packed) < MEGABYTE:
                packed += packer.compress(fill * (8 << 20))
            packed += packer.compress(behind) + packer.flush()
            with self.subTest(name=name):
                self.assertLittle("firefox", packed)


if __name__ == "__main__":
    cli_case.main()
