#!/usr/bin/env python3
"""Compares ringside's kernel stacks with gdb's `backtrace` of the same stopped states, frame by frame.

    gdb_backtrace_test.py --ringside PROGRAM [--arch amd64|arm64|i386|riscv64] [--states N]

Debian's kernel runs the mixed workload. Between QEMU's stub and both programs stands stub_proxy.py, so that gdb probes
what ringside has sampled before the guest runs on. Some states are searched in entry code, an instruction at a
time.

A difference in which ringside's stack reaches an entry of the kernel and gdb's does not is of a class: the reason why
gdb could not go on, which the kernel's code and call-frame information say, and the function. A case in
tests/unwind-cases must prove it: one where gdb could not go on for the same reason and another way did. In other
differences ringside is wrong, or they are unclassified, and shown.

Exit status: 0 as it should be, 1 not, 2 wrong usage, 77 the guest cannot be fetched or run (skipped).
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from ringside_tests.harness import launched, limits, linux_guest, linux_program, machine, stub_proxy
from ringside_tests.judges import complete_stacks, kernel_symbols
from ringside_tests.judges.gdb import confirmed_stacks, entry_truth, gdb_classes, kept_states, kernel_code

GDB_PROBES = pathlib.Path(stub_proxy.__file__).with_name("gdb_probes.py")
WRONG_PERCENT = 0.5
GDB_NAMES = {"amd64": "i386:x86-64", "arm64": "aarch64", "i386": "i386", "riscv64": "riscv:rv64"}


def gdb_program():
    program = shutil.which("gdb-multiarch") or shutil.which("gdb")
    if not program:
        raise linux_guest.NoNetwork("there is no gdb")
    return program


class Gdb:
    """A gdb that is connected through the proxy and probes when it is asked to. modules: commands for the modules'
    symbols."""

    def __init__(self, architecture, vmlinux, slide, modules, socket_path, folder):
        answers, write_end = os.pipe()
        self.answers = os.fdopen(answers)
        commands = [f"set architecture {architecture}", "set confirm off", "set pagination off",
                    "set backtrace past-main on",
                    "set print thread-events off",
                    f"symbol-file {vmlinux} -o {slide:#x}" if slide else f"symbol-file {vmlinux}", *modules,
                    "set remotetimeout 60", f"target remote {socket_path}", f"source {GDB_PROBES}"]
        arguments = [gdb_program(), "-nx", "-q", "-batch"] + [part for command in commands for part in ("-ex", command)]
        self.log = open(folder / "gdb.log", "wb")
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=self.log, stderr=self.log,
                                        pass_fds=[write_end], env={**os.environ, "GDB_PROBES_FD": str(write_end)})
        os.close(write_end)

    def ask(self):
        self.process.stdin.write(b"probe\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.log.close()
        self.answers.close()


class Watch:
    """Runs gdb in each state that ringside has sampled, and keeps what it says; then lets entry code run on for the
    truth."""

    def __init__(self, gdb, second):
        self._gdb, self._second, self.probes, self.proxy, self.truth = gdb, second, [], None, None

    def warm_up(self):
        """gdb reads its symbols when it first probes, which takes longer than ringside waits."""
        self._probe()

    def __call__(self):
        self.probes.append(self._probe())
        for vcpu, stack in self.probes[-1].items():
            stack["entered_from"] = self.truth.of(vcpu)

    def _probe(self):
        answer = []

        def done():
            return bool(answer)

        wake, wake_end = os.pipe()

        def read():
            answer.append(self._gdb.answers.readline())
            with contextlib.suppress(OSError):  # it has been seen already
                os.write(wake_end, b"x")

        reader = threading.Thread(target=read, daemon=True)
        self._gdb.ask()
        reader.start()
        try:
            self._second.serve_until(done, self.proxy.stub, wake)
        finally:
            os.close(wake)
        reader.join(limits.SOON)
        os.close(wake_end)
        if not answer[0]:
            raise stub_proxy.ProxyError("gdb has ended")
        return {int(vcpu): stack for vcpu, stack in json.loads(answer[0]).items()}


def entry_places(symbols, entries):
    """Where to search for states in entry and interrupt code: the starts of functions that are entries."""
    return [start for name, start in symbols.starts() if complete_stacks.is_entry(entries, name)]


def module_commands(paths, placement):
    """gdb commands for the symbols and the call-frame information of the modules that the guest has loaded."""
    commands = []
    for path in sorted(pathlib.Path(paths["DEBUG_MODULES"]).glob("*.ko")):
        sections = {section: start for (module, section), start in placement.sections.items()
                    if module == path.stem.replace("-", "_")}
        if sections:
            places = " ".join(f"-s {section} {start:#x}" for section, start in sections.items())
            commands.append(f"add-symbol-file {path} {places}")
    return commands


def take(options, paths, folder, deadline):
    """Runs the guest; leaves ringside's samples, gdb's probes and what the serial port said in the folder."""
    with linux_guest.boot(paths, "mixed", options.cpus, extra=linux_guest.disk(folder), kaslr=options.kaslr,
                          cpu=options.cpu, ready_within=max(1, deadline - time.monotonic())) as guest:
        (folder / kept_states.SERIAL).write_text(guest.serial())
        placement = linux_guest.placement(guest.serial())
        symbols = kernel_symbols.load(paths, placement)
        entries = complete_stacks.ENTRIES[options.arch]
        second = stub_proxy.SecondClient(str(folder / "second"))
        gdb = Gdb(GDB_NAMES[options.arch], paths["VMLINUX"], symbols.slide, module_commands(paths, placement),
                  folder / "second", folder)
        watch = Watch(gdb, second)
        proxy = watch.proxy = stub_proxy.Proxy(guest.gdb, str(folder / "first"), watch, entry_places(symbols, entries),
                                               options.entry_share, options.seed)
        watch.warm_up()
        watch.truth = entry_truth.EntryTruth(options.arch, lambda pc: complete_stacks.is_entry_at(
            entries, symbols, pc), proxy.stub)
        recording = folder / kept_states.RECORDING
        command = [options.ringside, "record", "--gdb", str(folder / "first"), "--kernel-only", "--interval",
                   str(options.interval), "--samples", str(options.states), "-o", str(recording),
                   *(["--keep-captures"] if options.confirm else []),
                   *([] if options.know == "nothing" else ["--kernel", paths[options.know.upper()]]),
                   *options.record_options]
        try:
            with open(folder / "record.log", "wb") as log:
                process = subprocess.Popen(command, env=machine.private_environment(folder), stdout=log, stderr=log,
                                           stdin=subprocess.DEVNULL)
                try:
                    proxy.serve_sampler(deadline - time.monotonic())
                    process.wait(limits.STEP)
                finally:
                    machine.end_process(process)
        finally:
            gdb.close()
            proxy.close()
            second.close()
            (folder / kept_states.PROBES).write_text(json.dumps(watch.probes))
    if process.returncode:
        said = (folder / "record.log").read_text(errors="replace")
        raise launched.Failed(f"ringside record ended with status {process.returncode}: {said[-1500:]}")
    text = launched.read_back(options.ringside, deadline + limits.STEP, "export", "--format", "json-lines", "--demangle", "none",
                              "-i", str(recording), "-o", "-")
    (folder / kept_states.SAMPLES).write_text(text)
    print(f"{len(watch.probes)} states, {proxy.found_at_places} of them searched in entry code")


def confirm(options, paths, folder):
    """Leaves in the folder what other ways than gdb's backtrace say of each stack."""
    _, samples, probes, _ = kept_states.read(paths, folder)
    pairs, _ = gdb_classes.pair_up(samples, probes, {})
    seen = {(pair.time_ns, pair.vcpu): pair.gdb.get("entered_from") for pair in pairs}
    modules = module_commands(paths, linux_guest.placement((folder / kept_states.SERIAL).read_text()))
    with tempfile.TemporaryDirectory(prefix="ringside-confirm-") as work:
        verdicts = confirmed_stacks.confirm(options.ringside, gdb_program(), paths["VMLINUX"], modules, samples, seen,
                                            folder / kept_states.RECORDING, pathlib.Path(work) / "work")
    (folder / kept_states.VERDICTS).write_text(json.dumps([[*key, *verdict] for key, verdict in verdicts.items()]))


