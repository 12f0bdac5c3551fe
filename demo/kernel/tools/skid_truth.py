#!/usr/bin/env python3
"""Prints the directives of demo/truth/skid.txt that concern the 256 blocks; with --check, says whether they are there."""
import pathlib
import sys

TRUTH = pathlib.Path(__file__).resolve().parents[2] / "truth" / "skid.txt"
COSTS = [64 + i * 97 % 256 for i in range(256)]  # workloads/skid_blocks.S
BLOCKS_PERCENT = 98  # the loop that calls them: 4 instructions against 192 on average


def directives() -> list[str]:
    shares = [f"share {BLOCKS_PERCENT * cost / sum(COSTS):.4f} skid_block_{i}" for i, cost in enumerate(COSTS)]
    chains = [f"chain thread_start;worker_main;skid_round;{caller};skid_block_{i}"
              for i in range(len(COSTS)) for caller in ("skid_pass", "skid_timed_pass")]
    return shares + chains


def main() -> int:
    if sys.argv[1:] != ["--check"]:
        print("\n".join(directives()))
        return 0
    missing = set(directives()) - set(TRUTH.read_text().splitlines())
    print(f"{len(missing)} directives are missing in {TRUTH}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
