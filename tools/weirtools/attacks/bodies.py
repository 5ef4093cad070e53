"""An origin that answers with pages in place of media, without end, too much, or a lie."""

import contextlib
import gzip
import re
import time
import zlib

from weirtools.attacks.stage import MARK, SEGMENTS, get, reply, split

TEXT = MARK.decode()
PAGES = [
    "<!-- %s -->",
    "<!DOCTYPE html><p>%s",
    "<html><body>%s",
    "<HTML>%s",
    "<head><title>%s",
    "<script>var a='%s'</script>",
    "<meta a='%s'>",
    "<title>%s</title>",
    "<h1>%s</h1>",
    "<center>%s",
    "<svg>%s</svg>",
    "<a href='%s'>",
    "<style>%s</style>",
    "<div>%s</div>",
    "<iframe src='%s'>",
    "<p>%s",
    "<noscript>%s",
    "<body>%s",
    "<br>%s",
    "<?xml version='1.0'?><Error>%s</Error>",
    "<Error>%s</Error>",
    '{"error": "%s"}',
    '[{"error": "%s"}]',
    "Access denied: %s",
    "error code: 1020 %s",
    "%s",
    "#EXTM3U\n# %s",
    "404 page not found %s",
    "<table>%s",
    "<img src='%s'>",
]
FORMS = {
    "": lambda text: text.encode(),
    "after blanks, ": lambda text: b" \r\n\t\n" + text.encode(),
    "after a mark, ": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "in UTF-16, ": lambda text: ("\ufeff" + text).encode("utf-16-le"),
    "in big UTF-16, ": lambda text: ("\ufeff" + text).encode("utf-16-be"),
}
# Seconds within which an answer to hostile bytes has ended, and the most that the origin may get rid of.
PATIENCE, MOST_SENT = 75, 24 << 20
# So much memory may a bomb cost, of which a hundred times the packed size is accepted.
BOMB = 160 << 20


def without_end(begin, part, stage_bytes):
    """Sends `part` again and again behind `begin`; counts what it got rid of."""

    def act(connection, _):
        connection.sendall(begin)
        while stage_bytes[0] < 512 << 20:
            connection.sendall(part)
            stage_bytes[0] += len(part)

    return act


def drip(begin, seconds):
    def act(connection, _):
        connection.sendall(begin)
        for _ in range(seconds * 2):
            connection.sendall(b"X-A: 1\r\n")
            time.sleep(0.5)

    return act


def bomb():
    """1 GB of zeros, in 1 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(1 << 24)) for _ in range(64)) + packer.flush()


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nTransfer-Encoding: chunked\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\n"
PART = b"X-A: " + b"a" * 8000 + b"\r\n"


def endless():
    """(label, begin, part) of replies that never end."""
    return [
        ("trailers", CHUNKED + b"1\r\nG\r\n0\r\n", PART),
        ("fields", HEAD, PART),
        ("one field", HEAD + b"X-A: ", b"a" * 65536),
        ("interim replies", b"", b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" * 200),
        ("a status line", b"HTTP/1.1 200 ", b"a" * 65536),
        ("a chunk's extension, which libcurl drops", CHUNKED + b"1;", b"a" * 65536),
        ("no status line", b"", b"a" * 65536),
    ]


def packed_twice():
    """4 GB of zeros, in some kilobytes: gzip in gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    inner = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(inner.compress(bytes(1 << 24))) for _ in range(256)]
    return b"".join(parts) + packer.compress(inner.flush()) + packer.flush()


# Fields of a right answer with numbers that no field means. The answer is used or not, and asked for again soon.
NUMBERS = ["-1", "9223372036854775807", "18446744073709551616", "9" * 400, "1e308", "0x10", ""]
NUMBERED = [
    "Age: %s",
    "Retry-After: %s",
    "Cache-Control: max-age=%s",
    "Content-Range: bytes 0-%s/%s",
    "Content-Range: bytes %s-%s/*",
    "Date: Thu, 01 Jan %s 00:00:00 GMT",
    "Last-Modified: Thu, 01 Jan %s 00:00:00 GMT",
    "Set-Cookie: a=b; Max-Age=%s",
    "Keep-Alive: timeout=%s, max=%s",
    "Alt-Svc: h3=\":443\"; ma=%s",
]


