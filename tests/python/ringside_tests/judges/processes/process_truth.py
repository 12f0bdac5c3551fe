"""Compares the profiles of single processes with the truth of their programs (demo/truth/programs/NAME.txt).

Lines of the file:
    process PERCENT PROGRAM             what each process of the program has of its vCPU's time, user and kernel
    share PERCENT PROGRAM FUNCTION      of that, as the function's own
    chain PROGRAM ROOT;…;LEAF           a legal stack of user code; so is each prefix
    below PROGRAM ROOT;…;LEAF KERNEL;…  user code that a kernel stack that begins like this stands on, always
"""
import collections
import dataclasses
import subprocess

LEGAL_PERCENT = 99.0
# The last process prints the guest's measurements in its exit: longer the slower the host's console is.
LEAVING = "leave_steady_state()"
SHOWN = 6


@dataclasses.dataclass
class Program:
    percent: float = 0.0
    shares: dict = dataclasses.field(default_factory=dict)
    chains: set = dataclasses.field(default_factory=set)
    below: list = dataclasses.field(default_factory=list)  # (kernel frames, user frames)
    may_lack_user: bool = False  # a kernel stack may stand alone


def parse(text):
    """The programs by name. Raises ValueError with the line's number on a bad line."""
    programs = collections.defaultdict(Program)
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            keyword, rest = line.split(" ", 1)
            _READERS[keyword](programs, rest.strip())
        except (KeyError, ValueError) as error:
            raise ValueError(f"truth file, line {number}: cannot read {line!r} ({error})") from error
    if not programs:
        raise ValueError("the truth file has no program")
    return dict(programs)


def _read_process(programs, rest):
    percent, name = rest.split(" ")
    programs[name].percent = float(percent)


def _read_share(programs, rest):
    percent, name, function = rest.split(" ", 2)
    programs[name].shares[function] = float(percent)


def _read_chain(programs, rest):
    name, chain = rest.split(" ", 1)
    frames = tuple(chain.split(";"))
    programs[name].chains |= {frames[:length] for length in range(1, len(frames) + 1)}


def _read_below(programs, rest):
    name, user, kernel = rest.split(" ")
    programs[name].below.append((tuple(kernel.split(";")), tuple(user.split(";"))))


_READERS = {"process": _read_process, "share": _read_share, "chain": _read_chain, "below": _read_below}


def working(stacks):
    """The folded stacks from before the guest ended: what its last process did then is in no truth file."""
    return [(stack, count) for stack, count in stacks if LEAVING not in stack]


def check_process(program, stacks, whole, points, is_kernel):
    """Compares one process. stacks: its folded stacks. whole: the samples of its vCPU. is_kernel: whether a name is a
    function of the kernel's. Returns (summary lines, failures of shares, failures of stacks)."""
    total = sum(count for _, count in stacks)
    own = collections.Counter()
    for stack, count in stacks:
        own[stack[-1]] += count
    summary, shares, failures = [], [], []
    for what, expected, got in [("all of it", program.percent, total),
                                *((name, share, own[name]) for name, share in program.shares.items())]:
        line = f"{what}: expected {expected:.2f} %, got {100 * got / max(whole, 1):.2f} % of the vCPU"
        summary.append(line)
        if abs(100 * got / max(whole, 1) - expected) > points:
            shares.append(line)
    bad = collections.Counter()
    for stack, count in stacks:
        if not _is_legal(program, stack, is_kernel):
            bad[stack] += count
    legal = 100 - 100 * sum(bad.values()) / max(total, 1)
    line = f"legal user stacks, also below the kernel's: {legal:.2f} % of {total}"
    summary.append(line)
    if legal < LEGAL_PERCENT:
        failures.append(line)
        failures += [f"    {count} times: {';'.join(stack)}" for stack, count in bad.most_common(SHOWN)]
    return summary, shares, failures


def _is_legal(program, stack, is_kernel):
    cut = next((index for index, frame in enumerate(stack) if is_kernel(frame)), len(stack))
    user, kernel = stack[:cut], stack[cut:]
    if not kernel:
        return user in program.chains
    if not user and program.may_lack_user:
        return True
    for start, expected in program.below:
        if kernel[:len(start)] == start:
            return user == expected
    # Somewhere in the entry: the user's registers may not be saved yet.
    return not user or user in program.chains


def check_joined(stacks, is_kernel, percent):
    """At least so many percent of the kernel's stacks must stand on user code's. Returns (summary line, failure lines)."""
    kernel = [(stack, count) for stack, count in stacks if any(map(is_kernel, stack))]
    total = sum(count for _, count in kernel)
    joined = sum(count for stack, count in kernel if not is_kernel(stack[0]))
    line = f"kernel stacks on user code's: {100 * joined / max(total, 1):.2f} % of {total}"
    if total and 100 * joined / total >= percent:
        return line, []
    alone = collections.Counter({stack: count for stack, count in kernel if is_kernel(stack[0])})
    return line, [line, *(f"    {count} times: {';'.join(stack)}" for stack, count in alone.most_common(SHOWN))]


def check_absent(program, others, stacks):
    """No function that only other programs have stands in a process's stacks. Returns failure lines."""
    own = {frame for chain in program.chains for frame in chain}
    foreign = {frame for other in others for chain in other.chains for frame in chain} - own
    return [f"{count} times a function of another program: {';'.join(stack)}" for stack, count in stacks
            if foreign.intersection(stack)]


def kernel_functions(kernel):
    """The names of the functions in a kernel's file."""
    listing = subprocess.run(["nm", "-C", "--defined-only", kernel], check=True, capture_output=True, text=True).stdout
    rows = (line.split(" ", 2) for line in listing.splitlines())
    return {row[2] for row in rows if len(row) == 3 and row[1] in "tTwW"}
