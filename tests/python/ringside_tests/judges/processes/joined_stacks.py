"""Judges samples of a Linux guest against what the guest said of its processes (process_list.py): is the process right,
and do the stacks go from the program's entry to where it was?"""
import collections
import dataclasses

GUESS = "guess"
END, USER_MODE, NO_RULE = "end of stack", "reached user mode", "no unwind rule"
ENTRY_BYTES = 96  # more than _start is long on any architecture


@dataclasses.dataclass
class Identity:
    """Samples by what is known of whose they are."""
    samples: int = 0
    # Those of nobody known, before the first of their level that is: ringside has to find the kernel's structures first,
    # and knows user code by its page tables before the task is copied.
    first: int = 0
    unknown: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # later ones, by privilege level
    later: int = 0  # of kernel workers that began after the guest had told
    wrong: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def identity(processes, samples):
    """Judges the process and its name of every sample that was taken."""
    found = Identity()
    levels = set()
    for sample in samples:
        found.samples += 1
        if "pid" not in sample:
            # In firmware's entry and exit code its caller's task is not known.
            frames = sample["stacks"][0]["frames"] if sample.get("stacks") else []
            if frames and frames[0].get("kind") == "firmware":
                found.unknown["firmware"] += 1
            elif sample["level"] in levels:
                found.unknown[sample["level"]] += 1
            else:
                found.first += 1
            continue
        levels.add(sample["level"])
        pid, tid, comm = sample["pid"], sample.get("tid"), sample.get("comm", "")
        process = processes.get(pid)
        if process is None and comm.startswith("kworker/") and pid > 2:
            found.later += 1
        elif process is None:
            found.wrong[f"there was no process {pid} ({comm})"] += 1
        elif tid != pid or not process.is_called(comm):
            found.wrong[f"process {pid} is {process.name}, not {tid} ({comm})"] += 1
    return found


def user_stack(sample):
    """The part of a sample's stacks that is user code; None without one."""
    if sample["level"] == "user":
        return sample["stacks"][0] if sample["stacks"] else None
    return sample["stacks"][1] if len(sample["stacks"]) > 1 else None


def user_frames(stack):
    return [frame for frame in stack["frames"] if frame["kind"] == "user"] if stack else []


def _place(files, process, frame):
    """(path, file, linked address) of a frame's code; the address in memory where the frame has no image."""
    address = int(frame["address"], 16) - (0 if frame["exact"] else 1)
    return (*files.place(process, frame.get("image"), address), address)


def why_incomplete(files, process, sample):
    """None when the user stack goes to the program's entry, and the kernel's stack to user mode; else why not."""
    if sample["level"] == "kernel":
        kernel = sample["stacks"][0] if sample["stacks"] else None
        if kernel is None or kernel["stop"] != USER_MODE:
            return f"kernel stack: {kernel['stop'] if kernel else 'none'}"
    stack = user_stack(sample)
    frames = user_frames(stack)
    if not frames:
        return "no user frame"
    if any(frame["rule"] == GUESS for frame in frames):
        return "guessed frame"
    if stack["stop"] != END:
        return stack["stop"]
    _, file, linked = _place(files, process, frames[-1])
    return None if file and file.entry <= linked < file.entry + ENTRY_BYTES else "does not begin at the program's entry"


@dataclasses.dataclass
class Verdict:
    """Samples of some programs. `reasons`: of those that are not complete. Frames are those of user code."""
    samples: int = 0
    complete: int = 0
    frames: int = 0
    named: int = 0
    reasons: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    examples: dict = dataclasses.field(default_factory=dict)
    unnamed: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # by image
    wrong: collections.Counter = dataclasses.field(default_factory=collections.Counter)


def judge(processes, files, samples):
    """Judges samples whose processes are right. A frame where the process has no code, or whose name is not that of the
    exported function there, is wrong."""
    verdict = Verdict()
    for sample in samples:
        process = processes[sample["pid"]]
        verdict.samples += 1
        if reason := why_incomplete(files, process, sample):
            verdict.reasons[reason] += 1
            verdict.examples.setdefault(reason, sample)
        else:
            verdict.complete += 1
        for frame in user_frames(user_stack(sample)):
            _judge_frame(verdict, process, files, frame)
    return verdict


def _judge_frame(verdict, process, files, frame):
    verdict.frames += 1
    path, file, linked = _place(files, process, frame)
    if path is None:
        verdict.wrong[f"{process.name} has no code of {frame.get('image')} at {frame['address']} ({frame['rule']})"] += 1
        return
    right = file.names(linked) if file else set()
    if not frame["functions"]:
        verdict.unnamed[path] += 1
        if right:
            verdict.wrong[f"{path}: no name instead of {'/'.join(sorted(right))}"] += 1
        return
    verdict.named += 1
    # A name of debugging symbols may be of a function that is not exported, and then nothing covers it here.
    if right and not right & {name.split("@")[0] for name in frame["functions"]}:
        verdict.wrong[f"{path}: {'/'.join(frame['functions'])} instead of {'/'.join(sorted(right))}"] += 1


def judge_without_rules(processes, files, samples):
    """Judges the stacks of a program that mostly has no unwind information: they end with that reason, or at
    their end, and nothing is guessed. Returns (stacks by reason, wrong things)."""
    stops, wrong = collections.Counter(), collections.Counter()
    for sample in samples:
        process = processes[sample["pid"]]
        stack = user_stack(sample)
        stops[stack["stop"] if stack else "no user stack"] += 1
        for frame in user_frames(stack):
            if frame["rule"] == GUESS:
                wrong["guessed frame"] += 1
            elif _place(files, process, frame)[0] is None:
                wrong[f"{process.name} has no code at {frame['address']} ({frame['rule']})"] += 1
    return stops, wrong


def describe(sample):
    """A sample as text, leaf first."""
    lines = [f"{sample['level']}, {sample.get('pid')} ({sample.get('comm')})"]
    for stack in sample["stacks"]:
        lines += [f"{frame['address']} {'/'.join(frame['functions']) or '?'} {frame.get('image', '')} ({frame['rule']})"
                  for frame in stack["frames"]]
        lines.append(f"stop: {stack['stop']} at {stack['stopped_at']}")
    return lines
