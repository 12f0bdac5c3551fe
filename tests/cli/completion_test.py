"""Tests the completion scripts in bash, zsh and fish. Each shell runs for real, with nobody's settings."""
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

import cli_case
from cli_case import DONE
from ringside_tests.harness import limits

# Typed words, and the last one as it is completed. There are a folder "folder", and the files "fork"
# and "some file.data".
COMPLETED = (
    ("fl", "flamegraph"),
    ("record --dur", "--duration"),
    ("record --engine tc", "tcg"),
    ("record --engine=tc", "--engine=tcg"),
    ("record -F 100 -o report --engine tc", "tcg"),
    ("report --demangle ver", "verbose"),
    ("ann", "annotate"),
    ("annotate --disassembler-style int", "intel"),
    ("annotate --source fo", "folder"),
    ("import --input-format maestro-", "maestro-memtrace"),
    ("ps au", "aux"),
    ("case ex", "extract"),
    ("case list --incom", "--incomplete"),
    ("case extract -o fo", "folder"),
    ("case show so", "some file.data"),
    ("mem flamegraph --value pe", "peak"),
    ("mem flamegraph -o fo", "folder"),
    ("mem report so", "some file.data"),
    ("record --sysroot fo", "folder"),
    ("record -k -o so", "some file.data"),
    ("report -i so", "some file.data"),
    ("import so", "some file.data"),
    ("record --gdb so", "some file.data"),
    ("doctor --plug", "--plugin"),
    ("doctor -- printen", "printenv"),
    ("record -- cat so", "some file.data"),
    ("--completion fi", "fish"),
)
# Lines whose last word completes to no value of any list, and to no file.
LEFT_ALONE = ("record --duration so", "record --seed fo", "case fo", "record --engine so", "symbolize so",
              "report --no-such")


class Terminal:
    """An interactive shell in which a function `ringside` prints its arguments."""

    def __init__(self, command, folder, environment):
        self.said = ""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        self.read_until("READY>")

    def read_until(self, pattern):
        end = limits.step_end()
        while not (found := re.search(pattern, self.said, re.S)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern!r} in {self.said!r}")
            self.said += os.read(self.fd, 65536).decode(errors="replace")
        self.said = self.said[found.end():]
        return found

    def complete(self, words):
        os.write(self.fd, f"ringside {words}\t\n".encode())
        found = self.read_until(r"BEGIN<(.*?)>END.*READY>")
        return found.group(1).split("><")[-1]

    def close(self):
        os.close(self.fd)
        os.waitpid(self.process, 0)


class Completion(cli_case.CliCase):
    RC = """ringside() { printf 'BEGIN'; printf '<%s>' "$@"; printf 'END\\n'; }\nPS1='READY>'\n"""
    COMPINIT = "autoload -U compinit\ncompinit -u -D\n"

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.here = self.folder / "here"
        for folder in (self.home, self.here / "folder"):
            folder.mkdir(parents=True)
        for name in ("fork", "some file.data"):
            (self.here / name).touch()
        self.environment = {"HOME": str(self.home), "ZDOTDIR": str(self.home), "PATH": "/usr/bin:/bin",
                            "TERM": "dumb", "LC_ALL": "C.UTF-8"}

    def script(self, shell):
        result = self.ringside("--completion", shell)
        self.assertSays(result, DONE)
        return result.stdout

    def has(self, shell):
        if not shutil.which(shell):
            self.skipTest(f"needs {shell} (apt install {shell})")

    def in_terminal(self, *command):
        terminal = Terminal(command, self.here, self.environment)
        try:
            for words, wanted in COMPLETED:
                with self.subTest(words=words):
                    # A shell may end a folder with /, and an option that has a value with =.
                    got = terminal.complete(words)
                    self.assertEqual(got if got == wanted else got.rstrip("/="), wanted)
            for words in LEFT_ALONE:
                with self.subTest(words=words):
                    self.assertEqual(terminal.complete(words), words.split()[-1])
        finally:
            terminal.close()

    def test_bash(self):
        (self.home / "rc").write_text(self.RC + self.script("bash"))
        self.in_terminal("bash", "--noprofile", "--rcfile", str(self.home / "rc"), "-i")

    def test_zsh_loads_it(self):
        self.has("zsh")
        (self.home / "_ringside").write_text(self.script("zsh"))
        (self.home / ".zshrc").write_text(f"{self.RC}fpath=({self.home} $fpath)\n{self.COMPINIT}")
        self.in_terminal("zsh", "-d", "-i")

    def test_zsh_sources_it(self):
        self.has("zsh")
        (self.home / ".zshrc").write_text(self.RC + self.COMPINIT + self.script("zsh"))
        self.in_terminal("zsh", "-d", "-i")

    def test_fish(self):
        self.has("fish")
        (self.home / "ringside.fish").write_text(self.script("fish"))

        def offered(words):
            ask = ["fish", "--no-config", "-c", "source $HOME/ringside.fish; complete -C $argv[1]"]
            result = subprocess.run([*ask, f"ringside {words}"], cwd=self.here, env=self.environment, check=True,
                                    text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            offers = [line.partition("\t")[0] for line in result.stdout.splitlines()]
            return [offer.rstrip("/").replace("\\ ", " ") for offer in offers]
        for words, wanted in COMPLETED:
            with self.subTest(words=words):
                self.assertEqual(offered(words), [wanted])
        for words in LEFT_ALONE:
            with self.subTest(words=words):
                self.assertEqual(offered(words), [])

    def test_the_words_of_each_verb_are_its_options(self):
        script = self.script("bash")
        verbs = self.ringside("--help").stdout.partition("Commands:")[2].partition("\n\n")[0]
        for verb in re.findall(r"^  ([a-z]+) ", verbs, re.M):
            options = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", self.ringside(verb, "--help").stdout, re.M))
            words = re.search(rf"'/{verb}'\) words='(.*)'", script).group(1).split()
            with self.subTest(verb=verb):
                self.assertLessEqual(options, set(words))
                self.assertEqual(len(words), len(set(words)))


if __name__ == "__main__":
    cli_case.main()
