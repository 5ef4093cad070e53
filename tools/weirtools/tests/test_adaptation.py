"""Tests of weirtools/scenes/adaptation.py. Run by `swift test`."""

import unittest

from weirtools.scenes.adaptation import Film, HLSJS, Stretch, Trace, best, play


def film(*rates, duration=2, count=50):
    return Film(duration, list(rates), [[rate * duration / 8] * count for rate in rates])


def falling(fall, end):
    """Wi-Fi, 3G and Wi-Fi, as tools/link has them."""
    return Trace([Stretch(fall, 5e6, 0.002), Stretch(end, 97_500, 0.2), Stretch(0, 5e6, 0.002)])


class Always:
    """A rule that takes one variant whatever comes."""

    def __init__(self, variant):
        self.variant = variant

    def choose(self, _):
        return self.variant

    def instead(self, *_):
        return None

    def took(self, *_):
        pass


class TraceTests(unittest.TestCase):
    def test_bytes_come_at_the_rate_of_each_stretch_after_the_round_trip(self):
        trace = Trace([Stretch(10, 100, 1), Stretch(0, 10, 2)])
        self.assertEqual(trace.end(0, 100), 2)
        self.assertEqual(trace.end(8, 300), 30)
        self.assertEqual(trace.end(20, 10), 23)
        self.assertEqual(trace.come(0, 0.5, 100), 0)
        self.assertEqual(trace.come(8, 12, 300), 120)
        self.assertEqual(trace.come(0, 9, 100), 100)


class PlayTests(unittest.TestCase):
    def test_what_takes_longer_than_it_plays_stalls_once_the_buffer_is_over(self):
        # 2 s at 200 b/s are 50 bytes; at 12.5 bytes a second each takes 4 s, and what was ahead is 2 s.
        played = play(Trace([Stretch(0, 12.5, 0)]), film(200, count=4), 30, Always(0))
        self.assertEqual((played.stalls, played.stalled, played.variants), (3, 6, [0] * 4))

    def test_no_more_is_held_than_may_be(self):
        # All but the 10 s that are held comes after the fall.
        held = play(Trace([Stretch(20, 5e6, 0), Stretch(0, 1, 0)]), film(8000, count=20), 10, Always(0))
        self.assertGreater(held.stalls, 0)
        self.assertEqual(play(Trace([Stretch(20, 5e6, 0), Stretch(0, 1, 0)]), film(8000, count=20), 60, Always(0)).stalls, 0)

    def test_the_best_variant_alone_stalls_where_the_rule_of_hlsjs_does_not(self):
        ladder = film(240_000, 480_000, 1_000_000, 2_400_000)
        self.assertGreater(play(falling(15, 75), ladder, 30, Always(3)).stalls, 0)
        played = play(falling(15, 75), ladder, 30, HLSJS(ladder))
        self.assertEqual(played.stalls, 0)
        self.assertEqual((played.variants[0], max(played.variants)), (0, 3))

    def test_what_comes_too_late_is_given_up_for_less(self):
        # The link falls just after it was asked for, and with 6 s held the buffer is over before.
        ladder = film(240_000, 3_000_000)
        asked = []

        class Noting(HLSJS):
            def instead(self, *transfer):
                other = super().instead(*transfer)
                asked.append(other)
                return other

        play(falling(10, 40), ladder, 6, Noting(ladder))
        self.assertIn(0, asked)


class BestTests(unittest.TestCase):
    def test_it_is_the_best_variant_where_the_link_carries_that(self):
        self.assertEqual(best(falling(0, 0), film(240_000, 2_400_000, count=5), 30).variants, [1] * 5)

    def test_it_is_the_most_that_comes_in_time(self):
        # 25 bytes a second: 2 s are 50, and each segment takes 25 or 75 of them: half of all can be the better one,
        # beside the first, which nothing waits for.
        played = best(Trace([Stretch(0, 25, 0)]), film(100, 300, count=9), 30)
        self.assertEqual(sum(played.variants), 5)

    def test_none_is_better_than_what_knows_no_future(self):
        ladder = film(240_000, 480_000, 1_000_000, 2_400_000)
        for ahead in (10, 30):
            for fall, end in ((7, 30), (15, 75)):
                reference = play(falling(fall, end), ladder, ahead, HLSJS(ladder))
                self.assertGreaterEqual(best(falling(fall, end), ladder, ahead).rate(ladder), reference.rate(ladder))

    def test_where_nothing_comes_in_time_there_is_none(self):
        with self.assertRaises(ValueError):
            best(Trace([Stretch(0, 1, 0)]), film(240_000, count=3), 30)


if __name__ == "__main__":
    unittest.main()
