"""The outcome of the pause benchmark: the pauses of each way of sampling, as JSON and as a table."""
import dataclasses
import statistics

import pauses

BASE = "ringside"


@dataclasses.dataclass
class Way:
    """One way of taking samples. left_paused counts the times it left the guest standing."""
    name: str
    says: str
    pauses: list = dataclasses.field(default_factory=list)
    attach: list = dataclasses.field(default_factory=list)
    stack_bytes: list = dataclasses.field(default_factory=list)
    processor_us: list = dataclasses.field(default_factory=list)
    left_paused: int = 0

    def summary(self):
        summary = pauses.summarise(self.pauses)
        if self.attach:
            summary["attach_median_us"] = pauses.summarise(self.attach)["median_us"]
        told = [value for value in self.stack_bytes if value is not None]
        summary["stack_bytes_per_sample"] = round(sum(told) / len(told)) if told else None
        measured = [value for value in self.processor_us if value is not None]
        summary["processor_us_per_sample"] = round(statistics.median(measured), 1) if measured else None
        summary["left_paused"] = self.left_paused
        return {"says": self.says, **summary}


def ratios(summaries):
    """How many times longer than ringside's each way's median is."""
    base = summaries.get(BASE, {}).get("median_us")
    if not base:
        return {}
    return {name: round(summary["median_us"] / base, 1) for name, summary in summaries.items()
            if name != BASE and "median_us" in summary}


def table(summaries):
    """The summaries as lines of text."""
    lines = [f"{'':18}{'samples':>8}{'median':>12}{'p99':>12}{'worst':>12}{'stack bytes':>13}"
             f"{'processor':>12}{'x ringside':>12}"]
    times = ratios(summaries)
    for name, summary in summaries.items():
        if not summary["count"]:
            lines.append(f"{name:18}{0:8}")
            continue
        cells = "".join(f"{_time(summary[key]):>12}" for key in ("median_us", "p99_us", "max_us"))
        copied = summary["stack_bytes_per_sample"]
        spent = summary["processor_us_per_sample"]
        lines.append(f"{name:18}{summary['count']:8}{cells}{copied if copied is not None else '-':>13}"
                     f"{_time(spent) if spent is not None else '-':>12}"
                     f"{times.get(name, '-'):>12}")
    return lines


def _time(micro):
    return f"{micro:.0f} µs" if micro < 10000 else f"{micro / 1000:.1f} ms"
