"""The streams of tools/lab/live: media cut by ffmpeg, and playlists that grow over it in real time (RFC 8216, rfc8216bis).

The clock is an argument everywhere: `now` is in seconds since the broadcast began.
"""

import concurrent.futures
import datetime
import math
import struct
import subprocess

TARGET = 2  # seconds in a segment, all of which are equally long: the target duration
PARTS = 4  # partial segments in a segment
PART = TARGET / PARTS
SKIP_UNTIL = 6 * TARGET  # rfc8216bis 4.4.3.8: six target durations at least


class Media:
    """One encoding, cut into transport stream segments and into fragmented MP4 parts; a key frame begins each part."""

    def __init__(self, folder, name, size, bit_rate, seconds):
        folder.mkdir()
        whole, fragments = folder / "whole.mp4", folder / "fragments.mp4"
        length = math.ceil(seconds / TARGET) * TARGET
        run("-f", "lavfi", "-i", "testsrc2=size=%s:rate=10" % size, "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000",
            "-t", length, "-c:v", "libx264", "-preset", "ultrafast", "-b:v", bit_rate, "-pix_fmt", "yuv420p", "-g", 5, "-bf", 0,
            "-keyint_min", 5, "-sc_threshold", 0, "-c:a", "aac", "-b:a", "48k", "-threads", 1, whole)
        run("-i", whole, "-c", "copy", "-movflags", "frag_keyframe+empty_moov+default_base_moof", fragments)
        run("-i", whole, "-c", "copy", "-f", "hls", "-hls_time", TARGET, "-hls_list_size", 0, "-hls_segment_filename",
            folder / "%d.ts", folder / "ts.m3u8")
        self.name, self.size, self.bit_rate = name, size, bit_rate
        self.segments = length // TARGET
        self.init, self.parts = split(fragments.read_bytes())
        self.ts = [(folder / ("%d.ts" % number)).read_bytes() for number in range(self.segments)]
        if len(self.parts) != self.segments * PARTS:
            raise SystemExit("tools/lab/live: %d parts instead of %d" % (len(self.parts), self.segments * PARTS))

    def segment(self, number):
        """The fragmented MP4 segment: its parts, one after the other."""
        return b"".join(self.parts[number * PARTS:(number + 1) * PARTS])


def run(*arguments):
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-y", *map(str, arguments)], check=True, timeout=300)


def split(data):
    """(initialization section, [movie fragment with its data, …]) of a fragmented MP4."""
    parts, start, offset = [], None, 0
    init = b""
    while offset < len(data):
        size, kind = struct.unpack_from(">I4s", data, offset)
        if kind in (b"ftyp", b"moov"):
            init += data[offset:offset + size]
        elif kind == b"moof":
            start = offset
        elif kind == b"mdat":
            parts.append(data[start:offset + size])
        offset += size
    return init, parts


class NotYet(Exception):
    """A requested resource exists only from an instant on, which is the argument."""


class Refused(Exception):
    """The status to answer with."""


