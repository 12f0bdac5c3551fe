"""Tests the completion scripts in bash, zsh and fish. Each shell runs for real, with nobody's settings."""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
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
# Typed words, and all that is offered for the word behind them.
OFFERED = (
    ("record --engine", "auto gdb qmp ring tcg"),
    ("record --os", "auto emerald linux none"),
    ("export --format", "asterinas-json callgrind chrome-trace firefox folded json-lines perf-data perf-script pprof"
                        " speedscope svg trace-dat"),
    ("import --input-format", "asterinas-json auto callgrind firefox folded gdb guest-stream json-lines maestro"
                              " maestro-memtrace perf-data perf-script pprof recording redox-a redox-b speedscope tcg"),
    ("report --demangle", "asterinas full none short verbose"),
    ("flamegraph --colors", "auto kind memory module"),
    ("mem report --order", "allocated freed growth live older peak"),
    ("case", "extract list show"),
    ("--completion", "bash fish zsh"),
)
LONGEST_DESCRIPTION = 70


class Terminal:
    """An interactive shell in which a function `ringside` prints its arguments."""

    def __init__(self, command, folder, environment):
        self.said = ""
        self.process, self.fd = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 500, 0, 0))
        self.read_until("READY>")

    def read_until(self, pattern):
        end = limits.step_end()
        while not (found := re.search(pattern, self.said, re.S)):
            if not select.select([self.fd], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern!r} in {self.said!r}")
            self.said += os.read(self.fd, 65536).decode(errors="replace")
        self.said = self.said[found.end():]
        return found

    def words(self, keys):
        """The arguments that ringside gets."""
        os.write(self.fd, f"ringside {keys}\n".encode())
        return self.read_until(r"BEGIN<(.*?)>END.*READY>").group(1).split("><")

    def complete(self, words):
        return self.words(f"{words}\t")[-1]

    def all_of(self, words):
        """All that is offered for the word behind these, which the keys Alt-* put into the line."""
        return self.words(f"{words} \x1b*")[len(words.split()):]

    def listed(self, words):
        """The shell's list for the last word; an argument `x` that is typed later ends it."""
        os.write(self.fd, f"ringside {words}\t\x15ringside x\n".encode())
        return self.read_until(r"^(.*)BEGIN<x>END.*READY>").group(1)

    def close(self):
        os.close(self.fd)
        os.waitpid(self.process, 0)


