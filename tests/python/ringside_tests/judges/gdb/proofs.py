"""Proofs of gdb's limits in the cases of tests/unwind-cases: frames from which another way than gdb's went on, each with the
reason why gdb could not (gdb_reasons.py)."""
import collections
import dataclasses

from ringside_tests.judges.gdb import gdb_reasons
from ringside_tests.judges.gdb.case_tools import CASES, unwind_case
from ringside_tests.judges.gdb.kernel_code import KernelCode


@dataclasses.dataclass(frozen=True)
class Proof:
    case: str  # its folder and its name
    function: str
    ways: str  # that confirm what gdb did not find

    def __str__(self):
        return f"{self.case} ({self.function}: {self.ways})"


def of_case(arch, code, case):
    """(reason, Proof) for each frame of the case behind which gdb's way ended and another went on."""
    found, name = [], f"{case.path.parent.name}/{case.name}"
    for i, frame in enumerate(case.frames):
        behind = case.frames[i + 1].ways if i + 1 < len(case.frames) else case.stop_ways
        if "pac" in behind:
            found.append((gdb_reasons.SIGNED, Proof(name, frame.function, ",".join(sorted(behind)))))
        ways = {"switch"} if "switch" in frame.ways else set() if "gdb" in behind else behind - {"registers"}
        reason = ways and gdb_reasons.reason(arch, code, [frame.function], frame.address, frame.exact)
        if reason:
            found.append((reason, Proof(name, frame.function, ",".join(sorted(ways)))))
    return found


class Proofs:
    """The proofs of one architecture's cases, by their reasons."""

    def __init__(self, arch, cases=CASES):
        self._by_reason = collections.defaultdict(list)
        for folder in sorted(cases.glob(f"linux-*-{arch}*")):
            code = KernelCode(folder / "kernel.elf")
            for path in unwind_case.files(folder):
                for reason, proof in of_case(arch, code, unwind_case.Case(path)):
                    self._by_reason[reason].append(proof)

    def of(self, reason, functions):
        """The proof for a reason in a function of these names: a case with the same function if there is one, else one
        with the same kind of code; None if no case shows it."""
        known = self._by_reason[reason]
        return next((proof for proof in known if proof.function in functions), known[0] if known else None)

    def counts(self):
        return {reason: len(proofs) for reason, proofs in self._by_reason.items()}
