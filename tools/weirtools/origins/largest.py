"""The largest content that Weir accepts, at an origin and as files."""

from weirtools.origins import server

HEAD = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:%d\n#EXT-X-PLAYLIST-TYPE:VOD\n"
END = "#EXT-X-ENDLIST\n"
VARIANT = '#EXT-X-STREAM-INF:BANDWIDTH=%d,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90%s\nv/%d/media.m3u8\n'
CUE = "%02d:%02d:%02d.%03d --> %02d:%02d:%02d.%03d\nLine %d\n\n"
# A day of television.
SEGMENTS, VARIANTS, CUES = 1_000_000, 10_000, 300_000
PACKET = b"\x47" + bytes(187)


def media(count, seconds):
    return HEAD % max(1, seconds) + "".join("#EXTINF:%g,\n%d.ts\n" % (seconds, number) for number in range(count)) + END


def cue_text(count):
    """A WebVTT text of so many cues, ten a second."""
    def clock(tenths):
        return tenths // 36_000, tenths // 600 % 60, tenths // 10 % 60, tenths % 10 * 100
    return "WEBVTT\n\n" + "".join(CUE % (*clock(number), *clock(number + 1), number) for number in range(count))


class Texts(server.Server):
    """Gives the texts that there are, and one segment under all other names. Counts the segments that it gives."""

    def __init__(self, segment):
        super().__init__()
        self.segment, self.served = segment, 0
        self.listen()

    def text(self, path):
        """A playlist or a text; nil for a segment."""
        raise NotImplementedError

    def answer(self, request):
        text = self.text(request.path)
        if text is None:
            self.served += 1
            return server.Reply(self.segment, "video/mp2t")
        return server.Reply(text, "text/vtt" if request.path.endswith(".vtt") else "application/vnd.apple.mpegurl")


class Origin(Texts):
    """The largest playlists. Each is made when it is first asked for."""

    def __init__(self, share, segment):
        numbers = {"long": SEGMENTS, "wide": VARIANTS, "tracks": VARIANTS, "cues": CUES}
        self.counts = {name: max(10, int(number * share)) for name, number in numbers.items()}
        self.known = {}
        super().__init__(segment)

    def text(self, path):
        name = path.strip("/") if path.count("/") == 1 else path.rsplit("/", 1)[1]
        make = {"long.m3u8": self.long, "wide.m3u8": self.wide, "tracks.m3u8": self.tracks, "cues.m3u8": self.spoken,
                "short.m3u8": lambda: media(20, 2), "media.m3u8": lambda: media(20, 2), "subtitles.m3u8": self.subtitles,
                "0.vtt": lambda: cue_text(self.counts["cues"])}.get(name)
        if make and name not in self.known:
            self.known[name] = make().encode()
        return self.known.get(name)

    def long(self):
        return media(self.counts["long"], 0.1)

    def wide(self):
        return "#EXTM3U\n" + "".join(VARIANT % (94_000 + number, "", number) for number in range(self.counts["wide"]))

    def tracks(self):
        """Nine renditions of sound for each variant."""
        sound = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a%d",NAME="t%d",LANGUAGE="en",URI="a/%d/media.m3u8"\n'
        variants = self.counts["tracks"] // 10
        return "#EXTM3U\n" + "".join(sound % (number % variants, number, number) for number in range(9 * variants)) + "".join(
            VARIANT % (94_000 + number, ',AUDIO="a%d"' % number, number) for number in range(variants))

    def spoken(self):
        subtitles = '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="subtitles.m3u8"\n'
        return "#EXTM3U\n" + subtitles + VARIANT % (94_000, ',SUBTITLES="s"', 0)

    def subtitles(self):
        seconds = self.counts["cues"] // 10
        return HEAD % seconds + "#EXTINF:%d,\n0.vtt\n" % seconds + END


def cues(path, count):
    """Writes a file of so many cues."""
    path.write_text(cue_text(count))
    return path


def pictures(folder, count):
    """Writes thumbnails: a text whose cues have so many names of one picture."""
    folder = folder / "pictures"
    folder.mkdir()
    picture = folder / "picture.jpg"
    # A head of JPEG, and 100 KB.
    picture.write_bytes(b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0" + bytes(100_000) + b"\xff\xd9")
    for number in range(count):
        (folder / ("%d.jpg" % number)).hardlink_to(picture)
    text = folder / "thumbnails.vtt"
    times = ("00:00:%02d.%03d --> 00:00:%02d.%03d\n%d.jpg\n\n" % (
        number // 10, number % 10 * 100, (number + 1) // 10, (number + 1) % 10 * 100, number) for number in range(count))
    text.write_text("WEBVTT\n\n" + "".join(times))
    return text


def film(folder, count):
    """Writes a film of so many ranges of one file."""
    folder.mkdir()
    (folder / "a.ts").write_bytes(PACKET * 8)
    lines = ("#EXTINF:2,\n#EXT-X-BYTERANGE:188@%d\na.ts\n" % (number % 8 * 188) for number in range(count))
    (folder / "media.m3u8").write_text(HEAD % 2 + "".join(lines) + END)
    return folder
