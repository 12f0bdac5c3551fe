"""A Chromium that can reach this machine only, and that records what its pages ask for."""
import json
import time

from ringside_tests.harness import limits, webdriver

ABSENT = "http://ringside.invalid/"
LOCAL_SCHEMES = ("data:", "blob:", "about:", "chrome:")


class PageBrowser(webdriver.Browser):
    """resolver: rules that name further hosts of this machine, as Chromium's --host-resolver-rules has them. flags: its other
    options."""

    def __init__(self, resolver="", flags=(), patience=limits.STEP):
        rules = f"{resolver}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1" if resolver else "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        super().__init__(patience, [f"--host-resolver-rules={rules}", *flags], ["performance"])
        self.open("about:blank")  # in place of the page that a new browser shows
        self.requests()
        self.log()

    def requests(self):
        """The URLs that pages asked for since the last call, in order; without what is inside of a page."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        urls = [event["params"]["request"]["url"] if event["method"] == "Network.requestWillBeSent" else event["params"]["url"]
                for event in events if event["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated")]
        return [url for url in urls if not url.startswith(LOCAL_SCHEMES)]

    def errors(self):
        """The console's errors since the last call."""
        return [entry["message"] for entry in self.log() if entry["level"] == "SEVERE"]

    def requests_and_errors(self):
        """(requests, errors) since the last call. The page asks for a server that is not there, and both are waited for: so
        all that came before is in the lists, and they are known to notice."""
        self.run("return fetch(arguments[0]).catch(() => 0)", ABSENT)
        found = [], []
        end = time.monotonic() + self.patience
        while not all(any(ABSENT in one for one in kind) for kind in found):
            if time.monotonic() > end:
                raise webdriver.WebDriverError(f"a request and its failure are not noticed: {found}")
            for kind, new in zip(found, (self.requests(), self.errors())):
                kind += new
        return tuple([one for one in kind if ABSENT not in one] for kind in found)

    def set_permission(self, name, state, origin):
        """state: granted, denied or prompt."""
        self.command("Browser.setPermission", permission={"name": name}, setting=state, origin=origin)
