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


def heading():
    """Date, commit and machine, in one sentence."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()
    commit = (git("rev-parse", "--short", "HEAD") or "unknown") + (", changed" if git("status", "--porcelain", "--untracked-files=no") else "")
    model = re.search(r"^model name\s*: (.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return "Measured on %s at commit %s, on %d cores of %s (Linux %s)." % (
        datetime.date.today().isoformat(), commit, os.cpu_count(), model[1] if model else platform.machine(), platform.release().split("-")[0])


def replace(name, tool, text):
    """Puts a text between the markers `<!-- TOOL: begin -->` and `<!-- TOOL: end -->` of a page."""
    page = GUIDE / name
    begin, end = "<!-- %s: begin -->" % tool, "<!-- %s: end -->" % tool
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        sys.exit("%s: %s has no lines %s and %s" % (tool, page.relative_to(ROOT), begin, end))
    page.write_text(before + begin + "\n\n" + text + "\n\n" + end + after, encoding="utf-8")