class Presentation:
    """A kind of live playlist over some encodings. `lead`: seconds of media that are there when the broadcast begins."""

    def __init__(self, kind, renditions, lead, window, seconds):
        self.kind, self.renditions, self.lead, self.window, self.seconds = kind, renditions, lead, window, seconds
        self.epoch = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=lead)
        self.extension = "m4s" if kind == "ll" else "ts"

    # The timeline

    def parts(self, now):
        """Number of parts that exist by now."""
        return int((min(now, self.seconds) + self.lead) / PART + 1e-6)

    def edge(self, now):
        """Number of segments that exist by now."""
        return self.parts(now) // PARTS

    def instant(self, parts):
        """Time at which a number of parts exists."""
        return parts * PART - self.lead

    def has_ended(self, now):
        return now >= self.seconds

    # Resources: (bytes, extension), or NotYet, or Refused

    def resource(self, path, query, now):
        name, _, file = path.rpartition("/")
        if path == "master.m3u8":
            return self.master(), "m3u8"
        media = self.renditions.get(name)
        if media is None:
            raise Refused(404)
        if file == "media.m3u8":
            return self.playlist(media, query, now), "m3u8"
        stem, _, extension = file.rpartition(".")
        if self.kind == "ll" and file == "init.mp4":
            return media.init, "mp4"
        words = stem.split(".")
        if extension != self.extension or not all(word.isascii() and word.isdigit() for word in words):
            raise Refused(404)
        numbers = [int(word) for word in words]
        if self.kind == "ll" and len(numbers) == 2 and numbers[1] < PARTS:
            return self.part(media, numbers[0] * PARTS + numbers[1], now), extension
        if len(numbers) != 1 or numbers[0] >= self.edge(now):
            raise Refused(404)
        return media.segment(numbers[0]) if self.kind == "ll" else media.ts[numbers[0]], extension

    def part(self, media, index, now):
        """A part that is there, or the one that is hinted, once it is there as a whole (rfc8216bis 6.2.6)."""
        there = self.parts(now)
        if index > there or (index == there and self.has_ended(now)):
            raise Refused(404)
        if index == there:
            raise NotYet(self.instant(index + 1))
        return media.parts[index]

    # Playlists

    def master(self):
        lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS"]
        for name, media in self.renditions.items():
            lines += ['#EXT-X-STREAM-INF:BANDWIDTH=%d,CODECS="avc1.42c015,mp4a.40.2",RESOLUTION=%s,FRAME-RATE=10.000'
                      % (2 * media.bit_rate + 60000, media.size), name + "/media.m3u8"]
        return text(lines)

    def playlist(self, media, query, now):
        skips = self.obey(query, now) if self.kind == "ll" else False
        ended, edge = self.has_ended(now), self.edge(now)
        first = max(0, edge - self.window) if self.window else 0
        lines = ["#EXTM3U", "#EXT-X-VERSION:%d" % (9 if self.kind == "ll" else 3), "#EXT-X-TARGETDURATION:%d" % TARGET]
        if self.kind == "ll":
            lines += ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=%.1f,HOLD-BACK=%.1f,PART-HOLD-BACK=%.3f"
                      % (SKIP_UNTIL, 3 * TARGET, 3 * PART), "#EXT-X-PART-INF:PART-TARGET=%.3f" % PART]
        lines.append("#EXT-X-MEDIA-SEQUENCE:%d" % first)
        if self.kind == "event":
            lines.append("#EXT-X-PLAYLIST-TYPE:EVENT")
        # Never so many that none is left: EXT-X-MAP then stands in front of the first that is listed.
        skipped = max(0, edge - SKIP_UNTIL // TARGET - first) if skips and not ended else 0
        if skipped:
            lines.append("#EXT-X-SKIP:SKIPPED-SEGMENTS=%d" % skipped)
        if self.kind == "ll" and not skipped:
            lines.append('#EXT-X-MAP:URI="init.mp4"')
        for number in range(first + skipped, edge):
            lines.append("#EXT-X-PROGRAM-DATE-TIME:" + self.date(number))
            # rfc8216bis 6.2.2: parts go once they are more than three target durations from the end.
            if self.kind == "ll" and number >= edge - 3:
                lines += [self.part_line(number * PARTS + index) for index in range(PARTS)]
            lines += ["#EXTINF:%.5f," % TARGET, "%d.%s" % (number, self.extension)]
        if ended:
            lines.append("#EXT-X-ENDLIST")
        elif self.kind == "ll":
            lines += self.live_edge(media, edge, now)
        return text(lines)

    def live_edge(self, media, edge, now):
        """The lines after the last complete segment."""
        there = self.parts(now)
        lines = ["#EXT-X-PROGRAM-DATE-TIME:" + self.date(edge)] if there > edge * PARTS else []
        lines += [self.part_line(index) for index in range(edge * PARTS, there)]
        lines.append('#EXT-X-PRELOAD-HINT:TYPE=PART,URI="%d.%d.m4s"' % divmod(there, PARTS))
        for name, other in self.renditions.items():
            if other is not media:
                lines.append('#EXT-X-RENDITION-REPORT:URI="../%s/media.m3u8",LAST-MSN=%d,LAST-PART=%d'
                             % ((name,) + divmod(there - 1, PARTS)))
        return lines

    def part_line(self, index):
        return '#EXT-X-PART:DURATION=%.5f,URI="%d.%d.m4s",INDEPENDENT=YES' % ((PART,) + divmod(index, PARTS))

    def date(self, number):
        instant = self.epoch + datetime.timedelta(seconds=number * TARGET)
        return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def obey(self, query, now):
        """Carries out the delivery directives (rfc8216bis 6.2.5); whether a delta update is wanted."""
        try:
            number, part = (int(query[name][0]) if name in query else None for name in ("_HLS_msn", "_HLS_part"))
        except ValueError:
            raise Refused(400) from None
        if part is not None and number is None:
            raise Refused(400)
        skips = query.get("_HLS_skip", [""])[0] in ("YES", "v2")
        if number is None or self.has_ended(now):
            return skips
        there, edge = self.parts(now), self.edge(now)
        # A part beyond its segment's last is the first of the next segment.
        wanted = (number + 1) * PARTS if part is None else number * PARTS + min(part, PARTS) + 1
        advance = 3 / PART if PART < 1 else 3
        if number > edge + 1 or (part is not None and wanted > there + advance):
            raise Refused(400)
        if wanted > there:
            raise NotYet(min(self.instant(wanted), self.seconds))
        return skips


def text(lines):
    return ("\n".join(lines) + "\n").encode()


def presentations(folder, seconds):
    """Everything that tools/lab/live serves, by name."""
    leads = {"ll": 24, "window": 10, "event": 6}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        wanted = [(folder / name, name, size, rate, seconds + max(leads.values()))
                  for name, size, rate in (("low", "160x90", 60000), ("high", "320x180", 150000))]
        low, high = pool.map(lambda arguments: Media(*arguments), wanted)
    return {
        "ll": Presentation("ll", {"low": low, "high": high}, leads["ll"], 12, seconds),
        "window": Presentation("window", {"low": low, "high": high}, leads["window"], 5, seconds),
        "event": Presentation("event", {"low": low, "high": high}, leads["event"], None, seconds),
    }
