"""Files that the user hands in, made to end the daemon or to keep it busy: tracks to attach, and folders to import."""

import socket
import struct
import time
import zlib

# Just inside and outside of the usual types, and of those that hold times.
EDGES = (
    "0", "-0", "-1", "1", "2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551615", "18446744073709551616", "1" + "0" * 30, "9" * 300, "0.0000000001", "1e308", "1e999",
    "-1e308", "1e-320", "nan", "inf", "0x7fffffffffffffff", "1.7976931348623157e309", "9000000000000000000", "9223372036854775807.5",
    "2305843009213693951", "2305843009213693952", "4611686018427387903", "4398046511104", "4398046511105", "1000000000000000",
    "1000000000000001", "1000000000", "1000000000.0000001", "9999999999.999999",
)
LONG = 600_000
TIMES = "1\n00:00:01,000 --> 00:00:02,000\n"
CUE = "00:01.000 --> 00:02.000\n"


def png(width, height):
    """The head of a picture; nothing of Weir's reads further."""
    head = b"IHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head)) + bytes(64)


def chapters(number):
    """Lists of chapters with a number in each place, in both forms of JSON."""
    for key in ("start-time", "duration"):
        yield '[{"start-time":1,"titles":[{"title":"a"}],"%s":%s},{"start-time":2}]' % (key, number)
    for key in ("start_time", "end_time", "duration"):
        yield '{"chapters":[{"start_time":1,"end_time":3,"title":"a","%s":%s},{"start_time":2}]}' % (key, number)


def texts():
    """(name, kind, text) of long texts: each took time by the square of its length in some reader of such files."""
    for pattern in ("<", "{\\", "<{\\", "&", " ", "1", "a\u0301", "\u202e", "\U0001f1e9", "-->"):
        yield "srt of %r" % pattern, "subtitles", TIMES + pattern * (LONG // len(pattern.encode())) + "\n"
        yield "vtt of %r" % pattern, "subtitles", "WEBVTT\n\n" + CUE + pattern * (LONG // len(pattern.encode())) + "\n"
    yield "a head without end", "subtitles", "WEBVTT\n\n" + "a\n" * (LONG // 2)
    yield "many cues", "subtitles", "WEBVTT\n\n" + (CUE + "a\n\n") * 20_000
    yield "many pictures", "thumbnails", "WEBVTT\n\n" + "".join(CUE + "%d.jpg\n\n" % number for number in range(20_000))
    yield "nested chapters", "chapters", "[" * 100_000
    yield "many chapters", "chapters", "[" + ",".join('{"start-time":1}' for _ in range(100_000)) + "]"
    yield "a time of many digits", "subtitles", "WEBVTT\n\n" + "9" * LONG + ":00.000 --> 00:01.000\na\n"


def package(folder, streams, segments):
    """A .movpkg with streams that are all of one folder."""
    (folder / "Data").mkdir(parents=True)
    (folder / "X").mkdir()
    base = "http://host.invalid/film"
    stream = '<Stream ID="%d" Path="X" NetworkURL="%s/%d.m3u8"><Complete>YES</Complete></Stream>'
    (folder / "boot.xml").write_text(
        "<HLSMoviePackage><Streams>%s</Streams><MasterPlaylist><NetworkURL>%s/master.m3u8</NetworkURL></MasterPlaylist>"
        '<DataItems Directory="Data"><DataItem><DataPath>m</DataPath><Role>Master</Role></DataItem></DataItems></HLSMoviePackage>'
        % ("".join(stream % (number, base, number) for number in range(streams)), base))
    lines = "".join("#EXT-X-STREAM-INF:BANDWIDTH=%d\n%d.m3u8\n" % (100_000 + number, number) for number in range(streams))
    (folder / "Data" / "m").write_text("#EXTM3U\n" + lines)
    names = "".join("#EXTINF:2,\n%d.ts\n" % number for number in range(segments))
    (folder / "X" / "p").write_text("#EXTM3U\n#EXT-X-TARGETDURATION:2\n%s#EXT-X-ENDLIST\n" % names)
    items = "".join('<SEG PATH="missing.frag" Len="188" SeqNum="%d"/>' % number for number in range(segments))
    (folder / "X" / "StreamInfoBoot.xml").write_text(
        "<StreamInfo><Complete>YES</Complete><MediaPlaylist><PathToLocalCopy>p</PathToLocalCopy></MediaPlaylist>"
        "<MediaSegments>%s</MediaSegments></StreamInfo>" % items)


def leave(stage, path, body):
    """Sends a request to the API, and leaves without waiting for its answer."""
    head = "POST /api/v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    with stage.connect() as connection:
        connection.sendall((head % (path, stage.host, stage.token, len(body))).encode() + body)
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def run(stage):
    folder = stage.folder / "handed-in"
    folder.mkdir()
    sheet = folder / "sheet.png"
    sheet.write_bytes(png(320, 180))

    def attach(label, path, **options):
        status, answer = stage.api("POST", "/assets/film/tracks", {"path": str(path), **options})
        bad = None if status and status != 500 else "answers %s" % status
        stage.case(label, bad if stage.weir.is_up else "the daemon has ended")
        if answer and status < 300:
            stage.api("DELETE", "/assets/film/tracks/" + answer["id"])
        return stage.weir.is_up

    def written(name, text):
        path = folder / name
        path.write_text(text)
        return path

    for number in EDGES:
        # What JSON does not allow is sent all the same.
        body = '{"path":"%s","kind":"thumbnails","tiles":"2x2","interval":%s}' % (sheet, number)
        status = stage.api("POST", "/assets/film/tracks", body.encode())[0]
        stage.case("interval %s" % number[:25], None if status and status != 500 else "answers %s" % status)
        for place, text in enumerate(chapters(number)):
            if not attach("chapters %d of %s" % (place, number[:25]), written("c.json", text), kind="chapters"):
                return
        cue = "00:00:%s,000 --> 00:00:%s,000" % (number, number)
        if not attach("times of %s" % number[:25], written("t.srt", "1\n%s\na\n" % cue), language="de"):
            return
    with stage.witnessed("long texts"):
        for label, kind, text in texts():
            options = {"language": "de"} if kind == "subtitles" else {}
            if not attach(label, written("long", text), kind=kind, **options):
                return
    with stage.witnessed("clients that leave"):
        path = written("leave.srt", TIMES + "<" * (8 << 20) + "\n")
        body = ('{"path":"%s","kind":"subtitles","language":"de"}' % path).encode()
        for _ in range(8):
            leave(stage, "/assets/film/tracks", body)
        # Another client's file is not behind all of them.
        attach("a file beside those of clients that have left", written("s.srt", TIMES + "a\n"), language="de")
    with stage.witnessed("a package of 100 streams of one folder"):
        package(folder / "a.movpkg", 100, 2000)
        status, _ = stage.api("POST", "/assets", {"path": str(folder / "a.movpkg"), "name": "package"}, timeout=60)
        stage.case("a package", None if status and status != 500 else "answers %s" % status)
