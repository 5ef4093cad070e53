"""The largest content that Weir accepts, at an origin and as files."""

import http.server
import threading
import urllib.parse

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


class Origin(http.server.ThreadingHTTPServer):
    """Serves the playlists, and one segment under all other names. Counts the segments that it serves."""

    daemon_threads = True

    def __init__(self, share, segment):
        super().__init__(("127.0.0.1", 0), Handler)
        self.segment, self.served, self.known = segment, 0, {}
        numbers = {"long": SEGMENTS, "wide": VARIANTS, "tracks": VARIANTS, "cues": CUES}
        self.counts = {name: max(10, int(number * share)) for name, number in numbers.items()}
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server_port

    def handle_error(self, *_):
        """A daemon that ends closes its connections."""

    def text(self, path):
        """A playlist or a text; nil for a segment. Each is made when it is first asked for."""
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


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        text = self.server.text(path)
        kind = "video/mp2t"
        if text is None:
            self.server.served += 1
        else:
            kind = "text/vtt" if path.endswith(".vtt") else "application/vnd.apple.mpegurl"
        body = self.server.segment if text is None else text
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


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
