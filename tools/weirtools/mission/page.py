"""The guide's page of what Weir does: a line for each row, with the titles of the tests that hold it.

    python3 -m weirtools.mission.page check     fails if a row names a test or tool that does not exist, or the page is not as generated
"""

import sys

from weirtools import ROOT, pages
from weirtools.mission import titles
from weirtools.mission.table import PLAYED, ROWS

PAGE, TOOL = "Evidence/WhatItDoes.md", "tools/mission"
FAMILIES = {
    "S": "As AVFoundation has it", "A": "As AVFoundation's newer interfaces have it", "P": "As other downloaders and proxies have it",
    "N": "What users ask for and nobody has", "W": "What Weir alone has",
}


def missing(rows, tests):
    """The tests and tools that rows name and that do not exist."""
    return [
        "%s: there is no %s" % (row.number, holder) for row in rows for holder in row.holders
        if holder not in tests and not (holder.startswith("tools/") and (ROOT / holder).is_file())
    ]


def shown(row, holder, tests):
    """A holder as the page has it: the command that runs it alone, and its title."""
    if holder == PLAYED:
        return "`%s --only %s`" % (holder, row.number)
    if holder not in tests:
        return "`%s`" % holder
    return "%s (`%s`)" % (tests[holder], holder.partition(".")[2])


def table(rows, tests):
    """The rows as tables in Markdown, one for each family."""
    lines = []
    for letter, heading in FAMILIES.items():
        lines += ["### " + heading, "", "| | A user gets | Command | Shown by |", "|---|---|---|---|"]
        for row in rows:
            if row.number[0] == letter:
                cells = [row.number, row.sentence, "`%s`" % row.command, "; ".join(shown(row, holder, tests) for holder in row.holders)]
                lines.append("| %s |" % " | ".join(cell.replace("|", "\\|") for cell in cells))
        lines.append("")
    return "\n".join(lines).strip()


def generated():
    """The text of the page's table; the program ends if a row names something that does not exist."""
    tests = titles.all_tests()
    if wrong := missing(ROWS, tests):
        sys.exit("weirtools/mission/table.py: " + "; ".join(wrong))
    return table(ROWS, tests)


def write():
    pages.replace(PAGE, TOOL, generated())


def check():
    if pages.read(PAGE, TOOL).strip() != generated():
        sys.exit("%s is not as its tests say: tools/mission --page" % PAGE)


if __name__ == "__main__":
    check()
