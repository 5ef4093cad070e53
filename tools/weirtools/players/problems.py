"""A player's words of trouble, so that those of two runs can be compared."""

import re


def cleaned(lines):
    """The lines of a log, each once, without URLs, addresses and numbers: these differ from run to run."""
    found = []
    for line in lines:
        line = re.sub(r"https?://\S+|/a/\S+", "URL", line)
        line = re.sub(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,16}\b", "ADDRESS", line)
        line = re.sub(r"\d+(\.\d+)?", "N", line).strip()
        if line and not line.startswith("Last message repeated") and line not in found:
            found.append(line)
    return found
