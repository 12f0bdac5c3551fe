"""Has ringside's recorded stacks confirmed by other ways than gdb's whole backtrace.

tests/unwind-cases/tools/confirm.py goes by gdb from one interrupted pc to the next, by struct pt_regs, the kernel's ORC
tables and what its source says; in entry code by what entry_truth.py has seen.
"""
import json
import os
import subprocess

from ringside_tests.judges.gdb.case_tools import CONFIRM, unwind_case

CONFIRMED, CONTRADICTED = "same", "differs"
BATCH = 400  # cases that one gdb is given: their names are one environment variable


def _write_recorded(case, stack):
    """Makes the stack that was recorded the one to confirm: extract unwinds again, without modules."""
    case.frames = [unwind_case.Frame(int(frame["address"], 16), frame["exact"], (frame["functions"] or ["?"])[0],
                                     frame["kind"])
                   for frame in stack["frames"] if frame["kind"] in ("kernel", "interrupt")]
    case.stop, case.stop_ways, case.wrong = stack["stop"].replace(" ", "-"), set(), {}
    case.write_expected()


def write_entered_from(case, seen):
    """Gives a case what EntryTruth says of its state, for confirm.py."""
    if seen and ("user" in seen or "registers" in seen):
        case.entered_from = {"user": 1} if "user" in seen else seen["registers"]
        case.write_entered_from()


def confirm(ringside, gdb, vmlinux, module_commands, samples, seen, recording, folder):
    """{(time_ns, vcpu): (verdict, text)} for the samples of a recording with captures, of a kernel at its linked
    address. verdict: CONFIRMED, CONTRADICTED, or another word where the other ways do not reach the stack's end.
    seen: {(time_ns, vcpu): what EntryTruth says}. folder: a new one, to work in."""
    folder.mkdir()
    subprocess.run([ringside, "case", "extract", "-i", str(recording), "--kernel", vmlinux, "--random", "1000000",
                    "-o", str(folder / "cases")], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    stacks = {(sample["time_ns"], sample["vcpu"]): sample["stacks"][0] for sample in samples if sample.get("stacks")}
    keys = {}
    for path in unwind_case.files(folder / "cases"):
        case = unwind_case.Case(path)
        key = case.registers["time_ns"], case.registers["vcpu"]
        if key in stacks:
            keys[str(path)] = key
            _write_recorded(case, stacks[key])
            write_entered_from(case, seen.get(key))
    names, verdicts = list(keys), {}
    for start in range(0, len(names), BATCH):
        words = [vmlinux, str(folder / "report"), *names[start:start + BATCH]]
        subprocess.run([gdb, "-nx", "-batch", "-x", str(CONFIRM)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL,
                       env={**os.environ, "CONFIRM": " ".join(words), "CONFIRM_MODULES": "\n".join(module_commands)})
        for name, verdict in json.loads((folder / "report").read_text()).items():
            verdicts[keys[name]] = tuple(verdict)
    return verdicts
