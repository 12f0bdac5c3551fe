"""A Linux guest's report of its processes (the option tell= of linux/init), and the functions in their programs' files."""
import bisect
import dataclasses
import functools
import pathlib
import re
import struct
import subprocess

_WRAP = (1 << 64) - 1


@dataclasses.dataclass(frozen=True)
class Mapping:
    """Executable memory of a process. offset: of `start` in the file. path: empty for code of no file."""
    start: int
    end: int
    offset: int
    path: str


@dataclasses.dataclass
class Process:
    pid: int
    parent: int
    name: str
    mappings: list = dataclasses.field(default_factory=list)

    def mapping_at(self, address):
        return next((mapping for mapping in self.mappings if mapping.start <= address < mapping.end), None)

    def is_called(self, comm):
        """Whether that may be its task's name. /proc tells behind a kernel worker's what it works at (kernel 6.1,
        kernel/workqueue.c, wq_worker_comm)."""
        return comm == self.name or (comm.startswith("kworker/") and re.match(re.escape(comm) + r"[-+]", self.name))


def parse(serial):
    """The processes by pid. Raises ValueError when the guest told of none."""
    # The idle task of a CPU.
    processes = {0: Process(0, 0, "swapper/0")}
    for pid, group, parent, name in re.findall(r"^ringside-guest: proc (\d+) (\d+) (\d+) (.*?)\r?$", serial, re.MULTILINE):
        if pid != group:
            raise ValueError(f"process {pid} is in the thread group {group}")
        processes[int(pid)] = Process(int(pid), int(parent), name)
    for pid, start, end, offset, path in re.findall(
            r"^ringside-guest: map (\d+) ([0-9a-f]+)-([0-9a-f]+) ([0-9a-f]+) ?(.*?)\r?$", serial, re.MULTILINE):
        if int(pid) in processes:
            processes[int(pid)].mappings.append(Mapping(int(start, 16), int(end, 16), int(offset, 16), path))
    if len(processes) == 1:
        raise ValueError("the guest did not say which processes it has")
    return processes


def _list_symbols(path, *options):
    return subprocess.run(["nm", *options, "-S", "--defined-only", str(path)], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=False).stdout.splitlines()  # none: a message, and nothing


class File:
    """An ELF file of the guest's: its entry point, and its exported functions as nm tells them; all of them where it
    exports none."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        self._wide = data[4] == 2
        self.entry, table = struct.unpack_from("<QQ" if self._wide else "<II", data, 24)
        self._code = list(self._executable(data, table))
        # A static program exports nothing.
        rows = [line.split() for line in _list_symbols(path, "-D") or _list_symbols(path)]
        self._functions = sorted((int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3].split("@")[0])
                                 for row in rows if len(row) == 4 and row[2] in "tTwWi")
        self._longest = max((end - start for start, end, _ in self._functions), default=0)

    def _executable(self, data, table):
        size, count = struct.unpack_from("<HH", data, 54 if self._wide else 42)
        for at in range(table, table + size * count, size):
            if self._wide:
                kind, flags, _, address, _, length = struct.unpack_from("<IIQQQQ", data, at)
            else:
                kind, _, address, _, length, _, flags = struct.unpack_from("<IIIIIII", data, at)
            if kind == 1 and flags & 1:  # PT_LOAD, PF_X
                yield address, address + length

    def has_code_at(self, address):
        """Whether a linked address is in its code."""
        return any(start <= address < end for start, end in self._code)

    def names(self, address):
        """All exported functions that cover a linked address, by their sizes."""
        last = bisect.bisect_right(self._functions, (address, _WRAP, ""))
        first = bisect.bisect_left(self._functions, (address - self._longest, 0, ""))
        return {name for start, end, name in self._functions[first:last] if start <= address < end}


class Files:
    """The guest's files, in a folder of the host's."""

    def __init__(self, folder):
        self._folder = pathlib.Path(folder)
        self._file = functools.lru_cache(maxsize=None)(File)

    def find(self, path):
        """None when there is no such file."""
        found = self._folder / path.lstrip("/")
        return self._file(found) if path.startswith("/") and found.is_file() else None

    def place(self, process, image, address):
        """Where an address of the process's code is, as (path, file). image: the name of the file that the address is
        linked in, or None for an address in memory. The path is None where the process has no such code; the file is
        None where it is not ours."""
        for mapping in process.mappings:
            file = self.find(mapping.path)
            if image != pathlib.PurePath(mapping.path).name:
                continue
            if file.has_code_at(address) if file else mapping.start <= address < mapping.end or image == "[vdso]":
                return mapping.path, file
        if image is None and (mapping := process.mapping_at(address)):
            return mapping.path, None
        return None, None
