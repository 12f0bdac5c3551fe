"""Compares the samples in two texts of `perf script`: the one that perf prints of a perf.data, and ringside's.

Where the two differ by design:
* perf prints a frame of a program as an offset in its file, ringside as the address that it is linked to.
* perf takes one byte off each return address that it unwinds from a copied stack.
* perf's stack ends with 2^64-1 where the copy ends.
* Each has its own choice of several names at one address: names are the same where they begin at the same address.
* perf looks up a return address as it is. Behind a call that ends its function, perf names the next function, or none.
* A signal's handler returns to the start of a function. perf looks for it one byte before, and finds no name.
* perf makes up names for the entries of a procedure linkage table (`write@plt`), and ringside has none.
* A vmlinux has labels inside of functions. perf takes them for functions, and ringside the function around them.
* perf does not unwind a program without unwind information, and ringside does: its stack goes on.
* perf has the paths of all copies of a program, ringside one of them for all with its build id.
* perf's stack of user code is empty where the guest's kernel could copy none. ringside has the sampled address.
"""
import collections
import dataclasses
import functools
import pathlib
import re
import struct

_HEAD = re.compile(r"(\S.*?)\s+(-?\d+)/(-?\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}):\s+(\d+)\b")
_FRAME = re.compile(r"\s+([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? \((.*)\)$")
_UNNAMED = ("[unknown]", "[user]")
NOBODY = ("", ":-1", "[unknown]")  # what a thread is called that has ended: perf has the id -1, ringside 0
# mov $__NR_rt_sigreturn,%rax; syscall: where a signal's handler returns to.
_TRAMPOLINE = bytes.fromhex("48c7c00f0000000f05")
_NO_ADDRESS = (1 << 64) - 1


@dataclasses.dataclass(frozen=True)
class Frame:
    """offset: from where the function begins. is_caller: the address is where a call returns to."""
    address: int
    name: str
    offset: int
    dso: str
    is_caller: bool = False

    @property
    def is_kernel(self):
        return self.dso.startswith("[") and self.dso not in ("[vdso]", "[unknown]")

    def __str__(self):
        return f"{self.address:x} {self.name or '[unknown]'}+{self.offset:#x} ({self.dso})"


@dataclasses.dataclass(frozen=True)
class Sample:
    """key: all that is not its stack. Its time counts from the first sample."""
    comm: str
    key: tuple
    period: int
    frames: tuple


def parse(text):
    """The samples, in the order of their keys."""
    samples = []
    for block in text.split("\n\n"):
        if block.strip():
            head, *lines = block.strip("\n").splitlines()
            found = _HEAD.match(head)
            if not found:
                raise ValueError(f"no head of a sample: {head!r}")
            comm = "" if found[1] in NOBODY else found[1]
            pid, tid, cpu, seconds, ns, period = map(int, found.groups()[1:])
            samples.append(Sample(comm, (seconds * 10**9 + ns, cpu, comm, max(pid, 0), max(tid, 0), period), period,
                                  _frames(lines)))
    first = min((sample.key[0] for sample in samples), default=0)
    return sorted((dataclasses.replace(one, key=(one.key[0] - first, *one.key[1:])) for one in samples),
                  key=lambda one: one.key)


def _frames(lines):
    frames = []
    for line in lines:
        found = _FRAME.match(line)
        if not found:
            raise ValueError(f"no frame: {line!r}")
        address, name, offset, dso = found.groups()
        frame = Frame(int(address, 16), "" if name in _UNNAMED else name, int(offset or "0", 16), dso)
        is_caller = bool(frames) and (frame.is_kernel or not frames[-1].is_kernel)
        frames.append(dataclasses.replace(frame, is_caller=is_caller))
    return tuple(frames)


def cached_files(cache):
    """The ELF files in perf's cache, PATH/BUILD_ID/elf, by the paths of the programs."""
    return {f"/{file.parents[1].relative_to(cache)}": file for file in cache.rglob("elf")}


def first_paths(cache):
    """The first path of the programs with its build id, by path."""
    copies = collections.defaultdict(list)
    for path, file in sorted(cached_files(cache).items()):
        copies[file.parent.name].append(path)
    return {path: paths[0] for paths in copies.values() for path in paths}


def of_perf(text, cache, is_unwound):
    """The samples in perf's text, with the addresses that ringside has. is_unwound: from copied stacks."""
    programs = {path: _Program(file) for path, file in cached_files(cache).items()}
    first = first_paths(cache)

    def placed(frames):
        made = []
        for above, frame in zip([None, *frames], frames):  # noqa: B905 - the last one is above none
            program = None if frame.is_kernel else programs.get(frame.dso)
            by = 1 if is_unwound and frame.is_caller and not frame.is_kernel else 0
            if above is not None and above.dso in programs and programs[above.dso].returns_from_signal(above):
                by = 0
            if frame.address != _NO_ADDRESS:
                address = frame.address + by + (program.link_offset(frame.address) if program else 0)
                made.append(dataclasses.replace(frame, address=address, offset=frame.offset + by if frame.name else 0,
                                                dso=first.get(frame.dso, frame.dso)))
        return tuple(made)
    return [dataclasses.replace(sample, frames=placed(sample.frames)) for sample in parse(text)]


