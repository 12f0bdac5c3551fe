"""Judges a guest that was migrated while it was recorded: where it runs."""
import dataclasses

RIGHT = "right"
LEFT_PAUSED = "the destination is left paused"
ABORT = "QEMU has ended itself"
DOUBLE_RUN = "the guest runs at the source"


@dataclasses.dataclass
class Outcome:
    """By both QEMUs. source, destination: the run states; source None: it has ended. advances: registers change."""
    source: str | None
    source_advances: bool
    destination: str
    destination_advances: bool


def judge(outcome):
    """RIGHT, or what is wrong; what no migration should show is told in full."""
    if outcome.source is None:
        return ABORT
    if outcome.source == "running" or outcome.source_advances:
        return DOUBLE_RUN
    if outcome.source == "postmigrate" and outcome.destination == "paused" and not outcome.destination_advances:
        return LEFT_PAUSED
    if outcome == Outcome("postmigrate", False, "running", True):
        return RIGHT
    return f"wrong: {outcome}"
