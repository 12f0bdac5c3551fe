"""`ringside view`: what its server answers to whom, the link, and how it ends."""
import base64
import contextlib
import gzip
import hashlib
import html
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
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

    def test_clients_that_send_byte_by_byte_hold_up_neither_the_owner_nor_the_end(self):
        server, link = self.view("--no-open", "--svg", self.recording())
        url = urllib.parse.urlparse(link)
        clients = [socket.create_connection((url.hostname, url.port)) for _ in range(16)]
        is_over = threading.Event()

        def send():
            while not is_over.is_set():
                time.sleep(0.2)
                for client in clients:
                    with contextlib.suppress(OSError):  # dropped
                        client.send(b"x")
        slow = threading.Thread(target=send)
        slow.start()
        try:
            self.assertEqual(self.ask(url)[0], 200)
            began = time.monotonic()
            self.assertEqual(self.end(server)[0], cli_case.DONE)
            self.assertLess(time.monotonic() - began, limits.SOON)
        finally:
            is_over.set()
            slow.join()
            for client in clients:
                client.close()

    def test_each_answer_says_what_its_page_may_do(self):
        recording = self.recording()
        page = self.page("page")
        for options, own in ((["--svg"], "script-src 'sha256-"), (["--speedscope", "--speedscope-page", page], "'wasm-unsafe-eval'"),
                             ([], "default-src 'none'")):
            _, link = self.view("--no-open", *options, recording)
            url = urllib.parse.urlparse(link) if options else self.profile_url(link)
            for path in (url.path, url.path + "x"):
                headers = self.ask(url, path=path)[1]
                self.assertEqual((headers["X-Content-Type-Options"], headers["Referrer-Policy"]), ("nosniff", "no-referrer"))
                policy = headers["Content-Security-Policy"]
                self.assertTrue(policy.startswith("default-src 'none'; "), policy)
                self.assertIn("frame-ancestors 'none'", policy)
            self.assertIn(own, self.ask(url)[1]["Content-Security-Policy"])

    def test_the_flame_graph_may_run_its_own_script_alone(self):
        _, link = self.view("--no-open", "--svg", self.recording())
        _, headers, body = self.ask(urllib.parse.urlparse(link))
        script, = re.findall(rb"<script><!\[CDATA\[(.*?)\]\]></script>", body, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(script).digest()).decode()
        self.assertIn(f"script-src 'sha256-{digest}';", headers["Content-Security-Policy"])

    def test_a_browser_is_opened_where_there_is_a_screen(self):
        """The command line that everybody sees has a file's name, and the file has the link."""
        tools = self.folder / "bin"
        tools.mkdir()
        (self.folder / "home").mkdir()
        (tools / "xdg-open").write_text(f'#!/bin/sh\ncd {self.folder}\ntr "\\0" " " < /proc/$$/cmdline > new\ncp "$1" page.html\n'
                                        'stat -c %a "$1" "${1%/*}" > modes\nmv new opened\n')
        (tools / "xdg-open").chmod(0o755)
        screen = {"PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":7", "HOME": str(self.folder / "home")}
        recording = self.recording()
        page = self.page("page")
        for options in ([], ["--svg"], ["--speedscope", "--speedscope-page", page]):
            with self.subTest(options=options):
                (self.folder / "opened").unlink(missing_ok=True)
                server, link = self.view(*options, recording, environment=screen)
                self.assertTrue(limits.wait_until((self.folder / "opened").exists))
                url = urllib.parse.urlparse(link) if options else self.profile_url(link)
                secret = url.path.split("/")[1]
                self.assertGreaterEqual(len(secret), 32)
                self.assertNotIn(secret, (self.folder / "opened").read_text())
                self.assertEqual((self.folder / "modes").read_text().split(), ["600", "700"])
                refresh, = re.findall('http-equiv="refresh" content="0; url=(.*)"', (self.folder / "page.html").read_text())
                self.assertEqual(html.unescape(refresh), link)
                self.assertEqual(self.end(server)[0], cli_case.DONE)
        self.assertEqual([path for path in self.folder.rglob("*open-the-profile*")], [])

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

    def page(self, name):
        """A folder that has a page in place of speedscope's."""
        page = self.folder / name
        page.mkdir(parents=True)
        (page / "index.html").write_text(f"<title>{name}</title>")
        (page / "app.js").write_text("1")
        return page

    def test_speedscope_is_served_from_a_folder(self):
        page = self.page("page")
        recording = self.recording()
        server, link = self.view("--no-open", "--speedscope", "--speedscope-page", "page", recording)
        url = urllib.parse.urlparse(link)
        self.assertEqual(self.ask(url)[2], b"<title>page</title>")
        self.assertEqual(self.ask(url, path=url.path.replace("index.html", "app.js"))[1]["Content-Type"], "text/javascript")
        name = urllib.parse.parse_qs(url.fragment)["profileURL"][0]
        status, _, body = self.ask(url, path=url.path.replace("index.html", name))
        self.assertEqual(status, 200)
        self.assertTrue(body)
        status, said = self.end(server)
        self.assertEqual(status, cli_case.DONE, said)
        self.assertIn(f"speedscope's page is from {page.resolve()}\n", said)

    def test_nothing_outside_of_the_page_s_folder_is_served(self):
        page = self.page("page")
        (self.folder / "secret.txt").write_text("a secret")
        (self.folder / "secrets").mkdir()
        (self.folder / "secrets" / "key.txt").write_text("a secret")
        (page / "link.txt").symlink_to(self.folder / "secret.txt")
        (page / "beside.txt").symlink_to("../secret.txt")
        (page / "folder").symlink_to(self.folder / "secrets")
        (page / "zero.txt").symlink_to("/dev/zero")
        (page / "inside.js").symlink_to("app.js")
        os.mkfifo(page / "pipe.txt")
        recording = self.recording()
        server, link = self.view("--no-open", "--speedscope", "--speedscope-page", page, recording)
        url = urllib.parse.urlparse(link)
        # A link that comes while it runs, too.
        (page / "app.js").unlink()
        (page / "app.js").symlink_to(self.folder / "secret.txt")
        for name, body in (("link.txt", b""), ("beside.txt", b""), ("folder/key.txt", b""), ("folder", b""), ("zero.txt", b""),
                           ("pipe.txt", b""), ("../secret.txt", b""), ("app.js", b"1"), ("inside.js", b"1")):
            answer = self.ask(url, path=url.path.replace("index.html", name))
            self.assertEqual((answer[0], answer[2]), (200 if body else 404, body), name)
        said = self.end(server)[1]
        for name in ("link.txt", "beside.txt", "zero.txt", "pipe.txt"):
            self.assertIn(f"not served: {page.resolve()}/{name}: ", said)
        (page / "index.html").unlink()
        (page / "index.html").symlink_to(self.folder / "secret.txt")
        result = self.ringside("view", "--no-open", "--speedscope", "--speedscope-page", page, recording)
        self.assertSays(result, cli_case.FAILED, "index.html", "not below")

    def test_a_page_of_the_working_folder_is_not_taken_by_itself(self):
        """Not from its node_modules, not where its settings of npm lead, not by its project file."""
        installed = "node_modules/speedscope/dist/release"
        self.page(installed)
        self.page(f"lib/{installed}")
        (self.folder / "work").mkdir()
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "npm").write_text("#!/bin/sh\necho $(pwd -P)/lib/node_modules\n")
        (tools / "npm").chmod(0o755)
        recording = self.recording()
        away = {"PATH": f"{tools}:{os.environ['PATH']}", "RINGSIDE_SPEEDSCOPE": ""}
        if not self.is_installed():
            for below in (".", "work"):
                result = self.ringside("view", "--no-open", "--speedscope", recording, environment=away,
                                       before=["env", "-C", str(self.folder / below)])
                self.assertSays(result, cli_case.FAILED, "npm install -g speedscope")
        (self.folder / "ringside.toml").write_text(f'[view]\nspeedscope-page = "{installed}"\n')
        result = self.ringside("view", "--no-open", "--speedscope", recording, environment=away)
        self.assertSays(result, cli_case.WRONG_USAGE, "ringside.toml:2", "command line")

    @staticmethod
    def is_installed():
        return any(os.path.exists(f"{place}/speedscope") for place in
                   ("/usr/lib/node_modules", "/usr/local/lib/node_modules", "/usr/share/ringside"))

    def test_without_speedscope_it_says_how_to_get_it(self):
        (self.folder / "empty").mkdir()
        recording = self.recording()
        result = self.ringside("view", "--speedscope", "--speedscope-page", "empty", recording)
        self.assertSays(result, cli_case.FAILED, "index.html")
        away = {"PATH": "/nowhere", "RINGSIDE_SPEEDSCOPE": str(self.folder / "empty")}
        if not self.is_installed():
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
