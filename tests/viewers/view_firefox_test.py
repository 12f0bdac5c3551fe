"""`ringside view`: the Firefox Profiler's own code takes the link, and a browser lets the profiler's page, and no other one,
read the profile. The page here is a stand-in, for the real one needs a network: the browser takes it for the real one, and
for one of the internet, which may read from this machine only where the user allows it."""
import collections
import contextlib
import gzip
import http.server
import json
import ssl
import threading
import unittest

import page_browser
import viewer_case
from firefox_tool import FirefoxToolCase
from ringside_tests.harness import webdriver

PROFILER, OTHER = "https://profiler.firefox.com", "https://ringside.invalid"
PERMISSIONS = ("loopback-network", "local-network-access")  # names of the same, the newest first
STATE = """return navigator.permissions.query({name: arguments[0]}).then(found => found.state).catch(() => null)"""
# Reads the profile as the profiler does: its URL is a part of the page's own.
READ = """const [, place, url] = location.pathname.split('/');
    if (place !== 'from-url') return 'no profile is named';
    return fetch(decodeURIComponent(url), arguments[0]).then(answer => answer.text()).catch(error => String(error));"""
PREFLIGHT = {"headers": {"X-Ringside": "1"}}  # makes the browser ask before
REFUSED = "TypeError: Failed to fetch"


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self):
        content = b"<!doctype html><title>a page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def secure_pages(folder):
    """A server of pages by https; yields its port."""
    openssl = viewer_case.need("openssl", "openssl")
    viewer_case.run(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                    "/CN=ringside", "-keyout", folder / "key.pem", "-out", folder / "certificate.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        server.daemon_threads = True
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


class ViewFirefox(FirefoxToolCase):
    def test_the_profiler_s_tool_opens_the_link(self):
        def check(name):
            self.load(self.view(name))
            there = collections.Counter()
            for handle, thread in self.threads().items():
                if thread["pid"] == "vCPUs":
                    there.update(self.functions(handle)[0])
            here = collections.Counter()
            for sample in self.sampled(name):
                here[sample.frames[0] if sample.frames else "[no stack]"] += sample.weight
            self.assert_same(there, here)
        self.each_recording(check)


@unittest.skipUnless(webdriver.available(), "no chromium or chromedriver")
class ViewFromTheProfiler(viewer_case.ViewerCase):
    @contextlib.contextmanager
    def browser(self):
        with secure_pages(self.folder) as port:
            hosts = ", ".join(f"MAP {origin.removeprefix('https://')}:443 127.0.0.1:{port}" for origin in (PROFILER, OTHER))
            flags = ["--ignore-certificate-errors", f"--ip-address-space-overrides=127.0.0.1:{port}=public"]
            with page_browser.PageBrowser(hosts, flags) as browser:
                yield browser

    def permission(self, browser):
        """The browser's name for reading from this machine."""
        for name in PERMISSIONS:
            if browser.run(STATE, name):
                return name
        self.skipTest("this Chromium lets each page read from this machine without asking")

    def test_its_page_reads_the_profile_where_the_user_allows_it(self):
        link = self.view("demo")
        profile = json.loads(gzip.decompress(self.export("demo", "out.firefox.json.gz").read_bytes()))
        with self.browser() as browser:
            browser.open(link)
            self.assertEqual(browser.run("return location.origin"), PROFILER)
            permission = self.permission(browser)
            self.assertEqual(browser.run(STATE, permission), "prompt")
            browser.set_permission(permission, "denied", PROFILER)
            self.assertEqual(browser.run(READ, {}), REFUSED)
            browser.errors()
            browser.set_permission(permission, "granted", PROFILER)
            self.assertEqual(json.loads(browser.run(READ, {})), profile)
            self.assertEqual(json.loads(browser.run(READ, PREFLIGHT)), profile)
            self.assertEqual(browser.requests_and_errors()[1], [])

    def test_another_page_reads_nothing_even_where_the_user_allows_it(self):
        link = self.view("demo")
        with self.browser() as browser:
            browser.open(link.replace(PROFILER, OTHER))
            self.assertEqual(browser.run("return location.origin"), OTHER)
            browser.set_permission(self.permission(browser), "granted", OTHER)
            for how in ({}, PREFLIGHT):
                self.assertEqual(browser.run(READ, how), REFUSED)
            requests, errors = browser.requests_and_errors()
            self.assertGreaterEqual(sum(url.endswith("/profile.json") for url in requests), 2)
            self.assertEqual(sum(f"has a value '{PROFILER}' that is not equal to" in error for error in errors), 2, errors)
            # The same page with the profiler's name reads it, so it is the name alone that counts.
            browser.open(link)
            browser.set_permission(self.permission(browser), "granted", PROFILER)
            self.assertTrue(json.loads(browser.run(READ, {})))


if __name__ == "__main__":
    viewer_case.main()
