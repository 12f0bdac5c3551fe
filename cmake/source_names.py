"""Which names a C++ source file declares at namespace scope, which it mentions, and which headers it includes.

By its text alone, as the project writes and formats it; conditions of the preprocessor are not evaluated.
"""
import functools
import pathlib
import re
from collections.abc import Iterable

# Comments, literals and what is included: `#include <memory>` mentions no memory. A ' inside a number is none.
NO_CODE = re.compile(r'^[ \t]*#[ \t]*include\b[^\n]*|//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
                     r'(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
                     re.DOTALL | re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
OUTSIDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
MACRO = re.compile(r"^[ \t]*#\s*define\b", re.MULTILINE)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|&&|[^\s\w]")
# A name that is looked up where it stands: no member, and none that says itself where it comes from.
MENTION = re.compile(r"(?<![\w.])(?<!->)(?<!::)[A-Za-z_]\w*")
# One that is looked up as a namespace: in front of ::, in `using namespace NAME` and `namespace alias = NAME`.
QUALIFIER = re.compile(r"(?<!\w)(?<!::)[A-Za-z_]\w*(?=\s*::)|(?<=\busing namespace )\w+|(?<= = )\w+(?=;)")
WORD = re.compile(r"[A-Za-z_]\w*")
USING = "usingnamespace"  # and the namespace: the name that a using-directive has in declarations()
CLOSING = {"{": "}", "(": ")", "[": "]"}
# Such a statement of a test makes a class whose name only it has.
TESTS = {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "INSTANTIATE_TEST_SUITE_P", "static_assert", "LLVMFuzzerTestOneInput"}


def is_name(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_"


def end_of_group(tokens: list[str], at: int) -> int:
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    opening, closing = tokens[at], CLOSING[tokens[at]]
    while at < len(tokens):
        depth += (tokens[at] == opening) - (tokens[at] == closing)
        at += 1
        if depth == 0:
            break
    return at


def without_template(statement: list[str]) -> list[str]:
    """Without `template <…>` in front."""
    while statement[:2] == ["template", "<"]:
        depth = 0
        for end, token in enumerate(statement[1:], 2):
            depth += (token == "<") - (token == ">")
            if depth == 0:
                break
        statement = statement[end:]
    return statement


def names_of(statement: list[str]) -> dict[str, str]:
    """The name that a declaration at namespace scope declares; its text where that is a using-declaration."""
    statement = without_template(statement)
    while statement[:1] == ["["]:  # an attribute, whose inside is left out
        statement = statement[1:]
    if not statement or statement[0] in TESTS:
        return {}
    if statement[0] == "using":
        text = "".join(statement)
        if statement[1] == "namespace":  # may change what any name means
            return {text: text}
        return {statement[1] if "=" in statement else statement[-1]: text}
    if statement[0] == "namespace":  # an alias
        return {statement[1]: "".join(statement)}
    if statement[0] in ("struct", "class", "union", "enum"):
        names = [token for token in statement[1:] if is_name(token) and token not in ("class", "struct")]
        if statement[0] != "enum":
            return {names[0]: ""} if names else {}
    declared, depth = "", 0
    for before, token in zip(["", *statement], statement):
        if token == "<":
            depth += 1
        elif token == ">" and depth:
            depth -= 1
        elif depth == 0 and token in ("(", "=", "[", "{", ":"):
            break
        elif depth == 0 and is_name(token):
            # A function of a class, or of a namespace that is named, was declared before.
            declared = "" if before == "::" else token
    return {declared: ""} if declared else {}


def is_function(statement: list[str]) -> bool:
    statement = without_template(statement)
    return "operator" in statement or ("(" in statement and "=" not in statement)


def enumerators(body: list[str]) -> dict[str, str]:
    return {token: "" for before, token in zip(["{", *body], body) if before in ("{", ",") and is_name(token)}


def declarations(text: str, definitions: set[str] | None = None) -> dict[str, str]:
    """The names that the text declares at namespace scope. `definitions` gets those of functions with a body, but for
    names that the text also declares for itself: static, or in an unnamed namespace."""
    names: dict[str, str] = {}
    for_itself: set[str] = set()
    defined: set[str] = set()
    is_unnamed: list[bool] = []  # of each namespace that is open

    def add(statement: list[str]) -> None:
        declared = names_of(statement)
        names.update(declared)
        if any(is_unnamed) or "static" in statement:
            for_itself.update(declared)

    tokens = TOKEN.findall(DIRECTIVE.sub("", text))
    statement: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token == "}":  # of a namespace
            is_unnamed[-1:] = []
            statement = []
        elif token == ";":
            add(statement)
            statement = []
        elif token == "{" and ("namespace" in statement[:2] or statement == ["extern"]):
            is_unnamed.append(statement == ["namespace"])
            statement = []
        elif token in CLOSING:
            end = end_of_group(tokens, at)
            statement.append(token)
            if token == "{":
                if statement[0] == "enum" and statement[1] not in ("class", "struct"):
                    names |= enumerators(tokens[at + 1:end])
                # Behind a function's body no semicolon follows; behind an initializer or a class one does, or a name.
                if is_function(statement) and not (end < len(tokens) and tokens[end] in ",;{"):
                    add(statement)
                    defined.update(names_of(statement))
                    statement = []
            at = end
            continue
        else:
            statement.append(token)
        at += 1
    if definitions is not None:
        definitions |= defined - for_itself
    return names


class Sources:
    """Source files and headers, each read once. `folders` are where the names of included files start from."""

    def __init__(self, *folders: pathlib.Path):
        self.folders = folders

    @functools.cache
    def text(self, path: pathlib.Path) -> str:
        return NO_CODE.sub(lambda match: " " if match[0].lstrip()[0] in "/#" else ' "" ', path.read_text())

    @functools.cache
    def declares(self, path: pathlib.Path) -> dict[str, str]:
        return declarations(self.text(path))

    @functools.cache
    def defines(self, path: pathlib.Path) -> frozenset[str]:
        """Functions that it defines, and that a header of its own declares in a namespace of its own."""
        found: set[str] = set()
        declarations(self.text(path), found)
        here = self.opened_whole(path)
        headers = [header for header in self.includes(path) if here & self.opened_whole(header)]
        return frozenset(found).intersection(frozenset().union(*map(self.declares, headers)))

    @functools.cache
    def visible(self, path: pathlib.Path) -> frozenset[str]:
        """Names that the project's headers declare for it: those that it includes, and a header itself."""
        return frozenset(self.declares(path) if path.suffix == ".h" else ()).union(*map(self.declares, self.includes(path)))

    @functools.cache
    def mentions(self, path: pathlib.Path) -> frozenset[str]:
        return frozenset(MENTION.findall(self.text(path)))

    @functools.cache
    def qualifiers(self, path: pathlib.Path) -> frozenset[str]:
        """Names in it that are looked up as namespaces."""
        return frozenset(QUALIFIER.findall(self.text(path)))

    @functools.cache
    def words(self, path: pathlib.Path) -> frozenset[str]:
        """All names in it, those of members too."""
        return frozenset(WORD.findall(self.text(path)))

    @functools.cache
    def opened_whole(self, path: pathlib.Path) -> frozenset[str]:
        """The whole names of the namespaces that it opens."""
        found: set[str] = set()
        open_ones: list[str] = []  # a part of a name for each bracket that is open; empty for others'
        tokens = TOKEN.findall(DIRECTIVE.sub("", self.text(path)))
        name = ""
        for at, token in enumerate(tokens):
            if token == "namespace" and tokens[at - 1:at] != ["using"]:
                end = next((place for place in range(at, len(tokens)) if tokens[place] in "{=;"), at)
                name = "".join(tokens[at + 1:end]) if tokens[end] == "{" else ""
            elif token == "{":
                open_ones.append(name)
                if name:
                    found.add("::".join(filter(None, open_ones)))
                name = ""
            elif token == "}":
                open_ones[-1:] = []
        return frozenset(found)

    @functools.cache
    def opened(self, path: pathlib.Path) -> frozenset[tuple[str, str]]:
        """Those inside others, and those around them that are: last name and whole name."""
        parts = [whole.split("::") for whole in self.opened_whole(path)]
        return frozenset((each[end - 1], "::".join(each[:end])) for each in parts for end in range(2, len(each) + 1))

    @functools.cache
    def namespaces(self, path: pathlib.Path) -> frozenset[tuple[str, str]]:
        """Those of the file and of all headers that it includes."""
        return self.opened(path).union(*map(self.opened, self.includes(path)))

    def seen_through(self, namespace: str, headers: Iterable[pathlib.Path]) -> frozenset[str] | None:
        """The names that `using namespace` shows of the headers, and of namespaces inside. None: it is in none of them."""
        if namespace.startswith("std::") and namespace.endswith("_literals"):  # suffixes alone
            return frozenset()
        end = "::" + namespace
        those = [header for header in headers if any(("::" + whole).endswith(end) for whole in self.opened_whole(header))]
        inside = frozenset(name for header in those for name, whole in self.opened(header) if end + "::" in "::" + whole)
        return inside.union(*map(self.declares, those)) if those else None

    @functools.cache
    def outside(self, path: pathlib.Path) -> list[str]:
        """The headers of libraries that it includes itself."""
        return OUTSIDE.findall(path.read_text())

    @functools.cache
    def included(self, path: pathlib.Path) -> tuple[pathlib.Path, ...]:
        """The project's headers that it includes itself."""
        found = []
        for name in INCLUDE.findall(path.read_text()):
            candidates = (path.parent / name, *(folder / name for folder in self.folders))
            found += [header for header in candidates if header.is_file()][:1]
        return tuple(found)

    @functools.cache
    def includes(self, path: pathlib.Path) -> frozenset[pathlib.Path]:
        """The project's headers that it includes, and that they include."""
        found: set[pathlib.Path] = set()
        waiting = [path]
        while waiting:
            new = set(self.included(waiting.pop())) - found
            found |= new
            waiting += new
        return frozenset(found)
