#!/usr/bin/env python3
"""Names for a kernel whose file nobody gave to record, and for one that was built again afterwards.

    kernel_names_test.py --ringside PROGRAM --kernel ELF --other ELF

Attaches to the bundled kernel from a folder without its file. Its stacks must be whole, and report, flamegraph and
export must give them the names that a recording with the file has once they get the file, or its symbols; another
build of the kernel is refused. From a folder that has both builds the right one is found. Last, the file is built
again between recording and report: without a build id, too, that is noticed, and the recorded names stand.
Exit status: 0 as it should be, 1 not.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

from ringside_tests.harness import folded, guest_options, limits

SAMPLES = 400
SAMPLES_OF_ANOTHER = 1200  # 3 s of both vCPUs: a given file is looked for 0.7 s before other code is read
LEAST_SHARE = 8  # per cent that a function has in the recording with the file, for it to be compared
TIMES = 3  # so many times as large may its share be in one of two recordings, which met other phases of the workload
LEAST_WHOLE = 80  # per cent; 16 ticks at least pass before the code is read
OUTERMOST = "thread_start"  # of all stacks; no code returns to it, and it calls through a pointer


class Names:
    def __init__(self, options, guest, folder):
        self.options, self.guest, self.folder, self.failures = options, guest, folder, []

    def ringside(self, where, *arguments):
        """(exit status, standard output, standard error) of a run in that folder."""
        where.mkdir(exist_ok=True)
        result = subprocess.run([self.options.ringside, *map(str, arguments)], cwd=where, check=False, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limits.STEP)
        return result.returncode, result.stdout, result.stderr

    def record(self, where, *arguments, samples=SAMPLES):
        """Records in that folder; what was said."""
        attach = guest_options.attach_options(self.options, self.guest)
        status, _, said = self.ringside(where, "record", *attach, "--os", "none", "--interval", "5", "--samples", samples,
                                        *limits.ENOUGH_TIME, *arguments)
        self.expect(status == 0, f"record {arguments} ended with {status}: {said[-400:]}")
        return said

    def shares(self, where, *arguments):
        """The share of each function in the samples, in per cent, and what was said."""
        status, out, said = self.ringside(where, "export", "-o", "-", *arguments)
        self.expect(status == 0, f"export {arguments} ended with {status}: {said[-400:]}")
        stacks = folded.parse(out)
        total = sum(count for _, count in stacks) or 1
        return {name: folded.samples_in(name, stacks) * 100 / total for stack, _ in stacks for name in stack}, said

    def expect(self, is_true, otherwise):
        if not is_true:
            self.failures.append(otherwise)

    def expect_same(self, what, shares, expected):
        apart = [f"{name} {shares.get(name, 0):.0f} % for {expected.get(name, 0):.0f} %"
                 for name in sorted(expected)
                 if not expected[name] / TIMES <= shares.get(name, 0) <= expected[name] * TIMES]
        self.expect(not apart, f"{what}: {', '.join(apart)}")


def named_later(names, expected):
    """Without a file at recording."""
    where = names.folder / "nothing"
    said = names.record(where)
    names.expect("--kernel" in said, f"record does not say how to get names: {said[:300]}")
    shares, said = names.shares(where)
    names.expect(not set(shares) & set(expected), f"names from nowhere: {shares}")
    names.expect(said.count("--kernel") == 1, f"one line says what to give, not: {said}")
    report = names.ringside(where, "report", "--header")[1]
    whole = next((float(line.split()[3].rstrip("%")) for line in report.splitlines() if "stacks complete" in line), 0)
    names.expect(whole >= LEAST_WHOLE, f"{whole} % of the stacks are complete without a file")
    shares, said = names.shares(where, "--kernel", names.options.kernel)
    names.expect_same("named later by --kernel", shares, expected)
    names.expect(shares.get(OUTERMOST, 0) >= LEAST_WHOLE,
                 f"{shares.get(OUTERMOST, 0):.1f} % of the stacks go to {OUTERMOST} without a file")
    names.expect("--kernel" not in said, f"--kernel helped, and yet: {said}")
    shares, said = names.shares(where, "--kernel", names.options.other)
    names.expect(not set(shares) & set(expected), f"names of another build: {shares}")
    names.expect("is not the kernel that was recorded" in said, f"another build is not refused: {said}")
    symbols = names.folder / "System.map"
    with open(symbols, "w", encoding="utf-8") as out:
        subprocess.run(["nm", "-n", "-C", names.options.kernel], check=True, stdout=out)
    shares, said = names.shares(where, "--symbols", symbols)
    names.expect_same("named later by --symbols", shares, functions_only(names, where, expected))
    names.record(where, "--symbols", symbols)
    shares, said = names.shares(where)
    names.expect_same("named by record --symbols", shares, functions_only(names, where, expected))
    status, svg, said = names.ringside(where, "flamegraph", "-o", "-", "--kernel", names.options.kernel)
    missing = [name for name in expected if name not in svg and "&" not in name and "<" not in name]
    names.expect(status == 0 and not missing, f"the flame graph has no {missing}: {said}")


def another_one_given(names, expected):
    """A kernel that never ran is given to record; then the right one."""
    foreign = names.folder / "foreign.elf"
    subprocess.run(["gcc", "-static", "-nostdlib", "-no-pie", "-Wl,-Ttext=0xffffffff90000000", "-Wl,-z,max-page-size=4096",
                    "-o", foreign, "-x", "c", "-"], check=True,
                   input=b"int v; void _start(void) { for (;;) v = v * 3 + 1; }")
    where = names.folder / "given"
    said = names.record(where, "--kernel", foreign, samples=SAMPLES_OF_ANOTHER)
    names.expect(f"the kernel that runs in the guest is not {foreign}" in said, f"another kernel is not noticed: {said[-600:]}")
    names.expect("is not checked" not in said and "to name it by" not in said, f"names by a file that did not run: {said[-600:]}")
    shares, said = names.shares(where, "--kernel", names.options.kernel)
    names.expect_same("named later, another one given to record", shares, expected)
    print(f"another one given to record: {shares.get(OUTERMOST, 0):.0f} % of the stacks go to {OUTERMOST}")
    names.expect("not checked" not in said, f"the right file is not checked: {said}")
    shares, said = names.shares(where, "--kernel", names.options.other)
    names.expect(not set(shares) & set(expected), f"names of another build, another one given to record: {shares}")


def functions_only(names, where, expected):
    """Symbols know no inlined functions."""
    known = set(subprocess.run(["nm", "-C", names.options.kernel], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split("\n"))
    functions = {line.split(maxsplit=2)[2].split("(")[0] for line in known if len(line.split(maxsplit=2)) == 3}
    return {name: share for name, share in expected.items() if name in functions}


def found_near(names, expected):
    where = names.folder / "near" / "build"
    where.mkdir(parents=True)
    for number, kernel in enumerate((names.options.other, names.options.kernel)):
        shutil.copy(kernel, where / f"kernel{number}.elf")
    os.utime(where / "kernel0.elf")  # the newer one is the other
    said = names.record(where.parent)
    names.expect(f"the kernel is {where}/kernel1.elf" in said, f"the kernel's file was not found: {said[:300]}")
    names.expect_same("found near", names.shares(where.parent)[0], expected)


def built_again(names, expected):
    kernel = names.folder / "kernel.elf"
    content = bytearray(pathlib.Path(names.options.kernel).read_bytes())
    note = content.rindex(b"GNU\0")
    content[note:note + 4] = b"XYZ\0"  # no build id any more
    kernel.write_bytes(content)
    where = names.folder / "again"
    names.record(where, "--kernel", kernel)
    names.expect_same("as recorded", names.shares(where)[0], expected)
    text = subprocess.run(["readelf", "-SW", kernel], check=True, text=True, stdout=subprocess.PIPE).stdout
    offset = next(int(line.split("PROGBITS")[1].split()[1], 16) for line in text.splitlines() if " .text " in line)
    content[offset + 16] ^= 1
    kernel.write_bytes(content)
    for arguments in ((), ("--kernel", kernel)):
        shares, said = names.shares(where, *arguments)
        names.expect("is not the file that was recorded" in said, f"a file with other code is not noticed: {said}")
        names.expect_same("by the names that the recording keeps", shares, functions_only(names, where, expected))


def run(options, guest, folder):
    names = Names(options, guest, pathlib.Path(folder))
    whole = names.folder / "whole"
    names.record(whole, "--kernel", options.kernel)
    expected = {name: share for name, share in names.shares(whole)[0].items() if share >= LEAST_SHARE}
    names.expect(len(expected) > 3, f"hardly a function is known with the kernel's file: {expected}")
    named_later(names, expected)
    found_near(names, expected)
    another_one_given(names, expected)
    built_again(names, expected)
    return names.failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    guest_options.add(parser)
    parser.add_argument("--other", required=True, type=os.path.abspath, help="another build of the kernel")
    options = parser.parse_args()
    return guest_options.check(options, "kernel-names", run)


if __name__ == "__main__":
    sys.exit(main())
