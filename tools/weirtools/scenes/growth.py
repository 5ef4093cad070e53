"""Judges from measures over time if a process grows: for tools/soak."""

import collections
import statistics

# So much more may the last third of a run have than the third before it: a part of that, and a number of bytes or pieces. A file
# without a name is a segment of a live stream's time shift: how many there are depends on the pace of the rounds, and goes up and down.
ALLOWED = {"memory": (0.1, 4 << 20), "descriptors": (0, 4), "nameless": (0.3, 8), "threads": (0, 2)}
# So few measures say nothing.
FEWEST = 9


class Measure(collections.namedtuple("Measure", "seconds memory descriptors nameless threads")):
    """The memory, descriptors, nameless files and threads of a process at a moment. Nameless files are no descriptors here."""

    def __str__(self):
        return "%6d s  %6.1f MB  %4d descriptors  %4d nameless files  %3d threads" % (
            self.seconds, self.memory / (1 << 20), self.descriptors, self.nameless, self.threads)


def thirds(measures):
    """The measures of each third of the rounds."""
    size = len(measures) // 3
    return measures[:size], measures[size:2 * size], measures[2 * size:]


def growth(measures):
    """A sentence for each kind that has grown. The first third is the time in which caches fill."""
    if len(measures) < FEWEST:
        return ["%d rounds are too few to say whether anything grows" % len(measures)]
    _, before, after = thirds(measures)
    faults = []
    for kind, (part, number) in ALLOWED.items():
        was, has = (statistics.median(getattr(measure, kind) for measure in third) for third in (before, after))
        if has > was * (1 + part) + number:
            faults.append("%s grew from %d to %d" % (kind, was, has))
    return faults


def table(measures):
    """The median of each kind in each third, and the most."""
    rows = [("", "first third", "second third", "last third", "most")]
    for kind in ALLOWED:
        values = [statistics.median(getattr(measure, kind) for measure in third or measures) for third in thirds(measures)]
        values.append(max(getattr(measure, kind) for measure in measures))
        rows.append((kind, *("%.1f MB" % (value / (1 << 20)) if kind == "memory" else "%d" % value for value in values)))
    return "\n".join("%-12s %13s %13s %13s %13s" % row for row in rows)
