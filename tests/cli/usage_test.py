"""The command line: wrong usage, help, version, completion."""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys

import cli_case
from cli_case import DONE, FAILED, WRONG_USAGE

VERBS = ("record", "profile", "report", "script", "annotate", "flamegraph", "export")


class WrongUsage(cli_case.CliCase):
    def refused(self, *arguments, says=()):
        result = self.ringside(*arguments)
        self.assertSays(result, WRONG_USAGE, *([says] if isinstance(says, str) else says))
        self.assertTrue(result.said.strip(), "nothing was said")
        self.assertEqual(list(self.folder.iterdir()), [], "something was written all the same")

    def test_no_verb(self):
        self.refused(says=("command", "record", "report"))

    def test_an_unknown_verb(self):
        self.refused("recrod", says="recrod")

    def test_typical_mistakes(self):
        """Each of mistakes.txt gets its one line."""
        lines = (cli_case.HERE / "mistakes.txt").read_text().splitlines()
        self.assertGreaterEqual(len(lines), 2 * 80)
        for mistake, line in zip(lines[::2], lines[1::2], strict=True):
            with self.subTest(mistake=mistake):
                result = self.ringside(*mistake.removeprefix("$ ").split())
                self.assertIn(result.returncode, (FAILED, WRONG_USAGE))
                self.assertEqual(result.said, line + "\n")

    def test_help_and_version_as_commands(self):
        for words, same in ((["help"], ["--help"]), (["help", "record"], ["record", "--help"]),
                            (["help", "case", "list"], ["case", "list", "--help"]), (["version"], ["--version"]),
                            (["-V"], ["--version"])):
            with self.subTest(words=words):
                result = self.ringside(*words)
                self.assertSays(result, DONE)
                self.assertEqual(result.stdout, self.ringside(*same).stdout)

    def test_an_unknown_option(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.refused(verb, "--no-such-option",
                             says=("ringside: ", "--no-such-option", f"see 'ringside {verb} --help'"))

    def test_a_command_without_its_own(self):
        self.refused("case", says=("ringside: a command is missing", "see 'ringside case --help'"))

    def test_no_recording(self):
        self.assertSays(self.ringside("report"), FAILED, "ringside.data: No such file", "ringside record")

    def test_import(self):
        self.refused("import", says="file")
        self.refused("import", "--input-format", "perf", "x", says="--input-format")
        for options in (["--maestro-cut"], ["--cpu-freq", "2.2"], ["--context-names", "x"]):
            for name in ("folded", "tcg"):
                self.refused("import", "--input-format", name, __file__, *options, says=(options[0], name))

    def test_no_guest(self):
        for verb in ("record", "profile"):
            with self.subTest(verb=verb):
                self.refused(verb, says=("--gdb", "-- qemu-system-x86_64"))

    @contextlib.contextmanager
    def running_qemu(self, options, listens_at):
        """Python under QEMU's name, with options that QEMU has, which listens at a path or a port."""
        qemu = self.folder / "qemu-system-x86_64"
        if not qemu.exists():
            shutil.copy2(os.path.realpath(sys.executable), qemu)
        program = ("import socket, sys; at = sys.argv[1]; s = socket.socket(socket.AF_INET if at.isdigit() else socket.AF_UNIX); "
                   "s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', int(at)) if at.isdigit() else at); "
                   "s.listen(); print(flush=True); input()")
        with subprocess.Popen([qemu, "-c", program, listens_at, *options], cwd=self.folder,
                              env={**os.environ, "PYTHONHOME": sys.base_prefix},
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            try:
                self.assertTrue(process.stdout.readline(), "it does not run")
                yield process.pid
            finally:
                process.communicate(b"\n")

    def test_guests_that_run(self):
        ours = self.folder / "ringside-run-aB3dE6"
        ours.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        nothing = "QEMU {} runs, and listens at no -s, -gdb or -qmp"
        for options, listens_at, words in (
                (["-gdb", "unix:my socket,server=on"], "my socket", "QEMU {} runs: 'ringside VERB --gdb 'FOLDER/my socket''"),
                (["-gdb", f"tcp::{port}"], port, f"QEMU {{}} runs: 'ringside VERB --gdb localhost:{port}'"),
                (["-qmp", f"tcp:127.0.0.1:{port},server=on", "-qmp", "stdio"], port,
                 f"QEMU {{}} runs: 'ringside VERB --qmp 127.0.0.1:{port}'"),
                (["-gdb", f"unix:{ours}/gdb"], f"{ours}/gdb", "Another ringside has started QEMU {}"),
                (["-gdb", "unix:elsewhere"], "here", nothing), (["-gdb", "chardev:x", "-qmp", "stdio"], "there", nothing)):
            with self.running_qemu(options, listens_at) as process:
                for verb in ("record", "ps"):
                    with self.subTest(options=options, verb=verb):
                        self.assertIn(words.format(process).replace("VERB", verb).replace("FOLDER", str(self.folder)),
                                      self.ringside(verb).said)

    def test_nothing_behind_the_dashes(self):
        self.refused("record", "--", says="no command line behind --")

    def test_a_command_for_a_verb_that_takes_none(self):
        self.refused("report", "--", "true", says="command")

    def test_gdb_with_a_command(self):
        self.refused("record", "--gdb", self.gdb, "--", "true", says="--gdb")

    def test_a_guest_that_samples_itself(self):
        ring = ("--engine", "ring")
        for arguments, says in (((*ring, "--gdb", self.gdb, "-F", "100"), "the guest decides when it samples"),
                                ((*ring, "--gdb", self.gdb, "--interval", "1ms"), "the guest decides when it samples"),
                                (("--serial", "line", "--gdb", self.gdb), "leave out --gdb"),
                                (("--serial", "line", "--engine", "qmp"), "leave out --gdb"),
                                (("--gdb", self.gdb, "--redox-rings", "RINGS"), "add --engine ring"),
                                (("--serial", "line", "--redox-rings", "RINGS"), "add --engine ring"),
                                ((*ring, "--gdb", self.gdb, "--context-names", "ids"), "add --redox-rings"),
                                (("--gdb", self.gdb, "--cpu-freq", "2.2"), "add --engine ring or --serial"),
                                ((*ring, "--gdb", self.gdb, "--cpu-freq", "fast"), "--cpu-freq fast")):
            with self.subTest(arguments=arguments):
                self.refused("record", *arguments, says=says)
        self.assertSays(self.ringside("record", "--serial", "no-line"), FAILED, "no-line")

    def test_options_that_need_a_command(self):
        for option in (["--after", "ready"], ["--until", "ready"], ["--then-quit"]):
            with self.subTest(option=option[0]):
                self.refused("record", "--gdb", self.gdb, *option, says=(option[0], "-- qemu-system-x86_64"))

    def test_only_kernel_and_only_user_code(self):
        for verb in VERBS:
            with self.subTest(verb=verb):
                self.refused(verb, "-k", "-u", says="--user-only")

    def test_numbers_below_their_least(self):
        for verb, option, value, says in (("report", "--rows", "-1", "'-1' is below 0"),
                                          ("record", "--seed", "-3", "'-3' is below 0"),
                                          ("record", "--samples", "0", "'0' is not a number above 0"),
                                          ("record", "--samples", "x", "'x' is not a number above 0")):
            with self.subTest(option=option, value=value):
                self.refused(verb, option, value, says=(option, says))

    def test_report_fields(self):
        recording = self.recording()
        for arguments, says in ((["--sort", "weight"], "weight"), (["-F", "overhead,preiod"], "preiod"),
                                (["-p", "("], "regular expression"), (["--pid", "x"], "--pid")):
            with self.subTest(arguments=arguments):
                self.assertSays(self.ringside("report", "-i", recording, *arguments), WRONG_USAGE, says)
        for fields, header in (("overhead,comm,parent", r"# Overhead +Command +Parent symbol"),
                               ("vcpu,symbol", "# vCPU +Symbol")):
            with self.subTest(fields=fields):
                result = self.ringside("report", "-i", recording, "-F", fields)
                self.assertSays(result, DONE)
                self.assertRegex(re.sub("#  *", "# ", result.stdout), header)

    def test_filters_by_process_where_none_is_known(self):
        recording = self.recording()
        for verb in ("report", "flamegraph", "export"):
            for option in (["--comm", "sh"], ["--pid", "1"], ["--tid", "1,2"]):
                with self.subTest(verb=verb, option=option[0]):
                    self.assertSays(self.ringside(verb, "-i", recording, *option), FAILED, option[0],
                                    "which process")

    def test_a_recording_by_its_place(self):
        recording = self.recording()
        for verb in ("report", "flamegraph", "export"):
            with self.subTest(verb=verb):
                self.assertSays(self.ringside(verb, recording.name), DONE)
                self.assertSays(self.ringside(verb, "nowhere.data"), FAILED, "nowhere.data")
        self.assertSays(self.ringside("report", recording.name, "another.data"), WRONG_USAGE, "another.data")

    def test_styles_of_folded_stacks(self):
        recording = self.recording()
        self.assertSays(self.ringside("export", "-i", recording, "--folded-style", "emerald", "--per-cpu"),
                        WRONG_USAGE, "--per-cpu")
        result = self.ringside("export", "-i", recording, "--folded-style", "emerald")
        self.assertSays(result, DONE)
        self.assertRegex(result.stdout, r"\AKernel;.* \d+\n")
        for by in ("none", "comm", "pid", "tid"):  # no process is known
            plain = self.ringside("export", "-i", recording, "--by", by, "--annotate-kernel")
            self.assertRegex(plain.stdout, r"\A<unknown:0x[0-9a-f]+>_\[k\] \d+\n\Z")

    def test_emeralds_style_has_one_kind_of_root(self):
        for verb, *guest in (["export"], ["profile", "--gdb", self.gdb]):
            self.refused(verb, *guest, "--folded-style", "emerald", "--by", "pid", says="--by")

    def test_a_bad_list_of_vcpus(self):
        for cpus in ("x", "3-1", "0,,1", "-", "0-", "99999999999"):
            with self.subTest(cpus=cpus):
                self.refused("record", "--gdb", self.gdb, f"--cpu={cpus}", says=cpus)
                self.refused("report", f"--cpu={cpus}", says=cpus)

    def test_a_profile_of_no_known_format(self):
        self.refused("profile", "--gdb", self.gdb, "-o", "out.png", says=("out.png", ".svg"))

    def test_numbers_out_of_range(self):
        for name, *option in (["--freq", "-F", "0"], ["--freq", "-F", "100000"], ["--interval", "--interval", "0"],
                              ["--duration", "--duration", "-1"], ["--duration", "-d", "soon"],
                              ["--samples", "-n", "0"], ["--load-bias", "--load-bias", "zz"],
                              ["--interval", "-F", "10", "--interval", "1"]):
            with self.subTest(option=option):
                self.refused("record", "--gdb", self.gdb, *option, says=name)


class Help(cli_case.CliCase):
    def test_version(self):
        result = self.ringside("--version")
        self.assertSays(result, DONE)
        self.assertRegex(result.stdout, r"^ringside \d+\.\d+\.\d+\n$")

    def test_help_has_examples(self):
        for verb in ((), *((verb,) for verb in VERBS)):
            with self.subTest(verb=verb):
                result = self.ringside(*verb, "--help")
                self.assertSays(result, DONE)
                self.assertRegex(result.stdout, rf"(?s)Examples:\n.*  ringside {verb[0] if verb else 'record'} ?")

    def test_every_verb_is_in_the_help(self):
        said = self.ringside("--help").stdout
        for verb in VERBS:
            self.assertRegex(said, rf"(?m)^ +{verb} ")

    def commands(self):
        """All of them, each as its words: () is ringside itself."""
        below = {(): self.ringside("--help").stdout, ("case",): self.ringside("case", "--help").stdout}
        return [(), *((*first, name) for first, said in below.items()
                      for name in re.findall(r"(?m)^  ([a-z]+) ", said.partition("Commands:")[2].partition("\n\n")[0]))]

    def test_help_fits_its_width(self):
        for command in self.commands():
            for columns in (60, 80, 120):
                with self.subTest(command=command, columns=columns):
                    result = self.ringside(*command, "--help", environment={"COLUMNS": str(columns)})
                    self.assertSays(result, DONE)
                    widths = [len(line) for line in result.stdout.splitlines()]
                    self.assertLessEqual(max(widths), min(columns, 100))
                    if columns == 120 and command in (("record",), ("report",)):
                        self.assertGreater(max(widths), 80, "the width is not used")
            with self.subTest(command=command, option="-h"):
                self.assertEqual(result.stdout, self.ringside(*command, "-h", environment={"COLUMNS": str(columns)}).stdout)
        self.assertEqual(self.ringside("record", "-h", environment={"COLUMNS": ""}).stdout,
                         self.ringside("record", "-h", environment={"COLUMNS": "80"}).stdout)

    def test_help_has_no_machine_notation(self):
        for command in self.commands():
            with self.subTest(command=command):
                said = self.ringside(*command, "--help").stdout
                for noise in (r"UINT|FLOAT|INT\b", r"TEXT (\.\.\.|\{|:)", r"\bin \[", "Excludes|EXCLUDES|REQUIRED", r"\{[a-z]",
                              r"\[,|\.\.\.|,…", r"\[(default)?\]", r"\b[Vv]erbs?\b", r"-- COMMAND", "Subcommand"):
                    self.assertNotRegex(said, noise)
                options = re.findall(r"(?m)^  (-.*?)(?:  |$)", said)
                self.assertTrue(any(option.startswith("-h, --help") for option in options))
                for option in options:
                    self.assertRegex(option, r"^(-g|(-\w, )?--[a-z-]+(, (--[a-z-]+|-\w))*( \[?[A-Z=:]+\]?)?)$")

    def test_help_has_sections(self):
        for command, sections in (("record", ("Samples to take", "When", "A guest that runs", "Names and symbols", "Output",
                                              "Engine", "Advanced", "Examples")),
                                  ("report", ("Contents", "At a terminal", "Which samples", "Names and symbols",
                                              "Advanced", "Examples")),
                                  ("flamegraph", ("The picture", "Which samples", "Names and symbols")),
                                  ("export", ("Output", "Which samples", "Names and symbols"))):
            said = self.ringside(command, "--help").stdout
            headings = re.findall(r"(?m)^([A-Z].*):$", said)
            with self.subTest(command=command):
                at = [next(i for i, heading in enumerate(headings) if heading.startswith(name)) for name in sections]
                self.assertEqual(at, sorted(at))
                self.assertEqual(len(headings), len(set(headings)))

    def test_every_command_has_an_example(self):
        for command in self.commands():
            if len(command) < 2:
                with self.subTest(command=command):
                    self.assertRegex(self.ringside(*command, "--help").stdout, r"Examples:\n  ringside ")

    def test_the_options_of_the_examples_exist(self):
        for verb in VERBS:
            said = self.ringside(verb, "--help").stdout.replace(" \\\n", " ")
            options, _, examples = said.partition("Examples:")
            ours = "\n".join(line.split(" -- ")[0].split(" | ")[0] for line in examples.splitlines())
            for option in re.findall(r" (--?[a-z][a-z-]*)", ours):
                with self.subTest(verb=verb, option=option):
                    self.assertRegex(options, rf"[ ,]{option}\b")

    def test_completion_in_one_word(self):
        self.assertEqual(self.ringside("--completion=fish").stdout, self.ringside("--completion", "fish").stdout)
        self.assertSays(self.ringside("--completion=fish"), DONE)

    def test_an_unknown_shell(self):
        self.assertSays(self.ringside("--completion", "tcsh"), WRONG_USAGE, "tcsh")

    def test_an_extension_that_no_format_has(self):
        recording = self.recording()
        result = self.ringside("export", "-i", recording, "-o", "x.foo")
        self.assertSays(result, WRONG_USAGE, "x.foo", ".folded", ".perf.data", "--format")
        self.assertFalse((self.folder / "x.foo").exists())
        self.assertSays(self.ringside("export", "-i", recording, "-o", "x.foo", "--format", "folded"), DONE)
        self.assertSays(self.ringside("export", "-i", recording, "-o", "stacks"), DONE)

    def test_examples_in_help_can_be_pasted(self):
        for verb in re.findall(r"^  (\w+) ", self.ringside("--help").stdout, re.M):
            with self.subTest(verb=verb):
                text = self.ringside(verb, "--help").stdout.partition("Examples:")[2]
                for line in text.replace("\\\n", "\0").splitlines():
                    pieces = line.split("\0")
                    self.assertTrue(all(piece.count("'") % 2 == 0 for piece in pieces), line)

    def test_ps_has_records_monitor(self):
        self.assertSays(self.ringside("ps", "--qmp"), FAILED, "./qmp-socket")


if __name__ == "__main__":
    cli_case.main()
