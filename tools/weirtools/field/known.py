"""Failures of the field laboratory that are known: known.txt, written by `tools/field --record-known`.

A line is a pattern of case names, the column, and the reason why it may fail. Lines that begin with # are comments.
"""

import fnmatch
import pathlib

FILE = pathlib.Path(__file__).with_name("known.txt")
HEAD = "# Known failures of tools/field: a pattern of case names, the column, the reason. See known.py.\n"


def lines():
    if not FILE.exists():
        return []
    rows = [line.split(None, 2) for line in FILE.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [(pattern, column, why) for pattern, column, why in rows]


def reason(name, column):
    """The reason why this cell may fail; None if it must pass."""
    return next((why for pattern, of, why in lines() if of == column and fnmatch.fnmatchcase(name, pattern)), None)


def record(cells):
    """Writes the failures (name, column, reason) of a run in place of those known of the same cases."""
    names = {name for name, _, _ in cells}
    kept = [row for row in lines() if row[0] not in names]
    new = [(name, column, why[:160]) for name, column, why in cells if why]
    FILE.write_text(HEAD + "".join("%-34s %-8s %s\n" % row for row in sorted(kept + new)), encoding="utf-8")
