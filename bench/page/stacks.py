"""Folded stacks whose flame graph has a given number of frames, the same for one number and seed."""
import random

NAMES = 2000
HEAVIEST = 200  # samples of a stack
CALLEES = 12  # of a function at most
ROOTS = 8
DEEPEST = 40  # functions of a stack
PARTS = ("alloc", "balance", "cache", "dentry", "entry", "file", "get", "handle", "inode", "journal", "kick", "lock", "map",
         "node", "open", "page", "queue", "read", "sched", "task", "update", "vma", "walk", "xattr", "yield", "zone")


def names(chance):
    """Distinct names as a kernel has them, of one to four words."""
    found = {}
    while len(found) < NAMES:
        found["_".join(chance.choices(PARTS, k=chance.randint(1, 4)))] = None
    return list(found)


def folded(frames, seed=1):
    """Lines whose stacks have so many distinct beginnings: the frames of their flame graph, without "all". A function calls
    a few others, one of them most: as in a real profile, few frames are wide, and most are narrower than a pixel."""
    chance = random.Random(seed)
    functions = names(chance)
    callees = {name: chance.choices(functions, k=chance.randint(1, CALLEES)) for name in functions}
    seen, lines = set(), {}
    while len(seen) < frames:
        stack = []
        for _ in range(chance.randint(8, DEEPEST)):
            choices = callees[stack[-1]] if stack else functions[:ROOTS]
            stack.append(choices[int(len(choices) * chance.random() ** 5)])
        for depth in range(1, len(stack) + 1):
            seen.add(tuple(stack[:depth]))
            if len(seen) == frames:
                stack = stack[:depth]
                break
        line = ";".join(stack)
        lines[line] = lines.get(line, 0) + 1 + int(HEAVIEST * chance.random() ** 8)
    return "".join(f"{stack} {count}\n" for stack, count in sorted(lines.items()))
