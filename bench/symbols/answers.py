"""Reads the answers of symbolizers and says in what way two of them differ."""
import collections
import re

Frame = collections.namedtuple("Frame", "function file line column")


def parse_blocks(text):
    """Two lines a frame, an empty line after each address: llvm-symbolizer and ringside symbolize."""
    answers, frames, function = [], [], None
    for line in text.splitlines():
        if not line:
            answers.append(frames)
            frames = []
        elif function is None:
            function = line
        else:
            file, row, column = line.rsplit(":", 2)
            frames.append(Frame(function, file, int(row), int(column)))
            function = None
    return answers


def parse_addr2line(text):
    """Parses `addr2line -a -i -f` and `eu-addr2line -a -i -f`: the address, then two lines a frame. No columns of use."""
    answers, function = [], None
    for line in text.splitlines():
        if re.fullmatch(r"0x[0-9a-f]+", line):
            answers.append([])
        elif function is None:
            function = line
        else:
            line = re.sub(r" \((discriminator \d+|inlined by)\)", "", line)
            file, row = (line.split(":") + ["0"])[:2]
            answers[-1].append(Frame(re.sub(r" inlined at .*", "", function), file,
                                     int(row) if row.isdigit() else 0, 0))
            function = None
    return answers


class Symbols:
    """The names that each address has in the symbol table, from `nm`."""

    def __init__(self, nm_output):
        self._addresses = collections.defaultdict(set)
        for line in nm_output.splitlines():
            fields = line.split()
            if len(fields) >= 3:
                self._addresses[fields[-1]].add(int(fields[0], 16))

    def share_an_address(self, one, other):
        return bool(self._addresses.get(one, set()) & self._addresses.get(other, set()))


def clone_of(name):
    return re.sub(r"\.(cold|constprop|isra|part|lto_priv|llvm)(\.\d+)*", "", name)


def classify(ours, theirs, symbols, columns=True):
    """None where two answers are the same, otherwise the class of their difference."""
    def plain(frame):
        return frame if columns else (frame.function, frame.file.rsplit("/", 1)[-1], frame.line)
    if [plain(f) for f in ours] == [plain(f) for f in theirs]:
        return None
    if len(ours) != len(theirs):
        return "another number of frames"
    differences = set()
    for one, other in zip(ours, theirs):
        if one.function != other.function:
            if symbols.share_an_address(one.function, other.function):
                differences.add("another name of the same address")
            elif clone_of(one.function) == clone_of(other.function):
                differences.add("with or without the suffix of a clone (.isra.0, .cold)")
            else:
                differences.add("another function")
        if plain(one)[2:] != plain(other)[2:]:
            differences.add("another line")
        elif plain(one)[1] != plain(other)[1]:
            differences.add("the same line of another file")
    return "; ".join(sorted(differences))


def classes(all_ours, all_theirs, symbols, columns=True):
    """{class: [index, …]} over all addresses; the class None is "the same"."""
    result = collections.defaultdict(list)
    for index, (ours, theirs) in enumerate(zip(all_ours, all_theirs)):
        result[classify(ours, theirs, symbols, columns)].append(index)
    return result
