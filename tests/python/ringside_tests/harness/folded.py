"""Reads folded stacks: one stack a line, frames root first and joined by `;`, then a space and a count."""


def parse(text):
    """The stacks as a list of (tuple of frames, count). Raises ValueError with the line's number on a bad line."""
    stacks = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        frames, _, count = line.rpartition(" ")
        if not frames or not count.isdigit():
            raise ValueError(f"line {number} is not `frame;frame COUNT`: {line[:120]!r}")
        stack = tuple(frames.split(";"))
        if not all(stack):
            raise ValueError(f"line {number} has an empty frame: {line[:120]!r}")
        stacks.append((stack, int(count)))
    return stacks


def samples_in(function, stacks):
    """How many samples have the function in their stack."""
    return sum(count for stack, count in stacks if function in stack)


def samples(stacks):
    """How many samples there are."""
    return sum(count for _, count in stacks)


def without(functions, stacks):
    """The stacks that have none of the functions."""
    return [(stack, count) for stack, count in stacks if not set(functions) & set(stack)]
