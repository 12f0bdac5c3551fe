#!/usr/bin/env python3
"""Guest tests with the QEMU that is first in PATH: by every attachment, and with --whole of Debian's Linux on amd64, arm64,
i386 and riscv64, too.

    qemu_matrix.py --build FOLDER [--only NAME …] [--whole | --arch NAME …]

FOLDER is ringside's build, with the bundled kernels and the plugins, and for the Linux guests with -DBUILD_TESTING=ON: their
tests are those that CMakeLists.txt marks with the label `matrix`, the shares of time among them with fewer samples. `doctor`
says which plugin this QEMU loads. Where it loads none, the tests of the plugin are left out. --arch runs the Linux guests of
those architectures alone. Prints a line for each test, what it measured, and what a failed one said. Exit status: 0 all are
good, 1 not.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

from ringside_tests.harness import limits, linux_guest, linux_program

HERE = pathlib.Path(__file__).resolve().parent
# The test, its options, and whether it needs the plugin. {kernel} and {nofp} are kernels, {plugin} and {hold} are files, {ready} is
# what the kernel says before its workload.
TESTS = {
    "launch": ("launch_test.py --kernel {kernel} ctrl-c own-stub starts-stopped qmp-engine", False),
    "launch.tcg": ("launch_test.py --kernel {kernel} tcg-engine", True),
    "kill": ("stops/kill_test.py --kernel {kernel} --hold-library {hold} --rounds 3", False),
    "kill_monitor": ("stops/kill_test.py --kernel {kernel} --hold-library {hold} --monitor --rounds 3", False),
    "qmp": ("qmp_test.py --kernel {kernel}", False),
    "paused": ("stops/paused_test.py --kernel {kernel}", False),
    "truth.gdb": ("truth_test.py --kernel {nofp} --truth {truth} --workload chains --cpus 1 --busy 3000 --tries 3 "
                  "--record-option=--engine --record-option=gdb --interval 2", False),
    "truth.tcg": ("truth_test.py --kernel {nofp} --truth {truth} --workload chains --cpus 2 --busy 3000 --tries 3 "
                  "--record-option=--engine --record-option=tcg", True),
    "fault.tcg": ("stops/fault_test.py --kernel {kernel} --engine tcg --plugin {plugin}", True),
    "stand_alone": ("stand_alone_test.py --kernel {kernel} --plugin {plugin}", True),
    "deterministic": ("deterministic_test.py --kernel {kernel} --workload interrupts --samples 300 --after {ready}", True),
    "replay": ("deterministic_test.py --kernel {kernel} --workload interrupts --samples 300 --after {ready} --replay", True),
    "rings.ways": ("rings/ways_test.py --kernel {kernel}", False),
    "rings.nmi": ("rings/rings_test.py --kernel {kernel} --truth {truth} --workload chains --by nmi --way live --cpus 2 "
                  "--busy 4000", False),
    "rings.redox": ("rings/redox_test.py --kernel {kernel} --truth {truth} --format b --way live", False),
    "rings.memory": ("rings/memory_test.py --kernel {kernel}", False),
    **{f"rings.{arch}": (f"rings/arch_test.py --arch {arch}", False) for arch in ("i386", "aarch64", "riscv64")},
    "rings.together": ("rings/together_test.py --kernel {kernel} --plugin {plugin} --workload names --by nmi --cpus 1 "
                       "--seconds 5 --tries 3", True),
}


ARCHES = ("amd64", "arm64", "i386", "riscv64")
FEWER = {"user_truth_test.py": "--busy 2000 --points 4"}  # options of a Linux guest's test: as CI has them for amd64


def plugin_of_qemu(build):
    """The plugin for the QEMU in PATH, by what doctor says; None where it loads none. Prints doctor's lines."""
    said = subprocess.run([build / "ringside", "doctor", "--project", "none"], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=limits.STEP).stdout
    lines = dict(re.findall(r"^ *qemu-system-(\S+) +(.*)$", said, re.MULTILINE))
    if "x86_64" not in lines:
        sys.exit("doctor finds no qemu-system-x86_64 in PATH")
    for name, line in lines.items():
        print(f"QEMU {name}: {line}", flush=True)
    api = re.search(r"TCG plugin \(API (\d+)\)", lines["x86_64"])
    if not api:
        return None
    return build / "plugin" / f"libringside-tcg{'' if api.group(1) == '4' else '-' + api.group(1)}.so"


def bundled_tests(build, plugin, names):
    """(name, the test's command) of the bundled kernel's tests; None in the place of one that needs the plugin."""
    places = {"kernel": build / "demo/kernel/ringside-demo-fp.elf", "nofp": build / "demo/kernel/ringside-demo-nofp.elf",
              "truth": HERE.parent.parent / "demo/truth/chains.txt", "plugin": plugin, "ready": "ringside-demo: ready",
              "hold": build / "tests/guest/libringside-hold-in-tick.so"}
    for name in names:
        words, needs_plugin = TESTS[name]
        script, *arguments = (word.format(**places) for word in words.split())
        command = [sys.executable, "-B", str(HERE / script), "--ringside", str(build / "ringside"), *arguments]
        yield name, None if needs_plugin and not plugin else command


def with_plugin(command, plugin):
    """A test's command with that plugin in place of its own, or none."""
    if "--plugin" not in command:
        return command
    at = command.index("--plugin")
    return command[:at] + (["--plugin", str(plugin)] if plugin else ["--engines", "gdb"]) + command[at + 2:]


def linux_tests(build, plugin, arches):
    """(name, the test's command) of the tests with the label `matrix`, whose names hold the architecture; one architecture
    after the other."""
    said = subprocess.run(["ctest", "--test-dir", build, "-L", "^matrix$", "--show-only=json-v1"], stdout=subprocess.PIPE,
                          check=True).stdout
    tests = json.loads(said)["tests"]
    for test in (test for arch in arches for test in tests if arch in test["name"].split(".")):
        script = next(pathlib.Path(word).name for word in test["command"] if word.endswith("_test.py"))
        yield test["name"].removeprefix("guest.linux."), with_plugin(test["command"], plugin) + FEWER.get(script, "").split()


def run(name, command):
    """Runs a test and prints how it ended; returns whether it is good. One that is skipped is not."""
    if not command:
        print(f"{name:25} left out: this QEMU loads no plugin", flush=True)
        return True
    began = time.monotonic()
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            check=False)  # each test has a limit of its own
    how = {0: "ok", linux_program.SKIPPED: "SKIPPED"}.get(result.returncode, "FAILED")
    print(f"{name:25} {time.monotonic() - began:6.1f} s  {how}")
    lines = result.stdout.strip().splitlines()
    if not result.returncode:  # what a Linux guest's test measured begins with the architecture
        lines = [line for line in lines if line.startswith(tuple(f"{arch}, " for arch in linux_guest.ARCHES))]
    print("".join(f"    {line}\n" for line in lines), end="", flush=True)
    return not result.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=TESTS, default=list(TESTS))
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--whole", action="store_true")
    which.add_argument("--arch", nargs="+", choices=ARCHES, default=[])
    options = parser.parse_args()
    build = options.build.resolve()
    plugin = plugin_of_qemu(build)
    tests = [] if options.arch else list(bundled_tests(build, plugin, options.only))
    if options.whole or options.arch:
        tests += linux_tests(build, plugin, options.arch or ARCHES)
    failed = [name for name, command in tests if not run(name, command)]
    ran = sum(command is not None for _, command in tests)
    print(f"{len(failed)} of {ran} failed: {' '.join(failed)}" if failed else f"all {ran} are good")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
