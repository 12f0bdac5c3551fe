"""Drives Chromium through Debian's chromedriver (package chromium-driver): the W3C WebDriver protocol over HTTP."""
import base64
import contextlib
import http.client
import json
import re
import shutil
import subprocess
import tempfile
import time

from ringside_tests.harness import limits

WINDOW = (1280, 900)  # pixels
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         f"--window-size={WINDOW[0]},{WINDOW[1]}"]
STARTS = 5
ENTER, ESCAPE = "\ue007", "\ue00c"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class WebDriverError(Exception):
    """The browser refused a command or cannot be started."""


def available():
    """Whether both programs are there."""
    return bool(shutil.which("chromedriver") and shutil.which("chromium"))


class Browser:
    """A headless Chromium with a profile of its own. patience: seconds that wait() waits. flags: further options of
    Chromium. logs: names of further logs that it keeps."""

    def __init__(self, patience=limits.STEP, flags=(), logs=()):
        self.patience = patience
        with contextlib.ExitStack() as cleanup:
            folder = cleanup.enter_context(tempfile.TemporaryDirectory(prefix="ringside-chromium-",
                                                                       ignore_cleanup_errors=True))
            self._port = self._start_driver()
            cleanup.callback(self._end_driver)
            options = {"binary": shutil.which("chromium"), "args": [*FLAGS, *flags, f"--user-data-dir={folder}/profile"]}
            capabilities = {"goog:chromeOptions": options, "goog:loggingPrefs": dict.fromkeys(("browser", *logs), "ALL")}
            session = self._request("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
            self._session = f"/session/{session['sessionId']}"
            cleanup.callback(self._request, "DELETE", self._session)
            self._cleanup = cleanup.pop_all()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._cleanup.close()

    def open(self, url):
        self._post("/url", {"url": url})

    def prefer(self, scheme):
        """Pages see a user who prefers that scheme of colours: light or dark."""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def resize(self, width, height):
        """Gives the window a size in pixels, its scroll bars included. Its page follows a moment later."""
        self._post("/window/rect", {"width": width, "height": height})
        if not self.wait("return innerWidth === arguments[0]", width):
            raise WebDriverError(f"the page does not become {width} pixels wide")

    def run(self, script, *arguments):
        """Runs JavaScript in the page (a function's body) and returns its value."""
        return self._post("/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        """The element that a CSS selector names."""
        return self._post("/element", {"using": "css selector", "value": selector})[_ELEMENT]

    def click(self, selector):
        """A real click in the middle of the element; refused when another element covers it."""
        self._post(f"/element/{self.find(selector)}/click", {})

    def choose_file(self, script, path):
        """Chooses a file in the input that a script returns."""
        self._post(f"/element/{self.run(script)[_ELEMENT]}/value", {"text": str(path)})

    def press(self, keys):
        """Types into whatever has the focus. Control characters are WebDriver's (U+E009 Ctrl, U+E007 Enter)."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def press_with_control(self, key):
        actions = [{"type": "keyDown", "value": "\ue009"}, {"type": "keyDown", "value": key},
                   {"type": "keyUp", "value": key}, {"type": "keyUp", "value": "\ue009"}]
        self._post("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def log(self, name="browser"):
        """A log's entries since the last call, the console's if it is not named: level, message, …"""
        return self._post("/se/log", {"type": name})

    def command(self, method, **parameters):
        """A command of the DevTools protocol."""
        return self._post("/goog/cdp/execute", {"cmd": method, "params": parameters})

    def screenshot(self):
        """The bytes of a PNG of the page."""
        return base64.b64decode(self._request("GET", self._session + "/screenshot"))

    def wait(self, script, *arguments):
        """Runs the script until its value is true; returns the value, or the last one when the time is over."""
        end = time.monotonic() + self.patience
        while not (value := self.run(script, *arguments)) and time.monotonic() < end:
            time.sleep(0.05)
        return value

    def _post(self, path, body):
        return self._request("POST", self._session + path, body)

    def _request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=limits.STEP)
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            value = json.loads(connection.getresponse().read())["value"]
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise WebDriverError(f"chromedriver does not answer: {error}") from error
        finally:
            connection.close()
        if isinstance(value, dict) and "error" in value:
            raise WebDriverError(f"{value['error']}: {value.get('message', '').splitlines()[0]}")
        return value

    def _start_driver(self):
        """Returns its port. It takes a free one of IPv4 and ends where another program has that one of IPv6."""
        for _ in range(STARTS):
            self._driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            for line in self._driver.stdout:
                if match := re.search(r"started successfully on port (\d+)", line):
                    return int(match.group(1))
            self._end_driver()
        raise WebDriverError(f"chromedriver does not start, {STARTS} times")

    def _end_driver(self):
        self._driver.terminate()
        try:
            self._driver.wait(limits.SOON)
        except subprocess.TimeoutExpired:
            self._driver.kill()
            self._driver.wait()
        self._driver.stdout.close()
