"""Tests of weirtools/testing/prose.py. Run by `swift test`."""

import pathlib
import tempfile
import unittest

from weirtools.testing import prose


def said(source, path="Sources/Room/File.swift"):
    """The line and the words of each finding."""
    return [(finding.line, finding.said) for finding in prose.findings(path, source)]


class Beginnings(unittest.TestCase):
    def test_a_doc_comment_names_its_thing_first(self):
        self.assertEqual(said("/// Whether it is stored.\nvar isStored: Bool\n"), [(1, "Whether it is stored.")])
        self.assertEqual(said("    /// What is sent.\n"), [(1, "What is sent.")])
        self.assertEqual(said("/// True if it is stored.\n/// Who reads it must wait.\n"), [])

    def test_each_doc_comment_counts(self):
        self.assertEqual([line for line, _ in said("/// What.\nlet a = 1\n\n/// Who.\nlet b = 2\n")], [1, 4])

    def test_docstrings_of_python_as_well(self):
        self.assertEqual(said('def f():\n    """Whether it is."""\n', "tools/link"), [(2, 'Whether it is."""')])

    def test_other_comments_begin_as_they_like(self):
        self.assertEqual(said("// What follows is sorted.\n"), [])


class Words(unittest.TestCase):
    def test_comments_and_messages_are_read(self):
        self.assertEqual(said("// It merely waits.\n"), [(1, "merely")])
        self.assertEqual(said('let a = 1\nlog("the URI is none")\n'), [(2, "is none")])
        self.assertEqual(said('let text = """\n    a\n    It wants a key.\n    """\n// tells\n'), [(3, "wants"), (5, "tells")])

    def test_code_and_single_words_are_not(self):
        self.assertEqual(said('let tells = 1\nlet key = "lies"\n'), [])

    def test_a_url_is_no_comment(self):
        self.assertEqual(said('let url = "https://host/annex"\n'), [])

    def test_the_word_none_of_another_language_is_allowed(self):
        self.assertEqual(said("if value is None:\n    # this is none of them\n", "tools/a.py"), [])

    def test_lines_of_pages_are_read(self):
        self.assertEqual(said("# A page\n\nIt merely waits.\n", "README.md"), [(3, "merely")])


class Names(unittest.TestCase):
    def test_parts_of_identifiers_count(self):
        self.assertEqual(said("struct RecentFlights {}\n"), [(1, "RecentFlights")])
        self.assertEqual(said("let a = b\nlet playerPatience = 3\n"), [(2, "playerPatience")])

    def test_letters_within_another_word_do_not(self):
        self.assertEqual(said("let labelled = strayed + bellow + seating\n"), [])

    def test_a_place_in_code_says_which(self):
        self.assertEqual([words for _, words in said("let place = 1\nlet firstPlaces = [2]\n")], ["place", "firstPlaces"])
        self.assertEqual(said("let placeholder = 1 // in place of a name\nfunc decryptsInPlaceOf() {}\nlet replaces = 2\n"), [])

    def test_some_are_old_only_as_they_are(self):
        self.assertEqual(said("let joint = 1\nlet a = Joint()\n"), [(2, "Joint")])

    def test_comments_name_old_types(self):
        self.assertEqual(said("// The Convoy waits, in flight.\n"), [(1, "Convoy")])
        self.assertEqual(said("// An Annex of RFC 1, Annex B of another one.\n"), [(1, "Annex")])


class Files(unittest.TestCase):
    def test_folders_are_searched_and_hidden_ones_are_not(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("Sources/A/a.swift", "Sources/A/.build/b.swift", "Tests/c.swift", "Sources/A/d.png"):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("// merely\n")
            self.assertEqual([str(found) for found in prose.check(root, ["Sources", "none.md"])],
                             ["Sources/A/a.swift:1: “merely”: write only, or nothing"])

    def test_prefixes_end_at_a_folder(self):
        self.assertTrue(prose.is_below("Sources/Play/a.swift", ["Sources/Play"]))
        self.assertFalse(prose.is_below("Sources/Playback/a.swift", ["Sources/Play"]))


if __name__ == "__main__":
    unittest.main()
