"""Reads demo/truth/*.txt and compares stacks with them. The directives are described in demo/README.md."""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "truth"


class Truth:
    def __init__(self, workload: str):
        self.shares: dict[str, float] = {}
        self.processes: dict[str, float] = {}
        self.busy = "all"
        self.nest = 0
        self._chains: set[tuple[str, ...]] = set()
        self._overs: set[tuple[str, ...]] = set()
        for line in (FOLDER / f"{workload}.txt").read_text().splitlines():
            self._read(line)

    def _read(self, line: str) -> None:
        word, _, rest = line.removeprefix("# process").partition(" ")
        if line.startswith("# process"):
            percent, name = rest.split(" ", 1)
            self.processes[name] = float(percent)
        elif word == "share":
            percent, name = rest.split(" ", 1)
            self.shares[name] = float(percent)
        elif word == "busy":
            self.busy = rest
        elif word == "nest":
            self.nest = int(rest)
        elif word in ("chain", "over"):
            frames = tuple(rest.split(";"))
            prefixes = {frames[:i] for i in range(1, len(frames) + 1)}
            (self._chains if word == "chain" else self._overs).update(prefixes)
        elif line and word != "together" and not line.startswith("#"):
            raise ValueError(f"unknown directive: {line}")

    def functions(self) -> set[str]:
        return {name for stack in self._chains | self._overs for name in stack}

    def is_legal(self, stack: tuple[str, ...], levels: int | None = None) -> bool:
        """`stack` is root first: a chain, then up to `nest` interrupts."""
        if stack in self._chains:
            return True
        if levels is None:
            levels = self.nest
        return levels > 0 and any(stack[-len(over):] == over and self.is_legal(stack[:-len(over)], levels - 1)
                                  for over in self._overs)
