"""`report` at a terminal (a pty): pager, colour, width, what is folded; and that a pipe gets none of it."""
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import unicodedata

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE
from ringside_tests.harness import limits

BASE, SIZE = 0xFFFFFFFF80001000, 16
# C++ name, mangled; samples of 1000. Functions below 0.5 % are folded at a terminal.
LONG = ("memory::allocator<pages::frame<4096u>, policies::first_fit<true>, statistics::counting<long> >::"
        "allocate_contiguous_for_device(unsigned long)")
MANGLED = ("_ZN6memory9allocatorIN5pages5frameILj4096EEEN8policies9first_fitILb1EEEN10statistics8countingIlEEE"
           "30allocate_contiguous_for_deviceEm")
FUNCTIONS = [(MANGLED, LONG, 600), ("spin", "spin", 300), ("内核的空闲循环内核的空闲循环内核的空闲循环", None, 60),
             ("rare", "rare", 34), ("rarer", "rarer", 4), ("rarest", "rarest", 2)]
COLOUR = re.compile(r"\x1b\[(31|32|)m")


def cells(text):
    """How wide a terminal shows it."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class Terminal(cli_case.CliCase):
    def setUp(self):
        super().setUp()
        source = "".join(f'.globl "{name}"\n.type "{name}",@function\n"{name}": .skip {SIZE}, 0x90\n'
                         f'.size "{name}", {SIZE}\n' for name, _, _ in FUNCTIONS)
        (self.folder / "kernel.s").write_text(".text\n" + source)
        subprocess.run(["gcc", "-nostdlib", "-static", "-no-pie", "-Wl,-e,spin,--build-id=none",
                        f"-Wl,-Ttext={BASE:#x}", "-o", "kernel.elf", "kernel.s"], cwd=self.folder, check=True)
        # Maestro's raw data is the one input that a test can write by hand: n, and n addresses, leaf first.
        samples = b"".join(struct.pack("<BQQ", 2, BASE + SIZE * number, BASE + SIZE + 4) * count
                           for number, (_, _, count) in enumerate(FUNCTIONS))
        (self.folder / "raw").write_bytes(samples)
        self.assertSays(self.ringside("import", "--input-format", "maestro", "raw", "--kernel", "kernel.elf"), DONE)

    def at_terminal(self, *arguments, columns=80, status=DONE, environment=(), act=None):
        """The output at a terminal of so many columns, with plain line feeds. `act` gets (process, master)."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        clean = {name: value for name, value in os.environ.items()
                 if name not in ("COLUMNS", "LESS", "NO_COLOR", "PAGER", "RINGSIDE_PAGER")}
        process = subprocess.Popen([cli_case.program(), *map(str, arguments)], cwd=self.folder, stdin=slave,
                                   stdout=slave, stderr=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**clean, "TERM": "xterm", "TMPDIR": str(self.folder), **dict(environment)})
        os.close(slave)
        got = bytearray()

        def read():
            while True:
                try:
                    piece = os.read(master, 65536)
                except OSError:  # EIO: nobody has the other end open
                    return
                if not piece:
                    return
                got.extend(piece)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            if act:
                act(process, master)
            _, said = process.communicate(timeout=limits.STEP)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        reader.join(limits.STEP)
        os.close(master)
        self.assertEqual(process.returncode, status, said)
        self.said = said
        return got.decode().replace("\r\n", "\n")

    def report(self, *arguments, **options):
        return self.at_terminal("report", *arguments, **options)

    def pager(self, script):
        path = self.folder / "pager"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        return {"PAGER": str(path)}

    def plain(self, *arguments):
        result = self.ringside("report", *arguments)
        self.assertSays(result, DONE)
        return result.stdout

    def rows(self, text):
        return [line for line in text.splitlines() if line and not line.startswith("#")]

    def test_lines_fit(self):
        for columns in (60, 80, 200):
            for options in ((), ("--header",), ("-g", "callee"), ("--no-children",), ("--sort", "dso,symbol"), ("--children",), ("--per-cpu",),
                            ("-F", "overhead,symbol"), ("-F", "symbol,overhead", "--rows", "1")):
                with self.subTest(columns=columns, options=options):
                    text = self.report("--no-pager", "--color", "never", *options, columns=columns)
                    self.assertIn("% ", text)
                    for line in text.splitlines():
                        self.assertLessEqual(cells(line), columns, line)

    def test_the_width_that_the_shell_says(self):
        text = self.report("--no-pager", columns=200, environment={"COLUMNS": "60"})
        self.assertLessEqual(max(cells(COLOUR.sub("", line)) for line in text.splitlines()), 60)

    def test_names_are_cut_in_the_middle(self):
        rows = self.rows(self.report("--no-pager", "--color", "never", columns=80))
        for long in (row for row in rows if "memory::" in row):
            begin, _, end = long.partition("…")
            self.assertRegex(begin, r"memory::al")
            self.assertRegex(end, r"unsigned long\)$")
        self.assertTrue(any(LONG in row for row in self.rows(self.report("--no-pager", columns=300))))

    def test_small_rows_are_one(self):
        rows = self.rows(self.report("-g", "none", "--no-pager", "--color", "never"))
        self.assertEqual(len(rows), 5, rows)
        self.assertRegex(rows[-1], r"^ +0\.60% .*\(2 more rows\)$")
        for option, number in (("--percent-limit=0", 6), ("--percent-limit=50", 3), ("--rows=2", 3)):
            with self.subTest(option=option):
                self.assertEqual(len(self.rows(self.report("-g", "none", "--no-pager", option))), number)

    def test_tables_of_vcpus_on_request(self):
        self.assertRegex(self.report("--no-pager"), "(?m)^# Children +Self +Shared Object +Symbol")
        self.assertEqual(self.ringside("report", "--per-cpu", "--no-per-cpu").returncode, WRONG_USAGE)
        result, _ = self.record("-o", "two.data", "--duration", "0.3", vcpus=2)
        self.assertSays(result, DONE)
        for options, there in (((), False), (("--per-cpu",), True), (("--no-per-cpu",), False),
                               (("--sort", "symbol", "--per-cpu"), True)):
            with self.subTest(options=options):
                self.assertEqual("# vCPU 1" in self.report("-i", "two.data", "--no-pager", *options), there)
                self.assertEqual("# vCPU 1" in self.plain("-i", "two.data", *options), there)

    def test_colours_of_shares(self):
        text = self.report("--no-pager", "--percent-limit", "0")
        painted = re.findall(r"\x1b\[(\d+)m([\d.]+)%\x1b\[m", text)
        self.assertEqual(text.count("\x1b"), 2 * len(painted))
        for colour, share in painted:
            self.assertEqual(colour, "31" if float(share) >= 5 else "32")
            self.assertGreaterEqual(float(share), 0.5)
        self.assertIn(("31", "60.00"), painted)
        self.assertIn(("32", "3.40"), painted)
        self.assertNotRegex(text, r"\x1b\[\d+m0\.[0-4]")

    def test_no_colour(self):
        for options, environment in (((), {"NO_COLOR": "1"}), (("--color", "never"), {}), ((), {"TERM": "dumb"}),
                                     (("--stdio",), {})):
            with self.subTest(options=options, environment=environment):
                self.assertNotIn("\x1b", self.report("--no-pager", *options, environment=environment))
        self.assertIn("\x1b[31m", self.plain("--color", "always"))
        self.assertIn("\x1b[31m", self.report("--no-pager", environment={"NO_COLOR": ""}))

    def test_colours_are_ours_alone(self):
        (self.folder / "map").write_bytes(b"%x T ev\x1b[32mil\n" % BASE)
        text = self.report("--no-pager", "--symbols", "map", "--kernel", "kernel.elf")
        self.assertIn("il", text)
        self.assertEqual(re.findall(r"\x1b[^m]*m(?![\d.]+%\x1b\[m)", text),
                         ["\x1b[m"] * len(re.findall(r"\x1b\[3", text)))

    def test_a_pager_gets_the_report(self):
        environment = self.pager('cat > got; echo "$LESS" > less; echo said\n')
        self.assertEqual(self.report(environment=environment), "said\n")
        got = (self.folder / "got").read_text()
        self.assertEqual(got, self.report("--no-pager"))
        self.assertEqual((self.folder / "less").read_text(), "FRX\n")
        self.report(environment={**environment, "LESS": "-i"})
        self.assertEqual((self.folder / "less").read_text(), "-i\n")

    def test_which_pager(self):
        environment = self.pager("cat > /dev/null; echo PAGER\n")
        self.assertEqual(self.report(environment={**environment, "RINGSIDE_PAGER": "cat >/dev/null; echo ours"}), "ours\n")
        for none in ({"RINGSIDE_PAGER": ""}, {"RINGSIDE_PAGER": "cat"}, {"TERM": "dumb"}):
            with self.subTest(none=none):
                self.assertRegex(self.report(environment={**environment, **none}), "# Children")
        for options in (["--no-pager"], ["--stdio"]):
            self.assertRegex(self.report(*options, environment=environment), "# Children")
        folder = self.folder / "bin"
        folder.mkdir()
        self.assertRegex(self.report(environment={"PATH": str(folder)}), "# Children")  # no less there
        (folder / "less").write_text("#!/bin/sh\n/bin/cat >/dev/null; echo less\n")
        (folder / "less").chmod(0o755)
        self.assertEqual(self.report(environment={"PATH": str(folder)}), "less\n")

    def test_a_pager_that_is_not_there(self):
        text = self.report(environment={"PAGER": "no-such-pager-here"})
        self.assertRegex(text, "# Children")
        self.assertIn("no-such-pager-here", self.said)

    def test_a_pager_that_ends_early(self):
        # More than a pipe holds, so that ringside writes to nobody.
        many = b"".join(struct.pack("<BQ", 1, BASE + 0x10000 + 8 * number) for number in range(9000))
        (self.folder / "raw").write_bytes(many)
        self.assertSays(self.ringside("import", "--input-format", "maestro", "raw", "--kernel", "kernel.elf", "-o", "many.data"),
                        DONE)
        self.assertEqual(self.report("-i", "many.data", "--percent-limit", "0", environment=self.pager("exit 0\n")), "")
        self.assertEqual(self.said, "")

    def test_the_status_of_a_report_that_fails(self):
        environment = self.pager("cat\n")
        self.report("nowhere.data", environment=environment, status=FAILED)
        self.assertIn("nowhere.data", self.said)
        self.report("--sort", "nothing", environment=environment, status=WRONG_USAGE)

    def test_ctrl_c_is_for_the_pager(self):
        environment = self.pager("trap 'echo INT > int' INT\necho $$ > ready\nwhile [ ! -e int ]; do sleep 0.05; done\n"
                                 "cat > got\n")

        def act(process, _):
            self.assertTrue(limits.wait_until((self.folder / "ready").exists))
            os.killpg(process.pid, signal.SIGINT)  # as the terminal does

        self.report(environment=environment, act=act)
        self.assertEqual((self.folder / "got").read_text(), self.report("--no-pager"))

    def test_no_zombie(self):
        environment = self.pager("echo $$ > pid; cat > /dev/null\n")
        self.report(environment=environment)
        self.assertFalse(os.path.exists(f"/proc/{(self.folder / 'pid').read_text().strip()}"))

    def test_a_pipe_gets_everything(self):
        text = self.plain()
        self.assertNotIn("\x1b", text)
        self.assertNotIn("…", text)
        self.assertIn(LONG, text)
        self.assertRegex(text, r"(?m)kernel +\[k\] rarest$")
        environment = self.pager("cat > got\n")
        result = self.ringside("report", environment={**environment, "COLUMNS": "60", "TERM": "xterm"})
        self.assertEqual(result.stdout, text)
        self.assertFalse((self.folder / "got").exists())
        self.assertEqual(self.report("--stdio"), text)
        self.assertIn("(4 more rows)", self.plain("--percent-limit", "10"))


if __name__ == "__main__":
    cli_case.main()
