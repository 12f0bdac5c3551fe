#!/usr/bin/env python3
"""The small matrix: a few short guest tests of every way in, with the QEMU that is first in PATH.

    qemu_matrix.py --build FOLDER [--only NAME …]

FOLDER is ringside's build, with the bundled kernels and the plugins; `doctor` says which plugin this QEMU loads. Where it
loads none, the tests of the plugin are left out. Prints a line for each test, and what a failed one said. Exit status: 0 all
are good, 1 not.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
# The test, its options, and whether it needs the plugin. {kernel} and {nofp} are kernels, {plugin} is a file, {ready} is what
# the kernel says before its workload.
TESTS = {
    "launch": ("launch_test.py --kernel {kernel} ctrl-c own-stub starts-stopped qmp-engine", False),
    "launch.tcg": ("launch_test.py --kernel {kernel} tcg-engine", True),
    "kill": ("kill_test.py --kernel {kernel} --rounds 3", False),
    "kill_monitor": ("kill_test.py --kernel {kernel} --monitor --rounds 3", False),
    "qmp": ("qmp_test.py --kernel {kernel}", False),
    "paused": ("paused_test.py --kernel {kernel}", False),
    "truth.gdb": ("run_truth.py --kernel {nofp} --truth {truth} --workload chains --cpus 1 --busy 3000 --tries 3 "
                  "--record-option=--engine --record-option=gdb --interval 2", False),
    "truth.tcg": ("run_truth.py --kernel {nofp} --truth {truth} --workload chains --cpus 2 --busy 3000 --tries 3 "
                  "--record-option=--engine --record-option=tcg", True),
    "fault.tcg": ("fault_test.py --kernel {kernel} --engine tcg --plugin {plugin}", True),
    "stand_alone": ("stand_alone_test.py --kernel {kernel} --plugin {plugin}", True),
    "deterministic": ("deterministic_test.py --kernel {kernel} --workload interrupts --samples 300 --after {ready}", True),
    "replay": ("deterministic_test.py --kernel {kernel} --workload interrupts --samples 300 --after {ready} --replay", True),
}


def plugin_of_qemu(build):
    """The plugin for the QEMU in PATH, by what doctor says; None where it loads none. Prints doctor's line."""
    said = subprocess.run([build / "ringside", "doctor", "--project", "none"], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=60).stdout
    line = re.search(r"^ *qemu-system-x86_64 +(.*)$", said, re.MULTILINE)
    if not line:
        sys.exit("doctor finds no qemu-system-x86_64 in PATH")
    print(f"QEMU {line.group(1)}", flush=True)
    api = re.search(r"TCG plugin \(API (\d+)\)", line.group(1))
    if not api:
        return None
    return build / "plugin" / f"libringside-tcg{'' if api.group(1) == '4' else '-' + api.group(1)}.so"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--only", nargs="+", choices=TESTS, default=list(TESTS))
    options = parser.parse_args()
    build = options.build.resolve()
    plugin = plugin_of_qemu(build)
    places = {"kernel": build / "demo/kernel/ringside-demo-fp.elf", "nofp": build / "demo/kernel/ringside-demo-nofp.elf",
              "truth": HERE.parent.parent / "demo/truth/chains.txt", "plugin": plugin, "ready": "ringside-demo: ready"}
    failed = []
    for name in options.only:
        words, needs_plugin = TESTS[name]
        if needs_plugin and not plugin:
            print(f"{name:14} left out: this QEMU loads no plugin", flush=True)
            continue
        script, *arguments = (word.format(**places) for word in words.split())
        began = time.monotonic()
        result = subprocess.run([sys.executable, "-B", HERE / script, "--ringside", build / "ringside", *arguments],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                check=False)
        print(f"{name:14} {time.monotonic() - began:6.1f} s  {'FAILED' if result.returncode else 'ok'}", flush=True)
        if result.returncode:
            failed.append(name)
            print("    " + result.stdout.strip().replace("\n", "\n    "), flush=True)
    print(f"{len(failed)} failed: {' '.join(failed)}" if failed else "all are good")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
