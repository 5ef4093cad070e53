"""The sources name no processor: what compiles for one compiles for another."""

import re
import unittest

from weirtools import ROOT

NAMES = re.compile(r"\barch\(|\b(x86_64|amd64|aarch64|arm64|i386)\b|\b_mm_\w+")
# The User-Agent that gates for browsers let in.
ALLOWED = {"Mozilla/5.0 (X11; Linux x86_64) Weir/"}


class Processors(unittest.TestCase):
    def test_the_sources_name_none(self):
        files = [path for suffix in ("swift", "c", "h") for path in sorted((ROOT / "Sources").rglob("*." + suffix))]
        self.assertGreater(len(files), 500)
        found = []
        for path in [*files, ROOT / "Package.swift"]:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if NAMES.search(line) and not any(text in line for text in ALLOWED):
                    found.append("%s:%d" % (path.relative_to(ROOT), number))
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
