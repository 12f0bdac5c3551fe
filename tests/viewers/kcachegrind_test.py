"""The format callgrind: KCachegrind, on a screen of its own, lists ringside's functions with their samples."""
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import time

import viewer_case
from ringside_tests.harness import limits

SYSTEM_PYTHON = "/usr/bin/python3"  # the one that Debian's modules are for
READER = pathlib.Path(__file__).resolve().with_name("accessible_table.py")
READ, NO_LIBRARY = 0, 4  # its exit status
COLUMNS = ["Incl.", "Self", "Called", "Function", "Location"]
SETTINGS = """[TipOfDay]
RunOnStart=false
[GeneralSettings]
MaxListCount=100000
ShowPercentage=false
ShowCycles=false
"""


@contextlib.contextmanager
def running(*command, **more):
    """A program that ends with the block."""
    process = subprocess.Popen([*map(str, command)], stdin=subprocess.DEVNULL, **more)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(limits.SOON)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def serving(*command, **more):
    """A server that prints where it is when it is ready; yields that line."""
    with running(*command, stdout=subprocess.PIPE, text=True, **more) as process:
        line = process.stdout.readline().strip()
        if not line:
            raise AssertionError(f"{command[0]} does not start")
        try:
            yield line
        finally:
            process.stdout.close()


class Kcachegrind(viewer_case.ViewerCase):
    def setUp(self):
        super().setUp()
        self.programs = [viewer_case.need(program, package) for program, package in
                         (("Xvfb", "xvfb"), ("dbus-daemon", "dbus-daemon"), ("kcachegrind", "kcachegrind"),
                          ("xdotool", "xdotool"))]
        if self.look({}, 0, 0).returncode == NO_LIBRARY:
            self.skipTest("no accessibility library: install python3-gi and gir1.2-atspi-2.0")

    @staticmethod
    def look(environment, process, rows):
        return subprocess.run([SYSTEM_PYTHON, "-B", READER, "--process", str(process), "--columns", ",".join(COLUMNS),
                               "--rows", str(rows)], check=False, env=environment, text=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=limits.STEP)

    def shown(self, path, rows):
        """Its window with a file: title, status and the rows of the list of functions, once there are that many."""
        screen, bus, program, windows = self.programs
        (self.folder / "kcachegrindrc").write_text(SETTINGS)
        (self.folder / "run").mkdir(mode=0o700, exist_ok=True)
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(self.folder), "QT_QPA_PLATFORM": "xcb",
                       "XDG_CONFIG_HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "run"),
                       "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}
        with contextlib.ExitStack() as stack:
            log = stack.enter_context((self.folder / "log").open("w+"))
            # Without -noreset it starts anew when its only client goes, which may be xdotool.
            number = stack.enter_context(serving(screen, "-displayfd", "1", "-screen", "0", "1400x1000x24", "-nolisten", "tcp",
                                                 "-noreset", stderr=log))
            environment["DISPLAY"] = f":{number}"
            environment["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(
                serving(bus, "--session", "--nofork", "--nopidfile", "--print-address", env=environment, stderr=log))
            viewer = stack.enter_context(running(program, path, env=environment, stdout=log, stderr=log))
            self.wait(log, viewer, lambda: subprocess.run(
                [windows, "search", "--name", "KCachegrind"], check=False, env=environment, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=log).returncode == 0, "no window")
            # A look starts the service of accessibility. Qt may miss one that starts before its window is there.
            looks = []
            self.wait(log, viewer, lambda: looks.append(self.look(environment, viewer.pid, rows)) or
                      looks[-1].returncode == READ, f"no list of {rows} functions")
        return json.loads(looks[-1].stdout)

    def wait(self, log, viewer, condition, otherwise):
        """Waits for a condition; the test fails where it does not come or the viewer ends."""
        end = limits.step_end()
        while not condition():
            if viewer.poll() is not None or time.monotonic() > end:
                log.seek(0)
                self.fail(f"KCachegrind shows {otherwise}; its status is {viewer.returncode}: {log.read()[-3000:]}")
            time.sleep(0.1)

    def test_functions_have_their_samples(self):
        def check(name):
            path = self.export(name, f"{name}.callgrind", "--source", "cpu")
            own, whole = self.function_sums(name)
            shown = self.shown(path, len(whole))
            self.assertTrue(shown["title"].startswith(str(path)), shown["title"])
            total = f"{sum(own.values()):,}".replace(",", " ")
            self.assertRegex(" ".join(shown["status"]), rf"Total ticks Cost: {total}$")
            own_there, whole_there = collections.Counter(), collections.Counter()
            for inclusive, self_cost, _, function, location in shown["rows"]:
                if location != "[process]":
                    own_there[function] += int(self_cost.replace(" ", ""))
                    whole_there[function] += int(inclusive.replace(" ", ""))
            self.assert_same(+own_there, +own)
            self.assert_same(whole_there, whole)
        self.each_recording(check)


if __name__ == "__main__":
    viewer_case.main()
