"""Each room says at the head of its main file what its duty is, where to enter, and what does not belong there. Run by `swift test`."""

import re
import unittest

from weirtools import ROOT

HEAD = re.compile(r"// The room (\w+)\.\n//\n((?:// .*\n)+)")
DECLARATION = r"\b(?:struct|class|enum|actor|protocol)\s+%s\b"


def rooms():
    """The names of the rooms: the targets in Swift of the manifest."""
    manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
    return re.findall(r'\broom\(\s*"(\w+)"', manifest) + ["weir"]


class Heads(unittest.TestCase):
    def test_each_room_has_one(self):
        self.assertGreater(len(rooms()), 20)
        for room in rooms():
            sources = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "Sources" / room).rglob("*.swift"))]
            heads = [match for source in sources if (match := HEAD.match(source))]
            self.assertEqual([match[1] for match in heads], [room])
            text = heads[0][2]
            for label in ("Duty", "Entrance", "Does not enter"):
                self.assertIn("// %s: " % label, text, room)
            entrance = text[text.index("Entrance"):text.index("Does not enter")]
            for name in re.findall(r"`([A-Z]\w+)[`.(]", entrance):
                known = room == "Control" and name == "WeirAPI" or any(re.search(DECLARATION % name, source) for source in sources)
                self.assertTrue(known, "%s has no type %s" % (room, name))


if __name__ == "__main__":
    unittest.main()
