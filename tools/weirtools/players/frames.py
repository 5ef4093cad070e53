"""Decoded frames as hashes (ffmpeg's framemd5), and what they should be: for tools/lab/player and tools/matrix."""

import dataclasses
import re

# A frame's time may be told in ticks of a tenth of a second by one presentation and of a 48000th by another.
TICK = 0.001
# Frames decoded after a joint of sound overlap with those before it: they equal the frames of neither side.
OVERLAP = 2


@dataclasses.dataclass
class Stream:
    """One stream with its frames in the order in which they came out: (seconds, hash), times as they are in the media."""

    kind: str = ""
    size: str = ""
    tick: tuple = (1, 1)
    frames: list = dataclasses.field(default_factory=list)

    @property
    def name(self):
        return ("%s %s" % (self.kind, self.size)).strip()


def hashed(url, file):
    """ffmpeg's arguments for hashes of all that is in a presentation: times kept, no frame scaled, doubled or dropped."""
    return ["-copyts", "-i", url, "-map", "0", "-autoscale", "0", "-vsync", "passthrough", "-f", "framemd5", "-y", str(file)]


def read(text):
    """The streams of framemd5 text; a line that is cut short does not count."""
    streams = {}
    for line in text.splitlines():
        if found := re.fullmatch(r"#(tb|media_type|dimensions) (\d+): (.*)", line):
            stream = streams.setdefault(int(found[2]), Stream())
            if found[1] == "tb":
                stream.tick = tuple(map(int, found[3].split("/")))
            elif found[1] == "media_type":
                stream.kind = found[3]
            elif found[3] != "0x0":
                stream.size = found[3]
        elif not line.startswith("#"):
            fields = [field.strip() for field in line.split(",")]
            if len(fields) == 6 and len(fields[5]) == 32:
                stream = streams[int(fields[0])]
                stream.frames.append((int(fields[2]) * stream.tick[0] / stream.tick[1], fields[5]))
    return [stream for _, stream in sorted(streams.items())]


def difference(found, expected):
    """In words where a stream first differs from what is expected; None where it does not."""
    for index, (one, other) in enumerate(zip(found.frames, expected.frames)):
        if one[1] != other[1]:
            return "%s: frame %d is another" % (found.name, index)
        if abs(one[0] - other[0]) > TICK:
            return "%s: frame %d comes at %.3f s instead of %.3f" % (found.name, index, one[0], other[0])
    if len(found.frames) != len(expected.frames):
        return "%s: %d frames instead of %d" % (found.name, len(found.frames), len(expected.frames))
    return None


def all_differences(found, expected, compare=difference):
    """In words what keeps the streams from being exactly the expected ones, in whatever order; None where nothing does."""
    if len(found) != len(expected):
        return "%s instead of %s" % (names(found), names(expected))
    left = list(expected)
    for stream in found:
        told = [compare(stream, other) for other in left]
        if None in told:
            del left[told.index(None)]
            continue
        alike = [words for words, other in zip(told, left) if other.name == stream.name]
        return (alike or ["%s, which is not expected" % stream.name])[0]
    return None


def names(streams):
    return " + ".join(stream.name for stream in streams) or "no stream"


def lost(found, expected):
    """(frames that are not there, frames that are there and not expected) of streams in the same order as the expected ones."""
    missing = foreign = 0
    for index, stream in enumerate(expected):
        wanted = [hash for _, hash in stream.frames]
        seen = [hash for _, hash in found[index].frames] if index < len(found) else []
        missing += len(set(wanted) - set(seen))
        foreign += len(set(seen) - set(wanted))
    return missing, foreign


def composite(best, other, share):
    """A comparison with what begins as `best` and goes on as `other` after a share of the time, for `all_differences`.

    Frames are compared by number: where the variants' pictures have another delay, times differ by that. Sound may be that of
    either, as it is often the same, but for what overlaps at the joint.
    """
    joint = round(share * len(best.frames))

    def compare(found, _):
        if found.kind != best.kind:
            return "%s instead of %s" % (found.kind, best.kind)
        if len(found.frames) != len(best.frames):
            return "%s: %d frames instead of %d" % (found.name, len(found.frames), len(best.frames))
        times = [time for time, _ in found.frames]
        if any(later <= before for before, later in zip(times, times[1:])):
            return "%s: time does not go on" % found.name
        for index, (_, hash) in enumerate(found.frames):
            source = best if index < joint else other
            overlaps = best.kind == "audio" and abs(index - joint) <= OVERLAP
            if hash != source.frames[index][1] and not overlaps:
                return "%s: frame %d is not that of %s" % (found.name, index, source.name)
        return None
    return compare
