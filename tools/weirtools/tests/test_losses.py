"""Tests of what tools/check/lost expects of a run."""

import unittest

from weirtools.scenes.losses import BACK, Cut, Draw, joined


class Joined(unittest.TestCase):
    def test_losses_apart_stay_apart(self):
        cuts = [Cut(1, 2, "refused"), Cut(3 + BACK, 1, "refused")]
        self.assertEqual(joined(cuts), cuts)

    def test_a_network_that_is_back_for_a_moment_counts_as_lost(self):
        """Weir need not find it between two losses, so that nothing is fetched before the second one ends."""
        cuts = [Cut(1.9, 5.4, "refused"), Cut(8.2, 2.5, "refused"), Cut(10.7 + BACK, 1, "refused")]
        self.assertEqual([(round(cut.begins, 3), round(cut.length, 3)) for cut in joined(cuts)], [(1.9, 8.8), (10.7 + BACK, 1)])

    def test_a_seed_draws_the_same_again(self):
        self.assertEqual(str(Draw(52390795)), str(Draw(52390795)))
        self.assertNotEqual(str(Draw(52390795)), str(Draw(52390796)))


if __name__ == "__main__":
    unittest.main()
