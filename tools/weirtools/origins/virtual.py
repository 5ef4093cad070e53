"""Resources of tools/origin that are no files: bytes that name their own offset, long playlists, live and event playlists."""

import datetime
import re
import time


class PatternBody:
    """`size` bytes in packets of 188: a 0x47, twelve digits of the packet's own offset, a blank, and the name over and over.

    A body of another size begins with a part of a packet, so that it ends with a whole one: nothing seems to be missing there.
    """

    PACKET = 188
    # Fewer packets are not recognised behind other bytes.
    LEAST = 5

    def __init__(self, size, name):
        self.size, self.etag, self.modified = size, "size-%d" % size, None
        text = name.encode() + b" "
        self.tail = (text * self.PACKET)[:self.PACKET - 14]
        self.odd = size % self.PACKET if size >= self.LEAST * self.PACKET else 0

    def packet(self, at):
        return b"G%012d %b" % (at, self.tail)

    def read(self, offset, length):
        end = min(self.size, offset + length)
        # Where the packet that contains `offset` begins; the one before the first whole one begins at 0, and is shorter.
        first = (offset - self.odd) // self.PACKET * self.PACKET + self.odd
        packets = [self.packet(at) for at in range(first, end, self.PACKET)]
        if first < 0:
            packets[0] = self.packet(0)[:self.odd]
            first = 0
        data = b"".join(packets)
        return data[offset - first:end - first]

    def close(self):
        pass


class Playlists:
    """Live and event playlists over the segments of one rendition of the fixtures, repeated for ever.

    Segment n of a playlist is the fixture's segment n modulo their number, with a discontinuity wherever it starts again.
    """

    WINDOW = 4
    SECONDS = 2

    def __init__(self, folder):
        self.folder, self.states = folder, {}
        self.count = len(list(folder.glob("*.ts")))

    def state(self, name, event):
        initial = {"edge": 2 if event else self.WINDOW, "ended": False, "event": event, "started": time.monotonic()}
        return self.states.setdefault(name, initial)

    def advance(self, name, by):
        state = self.states.setdefault(name, self.state(name, False))
        state["edge"] += by
        return state["edge"]

    def end(self, name):
        self.state(name, False)["ended"] = True
        return True

    def edge(self, state, auto):
        """The number of segments so far."""
        if auto and not state["ended"]:
            first = 2 if state["event"] else self.WINDOW
            state["edge"] = max(state["edge"], first + int((time.monotonic() - state["started"]) / self.SECONDS))
            if state["event"] and state["edge"] >= self.count:
                state["edge"], state["ended"] = self.count, True
        return state["edge"]

    def media(self, name, event, auto):
        """The text of media.m3u8 at this moment."""
        state = self.state(name, event)
        edge = self.edge(state, auto)
        first = 0 if event else max(0, edge - self.WINDOW)
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % self.SECONDS, "#EXT-X-MEDIA-SEQUENCE:%d" % first,
                 "#EXT-X-DISCONTINUITY-SEQUENCE:%d" % (max(0, first - 1) // self.count)]
        if event:
            lines.append("#EXT-X-PLAYLIST-TYPE:EVENT")
        epoch = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=first * self.SECONDS)
        for number in range(first, edge):
            if number and number % self.count == 0:
                lines.append("#EXT-X-DISCONTINUITY")
            if number == first:
                lines.append("#EXT-X-PROGRAM-DATE-TIME:%s.000Z" % epoch.isoformat())
            lines += ["#EXTINF:%d.000," % self.SECONDS, "%d.ts" % number]
        return lines + (["#EXT-X-ENDLIST"] if state["ended"] else [])

    def segment(self, name, event, number):
        """The file of a segment that is there at this moment (a live one stays for one more window), or None."""
        state = self.state(name, event)
        there = number < state["edge"] and (event or number >= state["edge"] - 2 * self.WINDOW)
        return self.folder / ("%d.ts" % (number % self.count)) if there else None


def text(lines):
    return ("\n".join(lines) + "\n").encode(), ".m3u8"


def long_playlist(count):
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(count):
        lines += ["#EXTINF:2.000,", "%d.ts" % number]
    return text(lines + ["#EXT-X-ENDLIST"])


def resource(path, query, playlists):
    """(bytes, path of a file, or PatternBody; extension) of a made resource, or None if the path names none."""
    if match := re.fullmatch(r"/_size/(\d+)(?:-[^/]*)?\.ts", path):
        return PatternBody(int(match[1]), path), ".ts"
    if match := re.fullmatch(r"/_vod/(\d+)x(\d+)/(?:media\.m3u8|(\d+)\.ts)", path):
        if match[3] is None:
            return long_playlist(int(match[1]))
        return (PatternBody(int(match[2]), path), ".ts") if int(match[3]) < int(match[1]) else None
    if match := re.fullmatch(r"/_(live|event)/(\w+)/(?:(master|media)\.m3u8|(\d+)\.ts)", path):
        event, name, auto = match[1] == "event", match[2], "auto" in query
        if match[3] == "master":
            return text(["#EXTM3U", '#EXT-X-STREAM-INF:BANDWIDTH=100000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90',
                         "media.m3u8" + ("?auto=1" if auto else "")])
        if match[3] == "media":
            return text(playlists.media(name, event, auto))
        found = playlists.segment(name, event, int(match[4]))
        return (found, ".ts") if found else None
    return None