class _Program:
    """A 64-bit ELF file (System V ABI, program headers)."""

    def __init__(self, file):
        self._data = file.read_bytes()
        start, size, count = struct.unpack_from("<32xQ14xHH", self._data)
        headers = [struct.unpack_from("<IIQQQQ", self._data, start + n * size) for n in range(count)]
        self._segments = [(offset, address, in_file) for kind, flags, offset, address, _, in_file in headers
                          if kind == 1 and flags & 1]

    def link_offset(self, at):
        """The linked address minus the offset in the file."""
        return next((address - offset for offset, address, size in self._segments if offset <= at < offset + size), 0)

    def returns_from_signal(self, frame):
        """Whether perf's frame is where a signal's handler returns to, or one byte before."""
        return any(self._data.startswith(_TRAMPOLINE, frame.address - behind) for behind in (-1, 0, 7, 9)
                   if frame.address >= behind)


def of_ringside(text, cache):
    """The samples in ringside's text. A program that it has read from perf's cache has its own path again."""
    first = first_paths(cache)

    @functools.cache
    def own(dso):
        if dso.startswith(f"{cache}/"):
            dso = str(pathlib.Path("/") / pathlib.Path(dso).resolve().parents[1].relative_to(cache.resolve()))
        return first.get(dso, dso)
    return [dataclasses.replace(sample, frames=tuple(dataclasses.replace(frame, dso=own(frame.dso))
                                                     for frame in sample.frames)) for sample in parse(text)]


def file_name(dso):
    """One file may have been mapped by several paths, and perf's cache has one of them."""
    return dso.rpartition("/")[2]


def by_design(perf, ours, sizes):
    """A word of what two frames at one address differ by; "" if by nothing, None if it is not by design."""
    if perf.name == ours.name or (perf.name and ours.name and perf.offset == ours.offset):
        return ""
    if perf.name.endswith("@plt") and not ours.name:
        return "linkage table"
    if perf.name and perf.is_caller and perf.offset in (0, 1) and (not ours.name or ours.offset > perf.offset):
        return "behind a last call"
    if not perf.name and perf.is_caller and ours.name and ours.offset in (0, sizes.get(ours.name)):
        return "behind a last call" if ours.offset else "signal's return"
    return "label" if perf.name and perf.is_kernel and perf.offset < ours.offset < sizes.get(ours.name, 0) else None


@dataclasses.dataclass
class Verdict:
    """stacks: how many samples have equal stacks, or else what differs. frames: how many of what kind.
    aliases: ringside's names by the file and perf's name. excused: the weight of samples that differ by design."""
    samples: int = 0
    excused: int = 0
    stacks: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    frames: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    aliases: dict = dataclasses.field(default_factory=dict)
    failures: list = dataclasses.field(default_factory=list)


def compare(perf, ours, without_rules=(), sizes=None):
    """Compares sample by sample. without_rules: names of files without unwind information.
    sizes: of a vmlinux's functions, by name."""
    verdict, wrong = Verdict(samples=len(perf)), collections.Counter()
    keys = [collections.Counter(sample.key for sample in samples) for samples in (perf, ours)]
    for name, missing in (("perf", keys[0] - keys[1]), ("ringside", keys[1] - keys[0])):
        if missing:
            verdict.failures.append(f"{missing.total()} samples of {name} only, such as {next(iter(missing))}")
    if verdict.failures:
        return verdict
    for there, here in zip(perf, ours, strict=True):
        kind = _compare_stacks(there.frames, here.frames, without_rules, sizes or {}, verdict, wrong)
        verdict.stacks[kind] += 1
        verdict.excused += there.period if kind != "equal" else 0
    verdict.failures += [f"{count} times: {line}" for line, count in wrong.most_common(10)]
    return verdict


def _compare_stacks(there, here, without_rules, sizes, verdict, wrong):
    """Names the difference of two stacks, "equal" if there is none."""
    kind = "equal"
    for perf, ours in zip(there, here):  # noqa: B905 - one may be longer
        verdict.frames["all"] += 1
        is_there = perf.address == ours.address and file_name(perf.dso) == file_name(ours.dso)
        difference = by_design(perf, ours, sizes) if is_there else None
        if difference is None:
            wrong[f"{perf} of perf is {ours}"] += 1
            return "wrong"
        if difference:
            verdict.frames[difference] += 1
        if difference not in ("", "label"):
            kind = "named otherwise"
        elif perf.name != ours.name:
            verdict.aliases[file_name(perf.dso), perf.name] = ours.name
    if not there and len(here) == 1 and not here[0].is_kernel:
        return "not copied"
    if len(there) < len(here):
        return "longer" if there and file_name(there[-1].dso) in without_rules else "longer with rules"
    return "shorter" if len(there) > len(here) else kind


def fold(samples, aliases):
    """Weights by (comm, frame …), the outermost frame first. A frame without a name is None."""
    stacks = collections.Counter()
    for sample in samples:
        names = [aliases.get((file_name(frame.dso), frame.name), frame.name) or None
                 for frame in reversed(sample.frames)]
        stacks[sample.comm, *names] += sample.period
    return stacks
