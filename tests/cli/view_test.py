"""`ringside view`: what its server answers to whom, the link, and how it ends."""
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import urllib.parse
import urllib.request

import cli_case
from ringside_tests.harness import limits

PROFILER = "https://profiler.firefox.com"


class View(cli_case.CliCase):
    def view(self, *arguments, environment=()):
        """Starts it; returns (the process, the link)."""
        server = subprocess.Popen(
            [cli_case.program(), "view", *map(str, arguments)], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "XDG_RUNTIME_DIR": "", "TMPDIR": str(self.folder), "DISPLAY": "", "WAYLAND_DISPLAY": "",
                 **dict(environment)})
        self.addCleanup(self.end, server)
        link = server.stdout.readline().strip()
        if not link:
            self.fail(server.communicate(timeout=limits.STEP)[1])
        return server, link

    @staticmethod
    def end(server):
        """The exit status after Ctrl-C, and what it said."""
        if server.poll() is None:
            server.send_signal(signal.SIGINT)
        try:
            said = server.stderr.read() if not server.stderr.closed else ""
            status = server.wait(timeout=limits.STEP)
        finally:
            server.kill()
            server.stdout.close()
            server.stderr.close()
        return status, said

    @staticmethod
    def profile_url(link):
        return urllib.parse.urlparse(urllib.parse.unquote(link.split("/from-url/")[1]))

    @staticmethod
    def ask(url, method="GET", path=None, headers=()):
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=limits.STEP)
        connection.request(method, url.path if path is None else path, headers=dict(headers))
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def test_the_link_leads_to_the_profile_that_export_writes(self):
        recording = self.recording()
        server, link = self.view("--no-open", recording)
        self.assertTrue(link.startswith(f"{PROFILER}/from-url/http%3A%2F%2F127.0.0.1%3A"), link)
        status, headers, body = self.ask(self.profile_url(link))
        self.assertEqual((status, headers["Content-Type"], headers["Content-Encoding"]), (200, "application/json", "gzip"))
        exported = self.ringside("export", "-i", recording, "--format", "firefox", "-o", "p.json.gz")
        self.assertEqual(exported.returncode, cli_case.DONE, exported.said)
        here = json.loads(gzip.decompress((self.folder / "p.json.gz").read_bytes()))
        self.assertEqual(json.loads(gzip.decompress(body)), here)
        status, said = self.end(server)
        self.assertEqual(status, cli_case.DONE, said)
        self.assertIn("may read from this machine", said)
        self.assertIn("--svg", said)

    def test_only_the_profiler_may_read_from_another_page(self):
        _, link = self.view("--no-open", self.recording())
        url = self.profile_url(link)
        for origin in (PROFILER, "https://evil.example"):
            asked = {"Origin": origin, "Access-Control-Request-Method": "GET",
                     "Access-Control-Request-Private-Network": "true"}
            status, headers, _ = self.ask(url, "OPTIONS", headers=asked)
            self.assertEqual(status, 204)
            self.assertEqual(headers["Access-Control-Allow-Origin"], PROFILER)
            self.assertEqual(headers["Access-Control-Allow-Private-Network"], "true")
            self.assertEqual(self.ask(url, headers=asked)[1]["Access-Control-Allow-Origin"], PROFILER)

    def test_a_wrong_path_host_or_method_gets_nothing(self):
        _, link = self.view("--no-open", self.recording())
        url = self.profile_url(link)
        token = url.path.split("/")[1]
        self.assertGreaterEqual(len(token), 32)
        for path in ("/", "/profile.json", f"/{token}", f"/{token[:-1]}x/profile.json", f"/{token}/",
                     f"/{token}/../profile.json", f"/{token}/%2e%2e/etc/passwd"):
            status, headers, body = self.ask(url, path=path)
            self.assertEqual((status, body), (404, b""), path)
        self.assertNotIn("Access-Control-Allow-Origin", self.ask(url, path="/profile.json")[1])
        for host in ("evil.example", f"evil.example:{url.port}", "127.0.0.1", f"127.0.0.1:{url.port + 1}"):
            status, headers, body = self.ask(url, headers={"Host": host})
            self.assertEqual((status, body), (403, b""), host)
            self.assertNotIn("Access-Control-Allow-Origin", headers)
        self.assertEqual(self.ask(url, "DELETE")[0], 405)
        status, headers, body = self.ask(url, "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 100)

    def test_it_listens_on_loopback_only(self):
        _, link = self.view("--no-open", self.recording())
        port = self.profile_url(link).port
        with open("/proc/net/tcp", encoding="ascii") as table:
            here = [line.split()[1] for line in table if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
        self.assertEqual(here, [f"0100007F:{port:04X}"])

    def test_a_connection_that_asks_nothing_does_not_hold_up_the_end(self):
        server, link = self.view("--no-open", self.recording())
        url = self.profile_url(link)
        with socket.create_connection((url.hostname, url.port)):
            self.assertEqual(self.end(server)[0], cli_case.DONE)

    def test_another_tools_port_is_an_error(self):
        recording = self.recording()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            result = self.ringside("view", "--no-open", "--port", port, recording)
        self.assertSays(result, cli_case.FAILED, f"127.0.0.1:{port}", "--port")
        _, link = self.view("--no-open", "--port", port, recording)
        self.assertEqual(self.profile_url(link).port, port)

    def test_a_browser_is_opened_where_there_is_a_screen(self):
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "xdg-open").write_text(f'#!/bin/sh\necho "$1" > {self.folder}/new && mv {self.folder}/new {self.folder}/opened\n')
        (tools / "xdg-open").chmod(0o755)
        screen = {"PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":7"}
        recording = self.recording()
        server, _ = self.view("--no-open", recording, environment=screen)
        self.end(server)
        self.assertFalse((self.folder / "opened").exists())
        _, link = self.view(recording, environment=screen)
        self.assertTrue(limits.wait_until((self.folder / "opened").exists))
        self.assertEqual((self.folder / "opened").read_text().strip(), link)

    def test_the_flame_graph_comes_from_this_machine(self):
        recording = self.recording()
        server, link = self.view("--no-open", "--svg", recording)
        url = urllib.parse.urlparse(link)
        self.assertEqual(url.hostname, "127.0.0.1")
        status, headers, body = self.ask(url)
        self.assertEqual((status, headers["Content-Type"]), (200, "image/svg+xml"))
        self.ringside("export", "-i", recording, "--format", "svg", "-o", "g.svg")
        self.assertEqual(body, (self.folder / "g.svg").read_bytes())
        self.assertEqual(self.end(server)[0], cli_case.DONE)
        self.assertEqual([path.name for path in self.folder.glob("ringside*")], [])

    def test_speedscope_is_served_from_a_folder(self):
        page = self.folder / "page"
        page.mkdir()
        (page / "index.html").write_text("<title>a page</title>")
        (page / "app.js").write_text("1")
        recording = self.recording()
        _, link = self.view("--no-open", "--speedscope", "--speedscope-page", page, recording)
        url = urllib.parse.urlparse(link)
        self.assertEqual(self.ask(url)[2], b"<title>a page</title>")
        self.assertEqual(self.ask(url, path=url.path.replace("index.html", "app.js"))[1]["Content-Type"], "text/javascript")
        name = urllib.parse.parse_qs(url.fragment)["profileURL"][0]
        status, _, body = self.ask(url, path=url.path.replace("index.html", name))
        self.assertEqual(status, 200)
        self.assertTrue(body)

    def test_without_speedscope_it_says_how_to_get_it(self):
        (self.folder / "empty").mkdir()
        recording = self.recording()
        result = self.ringside("view", "--speedscope", "--speedscope-page", "empty", recording)
        self.assertSays(result, cli_case.FAILED, "index.html")
        away = {"PATH": "/nowhere", "RINGSIDE_SPEEDSCOPE": str(self.folder / "empty")}
        if not any(os.path.exists(f"{place}/speedscope") for place in
                   ("/usr/lib/node_modules", "/usr/local/lib/node_modules", "/usr/share/ringside")):
            result = self.ringside("view", "--speedscope", recording, environment=away)
            self.assertSays(result, cli_case.FAILED, "npm install -g speedscope")

    def test_wrong_usage_and_bad_input(self):
        recording = self.recording()
        self.assertSays(self.ringside("view", "--svg", "--speedscope", recording), cli_case.WRONG_USAGE, "--svg")
        self.assertSays(self.ringside("view", "--speedscope-page", ".", recording), cli_case.WRONG_USAGE, "--speedscope")
        self.assertSays(self.ringside("view", "--port", "70000", recording), cli_case.WRONG_USAGE, "--port")
        self.assertSays(self.ringside("view", "nothing.data"), cli_case.FAILED, "nothing.data")
        (self.folder / "bad.data").write_text("no recording")
        self.assertNotEqual(self.ringside("view", "--no-open", "bad.data").returncode, cli_case.DONE)


if __name__ == "__main__":
    cli_case.main()