class Completion(cli_case.CliCase):
    RC = """ringside() { printf 'BEGIN'; printf '<%s>' "$@"; printf 'END\\n'; }\nPS1='READY>'\n"""
    COMPINIT = r"""autoload -U compinit
compinit -u -D
zle -C all-matches complete-word _generic
bindkey '\e*' all-matches
zstyle ':completion:all-matches:*' insert yes
zstyle ':completion:all-matches::::' completer _all_matches _complete
LISTMAX=999
"""
    FISH = "source $HOME/ringside.fish; for line in $argv; echo LINE; complete -C $line; end"

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

    def terminal(self, *command):
        terminal = Terminal(command, self.here, self.environment)
        self.addCleanup(terminal.close)
        return terminal

    def check_in(self, terminal):
        for words, wanted in COMPLETED:
            with self.subTest(words=words):
                # A shell may end a folder with /, and an option that has a value with =.
                got = terminal.complete(words)
                self.assertEqual(got if got == wanted else got.rstrip("/="), wanted)
        for words in LEFT_ALONE:
            with self.subTest(words=words):
                self.assertEqual(terminal.complete(words), words.split()[-1])
        for words, wanted in OFFERED:
            with self.subTest(words=words):
                self.assertEqual(sorted(terminal.all_of(words)), wanted.split())

    def sourcing_zsh(self):
        self.has("zsh")
        (self.home / ".zshrc").write_text(self.RC + self.COMPINIT + self.script("zsh"))
        return self.terminal("zsh", "-d", "-i")

    def offers_of_fish(self, lines):
        """The offers of fish for the last word of each line, and their descriptions."""
        self.has("fish")
        (self.home / "ringside.fish").write_text(self.script("fish"))
        result = subprocess.run(["fish", "--no-config", "-c", self.FISH, *lines], cwd=self.here, check=True, text=True,
                                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        offers = [dict(line.partition("\t")[::2] for line in part.splitlines())
                  for part in result.stdout.split("LINE\n")[1:]]
        self.assertEqual(len(offers), len(lines))
        return offers

    def test_bash(self):
        (self.home / "rc").write_text(self.RC + self.script("bash"))
        self.check_in(self.terminal("bash", "--noprofile", "--rcfile", str(self.home / "rc"), "-i"))

    def test_zsh_loads_it(self):
        self.has("zsh")
        (self.home / "_ringside").write_text(self.script("zsh"))
        (self.home / ".zshrc").write_text(f"{self.RC}fpath=({self.home} $fpath)\n{self.COMPINIT}")
        self.check_in(self.terminal("zsh", "-d", "-i"))

    def test_zsh_sources_it(self):
        self.check_in(self.sourcing_zsh())

    def test_fish(self):
        wanted = {f"ringside {words}": [last] for words, last in COMPLETED}
        wanted |= {f"ringside {words}": [] for words in LEFT_ALONE}
        wanted |= {f"ringside {words} ": offers.split() for words, offers in OFFERED}
        for (line, offers), found in zip(wanted.items(), self.offers_of_fish(list(wanted))):
            with self.subTest(line=line):
                self.assertEqual(sorted(offer.rstrip("/").replace("\\ ", " ") for offer in found), offers)

    def verbs(self):
        """Each command, and the descriptions of its long options in --help."""
        verbs = self.ringside("--help").stdout.partition("Commands:")[2].partition("\n\n")[0]
        for verb in re.findall(r"^  ([a-z]+) ", verbs, re.M):
            text = self.ringside(verb, "--help").stdout
            entries = re.findall(r"^  ((?:-[\w-]+, )*--[a-z-]+)(.*\n(?: {20,}.*\n)*)", text, re.M)
            yield verb, {name: " ".join(re.split(r" {2,}|\n", entry, maxsplit=1)[1].split())
                         for names, entry in entries for name in re.findall(r"--[\w-]+", names)}

    def check_description(self, brief, whole):
        """It is how the option's description begins, without remarks in parentheses."""
        self.assertTrue(1 < len(brief) <= LONGEST_DESCRIPTION, brief)
        while "(" in whole:
            whole = re.sub(r" ?\([^()]*\)", "", whole)
        self.assertTrue(whole.startswith(brief.removesuffix("...")), f"{brief!r} of {whole!r}")

    def test_descriptions_are_short(self):
        verbs = dict(self.verbs())
        lists = {"fish": self.offers_of_fish([f"ringside {verb} --" for verb in verbs])}
        zsh = self.sourcing_zsh()
        lists["zsh"] = [{name: description for names, description in
                         re.findall(r"^((?:--[\w-]+ +)+)-- (.*?) *\r?$", zsh.listed(f"{verb} --"), re.M)
                         for name in names.split()} for verb in verbs]
        for shell, found in lists.items():
            for (verb, options), offers in zip(verbs.items(), found):
                self.assertEqual(set(options), set(offers), f"{shell}: {verb}")
                for option, whole in options.items():
                    with self.subTest(shell=shell, verb=verb, option=option):
                        self.check_description(offers[option], whole)

    def test_the_words_of_each_verb_are_its_options(self):
        script = self.script("bash")
        for verb, options in self.verbs():
            words = re.search(rf"'/{verb}'\) words='(.*)'", script).group(1).split()
            with self.subTest(verb=verb):
                self.assertLessEqual(set(options), set(words))
                self.assertEqual(len(words), len(set(words)))


if __name__ == "__main__":
    cli_case.main()
