"""The Firefox Profiler's command-line tool, which reads the profiler's own format and the text of perf script."""
import collections
import json
import time

import viewer_case
from ringside_tests.harness import limits


class FirefoxToolCase(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        paths = viewer_case.viewers()
        self.command = (paths["NODE"], paths["PROFILER_CLI"])

    def cli(self, *arguments):
        return viewer_case.run(*self.command, *arguments, env={"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}).stdout

    def load(self, path):
        """Loads a file; the tool gives up where its server is not up within half a second."""
        self.addCleanup(self.cli, "stop", "--all")
        end = limits.step_end()
        while True:
            try:
                self.cli("load", path)
                return
            except AssertionError:
                if time.monotonic() > end:
                    raise
                self.cli("stop", "--all")
                time.sleep(1)

    def json(self, *arguments):
        return json.loads(self.cli(*arguments, "--json"))

    def threads(self):
        """The threads as (process, name, pid, tid), by their handles."""
        listed = self.json("thread", "list", "--limit", "0")["threads"]
        return {thread["threadHandle"]: thread for thread in listed}

    def functions(self, handle, *more):
        """(own samples, samples with callees), each by function."""
        listed = self.json("thread", "functions", "--thread", handle, "--limit", "0", *more)["functions"]
        own, total = collections.Counter(), collections.Counter()
        for function in listed:
            own[function["name"]] += function["selfSamples"]
            total[function["name"]] += function["totalSamples"]
        return +own, total
