"""`ringside mem flamegraph`: a picture of each allocator."""
import re

import cli_case
import elf_files
import fake_stub
from cli_case import DONE, FAILED, WRONG_USAGE
from memory_case import MemoryCase
from memtrace import ALLOC, FREE, REALLOC, record

CODE = fake_stub.CODE


class Pictures(MemoryCase):
    RAW = (record("malloc", ALLOC, 0x10, 1000, [CODE + 5, 0x7005]) + record("malloc", ALLOC, 0x20, 500, [CODE + 5, 0x7105]) +
           record("buddy", ALLOC, 0x10, 3, [0x7205]) + record("malloc", FREE, 0x20, 0, []))

    def draw(self, *arguments):
        result = self.ringside("mem", "flamegraph", *arguments)
        self.assertSays(result, DONE)
        return result

    def frames(self, name):
        """{frame: "1,000 bytes"} of a picture."""
        text = (self.folder / name).read_text()
        return dict(re.findall(r"<title>([^\n]*?) \(([\d,-]+ \w+), ", text))

    def test_each_allocator_has_a_picture_in_its_unit(self):
        self.write("kernel.elf", elf_files.elf(function="work"))
        said = self.draw(self.write("memtrace.bin", self.RAW), "--kernel", "kernel.elf", "-o", "new/pictures").said
        self.assertIn("new/pictures/mem-malloc.svg", said)
        self.assertEqual(self.frames("new/pictures/mem-malloc.svg"),
                         {"all": "1,000 bytes", "&lt;unknown:0x7005&gt;": "1,000 bytes", "work": "1,000 bytes"})
        self.assertEqual(self.frames("new/pictures/mem-buddy.svg"), {"all": "3 pages", "&lt;unknown:0x7205&gt;": "3 pages"})
        self.assertIn("malloc: live at the end", (self.folder / "new/pictures/mem-malloc.svg").read_text())

    def test_maestro_has_one_command(self):
        self.write("kernel.elf", elf_files.elf(function="work"))
        self.draw("--alloc", self.write("memtrace.bin", self.RAW), "--kernel", "kernel.elf")
        self.assertEqual(self.frames("mem-malloc.svg"), {"all": "1,000 bytes", "???": "1,000 bytes", "work": "1,000 bytes"})
        self.assertEqual(self.frames("mem-buddy.svg"), {"all": "3 pages", "???": "3 pages"})
        self.assertSays(self.ringside("mem", "flamegraph", "--alloc", "memtrace.bin", "-i", "memtrace.bin"), WRONG_USAGE, "--alloc")

    def test_values(self):
        trace = self.write("memtrace.bin", self.RAW)
        for options, total in (([], "1,000 bytes"), (["--value", "peak"], "1,500 bytes"), (["--value", "freed"], "500 bytes"),
                               (["--value", "allocated", "--by", "count"], "2 blocks"), (["--older-than", "2"], "1,000 bytes"),
                               (["--since", "2"], "-500 bytes")):
            self.draw(trace, *options)
            self.assertEqual(self.frames("mem-malloc.svg")["all"], total, options)

    def test_memory_has_its_colours_in_every_unit(self):
        self.write("kernel.elf", elf_files.elf(function="work"))
        trace = self.write("memtrace.bin", record("buddy", ALLOC, 0x10, 3, [CODE + 5]))
        pictures = []
        for colors in ([], ["--colors", "memory"], ["--colors", "kind"]):
            self.draw(trace, "--kernel", "kernel.elf", *colors)
            pictures.append(re.findall(r"\.k\d \{ fill: (#\w+)", (self.folder / "mem-buddy.svg").read_text()))
        self.assertEqual(pictures[0], pictures[1])
        self.assertEqual(len(pictures[1]), len(pictures[2]))
        self.assertFalse(set(pictures[1]) & set(pictures[2]))

    def test_no_two_allocators_share_a_file(self):
        names = ["a/b", "a:b", "a_b", "../../x", "", "\udcff\udc80"]
        raw = b"".join(record(name, ALLOC, 0x10, 10 + number, [0x7005]) for number, name in enumerate(names))
        (self.folder / "in").mkdir()
        self.draw(self.write("memtrace.bin", raw), "--input-format", "maestro-memtrace", "-o", "in")
        pictures = sorted(path.name for path in (self.folder / "in").iterdir())
        self.assertEqual(len(pictures), len(names))
        totals = {self.frames(f"in/{name}")["all"] for name in pictures}
        self.assertEqual(totals, {f"{10 + number} bytes" for number in range(len(names))})
        self.assertEqual({path.name for path in self.folder.iterdir()}, {"in", "memtrace.bin"})

    def test_an_allocator_without_blocks_has_a_picture_that_says_so(self):
        raw = record("malloc", ALLOC, 0x10, 10, [0x7005]) + record("malloc", FREE, 0x10, 0, [0x7005])
        self.draw(self.write("memtrace.bin", raw))
        self.assertIn("0 bytes", (self.folder / "mem-malloc.svg").read_text())

    def test_what_is_refused(self):
        trace = self.write("memtrace.bin", self.RAW)
        self.assertSays(self.ringside("mem", "flamegraph", trace, "-o", trace), FAILED, trace)
        self.assertSays(self.ringside("mem", "flamegraph", trace, "--value", "growth"), WRONG_USAGE, "--since")
        self.assertSays(self.ringside("mem", "flamegraph", trace, "--allocator", "none"), WRONG_USAGE, "none")
        for options in (["--value", "live", "--older-than", "3"], ["--value", "older", "--older-than", "3", "--since", "2"]):
            self.assertSays(self.ringside("mem", "flamegraph", trace, *options), WRONG_USAGE, options[-2])
        self.assertEqual(list(self.folder.glob("mem-*.svg")), [])

    def test_realloc_keeps_the_stack_and_a_new_alloc_has_its_own(self):
        raw = (record("malloc", ALLOC, 0x10, 10, [0x7005]) + record("malloc", REALLOC, 0x10, 70, [0x7105]) +
               record("malloc", ALLOC, 0x20, 1, [0x7005]) + record("malloc", FREE, 0x20, 0, []) +
               record("malloc", ALLOC, 0x20, 2, [0x7205]) + record("malloc", REALLOC, 0x99, 4, [0x7305]))
        self.draw(self.write("memtrace.bin", raw))
        self.assertEqual(self.frames("mem-malloc.svg"),
                         {"all": "76 bytes", "&lt;unknown:0x7005&gt;": "70 bytes", "&lt;unknown:0x7205&gt;": "2 bytes",
                          "&lt;unknown:0x7305&gt;": "4 bytes"})


if __name__ == "__main__":
    cli_case.main()
