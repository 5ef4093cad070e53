#!/usr/bin/env python3
"""Reports the progress and the failures of runs of `swift test` whose output goes to files.

    tools/weirtools/testing/narrator.py LOG…               until SIGTERM: each failure at once, and each minute the progress
    tools/weirtools/testing/narrator.py --summary LOG…     the progress at the end, and each failure once more
"""

import argparse
import collections
import pathlib
import re
import signal
import sys
import time

# A case whose argument holds a NUL has no end of its line.
ENDED = re.compile(r'^(?:◇ Test case .*→ "[^"]*)?([✔✘]) Test (?!run\b|case\b)(.+?) (?:with \d+ test cases? )?(?:passed|failed) after ')
STARTED = re.compile(r"^◇ Test (?!run\b|case\b)(.+) started\.$")
SKIPPED = re.compile(r"^(➜) Test (.+?) skipped")
ISSUE = re.compile(r"^✘ Test (?!run\b)(.*?) recorded an issue")
OVER = re.compile(r"^[✔✘] Test run with .* after ([\d.]+) seconds")
CRASH = re.compile(r"Fatal error|^💣|Program crashed|unexpected signal code|AddressSanitizer|ThreadSanitizer")
# Of one test so many issues are told at once, of what each adds in further lines so many, and so much of a line: the log has
# the rest.
ISSUES, DETAILS, WIDTH = 5, 12, 1000
# A run of which nothing was heard for so long is told, in seconds: it may hang. The longest test takes six minutes.
QUIET = 600


class Run:
    """State of one run, from its log so far. Takes whole lines; returns text that is to be printed at once."""

    def __init__(self, name):
        self.name, self.passed, self.failed = name, 0, []
        self.running, self.details, self.moved = {}, 0, time.monotonic()
        self.told = collections.Counter()
        self.seconds = None  # Duration; None until the end.

    def take(self, line):
        if match := OVER.match(line):
            self.seconds = float(match[1])
        elif match := STARTED.match(line):
            self.running[match[1]] = True
        elif match := ENDED.match(line) or SKIPPED.match(line):
            sign, words = match[1], match[2]
            self.moved = time.monotonic()
            self.running.pop(words, None)
            if sign == "✘":
                self.failed.append(words)
            elif sign == "✔":
                self.passed += 1
        issue = ISSUE.match(line)
        if issue or CRASH.search(line):
            if issue:
                self.told[issue[1]] += 1
                if self.told[issue[1]] > ISSUES:
                    self.details = 0
                    return None
            self.details = DETAILS
            return "%s: %s" % (self.name, line[:WIDTH])
        # What follows an issue belongs to it, up to the next sign.
        if self.details and not re.match(r"[◇✔✘➜]", line):
            self.details -= 1
            return "    " + line[:WIDTH]
        self.details = 0
        return None

    @property
    def words(self):
        """The progress in words."""
        text = "%s: %d test%s passed" % (self.name, self.passed, "" if self.passed == 1 else "s")
        text += ", %d failed" % len(self.failed) if self.failed else ""
        quiet = time.monotonic() - self.moved
        if self.seconds is None and self.running and quiet >= QUIET:
            # Its output comes in blocks, so that it may have gone on to a later test.
            text += ", nothing for %d minutes since %s" % (quiet / 60, list(self.running)[-1])
        return text + (" in %.1f minutes" % (self.seconds / 60) if self.seconds is not None else "")


class Log:
    """A file that grows, or is not there yet."""

    def __init__(self, path):
        self.path, self.run = pathlib.Path(path), Run(pathlib.Path(path).stem)
        self.offset, self.rest = 0, b""

    def news(self):
        """The lines to be printed for everything that was written since."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                new = file.read()
        except FileNotFoundError:
            return
        self.offset += len(new)
        *lines, self.rest = (self.rest + new).split(b"\n")
        for line in lines:
            told = self.run.take(line.decode("utf-8", "replace"))
            if told is not None:
                yield told


def follow(logs, pause=1.0, minute=60.0):
    """Prints news until SIGTERM, and at last the news by then."""
    is_over = []
    signal.signal(signal.SIGTERM, lambda *_: is_over.append(True))
    told, last = "", time.monotonic()
    while True:
        was_over = bool(is_over)
        for log in logs:
            for line in log.news():
                print(line, flush=True)
        words = ", ".join(log.run.words for log in logs)
        if time.monotonic() - last >= minute or was_over:
            last = time.monotonic()
            if words != told:
                print("%s  %s" % (time.strftime("%H:%M:%S"), words), flush=True)
            told = words
        if was_over:
            return
        time.sleep(pause)


def summarize(logs):
    for log in logs:
        lines = list(log.news())
        print(log.run.words)
        for line in lines:
            print(line)
        for name in [] if log.run.seconds is not None else log.run.running:
            print("    it broke off in: %s" % name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summary", action="store_true")
    parser.add_argument("logs", nargs="+", metavar="LOG")
    options = parser.parse_args()
    logs = [Log(path) for path in options.logs]
    if options.summary:
        summarize(logs)
    else:
        follow(logs)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main()
