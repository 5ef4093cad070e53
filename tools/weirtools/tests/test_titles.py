"""The sentences of Swift tests, from which the guide's page of what Weir does is written."""

import unittest

from weirtools.mission import page, titles
from weirtools.mission.table import Row

TEXT = """
@Suite("W10: a film") struct FilmTests {
    private struct Case { let name: String }

    @Test(
        "plays \\"at once\\"")
    func plays() {}

    @Test func s9ASeekMovesTheURL() async throws {}
}

extension OverSockets {
    // @Test("no test")
    @Suite @LoopActor struct CookieTests {
        func helper() {}
        @Test(arguments: [1]) func aCookieIsSent(number: Int) {}
    }
}
"""


class Titles(unittest.TestCase):
    def test_a_test_is_named_by_its_type_and_its_titles(self):
        self.assertEqual(titles.read("RoomTests", TEXT), {
            "RoomTests.FilmTests/plays": 'a film plays "at once"',
            "RoomTests.FilmTests/s9ASeekMovesTheURL": "a seek moves the URL",
            "RoomTests.CookieTests/aCookieIsSent": "a cookie is sent",
        })

    def test_a_row_that_names_what_does_not_exist_is_found(self):
        rows = [Row("S1", "It plays", "weir play", ["RoomTests.FilmTests/plays", "RoomTests.FilmTests/gone", "tools/mission", "tools/gone"])]
        self.assertEqual(page.missing(rows, titles.read("RoomTests", TEXT)), [
            "S1: there is no RoomTests.FilmTests/gone", "S1: there is no tools/gone"])
