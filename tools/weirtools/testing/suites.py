#!/usr/bin/env python3
"""Runs all tests of a built package: a few processes beside one another, each with one test after the other.

    tools/weirtools/testing/suites.py [--workers 6] [--folder .build/tests]

Tests wait for players and clocks much more than they compute. The suites are a queue, the longest first, from which each worker
takes the next one, so that no worker is idle at the end. There are more workers while those that run leave the cores idle. Failures
are printed at once, the progress each minute; the end says what processor time the tests took, and processor-time.txt which.

A failed test is a failure. One that Tests/shaky.txt names runs once more, alone; if it passes then, it is printed and the run goes
on. A test that no report names is a failure as well.
"""

import argparse
import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from weirtools.testing import narrator

# Seconds of suites that a machine without an earlier run must begin with. Others count by their number of tests.
LONG = {
    "EndToEndTests.SlowLinkTests": 229, "EndToEndTests.DeadHostTests": 220, "DownloadsTests.FaultTests": 186,
    "EndToEndTests.FramesTests": 140, "EndToEndTests.OriginOptionsTests": 120, "EndToEndTests.PlayersTests": 118,
    "EndToEndTests.KillTests": 100, "OriginTests.OverSockets": 99, "EndToEndTests.RecordingTests": 91,
    "EndToEndTests.PartOfflineTests": 88,
}
SECONDS_OF_A_TEST = {"EndToEndTests": 3.0}
SECONDS_OF_A_ROOMS_TEST = 0.3
# Suites that are shorter together than this are one process: each has to load 200 MB first.
SECONDS_OF_A_PROCESS = 25.0
# The folder, in that of the reports, of what tests of one run share.
SHARED = "shared"
# So many workers more than usual, while at least this share of the cores' time was idle for so many seconds.
MORE_WORKERS, IDLE_SHARE, IDLE_SPAN = 6, 0.2, 3.0
# More than so many are a fault of the tests.
MOST_SHAKY = 5

Unit = collections.namedtuple("Unit", "name suites seconds")


def suite(identifier):
    """MODULE.SUITE of a test's identifier, MODULE.SUITE/FUNCTION(LABELS). An inner suite belongs to the outer one."""
    return identifier.split("/")[0]


def uniform(identifier):
    """One spelling of an identifier: the list of tests has / before an inner suite, and a report has a dot there."""
    path, parenthesis, labels = identifier.partition("(")
    return path.replace("/", ".") + parenthesis + labels


def expected_seconds(identifiers, known):
    """Seconds of each suite: those of an earlier run, else those of LONG, else by the number of its tests."""
    counts = collections.Counter(map(suite, identifiers))
    result = {}
    for name, count in counts.items():
        each = SECONDS_OF_A_TEST.get(name.split(".")[0], SECONDS_OF_A_ROOMS_TEST)
        result[name] = known.get(name, LONG.get(name, count * each))
    return result


def plan(seconds):
    """The processes to run, the longest first. Short suites of one module share a process."""
    units, open_units = [], {}
    for name, each in sorted(seconds.items(), key=lambda item: (-item[1], item[0])):
        module = name.split(".")[0]
        unit = open_units.get(module)
        if unit is not None and unit.seconds + each <= SECONDS_OF_A_PROCESS:
            open_units[module] = unit._replace(suites=unit.suites + [name], seconds=unit.seconds + each)
            continue
        if unit is not None:
            units.append(unit)
        open_units[module] = Unit(name, [name], each)
    units += open_units.values()
    return sorted(units, key=lambda unit: (-unit.seconds, unit.name))


def pattern(unit):
    """The expression for --filter that names exactly the tests of a unit."""
    return "^(?:%s)(?:/|$)" % "|".join(re.escape(name) for name in unit.suites)


def cases(report):
    """(identifier, seconds, true if it failed) of each test in a report. Raises OSError and ParseError where it is not whole."""
    for case in ElementTree.parse(report).iter("testcase"):
        identifier = "%s/%s" % (case.get("classname"), case.get("name"))
        yield identifier, float(case.get("time") or 0), case.find("failure") is not None


