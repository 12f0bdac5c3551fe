"""examples_test.py WHICH PROGRAM [INPUT]: runs an example with an input whose answer is known."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile


def run(*words):
    return subprocess.run([str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE).stdout


def check(what, is_right, output):
    if not is_right:
        sys.exit(f"{what} is wrong:\n{output}")


def unwind_capture(program, case):
    """The functions and the end are those that the case expects."""
    expected = re.search(r"\[expected\]\n(.*?)\nstop (\S+)", pathlib.Path(case).read_text(), re.DOTALL)
    frames = [(line.split()[0], line.split()[2]) for line in expected[1].splitlines() if line[0] != "#"]
    output = run(program, case)
    *lines, stop = output.splitlines()
    check("the stack", [tuple(line.split()[:2]) for line in lines] == frames and len(frames) > 3, output)
    check("the end", stop.replace(" ", "-") == expected[2], output)


def symbolize(program, sample):
    """A function, where it stands, and a call that was inlined into it."""
    address, size = (int(word, 16) for word in re.search(r"^(\w+) (\w+) T work$", run("nm", "-S", sample), re.M).groups())
    output = run(program, sample, *(hex(at) for at in range(address, address + size)), "0x1")
    source = re.escape(str(pathlib.Path(__file__).with_name("sample.c")))
    check("the function", re.search(rf"{address:#x}\n(  twice.*\n)?  work at {source}:\d+\n", output), output)
    check("the inlined call", re.search(rf"  twice \(inlined\) at {source}:5\n  work at {source}:10\n", output), output)
    check("an address without code", output.endswith("0x1\n  ?\n"), output)


def page_walk(program):
    """Four tables at 4 KiB to 16 KiB map one page to 20 KiB and, with a large page, 1 GiB to 0."""
    memory = bytearray(6 * 4096)
    virtual, present, large = 0xffff888000003000, 1, 1 << 7
    for table, shift in ((1, 39), (2, 30), (3, 21), (4, 12)):
        index = virtual >> shift & 511
        struct.pack_into("<Q", memory, table * 4096 + 8 * index, (table + 1) * 4096 | present)
    struct.pack_into("<Q", memory, 2 * 4096 + 8 * 5, present | large)
    struct.pack_into("<Q", memory, 5 * 4096 + 0x10, 0x1122334455667788)
    with tempfile.NamedTemporaryFile() as image:
        image.write(memory)
        image.flush()
        giant = (virtual & ~((1 << 39) - 1)) + (5 << 30) + 5 * 4096 + 0x10
        output = run(program, image.name, "0x1000", hex(virtual + 0x10), hex(giant), hex(virtual + 0x1000), "0x10")
    held = "is at 0x5010 and holds 0x1122334455667788"
    check("the translation", output == f"{virtual + 0x10:#x} {held}\n{giant:#x} {held}\n{virtual + 0x1000:#x} is not mapped\n"
          "0x10 is not mapped\n", output)


if __name__ == "__main__":
    {"unwind_capture": unwind_capture, "symbolize": symbolize, "page_walk": page_walk}[sys.argv[1]](*sys.argv[2:])
