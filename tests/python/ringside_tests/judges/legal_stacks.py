"""Reads a workload's truth file (demo/truth/NAME.txt) and says which kernel stacks are legal.

Lines of the file:
    share PERCENT FUNCTION     the function's own share of the busy samples
    together F;G;…             of these only the sum of their shares is known
    busy all|0                 which vCPUs have work
    chain ROOT;…;LEAF          a legal stack; so is each of its non-empty prefixes
    over ENTRY;HANDLER;…       it, or a non-empty prefix of it, may stand on top of any legal stack
    nest N                     how many `over` chains may stand on each other (1 when not given)
"""
import dataclasses

USER = "[user]"
DRAIN_DAEMON = ("drain_daemon", "drain_some")  # drains the bundled kernel's rings beside its workload


@dataclasses.dataclass
class Truth:
    shares: dict = dataclasses.field(default_factory=dict)
    together: list = dataclasses.field(default_factory=list)
    busy: str = "all"
    bases: set = dataclasses.field(default_factory=set)
    overs: set = dataclasses.field(default_factory=set)
    nest: int = 1

    def judged_shares(self):
        """Returns pairs of a tuple of functions and the share of their sum. Each function is in one tuple."""
        grouped = {function for group in self.together for function in group}
        return ([((function,), share) for function, share in self.shares.items() if function not in grouped] +
                [(group, sum(self.shares[function] for function in group)) for group in self.together])

    def is_legal(self, stack):
        """Whether a kernel stack (root first) is legal. The user frame under a system call is not part of it."""
        if len(stack) > 1 and stack[0] == USER:
            stack = stack[1:]
        return self._is_legal(tuple(stack), self.nest)

    def _is_legal(self, stack, nest):
        if stack in self.bases:
            return True
        if nest == 0:
            return False
        return any(stack[cut:] in self.overs and self._is_legal(stack[:cut], nest - 1) for cut in range(1, len(stack)))


def parse(text):
    """A Truth from a truth file's text. Raises ValueError with the line's number on a bad line."""
    truth = Truth()
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            keyword, _, rest = line.strip().partition(" ")
            try:
                _READERS[keyword](truth, rest.strip())
            except (KeyError, ValueError) as error:
                raise ValueError(f"truth file, line {number}: cannot read {line!r} ({error})") from error
    if not truth.shares and not truth.bases:
        raise ValueError("the truth file has neither shares nor chains")
    return truth


def _read_share(truth, rest):
    percent, _, function = rest.partition(" ")
    if not function:
        raise ValueError("no function")
    truth.shares[function.strip()] = float(percent.rstrip("%"))


def _read_together(truth, rest):
    functions = tuple(function.strip() for function in rest.split(";"))
    if not all(function in truth.shares for function in functions):
        raise ValueError("a function without a share before")
    truth.together.append(functions)


def _read_busy(truth, rest):
    if rest not in ("all", "0"):
        raise ValueError("busy is all or 0")
    truth.busy = rest


def _prefixes(chain):
    frames = tuple(frame.strip() for frame in chain.split(";"))
    if not all(frames):
        raise ValueError("an empty frame")
    if len(frames) > 1 and frames[0] == USER:
        frames = frames[1:]
    return {frames[:length] for length in range(1, len(frames) + 1)}


def _read_chain(truth, rest):
    truth.bases |= _prefixes(rest)


def _read_over(truth, rest):
    truth.overs |= _prefixes(rest)


def _read_nest(truth, rest):
    truth.nest = int(rest)


_READERS = {"share": _read_share, "together": _read_together, "busy": _read_busy, "chain": _read_chain,
            "over": _read_over, "nest": _read_nest}