def known_seconds(folder, suites):
    """Seconds of each suite in the reports of an earlier run."""
    outer = {uniform(name): name for name in suites}
    result = collections.Counter()
    for report in sorted(folder.glob("*.xml")):
        try:
            for identifier, seconds, _ in cases(report):
                # MODULE.SUITE, of a suite within a suite the outer one.
                name = ".".join(uniform(identifier).split(".")[:2])
                if name in outer:
                    result[outer[name]] += seconds
        except (OSError, ElementTree.ParseError):
            continue
    return result


def shaky(path):
    """The tests that get a second chance, with the cause of each: lines IDENTIFIER, a blank, CAUSE. # begins a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return {}
    entries = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    if len(entries) > MOST_SHAKY or any(len(entry) < 2 for entry in entries):
        sys.exit("%s: at most %d lines, each with the cause behind the test" % (path, MOST_SHAKY))
    return {uniform(name): cause for name, cause in entries}


class Worker:
    """A process that runs a unit. Its output is in NAME.log, its report in NAME.xml."""

    def __init__(self, binary, unit, folder):
        self.unit = unit
        self.report = folder / (unit.name + ".xml")
        path = folder / (unit.name + ".log")
        self.log = narrator.Log(path)
        arguments = ["--no-parallel", "--testing-library", "swift-testing", "--filter", pattern(unit),
                     "--xunit-output", str(self.report)]
        environment = dict(os.environ, WEIRTESTS_RUN=str(folder.resolve() / SHARED))
        with open(path, "wb") as output:
            # A session of its own, so that nothing that it started stays behind when it is ended.
            self.process = subprocess.Popen([binary, *arguments], stdin=subprocess.DEVNULL, stdout=output,
                                            stderr=subprocess.STDOUT, start_new_session=True, env=environment)
        self.began = time.monotonic()
        self.wall_seconds = self.processor_seconds = 0.0

    def is_over(self):
        """True once the process has ended. Notes what it and the programs that it waited for have used."""
        if self.process.returncode is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid != 0:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.wall_seconds = time.monotonic() - self.began
                self.processor_seconds = usage.ru_utime + usage.ru_stime
        return self.process.returncode is not None

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def idle_seconds():
    """Seconds since the start of the machine in which its cores had nothing to do, of all cores together."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[4]) / os.sysconf("SC_CLK_TCK")


class Idleness:
    """The share of the cores' time that is idle."""

    def __init__(self):
        self.restart()

    def restart(self):
        self.began, self.idle = time.monotonic(), idle_seconds()

    @property
    def seconds(self):
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def share(self):
        """The idle share since the start."""
        return (idle_seconds() - self.idle) / (max(self.seconds, 0.01) * os.cpu_count())


class Runner:
    def __init__(self, binary, folder, workers):
        self.binary, self.folder, self.width = binary, folder, workers
        self.running, self.ended = [], []
        self.idleness = Idleness()

    def has_room(self):
        """True if one more worker may start now."""
        if len(self.running) < self.width:
            return True
        if self.idleness.seconds < IDLE_SPAN:
            return False
        is_idle = self.idleness.share >= IDLE_SHARE
        self.idleness.restart()
        return is_idle and len(self.running) < self.width + MORE_WORKERS

    def run(self, units):
        """Runs all units to their ends, and prints what happens."""
        waiting = collections.deque(units)
        last = time.monotonic()
        while waiting or self.running:
            while waiting and self.has_room():
                self.idleness.restart()
                self.running.append(Worker(self.binary, waiting.popleft(), self.folder))
            time.sleep(0.2)
            for worker in list(self.running):
                is_over = worker.is_over()
                for line in worker.log.news():
                    print(line, flush=True)
                if is_over:
                    self.running.remove(worker)
                    self.ended.append(worker)
            if time.monotonic() - last >= 60:
                last = time.monotonic()
                print("%s  %s" % (time.strftime("%H:%M:%S"), self.progress(len(waiting))), flush=True)

    def progress(self, waiting):
        workers = self.ended + self.running
        passed = sum(worker.log.run.passed for worker in workers)
        failed = sum(len(worker.log.run.failed) for worker in workers)
        quiet = [worker.log.run.quiet for worker in self.running if worker.log.run.quiet]
        text = "%d tests passed" % passed
        text += ", %d failed" % failed if failed else ""
        text += ", %d processes wait" % waiting if waiting else ""
        return "; ".join([text] + quiet)

    def stop(self):
        for worker in self.running:
            worker.end()


