"""Tests of how tools/soak judges a run."""

import unittest

from weirtools.scenes.growth import Measure, growth, table


def run(memory=lambda _: 50 << 20, descriptors=lambda _: 40, nameless=lambda _: 30, threads=lambda _: 12, count=90):
    return [Measure(second, memory(second), descriptors(second), nameless(second), threads(second)) for second in range(count)]


class Growth(unittest.TestCase):
    def test_a_flat_run_passes(self):
        self.assertEqual(growth(run()), [])

    def test_caches_may_fill_at_first(self):
        self.assertEqual(growth(run(memory=lambda second: min(second, 30) << 20, descriptors=lambda second: min(second, 30))), [])

    def test_a_moment_is_no_growth(self):
        self.assertEqual(growth(run(descriptors=lambda second: 400 if second == 70 else 40)), [])

    def test_each_kind_that_grows_is_a_fault(self):
        faults = growth(run(
            lambda second: (50 + second) << 20, lambda second: 40 + second, lambda second: 20 + second, lambda second: 12 + second // 10))
        self.assertEqual([fault.split()[0] for fault in faults], ["memory", "descriptors", "nameless", "threads"])

    def test_the_time_shift_goes_up_and_down(self):
        self.assertEqual(growth(run(nameless=lambda second: 30 if second < 60 else 42)), [])

    def test_a_short_run_proves_nothing(self):
        self.assertEqual(len(growth(run(count=5))), 1)
        self.assertIn("first third", table(run(count=5)))


if __name__ == "__main__":
    unittest.main()
