"""The program programs/libc_calls.c, linked to C libraries in several ways: builds it for a guest, and judges samples
by who calls whom in its source."""
import collections
import pathlib
import shutil
import subprocess

from ringside_tests.harness import user_program
from ringside_tests.harness.linux_guest import NoNetwork
from ringside_tests.judges.processes import joined_stacks

WORKLOAD = "libc_calls"
MUSL = pathlib.Path("/lib/ld-musl-x86_64.so.1")
# The command that builds each; the host is what the guest is, Debian on amd64.
PROGRAMS = {"calls-glibc": ("gcc",), "calls-glibc-st": ("gcc", "-static"), "calls-musl": ("musl-gcc",),
            "calls-musl-st": ("musl-gcc", "-static")}
# The functions that main() calls, with the program's own functions that the library calls from there.
WAYS = {"sort_all": (("compare", "spin"), ("compare",)), "read_zeros": (), "format_all": (), "copy_all": (),
        "ask_time": ()}
SIGNAL = (("on_alarm", "spin"), ("on_alarm",))
OWN = {"_start", "main", "spin", "on_alarm", "compare", *WAYS}
LEAST_PERCENT = 1.0  # of a program's samples, in each way
# One function with two names.
VDSO_NAMES = {"__vdso_clock_gettime", "clock_gettime"}


def add(paths, folder):
    """Builds the programs into the guest. Changes paths: USERLAND_INITRD, and USERLAND, where the files lie."""
    if missing := [tool for tool in ("gcc", "musl-gcc") if not shutil.which(tool)]:
        raise NoNetwork(f"there is no {', '.join(missing)}")
    added = folder / "added"
    (added / "usr/bin").mkdir(parents=True)
    (added / "usr/lib").mkdir()
    for name, compiler in PROGRAMS.items():
        subprocess.run([*compiler, "-O2", "-Wall", str(user_program.SOURCES / f"{WORKLOAD}.c"), "-o",
                        str(added / "usr/bin" / name)], check=True, stdin=subprocess.DEVNULL)
    shutil.copy(MUSL, added / "usr/lib" / MUSL.name)
    user_program.add_userland(paths, folder, added)


def own_functions(sample):
    """The program's own functions in a sample's user stack, from its root on."""
    frames = joined_stacks.user_frames(joined_stacks.user_stack(sample))
    own = [frame for frame in frames if frame.get("image") == sample["comm"]]
    return [name for frame in reversed(own) for name in frame["functions"] if name in OWN]


def way_of(functions):
    """The function that main() had called: a name of WAYS, or "main" for itself. None for stacks that cannot be."""
    if functions[:2] != ["_start", "main"]:
        return None
    way, called = (functions[2], functions[3:]) if functions[2:3] and functions[2] in WAYS else ("main", functions[2:])
    for signal in ((), *SIGNAL):
        rest = called[:len(called) - len(signal)]
        if called[len(rest):] == list(signal) and (not rest or tuple(rest) in WAYS.get(way, ())):
            return way
    return None


def _restorers(sample):
    """The functions that the C library has its signals return to, in a stack: the frames below on_alarm()."""
    frames = joined_stacks.user_frames(joined_stacks.user_stack(sample))
    return [below["functions"] for frame, below in zip(frames, frames[1:]) if frame["functions"] == ["on_alarm"]]


def _is_read_right(program, frames):
    """Whether a thread that the kernel reads for is where musl does that: in a function that its library does not export."""
    leaf = frames[0]["functions"]
    if program == "calls-musl-st":
        return leaf == ["__syscall_cp_c"]
    return program != "calls-musl" or (bool(leaf) and all(name.startswith(f"{MUSL.name}+") for name in leaf))


def check(program, samples):
    """Judges the samples of one program that have complete stacks. Returns (summary line, failures)."""
    ways, wrong, in_vdso, signals, in_read = collections.Counter(), collections.Counter(), collections.Counter(), 0, 0
    for sample in samples:
        functions = own_functions(sample)
        way = way_of(functions)
        if way is None:
            wrong[";".join(functions)] += 1
            continue
        ways[way] += 1
        signals += "on_alarm" in functions
        # Debian's glibc has no symbol for it.
        if program == "calls-musl-st" and any(names != ["__restore_rt"] for names in _restorers(sample)):
            wrong["a signal returns to another function than __restore_rt"] += 1
        frames = joined_stacks.user_frames(joined_stacks.user_stack(sample))
        reads = any("ksys_read" in frame["functions"] for frame in sample["stacks"][0]["frames"])
        in_read += reads
        if reads and not _is_read_right(program, frames):
            wrong[f"reads in {'/'.join(frames[0]['functions'])}"] += 1
        leaf = frames[0]
        if leaf.get("image") == "[vdso]":
            in_vdso[way == "ask_time" and bool(VDSO_NAMES.intersection(leaf["functions"]))] += 1
    line = (f"{program}: " + ", ".join(f"{way} {count}" for way, count in ways.most_common())
            + f", of these on a signal {signals}, in the vDSO {in_vdso[True]}")
    least = len(samples) * LEAST_PERCENT / 100
    failures = [f"{program}: {count} times a stack that cannot be: {text}" for text, count in wrong.most_common(6)]
    failures += [f"{program}: {ways[way]} of {len(samples)} samples in {way}" for way in WAYS if ways[way] < least]
    if signals < least:
        failures.append(f"{program}: {signals} of {len(samples)} samples on a signal")
    if not in_read:
        failures.append(f"{program}: no sample in the kernel's ksys_read")
    if in_vdso[True] < least and not program.endswith("-st"):
        failures.append(f"{program}: {in_vdso[True]} of {len(samples)} samples in the vDSO")
    if in_vdso[False]:
        failures.append(f"{program}: {in_vdso[False]} samples in the vDSO have another function")
    return line, failures
