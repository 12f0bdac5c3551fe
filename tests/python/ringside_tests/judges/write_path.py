"""Checks the profile of a Linux guest that runs dd: named stacks, and dd's write path."""
import collections
import itertools
import re

from ringside_tests.judges import truth

WRITE_PATH = ("ksys_write", "vfs_write")
WRITE_PATH_PERCENT = 10.0
UNKNOWN_PERCENT = 2.0


def kernel_part(stack):
    """The frames above user code, which is a stripped static busybox's: its functions have no names."""
    def is_user(frame):
        address = re.fullmatch(re.escape(truth.UNKNOWN) + r"0x([0-9a-f]+)>", frame)
        return frame.startswith("busybox+") or (address is not None and int(address[1], 16) < 1 << 63)
    return list(itertools.dropwhile(is_user, stack))


def check(stacks):
    """Faults of the folded stacks of a guest that runs dd, as lines; empty when there are none."""
    total = sum(count for _, count in stacks)
    failures = []
    unknown = sum(count for stack, count in stacks
                  if any(frame.startswith(truth.UNKNOWN) for frame in kernel_part(stack)))
    if truth.percent(unknown, total) >= UNKNOWN_PERCENT:
        failures.append(f"{truth.percent(unknown, total):.2f} % of the samples have an unknown frame")
    writing = sum(count for stack, count in stacks if WRITE_PATH in zip(stack, stack[1:]))
    print(f"{total} samples, {truth.percent(writing, total):.1f} % under {';'.join(WRITE_PATH)}, "
          f"{truth.percent(unknown, total):.2f} % with an unknown frame")
    if not total or truth.percent(writing, total) < WRITE_PATH_PERCENT:
        failures.append(f"{truth.percent(writing, total):.1f} % of the samples are under {';'.join(WRITE_PATH)}, "
                        f"{WRITE_PATH_PERCENT:g} % wanted")
    if failures:
        most = collections.Counter(dict(stacks)).most_common(truth.SHOWN)
        failures += [f"    {count:7}  {';'.join(stack)}" for stack, count in most]
    return failures
