"""Reads the output of processes that run tests while it grows: their progress, and their failures."""

import collections
import pathlib
import re
import time

COLOUR = re.compile("\x1b\\[[0-9;]*m")
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
    def quiet(self):
        """Words on a run of which nothing was heard for long; empty otherwise."""
        seconds = time.monotonic() - self.moved
        if self.seconds is not None or not self.running or seconds < QUIET:
            return ""
        # Its output comes in blocks, so that it may have gone on to a later test.
        return "%s: nothing for %d minutes since %s" % (self.name, seconds / 60, list(self.running)[-1])


class Log:
    """A file that grows, or is not there yet."""

    def __init__(self, path):
        self.path, self.run = pathlib.Path(path), Run(pathlib.Path(path).stem)
        self.offset, self.rest = 0, b""
        # What was to be printed so far.
        self.told = []

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
            told = self.run.take(COLOUR.sub("", line.decode("utf-8", "replace")))
            if told is not None:
                self.told.append(told)
                yield told
