"""Gathers what is wrong with the recordings of a test, and which of it a busy host excuses. Each recording is judged while its file is
there. Shares may be wrong where the recording itself says that they are bent, and samples may be too few where it says that
ticks were lost. Such a recording is made again (launched.truthful); anything else that is wrong fails the test at once."""
from ringside_tests.harness import launched
from ringside_tests.judges import report_totals


class Findings:
    def __init__(self, ringside, deadline):
        self._ringside, self._deadline = ringside, deadline
        self.wrong = []  # that nothing excuses
        self.excused = None  # launched.BENT or launched.CROWDED where something is

    def add(self, *failures):
        """Failures that are no work of the host's."""
        self.wrong += failures

    def add_shares(self, failures, *recordings):
        """Failures of shares. recordings: one of which may say that they are bent."""
        if not failures:
            return
        bent = [said for recording in recordings if (said := launched.how_bent(self._header(recording)))]
        self.excuse(bent[0] if bent else None, failures, "and no recording says that its shares are bent")

    def add_few(self, failures, recording, wanted):
        """Failures of a recording that has too few samples: with its lost ticks it would have had as many as were wanted."""
        if not failures:
            return
        numbers = report_totals.statistics(self._header(recording))
        accounted = numbers.get("sampled", 0) + numbers.get("lost", 0) >= wanted
        self.excuse(launched.BENT if accounted else None, failures, "and the recording has not lost so many ticks")

    def excuse(self, why, failures, silent):
        """why: what recordings say themselves, launched.BENT or launched.CROWDED; None: nothing, which `silent` tells."""
        if not why:
            self.wrong += [f"{line}, {silent}" for line in failures]
            return
        self.excused = why
        print("\n".join(f"excused, {why}: {line}" for line in failures))

    def verdict(self):
        """Returns what run() of launched.truthful() returns: 0 where nothing is wrong."""
        for line in self.wrong:
            print(f"FAILED: {line}")
        return "the recording is wrong" if self.wrong else self.excused or 0

    def _header(self, recording):
        return launched.read_back(self._ringside, self._deadline, "report", "--header", "--stdio", "-i", str(recording),
                                  may_be_empty=True)

