"""Tests of weirtools/testing/narrator.py. Run by `swift test`."""

import pathlib
import tempfile
import unittest


LOG = """\
◇ Test run started.
↳ Testing Library Version: 6.3.1
◇ Suite "The commands" started.
◇ Test "get" started.
◇ Test case passing 1 argument kind → "ll" to "get" started.
✘ Test "get" recorded an issue with 1 argument kind → "ll" at A.swift:87:13: Expectation failed: (a → 1) == (b → 2)
↳ what was seen
and its second line
✘ Test "get" with 1 test case failed after 1.5 seconds with 1 issue.
◇ Test one() started.
✔ Test one() passed after 0.002 seconds.
◇ Test "skipped" started.
➜ Test "skipped" skipped: "no browser"
✘ Suite "The commands" failed after 2 seconds with 1 issue.
◇ Test hangs() started.
"""

from weirtools.testing import narrator


class NarratorTests(unittest.TestCase):
    def test_a_failure_is_told_with_its_text_and_nothing_else_is(self):
        run = narrator.Run("rooms")
        told = [line for line in map(run.take, LOG.splitlines()) if line is not None]
        self.assertEqual(told, [
            'rooms: ✘ Test "get" recorded an issue with 1 argument kind → "ll" at A.swift:87:13: Expectation failed: '
            "(a → 1) == (b → 2)", "    ↳ what was seen", "    and its second line"])
        self.assertEqual((run.passed, run.failed, list(run.running)), (1, ['"get"'], ["hangs()"]))
        self.assertIsNone(run.take("✘ Test run with 3 tests in 1 suite failed after 90.123 seconds with 1 issue."))
        self.assertEqual(run.seconds, 90.123)

    def test_a_test_that_hangs_is_told(self):
        run = narrator.Run("rooms")
        for line in LOG.splitlines():
            run.take(line)
        self.assertEqual(run.quiet, "")
        run.moved -= 11 * 60
        self.assertEqual(run.quiet, "rooms: nothing for 11 minutes since hangs()")
        run.take("✔ Test hangs() passed after 660.002 seconds.")
        self.assertEqual(run.quiet, "")

    def test_a_test_ends_whose_argument_has_no_end(self):
        run = narrator.Run("rooms")
        run.take("◇ Test odd(text:) started.")
        run.take('◇ Test case passing 1 argument text → "Bearer ✔ Test odd(text:) with 5 test cases passed after 0.008 seconds.')
        self.assertEqual((run.passed, run.running), (1, {}))

    def test_a_crash_is_told_and_a_long_text_is_cut(self):
        run = narrator.Run("rooms")
        self.assertEqual(run.take("weir/A.swift:3: Fatal error: Index out of range"),
                         "rooms: weir/A.swift:3: Fatal error: Index out of range")
        lines = [run.take("x" * 5000) for _ in range(50)]
        self.assertEqual(sum(line is not None for line in lines), narrator.DETAILS)
        self.assertLess(len(lines[0]), 1100)

    def test_of_one_test_a_few_issues_are_told(self):
        run = narrator.Run("rooms")
        told = [run.take("✘ Test table() recorded an issue at A.swift:1:1: case %d" % number) for number in range(300)]
        self.assertEqual(sum(line is not None for line in told), narrator.ISSUES)
        self.assertIsNone(run.take("↳ of one that is not told"))
        self.assertIn("other()", run.take("✘ Test other() recorded an issue at A.swift:2:1: x"))

    def test_a_log_is_read_as_it_grows_and_without_its_colours(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "end-to-end.log")
            log = narrator.Log(path)
            self.assertEqual(list(log.news()), [])
            coloured = LOG.replace("✘", "\x1b[91m✘\x1b[0m")
            half = coloured.index("recorded") + 3
            path.write_text(coloured[:half], encoding="utf-8")
            self.assertEqual(list(log.news()), [])
            path.write_text(coloured, encoding="utf-8")
            self.assertIn("recorded an issue", list(log.news())[0])
            self.assertIn("    ↳ what was seen", log.told)
            self.assertEqual((log.run.passed, log.run.failed, list(log.run.running)), (1, ['"get"'], ["hangs()"]))


if __name__ == "__main__":
    unittest.main()
