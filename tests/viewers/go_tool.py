"""Go's own tool, which runs programs and reads profiles of the format pprof."""
import re

import viewer_case

LOCATION = re.compile(r"\s*(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*)")
LINE = re.compile(r"(.*?) (\S*):(\d+) s=\d+(?:\(.*\))?$")
LABEL = re.compile(r"(\w+):\[([^\]]*)\]")


def go(folder, *arguments):
    """The standard output of `go` in a folder, where it keeps what it caches, too."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PPROF_TMPDIR": str(folder), "GOCACHE": str(folder / "cache"),
                   "GO111MODULE": "off"}
    return viewer_case.run(viewer_case.need("go", "golang-go"), *arguments, cwd=folder, env=environment).stdout


def read_raw(text):
    """(names of values, [(values, location ids, labels)], {location: function names, innermost first}, mapping lines)."""
    values, samples, locations, mappings = [], [], {}, []
    part = None
    for line in text.splitlines():
        if line in ("Samples:", "Locations", "Mappings"):
            part = line
        elif part == "Samples:" and not values:
            values = [word.partition("/")[0] for word in line.replace("[dflt]", "").split()]
        elif part == "Samples:" and re.match(r"\s*-?\d", line):
            numbers, _, ids = line.partition(":")
            samples.append(([int(number) for number in numbers.split()], [int(word) for word in ids.split()], {}))
        elif part == "Samples:":
            samples[-1][2].update(LABEL.findall(line))
        elif part == "Locations":
            found = LOCATION.match(line)
            if found:
                current = locations.setdefault(int(found.group(1)), [])
                line = found.group(4)
            if LINE.match(line.strip()):
                current.append(LINE.match(line.strip()).group(1))
        elif part == "Mappings":
            mappings.append(line)
    return values, samples, locations, mappings
