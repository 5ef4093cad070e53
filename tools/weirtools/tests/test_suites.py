"""Tests of weirtools/testing/suites.py. Run by `swift test`."""

import io
import pathlib
import re
import tempfile
import unittest
from contextlib import redirect_stdout

from weirtools.testing import suites

# A process that runs tests, as the binary of the package does: SUITES, of which those in FAILED fail, and CRASHED ends early.
BINARY = """#!/usr/bin/env python3
import pathlib, re, sys
TESTS = %r
FAILED = %r
CRASHED = %r
if "--list-tests" in sys.argv:
    print("\\n".join(TESTS))
    sys.exit(0)
expression = sys.argv[sys.argv.index("--filter") + 1]
chosen = [test for test in TESTS if re.search(expression, test)]
if any(test in CRASHED for test in chosen):
    print("◇ Test %%s started." %% chosen[0], flush=True)
    print("Fatal error: no", flush=True)
    sys.exit(139)
def is_failed(test):
    alone = "--xunit-output" not in sys.argv
    return FAILED.get(test) == "always" or FAILED.get(test) == "once" and not alone
for test in chosen:
    if is_failed(test):
        print("✘ Test %%s recorded an issue at A.swift:1:1: Expectation failed" %% test)
if "--xunit-output" in sys.argv:
    rows = ""
    for test in chosen:
        path, name = test.rsplit("/", 1)
        inside = "<failure/>" if is_failed(test) else ""
        rows += '<testcase classname="%%s" name="%%s" time="0.1">%%s</testcase>' %% (path.replace("/", "."), name, inside)
    pathlib.Path(sys.argv[sys.argv.index("--xunit-output") + 1]).write_text(
        "<testsuites><testsuite>" + rows + "</testsuite></testsuites>")
sys.exit(1 if any(is_failed(test) for test in chosen) else 0)
"""

TESTS = ["ATests.One/a()", "ATests.One/b(value:)", "ATests.Two/c()", "BTests.Outer/Inner/d()"]


class Plan(unittest.TestCase):
    def test_the_longest_comes_first_and_short_ones_of_a_module_share_a_process(self):
        units = suites.plan({"A.Long": 100, "A.One": 10, "A.Two": 10, "A.Three": 10, "B.One": 1})
        self.assertEqual([unit.suites for unit in units], [["A.Long"], ["A.One", "A.Three"], ["A.Two"], ["B.One"]])

    def test_a_suite_counts_as_it_did_in_the_last_run_or_by_its_tests(self):
        seconds = suites.expected_seconds(TESTS, {"ATests.One": 40.0})
        each = suites.SECONDS_OF_A_ROOMS_TEST
        self.assertEqual(seconds, {"ATests.One": 40.0, "ATests.Two": each, "BTests.Outer": each})

    def test_a_pattern_names_the_tests_of_its_suites_and_no_others(self):
        expression = re.compile(suites.pattern(suites.Unit("x", ["ATests.One", "BTests.Outer"], 1)))
        self.assertEqual([name for name in TESTS + ["ATests.OneMore/a()"] if expression.search(name)],
                         [TESTS[0], TESTS[1], TESTS[3]])


class Runs(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def run_all(self, failed=None, crashed=(), excused=None, identifiers=TESTS):
        """The exit status of a run, and its output."""
        binary = self.folder / "binary"
        binary.write_text(BINARY % (TESTS, failed or {}, list(crashed)), encoding="utf-8")
        binary.chmod(0o755)
        self.runner = runner = suites.Runner(str(binary), self.folder, 2)
        output = io.StringIO()
        with redirect_stdout(output):
            runner.run(suites.plan(suites.expected_seconds(suites.listed(str(binary)), {})))
            status = suites.conclude(runner, identifiers, excused or {}, 0)
        return status, output.getvalue()

    def test_all_pass(self):
        status, output = self.run_all()
        self.assertEqual(status, 0, output)
        self.assertIn("4 tests ran", output)

    def test_a_failure_is_red_although_it_would_pass_alone(self):
        for kind in ["once", "always"]:
            status, output = self.run_all(failed={"ATests.One/a()": kind})
            self.assertEqual(status, 1)
            self.assertIn("failed: ATests.One/a()", output)

    def test_a_shaky_test_has_a_second_chance(self):
        for name in ["ATests.One/b(value:)", "BTests.Outer/Inner/d()"]:
            excused = {suites.uniform(name): "the players' clocks"}
            status, output = self.run_all(failed={name: "once"}, excused=excused)
            self.assertEqual(status, 0, output)
            self.assertIn("passed alone; known cause: the players' clocks", output)
            status, output = self.run_all(failed={name: "always"}, excused=excused)
            self.assertEqual(status, 1)

    def test_a_process_that_ends_early_is_red(self):
        status, output = self.run_all(crashed=["ATests.Two/c()"])
        self.assertEqual(status, 1)
        self.assertIn("Fatal error: no", output)

    def test_a_test_that_did_not_run_is_red(self):
        status, output = self.run_all(identifiers=TESTS + ["ATests.Two/lost()"])
        self.assertEqual(status, 1)
        self.assertIn("did not run: ATests.Two/lost()", output)

    def test_the_seconds_of_a_run_are_known_to_the_next(self):
        self.run_all()
        known = suites.known_seconds(self.folder, {suites.suite(name) for name in TESTS})
        self.assertEqual({name: round(seconds, 3) for name, seconds in known.items()},
                         {"ATests.One": 0.2, "ATests.Two": 0.1, "BTests.Outer": 0.1})

    def test_the_end_says_what_processor_time_the_tests_took(self):
        self.run_all()
        line = suites.timings(self.runner, suites.Idleness())
        self.assertRegex(line, r"processor time of the tests: \d+ s \(.*processor-time.txt\)")
        rows = (self.folder / "processor-time.txt").read_text(encoding="utf-8").splitlines()[1:]
        self.assertEqual(sorted(name for row in rows for name in row.split()[2:]),
                         ["ATests.One", "ATests.Two", "BTests.Outer"])
        # The processes of this test end within a hundredth of a second.
        self.assertTrue(any(worker.processor_seconds > 0 for worker in self.runner.ended))

    def test_there_are_more_workers_while_the_cores_are_idle(self):
        class Measured(suites.Idleness):
            seconds, share = suites.IDLE_SPAN, 0.5

        runner = suites.Runner("binary", self.folder, 2)
        runner.idleness = Measured()
        for count, share, has_room in [(1, 0.0, True), (2, 0.0, False), (2, 0.5, True), (2 + suites.MORE_WORKERS, 0.5, False)]:
            runner.running = [None] * count
            Measured.share = share
            self.assertEqual(runner.has_room(), has_room, (count, share))
        # What those that run leave idle shows after a while.
        runner.running = [None] * 2
        Measured.seconds = suites.IDLE_SPAN / 2
        self.assertFalse(runner.has_room())

    def test_the_list_of_shaky_tests_has_a_cause_for_each(self):
        path = self.folder / "shaky.txt"
        path.write_text("# Comment.\n\nATests.One/a() a cause of some words\n", encoding="utf-8")
        self.assertEqual(suites.shaky(path), {"ATests.One.a()": "a cause of some words"})
        self.assertEqual(suites.shaky(self.folder / "none"), {})


if __name__ == "__main__":
    unittest.main()
