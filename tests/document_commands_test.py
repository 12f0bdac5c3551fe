#!/usr/bin/env python3
"""Every command in README.md and docs/*.md is one: document_commands_test.py RINGSIDE [ROOT].

Takes the lines of code blocks (without a language, or sh) and the code in running text that begin with `ringside`,
with one of its commands and an option, or with `script/`. A command of ringside must be in its help, with each option,
and a value behind each option that takes one. A script must exist, and its text, or that of what it runs, must have
the words behind it. Cheap commands run: the completion scripts, and `doctor` where no QEMU is in PATH.
"""

import functools
import os
import pathlib
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OPTION = re.compile(r"^  (-[\w-]+(?:, -[\w-]+)*)(?: (\[?[A-Z]\S*))?", re.MULTILINE)
PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).resolve().parent.parent
QUIET = {**os.environ, "PATH": "", "TMPDIR": "/tmp"}


class Fault(Exception): ...


@functools.cache
def help_of(*words: str) -> str:
    return subprocess.run([PROGRAM, *words, "--help"], check=True, text=True, stdout=subprocess.PIPE).stdout


def commands_of(*words: str) -> list[str]:
    section = re.search(r"^Commands:\n((?:  .*\n)+)", help_of(*words), re.MULTILINE)
    return re.findall(r"^  (\w+)", section[1], re.MULTILINE) if section else []


def options_of(*words: str) -> dict[str, str]:
    """The placeholder behind each option: "" for no value, one that begins with "[" for an optional value."""
    return {name: value for names, value in OPTION.findall(help_of(*words)) for name in names.split(", ")}


def check_ringside(words: list[str]) -> None:
    path = []
    while commands := commands_of(*path):
        if not words or words[0].startswith("-"):
            break
        if words[0] not in commands:
            raise Fault(f"there is no command {words[0]}")
        path.append(words.pop(0))
    options, usage = options_of(*path), help_of(*path).splitlines()[0]
    takes_qemu, operands = "QEMU" in usage, usage.count(" [") + len(re.findall(r" [A-Z]+(?: …)?$", usage)) - 1
    while words:
        word, _, value = words.pop(0).partition("=")
        if word == "--" or (takes_qemu and not word.startswith("-") and word != "…"):
            if not takes_qemu:
                raise Fault(f"{path} takes no command line")
            return
        if not word.startswith("-") or word == "-":
            if operands == 0 and word != "…":
                raise Fault(f"{path} takes no {word}")
            continue
        if word not in options:
            raise Fault(f"{path} has no {word}")
        needed = options[word]
        if value and not needed:
            raise Fault(f"{word} takes no value")
        if needed and not value and words and (not words[0].startswith("-") or words[0] == "-"):
            words.pop(0)
        elif needed and not value and not needed.startswith("["):
            raise Fault(f"{word} needs {needed}")


def check_script(words: list[str]) -> None:
    script = ROOT / words.pop(0)
    if not os.access(script, os.X_OK):
        raise Fault(f"{script} is no program")
    text = script.read_text()
    if script.name == "bench" and words:
        text += (ROOT / "bench" / words.pop(0) / "run.py").read_text()
    if script.name == "build":
        text += (ROOT / "CMakePresets.json").read_text()
    if script.name == "test-qemus":
        text += (ROOT / "tests/guest/qemu_matrix.py").read_text()
    for word in words[:words.index("--") if "--" in words else None]:
        if re.fullmatch(r"-?-?[a-z][a-z-]*", word) and not re.search(rf"(?<![\w-]){word}(?![\w-])", text):
            raise Fault(f"{script.name} does not have {word}")


def commands_in(text: str) -> list[str]:
    """The simple commands of blocks, those in $(…) and <(…) too, and of code in running text."""
    lines = [line for language, block in BLOCK.findall(text) if language in ("", "sh")
             for line in block.replace("\\\n", " ").splitlines()]
    pieces = [piece.strip() for line in lines
              for piece in re.split(r"[$<]\(|^\(|\)|&&|\|\|?|;", re.sub(r"(^|\s)#.*", "", line))]
    verbs = "|".join(commands_of())
    spans = (" ".join(span.split()) for span in re.findall(r"`([^`]+)`", BLOCK.sub("", text)))
    pieces += [f"ringside {span}" if re.match(rf"(?:{verbs}) -", span) else span for span in spans]
    return [piece for piece in pieces if re.match(r"ringside (?!COMMAND)|script/[\w-]+(?: |$)", piece)]


def main() -> None:
    count, faults = 0, 0
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for command in commands_in(page.read_text()):
            words = shlex.split(command)
            count += 1
            try:
                (check_ringside if words[0] == "ringside" else check_script)(words[words[0] == "ringside":])
                if re.fullmatch(r"ringside (doctor|--completion (bash|zsh|fish))", command):
                    subprocess.run([PROGRAM, *shlex.split(command)[1:]], check=True, env=QUIET,
                                   stdout=subprocess.DEVNULL)
            except (Fault, subprocess.SubprocessError, OSError) as fault:
                print(f"{page.relative_to(ROOT)}: {command}: {fault}")
                faults += 1
    print(f"{count} commands, {faults} faults")
    sys.exit(1 if faults or count < 20 else 0)


if __name__ == "__main__":
    main()
