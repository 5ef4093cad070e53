"""The guide's page of what Weir does, a line for each row."""

from weirtools import pages

FAMILIES = {
    "S": "As AVFoundation has it", "A": "As AVFoundation's newer interfaces have it", "P": "As other downloaders and proxies have it",
    "N": "What users ask for and nobody has", "W": "What Weir alone has",
}


def table(rows):
    """The rows as tables in Markdown, one for each family."""
    lines = []
    for letter, heading in FAMILIES.items():
        lines += ["### " + heading, "", "| | A user gets | Command |", "|---|---|---|"]
        lines += ["| %s | %s | `%s` |" % (one.number, one.sentence, one.command.replace("|", "\\|")) for one in rows if one.number[0] == letter]
        lines.append("")
    return "\n".join(lines).strip()


def write(rows):
    pages.replace("Evidence/WhatItDoes.md", "tools/mission", table(list(rows)))
