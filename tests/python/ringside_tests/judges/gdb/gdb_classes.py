"""Compares ringside's kernel stacks with gdb's of the same states, and says of what class a difference is."""
import collections
import dataclasses

from ringside_tests.judges import complete_stacks
from ringside_tests.judges.gdb import confirmed_stacks, gdb_reasons, proofs

EQUAL, UNCLASSIFIED, RINGSIDE, GDB = "equal", "UNCLASSIFIED", "ringside", "gdb"


@dataclasses.dataclass
class Pair:
    """ringside's and gdb's stack of one vCPU in one state. verdict: of confirmed_stacks.confirm(), and its text."""
    time_ns: int
    vcpu: int
    ringside: dict
    gdb: dict
    verdict: tuple = ("", "")

    def is_confirmed(self):
        return self.verdict[0] == confirmed_stacks.CONFIRMED


@dataclasses.dataclass(frozen=True)
class Class:
    """kind: EQUAL, UNCLASSIFIED, RINGSIDE is wrong, GDB is. text: how. GDB: the reason, and the names of the function
    that it is in."""
    kind: str
    text: str = ""
    reason: str = ""
    functions: frozenset = dataclasses.field(default=frozenset(), compare=False)

    def __str__(self):
        return f"{self.kind}{' ' if self.text else ''}{self.text}"


def kernel_frames(stack):
    """ringside's kernel frames as (address, exact)."""
    return [(int(frame["address"], 16), frame["exact"]) for frame in stack["frames"]
            if frame["kind"] in ("kernel", "interrupt")]


def pair_up(samples, probes, verdicts):
    """The samples of one stop have one time; the n-th stop belongs to the n-th probe unless ringside left one out: then
    the pcs differ, and a later probe is it. Returns the pairs, and of how many stops there is no probe."""
    stops = collections.defaultdict(dict)
    for sample in samples:
        if sample.get("level") == "kernel" and sample["disposition"] == "sampled" and sample["stacks"]:
            if sample["stacks"][0]["frames"]:
                stops[sample["time_ns"]][sample["vcpu"]] = sample["stacks"][0]
    pairs, at, lost = [], 0, 0
    for time, stacks in sorted(stops.items()):
        for probe in range(at, len(probes)):
            if all(vcpu in probes[probe] and probes[probe][vcpu]["frames"] and
                   probes[probe][vcpu]["frames"][0][0] == kernel_frames(stack)[0][0] for vcpu, stack in stacks.items()):
                pairs += [Pair(time, vcpu, stack, probes[probe][vcpu], verdicts.get((time, vcpu), ("", "")))
                          for vcpu, stack in sorted(stacks.items())]
                at = probe + 1
                break
        else:
            lost += 1
    return pairs, lost


def common_frames(ours, theirs):
    """How many frames are the same from the leaf on. An interrupted pc that is a return address to gdb is not: it has
    read the word but not known the frame."""
    count = 0
    while count < min(len(ours), len(theirs)) and ours[count] == theirs[count]:
        count += 1
    return count


def came_from(known, frames, stop):
    """Whether ringside's frames say what EntryTruth knows of the entry code that runs."""
    interrupted = [address for address, exact in frames[1:] if exact]
    if "pc" in known:
        return interrupted[:1] == [known["pc"]]
    return not interrupted and stop in (complete_stacks.USER_MODE, complete_stacks.END)


