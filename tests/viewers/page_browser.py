"""A Chromium that can reach this machine only, and that records what its pages ask for."""
import json
import time

from ringside_tests.harness import limits, webdriver

ABSENT = "http://ringside.invalid/"
MARK = "ringside-test-step"
STEP_AND_ASK = """const here = location.href, step = new URL(here);
    step.searchParams.set(arguments[0], '');
    history.replaceState(history.state, '', step);
    history.replaceState(history.state, '', here);
    return fetch(arguments[1]).catch(() => 0)"""
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
        return self._requests_and_steps()[0]

    def _requests_and_steps(self):
        """(requests, URLs of steps within a page) since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        urls = [event["params"]["request"]["url"] if event["method"] == "Network.requestWillBeSent" else event["params"]["url"]
                for event in events if event["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated")]
        steps = [event["params"]["url"] for event in events if event["method"] == "Page.navigatedWithinDocument"]
        return [url for url in urls if not url.startswith(LOCAL_SCHEMES)], steps

    def errors(self):
        """The console's errors since the last call."""
        return [entry["message"] for entry in self.log() if entry["level"] == "SEVERE"]

    def requests_and_errors(self):
        """(requests, errors) since the last call. The page makes a step within itself and back, and asks for a server that is
        not there. The step and the failure are waited for: so all that came before is in the lists, and they are known to
        notice. A page's policy may refuse that request before it is one."""
        self.run(STEP_AND_ASK, MARK, ABSENT)
        found = [], []
        stepped = False
        end = time.monotonic() + self.patience
        while not stepped or not any(ABSENT in error for error in found[1]):
            if time.monotonic() > end:
                raise webdriver.WebDriverError(f"a step and a failure are not noticed: {found}")
            requests, steps = self._requests_and_steps()
            stepped |= any(MARK in url for url in steps)
            found[0].extend(requests)
            found[1].extend(self.errors())
        return tuple([one for one in kind if ABSENT not in one] for kind in found)

    def set_permission(self, name, state, origin):
        """state: granted, denied or prompt."""
        self.command("Browser.setPermission", permission={"name": name}, setting=state, origin=origin)