def report(options, judge, pairs):
    """Prints the classes and returns what is wrong."""
    classes, in_entry = collections.defaultdict(list), 0
    for pair in pairs:
        classes[judge.classify(pair)].append(pair)
        in_entry += judge.runs_entry_code(pair)
    print(f"{options.arch}: {len(pairs)} kernel stacks beside gdb's, {in_entry} of them with the pc in entry code")
    print(f"ringside's are confirmed by other ways too: {sum(pair.is_confirmed() for pair in pairs)} by gdb from one "
          f"interrupted pc to the next, pt_regs, ORC and the kernel's source; "
          f"{sum(bool(pair.gdb.get('entered_from')) for pair in pairs)} by letting entry code run on")
    failures, wrong = [], 0
    for found, members in sorted(classes.items(), key=lambda item: -len(item[1])):
        print(f"  {len(members):5} {found} ({sum(pair.is_confirmed() for pair in members)} confirmed)")
        proof = judge.proof(found) if found.kind == gdb_classes.GDB else None
        if proof:
            same = "" if proof.function in found.functions else "of the same kind of code "
            print(f"        proved {same}by {proof}")
        elif found.kind == gdb_classes.GDB:
            failures.append(f"no case proves of gdb: {found}\n{judge.show(members[0])}")
        wrong += len(members) if found.kind == gdb_classes.RINGSIDE else 0
        wanted = {gdb_classes.EQUAL: 0, gdb_classes.GDB: options.show_gdb}.get(found.kind, options.show)
        for pair in members[:wanted]:
            print(judge.show(pair))
        if found.kind == gdb_classes.UNCLASSIFIED:
            failures.append(f"{len(members)} differences are of no class")
    if len(pairs) < options.states * 0.8:
        failures.append(f"{len(pairs)} stacks could be compared, {options.states} wanted")
    if in_entry < options.entry:
        failures.append(f"{in_entry} stacks have the pc in entry code, {options.entry} wanted")
    if 100.0 * wrong / max(1, len(pairs)) > options.wrong:
        failures.append(f"ringside is wrong in {wrong} of {len(pairs)}, {options.wrong:g} % allowed")
    return failures


