"""The tables of "How a request travels" name types and functions that exist: a reader follows them file by file."""

import re
import unittest

from weirtools import ROOT

PAGE = ROOT / "Sources" / "weir" / "Weir.docc" / "Design" / "HowARequestTravels.md"
ROW = re.compile(r"^\| [\d–]+ \| (?P<types>.*?) \| .* \| (?P<functions>.*?) ?\|$", re.MULTILINE)
WORD = re.compile(r"`([\w+]+)`")


def sources(name):
    """The texts of a type's file and of the files of its extensions, in all rooms."""
    files = [*ROOT.glob("Sources/**/%s.swift" % name), *ROOT.glob("Sources/**/%s+*.swift" % name)]
    return [path.read_text(encoding="utf-8") for path in files]


def missing(page):
    """The words of the tables that name neither a room, a file nor a function of the row's last type."""
    found = []
    for row in ROW.finditer(page):
        names = [name for name in WORD.findall(row["types"]) if not (ROOT / "Sources" / name).is_dir() or sources(name)]
        found += [name for name in names if not sources(name)]
        for function in WORD.findall(row["functions"]):
            pattern = re.compile(r"\binit\b" if function == "init" else r"\bfunc %s\b" % function)
            if not any(pattern.search(text) for text in sources(names[-1])):
                found.append("%s.%s" % (names[-1], function))
    return found


class Walks(unittest.TestCase):
    def test_each_step_names_what_exists(self):
        page = PAGE.read_text(encoding="utf-8")
        self.assertGreater(len(ROW.findall(page)), 50)
        self.assertEqual(missing(page), [])

    def test_a_name_that_is_gone_is_seen(self):
        row = "| 1 | `Playback`, `Route`, `GoneType` | reads | `parse` |\n| 2 | `Playback`, `Route` | reads | `gone` |"
        self.assertEqual(missing(row), ["GoneType", "GoneType.parse", "Route.gone"])
