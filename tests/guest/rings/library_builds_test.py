#!/usr/bin/env python3
"""The guest library and its example compile for all four architectures, as kernels are compiled, and call nothing.

    library_builds_test.py [--jobs N]

By clang for each architecture and at each level of optimization, and by the host's gcc: without a warning, and without a
symbol that the kernel would have to provide, be it memcpy() or one of libgcc's. The example's symbols are the library's and
those that it says are the kernel's own. Programs in C++ may include the header.

Exit status: 0 as it should be, 1 not, 77 a compiler is not there (skipped).
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

GUEST = pathlib.Path(__file__).resolve().parents[3] / "guest"
STRICT = ["-ffreestanding", "-fno-stack-protector", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
          "-Wno-sign-conversion", "-Werror"]
LEVELS = ("-O0", "-O2", "-Oz")
# As kernels are compiled: no floating point, no code that needs a table of addresses.
CLANG = {
    "x86_64": ["--target=x86_64-unknown-elf", "-mgeneral-regs-only", "-mno-red-zone", "-mcmodel=kernel", "-fno-pic"],
    "i386": ["--target=i386-unknown-elf", "-mgeneral-regs-only", "-fno-pic"],
    "aarch64": ["--target=aarch64-unknown-elf", "-mgeneral-regs-only", "-fno-pic"],
    "aarch64-linux": ["--target=aarch64-linux-gnu", "-mgeneral-regs-only", "-fno-pic"],
    "riscv64": ["--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-fno-pic"],
}
GCC = {"gcc x86_64": ["-m64", "-mgeneral-regs-only", "-fno-pic"], "gcc i386": ["-m32", "-mgeneral-regs-only", "-fno-pic"]}
LIBRARY_FUNCTIONS = {"ringside_allocated", "ringside_bytes", "ringside_describe_process", "ringside_drain", "ringside_event",
                     "ringside_is_on", "ringside_lost", "ringside_note_interruption", "ringside_sample", "ringside_start",
                     "ringside_switch", "ringside_walk", "ringside_walk_callers"}


def symbols(program, which):
    """The names of an object's symbols that it defines, or that it needs."""
    text = subprocess.run(["llvm-nm", "--format=just-symbols", "--extern-only", which, str(program)], check=True, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
    return set(text.split())


def compiled(command, source, place):
    """Compiles; returns the compiler's output, empty without an error."""
    return subprocess.run([*command, "-c", str(source), "-o", str(place)], check=False, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def check(name, command, folder):
    """Compiles the library and the example so, and returns what is wrong with them."""
    library, example, plus = folder / "library.o", folder / "example.o", folder / "plus.o"
    include = folder / "plus.cpp"
    include.write_text(f'#include "{GUEST / "ringside_guest.h"}"\n')
    said = compiled([*command, "-std=c11"], GUEST / "ringside_guest.c", library)
    said += compiled([*command, "-std=c11"], GUEST / "example" / "kernel.c", example)
    said += compiled([*command, "-std=c++11"], include, plus)
    if said:
        return [f"{name}: {said}"]
    failures = []
    if needed := symbols(library, "--undefined-only"):
        failures.append(f"{name}: the library calls {sorted(needed)}")
    if symbols(library, "--defined-only") != LIBRARY_FUNCTIONS:
        failures.append(f"{name}: the library has {sorted(symbols(library, '--defined-only'))}")
    foreign = {symbol for symbol in symbols(example, "--undefined-only") - LIBRARY_FUNCTIONS if not symbol.startswith("kernel_")}
    if foreign:
        failures.append(f"{name}: the example calls {sorted(foreign)}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if missing := [tool for tool in ("clang", "gcc", "llvm-nm") if not shutil.which(tool)]:
        print(f"skipped: there is no {', '.join(missing)}")
        return 77
    builds = [(f"{name} {level}", ["clang", *STRICT, *how, level]) for name, how in CLANG.items() for level in LEVELS]
    builds += [(f"{name} {level}", ["gcc", *STRICT, *how, level]) for name, how in GCC.items() for level in LEVELS[:-1]]
    with tempfile.TemporaryDirectory(prefix="ringside-builds-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        places = [pathlib.Path(folder) / str(n) for n in range(len(builds))]
        for place in places:
            place.mkdir()
        results = pool.map(lambda build, place: check(*build, place), builds, places)
        failures = [failure for found in results for failure in found]
    for failure in failures:
        print(f"FAILED: {failure}")
    print(f"{len(builds)} ways to compile the library")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
