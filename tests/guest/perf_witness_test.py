#!/usr/bin/env python3
"""Debian's kernel by the engines and by `perf` on the host, which knows nothing of stops and of checks in blocks: the
shares of the kernel's hottest functions.

    perf_witness_test.py --ringside PROGRAM [--arch riscv64] [--engines tcg,gdb] [--points 6] [--append randomize_kstack_offset=off]

A block's time is charged to the block behind it (docs/capture.md): what all indirect calls lead through
(__x86_indirect_thunk_rax) gets up to 5 points of its callers; hence the points. Between two blocks QEMU delivers exceptions:
riscv64 has one function behind all of them, which may have what perf has there.

Exit status: 0 tcg agrees with perf (of the others the shares are shown), 1 not, 2 wrong usage, 77 the guest cannot be
fetched or there is no perf.
"""
import argparse
import collections
import shutil
import sys
import time

from ringside_tests.harness import every_engine, folded, launched, limits, linux_guest, linux_program
from ringside_tests.judges import kernel_symbols, perf_witness
from ringside_tests.judges.truth import percent

HOTTEST = 10
ENTRY = {"riscv64": "handle_exception"}  # where every exception begins (RISC-V Privileged Architecture, stvec in direct mode)


def run(options, folder):
    paths = linux_guest.fetch(arch=options.arch)
    kernel = shutil.copy(paths["VMLINUZ"], folder / "vmlinuz")
    plugin_options = every_engine.plugin_options(options, folder)
    with linux_guest.boot(paths, "calls", 1, extra=[*plugin_options, perf_witness.QEMU_OPTION], kaslr=True,
                          words=options.append) as guest:
        try:
            return compare(options, guest, kernel, folder, kernel_symbols.load(paths, linux_guest.placement(guest.serial())))
        finally:
            perf_witness.forget(guest.process.pid)


def compare(options, guest, kernel, folder, symbols):
    deadline = time.monotonic() + options.limit
    threads = [cpu["thread-id"] for cpu in guest.qmp.command("query-cpus-fast")]
    own = {engine: collections.Counter() for engine in ("perf", *options.engines)}
    for _ in range(options.rounds):
        for engine in options.engines:
            recording = every_engine.record(options, engine, guest, kernel, folder, deadline,
                                            ["--samples", "1500", *limits.ENOUGH_TIME])
            for stack, count in folded.parse(launched.folded_text(options.ringside, recording, deadline)):
                own[engine][stack[-1]] += count
        blocks, elsewhere = perf_witness.record(threads, 8, folder)
        own["perf"] += perf_witness.kernel_functions(symbols, blocks, own["tcg"])
        own["perf"][perf_witness.BETWEEN] += elsewhere
        print(f"perf: {blocks.total()} samples in blocks, {elsewhere} elsewhere")
    share = {engine: {name: percent(count, counts.total()) for name, count in counts.items()}
             for engine, counts in own.items()}
    hottest = [name for name, _ in (own["perf"] + own["tcg"]).most_common() if name in share["perf"]]
    names = [name for name in hottest if name not in (None, perf_witness.BETWEEN)][:HOTTEST]
    print("  ".join(f"{engine:>7}" for engine in own))
    for name in [*names, perf_witness.BETWEEN]:
        print("  ".join(f"{share[engine].get(name, 0):7.2f}" for engine in own) + f"  {name}")
    return [f"{name}: {share['tcg'].get(name, 0):.2f} % by tcg, {share['perf'][name]:.2f} % by perf" for name in names
            if not perf_witness.agree(share, name, options.points, name == ENTRY.get(options.arch))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every_engine.add_options(parser)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--points", type=float, default=6.0)
    options = parser.parse_args()
    options.engines = options.engines or ("tcg", "gdb")
    if "tcg" not in options.engines:
        parser.error("--engines: tcg is the one that is judged")
    try:
        return linux_program.exit_status(run, options)
    except perf_witness.NoPerf as error:
        print(f"skipped: {error}")
        return linux_program.SKIPPED


if __name__ == "__main__":
    sys.exit(main())
