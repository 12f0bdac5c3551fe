"""The table of functions that callgrind_annotate prints."""
import re

import viewer_case

# "86,144 (27.24%)  costs.c:walk [/tmp/costs]": the costs of an event, those of others where there are more, the function.
ROW = re.compile(r"^\s*([\d,]+|\.) \(\s*[\d.]+%\)\s+(?:(?:[\d,]+|\.)(?: \(\s*[\d.]+%\))?\s+)?[^:]*:(.*?)"
                 r"(?: \[(?:\[[^\]]*\]|[^\]]*)\])?$")


def rows(path, *options):
    """(line, function, costs of the first event), for each line of the table."""
    program = viewer_case.need("callgrind_annotate", "valgrind")
    text = viewer_case.run(program, "--threshold=100", "--auto=no", *options, path.name, cwd=path.parent).stdout
    for line in text.partition("file:function")[2].splitlines():
        if found := ROW.match(line):
            yield line, found.group(2), int(found.group(1).replace(",", "").replace(".", "0"))