def numbered(stage):
    """Plays a playlist and a segment whose answers have such a field, with status 200 and with 503 before it."""
    whole = SEGMENTS[1].read_bytes()
    for field in NUMBERED:
        for number in NUMBERS:
            line = field.replace("%s", number)
            name = "numbered%d" % stage.cases
            url = stage.origin.vod(name, {1: reply(whole, kind="video/mp2t", fields=[line])})
            text = stage.origin.replies["/%s/media.m3u8" % name]
            begin, end = text.split(b"\r\n\r\n", 1)
            stage.origin.replies["/%s/media.m3u8" % name] = begin + b"\r\n" + line.encode() + b"\r\n\r\n" + end
            status, body = played(stage, url, 1, 10)
            wrong = "a wrong body" if status == 200 and body != whole else None
            stage.case("%s in a good answer" % line[:50], wrong if stage.weir.is_up else "the daemon has ended")
        stage.origin.replies["/refusal.m3u8"] = reply(b"later", 503, fields=[field.replace("%s", NUMBERS[1])])
        status, _, _ = split(stage.ask(get("/%s/refusal.m3u8" % stage.origin.url), 10))
        stage.case("%s with 503" % field, None if stage.weir.is_up and status != 200 else "status %d" % status)


def cookies():
    """An answer with 60 cookies of 1 kB each, some for other hosts and for all of a domain."""
    domains = ["", "; Domain=localhost", "; Domain=.com", "; Domain=example.com", "; Domain=127.0.0.1; Path=/..", "; Domain="]
    return [
        "Set-Cookie: c%d=%s%s; Max-Age=99999999999" % (n, "a" * 900, domains[n % len(domains)]) for n in range(60)
    ]


