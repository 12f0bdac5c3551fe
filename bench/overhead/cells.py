"""The cells of the table: what each way of sampling costs each workload."""
import dataclasses
import statistics

import paired

# The plugin's, by samples a second.
BARS = {0: 0.05, 100: 0.05, 1000: 0.05, 10000: 0.15}


@dataclasses.dataclass(frozen=True)
class Way:
    """engine: tcg, gdb or qmp. frequency: samples a second; 0: the plugin is loaded, and nobody samples."""
    engine: str
    frequency: int

    def __str__(self):
        return f"{self.engine} {self.frequency or 'idle'}"

    @property
    def bar(self):
        """How much it may cost, or None."""
        return BARS[self.frequency] if self.engine == "tcg" else None


@dataclasses.dataclass
class Cell:
    """Pairs are (without, with) in seconds; the other lists have one element a pair, of the run with. Its samples are
    those of `sampled_cpu` seconds of the vCPU: the run, and what was done before it to warm up."""
    pairs: list = dataclasses.field(default_factory=list)
    samples: list = dataclasses.field(default_factory=list)
    sampled_cpu: list = dataclasses.field(default_factory=list)
    lost: list = dataclasses.field(default_factory=list)
    own_cpu: list = dataclasses.field(default_factory=list)     # ringside's, in seconds
    helper_cpu: list = dataclasses.field(default_factory=list)  # the plugin's thread's
    pause_ns: list = dataclasses.field(default_factory=list)

    def summary(self, bar):
        """Ratios are of the vCPU's processor time with the sampling. bar: as a fraction, or None."""
        result = paired.overhead(self.pairs)
        with_it = sum(pair[1] for pair in self.pairs)
        return {"pairs": result.pairs, "overhead": result.mean, "low": result.low, "high": result.high,
                "bar": bar, "verdict": result.verdict(bar) if bar else None,
                "samples_per_cpu_second": sum(self.samples) / sum(self.sampled_cpu) if self.samples else 0,
                "lost_ticks": sum(self.lost), "ringside_cpu": sum(self.own_cpu) / with_it,
                "helper_cpu": sum(self.helper_cpu) / with_it if self.helper_cpu else None,
                "pause_us": statistics.fmean(self.pause_ns) / 1e3 if self.pause_ns else None,
                "raw": dataclasses.asdict(self)}


def table(summaries):
    """summaries: by (workload, Way). Lines of text."""
    lines = [f"{'workload':10}{'sampling':>10}{'pairs':>6}{'overhead':>10}{'95 % interval':>20}  {'bar':14}"
             f"{'samples/s':>10}{'pause':>10}{'ringside':>10}{'helper':>8}"]
    for (workload, way), row in summaries.items():
        interval = f"{_percent(row['low'])} … {_percent(row['high'])}"
        bar = f"{row['bar'] * 100:.0f} % {row['verdict']}" if row["bar"] else "-"
        pause = f"{row['pause_us']:.1f} µs" if row["pause_us"] is not None else "-"
        helper = f"{row['helper_cpu'] * 100:.1f} %" if row["helper_cpu"] is not None else "-"
        lines.append(f"{workload:10}{str(way):>10}{row['pairs']:6}{_percent(row['overhead']):>10}{interval:>20}  "
                     f"{bar:17}{row['samples_per_cpu_second']:7.0f}{pause:>10}"
                     f"{row['ringside_cpu'] * 100:8.1f} %{helper:>8}")
    return lines


def _percent(fraction):
    return f"{fraction * 100:+.1f} %"
