"""Which frames are in a module that was loaded during the recording (virtio_blk), and whether their names are right."""
import collections

HANDLER = "virtblk_done"  # which only the disk's interrupt calls


class Verdict:
    """Counts the kernel frames that are in the module."""

    def __init__(self, symbols, samples):
        self.samples = self.before = self.frames = self.named = 0
        self.functions, self.wrong = collections.Counter(), collections.Counter()
        self.handler = collections.Counter()  # by the kind of its frames; where the way to the interrupt was copied
        for sample in samples:
            stack = sample["stacks"][0] if sample.get("stacks") and sample["level"] == "kernel" else {"frames": []}
            is_cut = stack.get("stop") in ("truncated", "stack not copied")
            found = [self._judge(symbols, frame, is_cut) for frame in stack["frames"]]
            self.samples += any(found)
            self.before += not self.samples  # of an idle guest too

    def _judge(self, symbols, frame, is_cut):
        """Whether the frame is in the module."""
        right = symbols.names(int(frame["address"], 16) - (0 if frame["exact"] else 1))
        if not right:
            return False
        self.frames += 1
        name = frame["functions"][0] if frame["functions"] else None
        self.named += name is not None
        self.functions[name] += 1
        if HANDLER in right and not is_cut:
            self.handler[frame["kind"]] += 1
        if name is not None and name not in right:
            self.wrong[f"{name} instead of {'/'.join(sorted(right))}"] += 1
        return True