class Judge:
    """symbols: of the running kernel. code: its KernelCode."""

    def __init__(self, arch, symbols, code):
        self._arch, self._symbols, self._code = arch, symbols, code
        self._entries, self._proofs = complete_stacks.ENTRIES[arch], proofs.Proofs(arch)

    def _names(self, frame):
        address, exact = frame
        return self._symbols.names(address if exact else address - 1)

    def _name(self, frame):
        names = self._names(frame)
        return min({name for name in names if not name.endswith("_text_start")} or names, default=hex(frame[0]))

    def _gdb_frames(self, stack):
        """gdb's frames as far as they are kernel code, as (address, exact), and whether another kind of frame
        followed."""
        frames, exact = [], True
        for pc, kind in stack["frames"]:
            if not self._symbols.has_code_at(pc):
                return frames, True
            frames.append((pc, exact))
            exact = kind == "signal"
        return frames, False

    def runs_entry_code(self, pair):
        return complete_stacks.is_entry_at(self._entries, self._symbols, kernel_frames(pair.ringside)[0][0])

    def proof(self, found):
        """The proofs.Proof of a class of gdb's; None if no case is one."""
        return self._proofs.of(found.reason, found.functions)

    def _reason(self, frame):
        return gdb_reasons.reason(self._arch, self._code, self._names(frame), *frame)

    def _of_gdb(self, common, how):
        """The class of a difference behind these common frames: the innermost of them that gdb cannot go on from. Where
        that is not the last, gdb has guessed a caller, and that one's registers too."""
        for frame in reversed(common):
            if reason := self._reason(frame):
                guessed = "" if frame is common[-1] else "after a guess "
                return Class(GDB, f"{how} {guessed}in {self._name(frame)}: {reason}", reason,
                             frozenset(self._names(frame)))
        return Class(UNCLASSIFIED, f"gdb {how} in {self._name(common[-1]) if common else 'nothing'}")

    def _has_inner_frames(self, ours, theirs):
        """Whether gdb's stack is ringside's, but for frames in a retpoline, as far as gdb can go."""
        inner = [frame for frame in theirs[1:] if gdb_reasons.is_thunk(self._arch, self._names(frame))]
        rest = [address for address, _ in theirs if all(address != frame[0] for frame in inner)]
        if not inner or [address for address, _ in ours[:len(rest)]] != rest:
            return False
        return len(rest) == len(ours) or self._reason(ours[len(rest) - 1]) is not None

    def classify(self, pair):
        """The class of the difference between the two stacks; EQUAL when there is none."""
        ours = kernel_frames(pair.ringside)
        theirs, strays = self._gdb_frames(pair.gdb)
        incomplete = complete_stacks.why_incomplete(self._entries, self._symbols, pair.ringside)
        common = common_frames(ours, theirs)
        known = pair.gdb.get("entered_from")
        if known and not came_from(known, ours, pair.ringside["stop"]):
            return Class(RINGSIDE, f"does not see what {self._name(ours[0])} was entered from")
        if pair.verdict[0] == confirmed_stacks.CONTRADICTED:
            return Class(RINGSIDE, "is contradicted by other ways than gdb's backtrace")
        if incomplete:
            where = self._name(ours[-1] if common in (len(ours), len(theirs)) else ours[common])
            also = ", and gdb's is too" if common == len(theirs) else ""
            return Class(RINGSIDE, f"is incomplete in {where} ({incomplete}){also}")
        if [address for address, _ in ours] == [address for address, _ in theirs]:
            return Class(EQUAL)
        if common == len(theirs):
            if strays and gdb_reasons.is_signed(self._arch, ours[common][0], pair.gdb["frames"][common][0]):
                return Class(GDB, f"strays: {gdb_reasons.SIGNED}", gdb_reasons.SIGNED, frozenset())
            return self._of_gdb(ours[:common], "strays" if strays else "ends")
        if self._has_inner_frames(ours, theirs):
            return self._of_gdb(ours[:1], "has a frame too many")
        if not pair.is_confirmed() and (not known or common > 1):
            if common == len(ours):
                return Class(RINGSIDE, f"ends in {self._name(ours[-1])} ({pair.ringside['stop']})")
            if complete_stacks.gdb_is_complete(self._entries, self._symbols, theirs):
                return Class(UNCLASSIFIED, f"both are complete, and part in {self._name(ours[common])}")
        return self._of_gdb(ours[:common], "strays")

    def show(self, pair):
        lines = ["ringside:", *complete_stacks.describe(self._symbols, pair.ringside).splitlines(), "gdb:"]
        exact = True
        for pc, kind in pair.gdb["frames"][:60]:
            lines.append(f"{pc:#x} {self._name((pc, exact))}")
            exact = kind == "signal"
        lines.append(f"end: {pair.gdb['end']}")
        if pair.verdict[1]:
            lines += ["other ways:", *pair.verdict[1].splitlines()]
        return "\n".join("            " + line for line in lines)
