"""Tests of weirtools/testing/narrator.py. Run by `swift test`."""

import pathlib
import signal
import subprocess
import sys
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
        self.assertEqual(run.words, "rooms: 1 test passed, 1 failed")
        self.assertEqual((run.failed, list(run.running)), (['"get"'], ["hangs()"]))
        self.assertIsNone(run.take("✘ Test run with 3 tests in 1 suite failed after 90.123 seconds with 1 issue."))
        self.assertEqual(run.words, "rooms: 1 test passed, 1 failed in 1.5 minutes")

    def test_a_test_that_hangs_is_told(self):
        run = narrator.Run("rooms")
        for line in LOG.splitlines():
            run.take(line)
        run.moved -= 11 * 60
        self.assertEqual(run.words, "rooms: 1 test passed, 1 failed, nothing for 11 minutes since hangs()")
        run.take("✔ Test hangs() passed after 660.002 seconds.")
        self.assertEqual(run.words, "rooms: 2 tests passed, 1 failed")

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

    def test_a_log_is_followed_as_it_grows_and_to_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "end-to-end.log")
            with subprocess.Popen([sys.executable, "-B", narrator.__file__, path], stdout=subprocess.PIPE,
                                  text=True, encoding="utf-8") as process:
                first, second = LOG[:LOG.index("recorded") + 3], LOG[LOG.index("recorded") + 3:]
                with open(path, "w", encoding="utf-8") as log:
                    log.write(first)
                    log.flush()
                    log.write(second)
                self.assertIn("recorded an issue", process.stdout.readline())
                process.send_signal(signal.SIGTERM)
                rest = process.stdout.read()
            self.assertIn("↳ what was seen", rest)
            self.assertTrue(rest.endswith("end-to-end: 1 test passed, 1 failed\n"), rest)
            summary = subprocess.run([sys.executable, "-B", narrator.__file__, "--summary", path], check=True,
                                     capture_output=True, text=True, encoding="utf-8").stdout
            self.assertIn("recorded an issue", summary)
            self.assertIn("it broke off in: hangs()", summary)


if __name__ == "__main__":
    unittest.main()
