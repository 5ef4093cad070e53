"""Tests of weirtools/scenes/judging.py. Run by `swift test`."""

import types
import unittest

from weirtools.scenes import judging


class Scripted(judging.Baseline):
    """A plain origin of which a player says these things, one play after the other, the last ones again and again."""

    def __init__(self, *plays):
        super().__init__(None, None)
        self.plays, self.count = plays, 0

    def play_again(self, fixture, player):
        said = self.plays[min(self.count, len(self.plays) - 1)]
        self.count += 1
        return {"report": {"ended": True, "position": 12, "problems": said}, "requests": 6}


class Sayings(unittest.TestCase):
    film = types.SimpleNamespace(name="film")

    def test_what_a_player_says_of_a_plain_origin_now_and_then_is_its_own(self):
        baseline = Scripted([], [], ["lost"], [])
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["lost"]), [])
        self.assertEqual(baseline.count, 3)
        self.assertEqual(list(baseline.sayings()), ["vlc of film, in 1 of 3 plays: lost"])

    def test_what_it_never_says_there_is_not(self):
        baseline = Scripted(["lost"], [])
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["lost", "torn"]), ["torn"])
        self.assertEqual(baseline.count, judging.HEARINGS)
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["torn"]), ["torn"])
        self.assertEqual(baseline.count, judging.HEARINGS)

    def test_it_is_listened_to_as_often_as_wanted(self):
        baseline = Scripted([], ["lost"])
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["lost"], 1), ["lost"])
        self.assertEqual((baseline.count, list(baseline.sayings())), (1, []))
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["lost"]), [])
        self.assertEqual(baseline.unsaid(self.film, "vlc", ["lost"], 1), [])

    def test_who_says_nothing_new_is_not_listened_to_again(self):
        baseline = Scripted(["lost"])
        self.assertEqual(baseline.unsaid(self.film, "vlc", []), [])
        self.assertEqual((baseline.count, list(baseline.sayings())), (0, []))


if __name__ == "__main__":
    unittest.main()
