"""The Firefox Profiler's command-line tool, which reads the profiler's own format and the text of perf script."""
import collections
import json
import subprocess

import viewer_case
from ringside_tests.harness import limits

SESSION = "ringside"


class FirefoxToolCase(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        paths = viewer_case.viewers()
        self.command = (paths["NODE"], paths["PROFILER_CLI"])
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder)}

    def cli(self, *arguments):
        return viewer_case.run(*self.command, *arguments, env=self.environment).stdout

    def load(self, path):
        """Has the tool's server load a file. The tool's own `load` gives the server half a second to start, which a busy host
        does not; so the server is started here."""
        self.cli("stop", "--all")
        (self.folder / ".profiler-cli").mkdir(exist_ok=True)
        server = subprocess.Popen([*map(str, self.command), "--daemon", path, "--session", SESSION],
                                  env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.answer = None
        loaded = limits.wait_until(lambda: self.is_loaded(server), pause=0.2)
        self.assertTrue(loaded, f"{path} does not load: {self.answer}")

    def is_loaded(self, server):
        self.assertIsNone(server.poll(), f"the tool's server has ended: {self.answer}")
        try:
            return bool(self.cli("status"))
        except AssertionError as error:
            self.answer = str(error)
            if "load failed" in self.answer:
                raise
            return False

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
