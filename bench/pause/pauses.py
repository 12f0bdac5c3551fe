"""How long a guest stood still: pairs QEMU's STOP and RESUME events and sums them up."""
import math
import statistics


def pair(events):
    """The pauses in seconds, in order, from (name, seconds) events. An unfinished pause is left out."""
    pauses, stopped_at = [], None
    for name, when in events:
        if name == "STOP":
            stopped_at = when
        elif name == "RESUME" and stopped_at is not None:
            pauses.append(when - stopped_at)
            stopped_at = None
    return pauses


def percentile(values, percent):
    """The smallest value that at least `percent` of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def summarise(pauses):
    """Count, median, 99th percentile, mean and worst in microseconds; only the count when there is no pause."""
    if not pauses:
        return {"count": 0}
    micro = [pause * 1e6 for pause in pauses]
    return {"count": len(micro), "median_us": round(statistics.median(micro), 1),
            "p99_us": round(percentile(micro, 99), 1), "mean_us": round(statistics.fmean(micro), 1),
            "max_us": round(max(micro), 1)}
