"""Formats that ringside both writes and reads: what it reads of its own output is what the recording has."""
import collections
import re

import viewer_case

# Formats, and the keys of a report that each keeps. The name of a thread is that of its process where a format has one name.
KEPT = {"folded": "symbol", "asterinas-json": "symbol", "pprof": "comm,pid,tid,symbol", "perf-script": "comm,pid,tid,symbol",
        "perf-data": "comm,pid,tid,symbol", "speedscope": "symbol", "firefox": "pid,tid,symbol", "callgrind": "symbol"}
# Those in which each sample of a process has a thread: an unknown one is the first of its process.
HAS_THREADS = ("perf-script", "perf-data", "firefox")
# Those whose own output comes back as it was.
EXACT = ("folded", "perf-script", "asterinas-json")


class Imports(viewer_case.ViewerCase):
    def weights(self, path, keys, *options, form=None):
        """Own weight by the keys of a report. form: as a file of that format has them."""
        weights = collections.Counter()
        for row in self.report_rows(path, keys, *options):
            if form in HAS_THREADS and not row["tid"]:
                row["tid"] = row["pid"]
            row["symbol"] = re.sub("^<unknown.*", "<unknown>", row["symbol"])  # with an address where there is one
            weights[tuple(row[key] for key in keys.split(","))] += int(row["self"])
        return {key: weight for key, weight in weights.items() if weight}

    def test_what_comes_back_as_it_was(self):
        def check(name):
            for form in EXACT:
                with self.subTest(format=form):
                    options = ["--format", form, "--no-inline"] if form == "perf-script" else ["--format", form]
                    first = self.export(name, f"first.{form}", "--source", "cpu", *options)
                    self.ringside("import", first, "-o", "imported.data")
                    self.ringside("export", "-i", "imported.data", "--format", form, "-o", f"second.{form}")
                    # The text does not say where a function begins, which offsets count from, nor where a file was
                    # mapped: code without a name is in none. perf calls code of no process [unknown], too.
                    there, here = [re.sub(r"\[unknown\] \(.*\)", "[unknown]", path.read_text())
                                   for path in (self.folder / f"second.{form}", first)]
                    here = here.replace("[user] ([unknown])", "[unknown]")
                    here = re.sub(r"(?m)\+0x[0-9a-f]+(?= \()", "", here)
                    wrong = [lines for lines in zip(there.splitlines(), here.splitlines()) if lines[0] != lines[1]]
                    self.assertEqual(wrong[:4], [])
                    self.assertEqual(len(there), len(here))
        self.each_recording(check)

    def test_functions_have_their_weights(self):
        def check(name):
            for form, keys in KEPT.items():
                with self.subTest(format=form):
                    options = ["--source", "cpu", "--no-inline"]
                    there = self.weights(self.export(name, f"{name}.{form}", "--format", form, *options), keys)
                    unit = self.interval(name) if form == "speedscope" else 1  # it has ticks as nanoseconds
                    if form == "asterinas-json":
                        options += ["--demangle", "asterinas"]
                    here = self.weights(self.recording(name), keys, *options, form=form)
                    self.assert_same(there, {key: weight * unit for key, weight in here.items()})
        self.each_recording(check)


if __name__ == "__main__":
    viewer_case.main()
