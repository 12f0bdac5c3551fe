"""Ratios of paired measurements with their confidence interval, and what they say of a bar."""
import dataclasses
import math
import statistics

# Student's t, 97.5 %, by degrees of freedom (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2).
_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228,
      11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110, 18: 2.101, 19: 2.093, 20: 2.086,
      21: 2.080, 22: 2.074, 23: 2.069, 24: 2.064, 25: 2.060, 26: 2.056, 27: 2.052, 28: 2.048, 29: 2.045, 30: 2.042}


@dataclasses.dataclass(frozen=True)
class Overhead:
    """How much more time the second of each pair takes, as a fraction; low and high bound the 95 % interval."""
    pairs: int
    mean: float
    low: float
    high: float

    def verdict(self, bar):
        """over where the whole interval is above the bar, under where it is below and narrower than the bar."""
        if self.low > bar:
            return "over"
        return "under" if self.high < bar and self.high - self.low < bar else "not resolved"


def overhead(pairs):
    """pairs: (time without, time with), at least two of them. The mean is the geometric one of the ratios, and the
    interval is Student's t on their logarithms."""
    logs = [math.log(with_it / without) for without, with_it in pairs]
    mean = statistics.fmean(logs)
    # Beyond the table the value for the largest number in it that is not above: a little too wide.
    half = _T[min(len(logs) - 1, max(_T))] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Overhead(len(logs), math.expm1(mean), math.expm1(mean - half), math.expm1(mean + half))
