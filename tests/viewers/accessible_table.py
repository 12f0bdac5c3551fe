"""Looks once at how a program's accessible tree shows a table, and prints it as JSON: {"title", "status", "rows"}.

    accessible_table.py --process ID --columns NAME,NAME,… --rows N

The table is the one with those columns in its head and at least N rows. Needs the session bus that the program uses, and
the packages python3-gi and gir1.2-atspi-2.0. A process looks once only, for the library keeps what it saw of a program that
was not ready yet.

Exit status: 0 printed, 1 failed, 2 wrong usage, 3 there is no such table, 4 there is no library.
"""
import argparse
import json
import sys

TABLES = ("tree", "table", "tree table")


def below(element, depth=0):
    """An element's inner ones, without the cells of tables."""
    for index in range(element.get_child_count()):
        child = element.get_child_at_index(index)
        if child is not None:
            yield child
            if child.get_role_name() not in TABLES and depth < 20:
                yield from below(child, depth + 1)


def names(element, first, end):
    return [element.get_child_at_index(index).get_name() for index in range(first, end)]


def table_of(application, columns, rows):
    """None where there is none."""
    elements = list(below(application))
    for table in elements:
        count = table.get_child_count()
        if table.get_role_name() not in TABLES or count < (rows + 1) * len(columns):
            continue
        if names(table, 0, len(columns)) != columns:
            continue
        cells = names(table, len(columns), count)
        return {"title": application.get_child_at_index(0).get_name(),
                "status": [label.get_name() for bar in elements if bar.get_role_name() == "status bar"
                           for label in below(bar) if label.get_name()],
                "rows": [cells[first:first + len(columns)] for first in range(0, len(cells), len(columns))]}
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--process", required=True, type=int)
    parser.add_argument("--columns", required=True)
    parser.add_argument("--rows", required=True, type=int)
    options = parser.parse_args()
    try:
        import gi
        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi
    except (ImportError, ValueError):
        return 4
    for application in below(Atspi.get_desktop(0), depth=20):
        if application.get_process_id() == options.process:
            if found := table_of(application, options.columns.split(","), options.rows):
                print(json.dumps(found))
                return 0
    return 3


if __name__ == "__main__":
    sys.exit(main())