def listed(binary):
    """The identifiers of all tests."""
    output = subprocess.run([binary, "--testing-library", "swift-testing", "--list-tests"], check=True,
                            capture_output=True, text=True).stdout
    return [line for line in output.splitlines() if line]


def results(workers):
    """Returns the tests that failed, all that ran, and the processes without a whole report."""
    failed, ran, broken = [], set(), []
    for worker in workers:
        try:
            found = list(cases(worker.report))
        except (OSError, ElementTree.ParseError):
            broken.append(worker)
            continue
        ran |= {uniform(identifier) for identifier, _, _ in found}
        failed += [identifier for identifier, _, is_failed in found if is_failed]
        if worker.process.returncode != 0 and not any(is_failed for _, _, is_failed in found):
            broken.append(worker)
    return failed, ran, broken


def passes_alone(binary, identifier, folder):
    """Runs one test, alone. Its identifier is that of a report."""
    # A report has a dot before an inner suite, where --filter needs a stroke.
    path, parenthesis, labels = identifier.partition("(")
    expression = "^" + re.sub(r"\\\.|/", "[./]", re.escape(path)) + re.escape(parenthesis + labels)
    with open(folder / "alone.log", "ab") as log:
        code = subprocess.run([binary, "--no-parallel", "--testing-library", "swift-testing", "--filter", expression],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT).returncode
    return code == 0


def timings(runner, whole):
    """A line with the processor time that the tests took; a file has that of each process.

    `whole` is the idleness since the begin."""
    rows = sorted(runner.ended, key=lambda worker: -worker.processor_seconds)
    with open(runner.folder / "processor-time.txt", "w", encoding="utf-8") as file:
        file.write("processor s   wall s  suites\n")
        for worker in rows:
            suites = " ".join(worker.unit.suites)
            file.write("%11.1f %8.1f  %s\n" % (worker.processor_seconds, worker.wall_seconds, suites))
    total = sum(worker.processor_seconds for worker in rows)
    return "processor time of the tests: %d s (%s); the cores were idle for %d %% of the time" % (
        total, runner.folder / "processor-time.txt", 100 * whole.share)


def conclude(runner, identifiers, excused, began):
    """Prints the end, and returns the exit status."""
    failed, ran, broken = results(runner.ended)
    for worker in runner.ended:
        for line in worker.log.told:
            print(line)
    for worker in broken:
        print("%s: ended with %s before its end; %s" % (
            worker.unit.name, worker.process.returncode, worker.log.path))
        for name in worker.log.run.running:
            print("    it broke off in: %s" % name)
    broken_suites = {name for worker in broken for name in worker.unit.suites}
    missing = [name for name in identifiers if uniform(name) not in ran and suite(name) not in broken_suites]
    for name in missing[:20]:
        print("did not run: %s" % name)

    red = [name for name in failed if uniform(name) not in excused]
    for name in failed:
        if name in red:
            continue
        is_passed = passes_alone(runner.binary, name, runner.folder)
        print("shaky: %s %s; known cause: %s" % (
            name, "passed alone" if is_passed else "failed again, alone", excused[uniform(name)]))
        if not is_passed:
            red.append(name)
    minutes = (time.monotonic() - began) / 60
    print("%d tests ran in %.1f minutes, %d failed" % (len(ran), minutes, len(failed)))
    for name in red:
        print("failed: %s" % name)
    return 1 if red or broken or missing else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--binary", default=".build/debug/weirPackageTests.xctest")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path(".build/tests"))
    parser.add_argument("--shaky", type=pathlib.Path, default=pathlib.Path("Tests/shaky.txt"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)

    identifiers = listed(options.binary)
    if not identifiers:
        sys.exit("suites: %s has no tests" % options.binary)
    known = known_seconds(options.folder, {suite(name) for name in identifiers})
    for old in [*options.folder.glob("*.xml"), *options.folder.glob("*.log")]:
        old.unlink()
    shutil.rmtree(options.folder / SHARED, ignore_errors=True)
    (options.folder / SHARED).mkdir()
    began, whole = time.monotonic(), Idleness()
    runner = Runner(options.binary, options.folder, options.workers)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        runner.run(plan(expected_seconds(identifiers, known)))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        runner.stop()
    print(timings(runner, whole))
    sys.exit(conclude(runner, identifiers, shaky(options.shaky), began))


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main()
