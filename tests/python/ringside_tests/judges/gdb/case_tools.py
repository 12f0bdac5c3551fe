"""The modules of tests/unwind-cases/tools that judges use. Those files are programs, and import one another by their plain
names: so does this file, which therefore puts their folder into Python's path."""
import pathlib
import sys

CASES = pathlib.Path(__file__).resolve().parents[4] / "unwind-cases"
sys.path.append(str(CASES / "tools"))

import entry_code  # noqa: E402
import unwind_case  # noqa: E402

__all__ = ["CASES", "CONFIRM", "entry_code", "unwind_case"]
CONFIRM = CASES / "tools" / "confirm.py"
