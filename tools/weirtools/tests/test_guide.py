"""Links of the guide: dead ones are found, and each form of the guide has its own."""

import pathlib
import tempfile
import unittest

from weirtools import guide

START = """# Start

See [Keeping](Sub/Keeping.md#a-full-disk-2-tb), [here](#one-more) and [a site](https://example.com/page.md).

## One more

`[no link](Gone.md)`

```
[no link](Gone.md)
## No heading
```
"""
KEEPING = "# Keeping\n\n### A full disk: `2` TB\n\nBack to [Start](../Start.md).\n"


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def dead(self, **pages):
        for name, text in pages.items():
            path = self.folder / (name.replace("_", "/") + ".md")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        found = guide.dead(sorted(self.folder.rglob("*.md")))
        return [line.replace(str(self.folder) + "/", "") for line in found]

    def test_links_that_lead_somewhere_are_not_named(self):
        self.assertEqual(self.dead(Start=START, Sub_Keeping=KEEPING), [])

    def test_a_file_that_is_gone(self):
        self.assertEqual(self.dead(Start="[Gone](Gone.md)"), ["Start.md: Gone.md: no such file"])

    def test_a_heading_that_is_gone(self):
        page = START.replace("full-disk", "fast-disk")
        self.assertEqual(self.dead(Start=page, Sub_Keeping=KEEPING), ["Start.md: Sub/Keeping.md#a-fast-disk-2-tb: no such heading"])

    def test_a_heading_within_code_is_none(self):
        self.assertEqual(self.dead(Start=START + "[x](#no-heading)", Sub_Keeping=KEEPING), ["Start.md: #no-heading: no such heading"])

    def test_a_link_that_only_docc_follows(self):
        self.assertEqual(self.dead(Start="see <doc:Keeping>"), ["Start.md: <doc:Keeping>: no link on a forge"])


class Forms(unittest.TestCase):
    TEXTS = {"Start.md": START, "Sub/Keeping.md": KEEPING}

    def test_docc_has_names_of_pages(self):
        text = guide.rewritten("Start.md", self.TEXTS, guide.docc_link)
        self.assertIn("See [Keeping](doc:Keeping#A-full-disk-2-TB), [here](doc:Start#One-more) and [a site](https://example.com/page.md).", text)
        self.assertIn("[Start](doc:Start)", guide.rewritten("Sub/Keeping.md", self.TEXTS, guide.docc_link))

    def test_code_stays_as_it_is(self):
        text = guide.rewritten("Start.md", self.TEXTS, guide.docc_link)
        self.assertEqual(text.count("[no link](Gone.md)"), 2)

    def test_words_are_counted_without_the_lines_of_tables(self):
        self.assertEqual(guide.words("| a | `b c` |\n|---|---|\n- d\n"), 4)


if __name__ == "__main__":
    unittest.main()