def run(options, folder):
    paths = linux_guest.fetch(arch=options.arch, debug_modules=True)
    if not shutil.which(paths["QEMU"]):
        raise linux_guest.NoNetwork(f"there is no {paths['QEMU']}")
    try:
        if not options.again:
            take(options, paths, folder, time.monotonic() + options.limit)
        if options.confirm:
            confirm(options, paths, pathlib.Path(options.again or folder))
    finally:
        if options.keep and not options.again:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("disk.img", "first", "second"))
    symbols, samples, probes, verdicts = kept_states.read(paths, pathlib.Path(options.again or folder))
    pairs, lost = gdb_classes.pair_up(samples, probes, verdicts)
    if lost:
        print(f"{lost} stops of ringside's belong to no state that gdb saw")
    code = kernel_code.KernelCode(paths["VMLINUX"], symbols.slide)
    code.add_modules(symbols.module_ranges, described=True)
    return report(options, gdb_classes.Judge(options.arch, symbols, code), pairs)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    linux_program.add_guest_options(parser, know="vmlinux", ringside_required=False)
    parser.add_argument("--states", type=int, default=60, help="kernel stacks to compare (default 60)")
    parser.add_argument("--entry-share", type=float, default=0.4, help="of the states, searched in entry code")
    parser.add_argument("--entry", type=int, default=0, help="stacks that must have the pc in entry code")
    parser.add_argument("--interval", type=float, default=150, help="ms between samples (default 150)")
    parser.add_argument("--wrong", type=float, default=WRONG_PERCENT, help="percent in which ringside may be wrong")
    parser.add_argument("--seed", type=int, default=1)
    limits.add_option(parser)
    parser.add_argument("--show", type=int, default=3, help="so many examples of each class of ringside's (default 3)")
    parser.add_argument("--show-gdb", type=int, default=0, help="so many examples of each class of gdb's (default 0)")
    parser.add_argument("--keep", metavar="FOLDER", help="a folder for the states, the recording and the logs")
    parser.add_argument("--confirm", action="store_true",
                        help="have ringside's stacks confirmed by further ways (with --no-kaslr, and 60 s longer)")
    parser.add_argument("--from", dest="again", metavar="FOLDER",
                        help="judge the states that --keep kept, without a guest")
    options = parser.parse_args()
    if not options.ringside and not options.again:
        parser.error("--ringside or --from is needed")
    if options.confirm and (options.kaslr or not options.ringside):
        parser.error("--confirm needs --no-kaslr and --ringside")
    return linux_program.exit_status(run, options)


if __name__ == "__main__":
    sys.exit(main())