def misstatements():
    """(label, reply) of replies that are not what they say."""
    media = SEGMENTS[1].read_bytes()
    marked = MARK * 40
    return [
        ("a length of 2^63", reply(marked, length=1 << 63)),
        ("a length of 2^64", reply(marked, length=1 << 64)),
        ("a negative length", reply(marked, length=-5)),
        ("two lengths", reply(marked, fields=["Content-Length: 1"])),
        ("a chunk of 2^64", CHUNKED + b"ffffffffffffffff\r\n" + marked),
        ("a negative chunk", CHUNKED + b"-1\r\n" + marked),
        (
            "a part that was not asked for",
            reply(media[:5000], 206, "video/mp2t", fields=["Content-Range: bytes 0-4999/%d" % len(media)]),
        ),
        ("half of it", reply(media[: len(media) // 2], kind="video/mp2t", length=len(media))),
        ("gzip in words", reply(marked, fields=["Content-Encoding: gzip"])),
        (
            "several parts",
            reply(b"--b\r\nContent-Type: video/mp2t\r\n\r\n" + media + b"\r\n--b--", 206, "multipart/byteranges; boundary=b"),
        ),
        (
            "a page as the right part",
            reply(b"<html>" + marked, 206, "video/mp2t", fields=["Content-Range: bytes 0-%d/%d" % (len(marked) + 5, len(marked) + 6)]),
        ),
        ("a coding that nobody knows", reply(marked, kind="video/mp2t", fields=["Content-Encoding: x-none, gzip, br"])),
        ("a page in gzip", reply(gzip.compress(b"<html>" + marked), fields=["Content-Encoding: gzip"])),
        ("to a file", reply(b"", 302, fields=["Location: file:///etc/passwd"])),
        ("to a shell", reply(b"", 302, fields=["Location: gopher://127.0.0.1:1/x"])),
        ("to a private host", reply(b"", 302, fields=["Location: http://10.0.0.1/x.ts"])),
        ("to another port of this host", reply(b"", 302, fields=["Location: http://127.0.0.1:22/x.ts"])),
        ("to the cloud's host", reply(b"", 302, fields=["Location: http://169.254.169.254/latest/meta-data/"])),
        ("to itself", reply(b"", 302, fields=["Location: ?again"])),
        ("to a line break", reply(b"", 302, fields=["Location: /a%0d%0aX: 1"])),
    ]


def played(stage, url, number, timeout=PATIENCE):
    """(status, body) of a segment of a presentation as a player gets it; status 0 for a body that is not whole."""
    _, _, text = split(stage.ask(get("/" + url), PATIENCE))
    uris = [line for line in text.decode("utf-8", "replace").splitlines() if line and not line.startswith("#")]
    if len(uris) <= number:
        return 0, b""
    status, head, body = split(stage.ask(get(uris[number]), timeout))
    stated = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
    return (status if stated and int(stated[1]) == len(body) else 0), body


def run(stage):
    whole = SEGMENTS[1].read_bytes()
    for label, answer in misstatements():
        # What Weir asks for again is waited for no longer: a late right answer is as good as none.
        status, body = played(stage, stage.origin.vod("misstated%d" % stage.cases, {1: answer}), 1, 6)
        asked = sum(path == "/misstated%d/1.ts" % stage.cases for path, _ in stage.origin.requests)
        wrong = "the origin was not asked" if not asked else "a player gets it as 200" if status == 200 and body != whole else None
        stage.case(label, wrong)
    for label, begin, part in endless():
        if not stage.has_time():
            break
        sent, started = [0], time.monotonic()
        url = stage.origin.vod("endless%d" % stage.cases, {1: without_end(begin, part, sent)})
        with contextlib.suppress(OSError):
            played(stage, url, 1)
        took = time.monotonic() - started
        wrong = (
            "took %.0f s" % took
            if took >= PATIENCE
            else "%d MB of it are taken" % (sent[0] >> 20)
            if sent[0] > MOST_SENT and "drops" not in label
            else None
        )
        stage.case("endless: " + label, wrong)
    numbered(stage)
    url = stage.origin.vod("cookies", {number: reply(whole, kind="video/mp2t", fields=cookies()) for number in range(3)})
    before = stage.weir.memory("VmHWM")
    for number in (0, 1, 2) * 4:
        played(stage, url, number, 10)
    given = b"".join(head for path, head in stage.origin.requests if path.startswith("/cookies/"))
    wrong = "%d MB for cookies" % ((stage.weir.memory("VmHWM") - before) >> 20)
    stage.case("cookies", wrong if stage.weir.memory("VmHWM") - before > 32 << 20 or len(given) > 4 << 20 else None)
    twice, before = packed_twice(), stage.weir.memory("VmHWM")
    for label, coding in (("gzip in gzip", "gzip, gzip"), ("gzip in gzip, of which one is told", "gzip")):
        played(stage, stage.origin.vod("twice", {1: reply(twice, kind="video/mp2t", fields=["Content-Encoding: " + coding])}), 1)
        grown = stage.weir.memory("VmHWM") - before
        stage.case(label, "the daemon takes %d MB more" % (grown >> 20) if grown > BOMB else None)
    packed, before = bomb(), stage.weir.memory("VmHWM")
    for kind in ("video/mp2t", "application/vnd.apple.mpegurl"):
        answer = reply(packed, kind=kind, fields=["Content-Encoding: gzip"])
        if kind == "video/mp2t":
            played(stage, stage.origin.vod("bomb", {1: answer}), 1)
        else:
            stage.origin.replies["/bomb.m3u8"] = answer
            stage.ask(get("/%s/bomb.m3u8" % stage.origin.url), PATIENCE)
        grown = stage.weir.memory("VmHWM") - before
        stage.case("1 GB in 1 MB as " + kind, "the daemon takes %d MB more" % (grown >> 20) if grown > BOMB else None)
    count = 0
    order = [(form, page) for form in FORMS for page in PAGES]
    stage.random.shuffle(order)
    for form, page in order:
        if not stage.has_time() and count >= 30:
            break
        count += 1
        text = FORMS[form](page % TEXT)
        url = stage.origin.vod("page%d" % count, {0: reply(text), 1: reply(text, kind="video/mp2t")})
        status, _ = played(stage, url, count % 2)
        if stage.hostile_files():
            stage.case("%s%s" % (form, page), "is stored")
            break
        stage.case("%s%s" % (form, page), "a player gets it with status 200" if status == 200 else None)
    if played(stage, stage.origin.vod("good"), 1) != (200, whole):
        stage.case("a good body", "is not given")
