"""Tables of the guide that a tool writes: each stands between two marker comments of its page."""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import sys

from weirtools import ROOT

GUIDE = ROOT / "Sources" / "weir" / "Weir.docc"


def moment():
    """Date and commit."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()
    # The pages say what was measured; they change nothing of it.
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!%s" % GUIDE.relative_to(ROOT))
    commit = (git("rev-parse", "--short", "HEAD") or "unknown") + (", changed" if changed else "")
    return "%s at commit %s" % (datetime.date.today().isoformat(), commit)


def machine():
    """Cores, processor, the instructions that hashing needs to be fast, and kernel."""
    facts = pathlib.Path("/proc/cpuinfo").read_text()
    model = re.search(r"^model name\s*: (.+)$", facts, re.MULTILINE)
    lacks = "" if re.search(r"\b(sha_ni|sha2)\b", facts) else " without instructions for SHA-256"
    return "%d cores of %s%s (Linux %s)" % (
        os.cpu_count(), model[1] if model else platform.machine(), lacks, platform.release().split("-")[0])


def heading():
    """Date, commit and machine, in one sentence."""
    return "Measured on %s, on %s." % (moment(), machine())


def parts(name, tool):
    """A page's text before, between and after the markers `<!-- TOOL: begin -->` and `<!-- TOOL: end -->`, with these."""
    page = GUIDE / name
    begin, end = "<!-- %s: begin -->" % tool, "<!-- %s: end -->" % tool
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    text, ended, after = rest.partition(end)
    if not found or not ended:
        sys.exit("%s: %s has no lines %s and %s" % (tool, page.relative_to(ROOT), begin, end))
    return before + begin, text, end + after


def read(name, tool):
    """The text between the markers of a page."""
    return parts(name, tool)[1]


def replace(name, tool, text):
    """Puts a text between the markers of a page."""
    before, _, after = parts(name, tool)
    (GUIDE / name).write_text(before + "\n\n" + text + "\n\n" + after, encoding="utf-8")
