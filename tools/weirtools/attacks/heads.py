"""Heads that no player sends: RFC 9112's framing, smuggling, sizes, and random changes of a good head."""

from weirtools.attacks.stage import count_replies, get, split

LINE = b"GET /offline/film.m3u8 HTTP/1.1\r\n"
HOST = b"Host: {host}\r\n"
SECOND = b"GET /api/v1/assets HTTP/1.1\r\nHost: {host}\r\n\r\n"

# (label, bytes): each is refused with 4xx, 501 or 505, once, and the connection ends.
REFUSED = [
    ("no Host", LINE + b"\r\n"),
    ("two Hosts", LINE + HOST + HOST + b"\r\n"),
    ("another Host", LINE + b"Host: example.com\r\n\r\n"),
    ("another port", LINE + b"Host: 127.0.0.1:1\r\n\r\n"),
    ("a Host with a user", LINE + b"Host: a@{host}\r\n\r\n"),
    ("an empty Host", LINE + b"Host:\r\n\r\n"),
    (
        "Content-Length and Transfer-Encoding",
        LINE + HOST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND,
    ),
    ("Transfer-Encoding", LINE + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SECOND),
    ("Transfer-Encoding: identity", LINE + HOST + b"Transfer-Encoding: identity\r\n\r\n" + SECOND),
    ("Transfer-Encoding in odd letters", LINE + HOST + b"tRANSFER-eNCODING:\tchunked\r\n\r\n0\r\n\r\n" + SECOND),
    ("two lengths", LINE + HOST + b"Content-Length: 0\r\nContent-Length: 4\r\n\r\n" + SECOND),
    ("two equal lengths", LINE + HOST + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n" + SECOND),
    ("a space before the colon", LINE + b"Host : {host}\r\n\r\n"),
    ("a folded line", LINE + HOST + b"X-A: 1\r\n 2\r\n\r\n"),
    ("a line without a colon", LINE + HOST + b"nonsense\r\n\r\n"),
    ("NUL in a value", LINE + HOST + b"X-A: a\x00b\r\n\r\n"),
    ("CR in a value", LINE + HOST + b"X-A: a\rb\r\n\r\n"),
    ("LF alone", LINE.replace(b"\r\n", b"\n") + HOST.replace(b"\r\n", b"\n") + b"\n"),
    ("a name with a blank", LINE + HOST + b"X A: 1\r\n\r\n"),
    ("no name", LINE + HOST + b": 1\r\n\r\n"),
    ("HTTP/0.9", b"GET /offline/film.m3u8\r\n\r\n"),
    ("HTTP/2 in words", b"GET /offline/film.m3u8 HTTP/2.0\r\n" + HOST + b"\r\n"),
    ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("no version's digits", b"GET /offline/film.m3u8 HTTP/x.y\r\n" + HOST + b"\r\n"),
    ("two spaces", b"GET  /offline/film.m3u8 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a tab", b"GET\t/offline/film.m3u8 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("the asterisk", b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("an absolute target", b"GET http://example.com/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("CONNECT", b"CONNECT 127.0.0.1:22 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("TRACE", b"TRACE / HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a method of 300 letters", b"G" * 300 + b" / HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a line of 9 KB", b"GET /" + b"a" * 9216 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a line of 1 MB", b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("65 fields", LINE + HOST + b"".join(b"X-%d: 1\r\n" % n for n in range(65)) + b"\r\n"),
    ("17 KB of fields", LINE + HOST + b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(17)) + b"\r\n"),
    ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)),
    ("zeros", bytes(70000)),
    ("NUL in the path", b"GET /offline/film\x00.m3u8 HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("8 bits in the path", b"GET /\xff\xfe HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("two Sec-Fetch-Site", LINE + HOST + b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n\r\n"),
    ("two Origins", LINE + HOST + b"Origin: http://{host}\r\nOrigin: http://evil.example\r\n\r\n"),
]
REFUSED += [
    ("a Host with a zone", LINE + b"Host: [::1%25lo]:8080\r\n\r\n"),
    ("a Host of 8 KB", LINE + b"Host: " + b"a" * 8000 + b"\r\n\r\n"),
    ("a fragment", b"GET /offline/film.m3u8#a HTTP/1.1\r\n" + HOST + b"\r\n"),
    ("a length beside an upgrade", LINE + HOST + b"Upgrade: h2c\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + SECOND),
    ("vertical tabs", LINE + HOST + b"X-A:\x0b1\x0c\r\n\r\n"),
    ("CRLF before each line", b"\r\n" * 5000 + LINE.replace(b" ", b"\r\n ") + HOST + b"\r\n"),
]
LENGTHS = [b"+1", b"-1", b"0x1", b"1,1", b"1 1", b"1;1", b"", b"a", b"99999999999999999999", b"1e3", b"\xd9\xa1"]
# These paths give 4xx and nothing of the disk.
PATHS = [
    "/../etc/passwd",
    "/offline/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/a/..%2f..%2fstate%2ftoken/x",
    "//etc/passwd",
    "/offline/%00",
    "/file:///etc/passwd",
    "/a/film/../../state/token",
    "/offline/film.m3u8%0d%0aX-A:1",
    "/\\..\\..\\etc",
    "/a//b//c",
    "/offline/" + "%2e" * 500,
    "/a/%ff/%fe/%c0%af",
    "/ftp://127.0.0.1/x",
    "/http://127.0.0.1:1/x",
    "/https://[::1]:1/x.m3u8",
    "/http://169.254.169.254/latest/meta-data/",
]
RANGES = [
    "bytes=0-0,1-1,2-2",
    "bytes=" + ",".join("%d-%d" % (n, n) for n in range(2000)),
    "bytes=-0",
    "bytes=--1",
    "bytes=1-0",
    "bytes=99999999999999999999-",
    "bytes=0-99999999999999999999",
    "bytes=-99999999999999999999",
    "bytes",
    "bytes=",
    "items=0-1",
    "bytes=0-0" + "," * 4000,
    "bytes= 0 - 1",
    "bytes=0x1-2",
    "bytes=9223372036854775807-9223372036854775807",
]


def refusal(stage, request):
    """The fault of the answer to a request that must be refused; None for a right answer."""
    answer = stage.ask(request, ends=True)
    status, _, _ = split(answer)
    if not stage.has_ended:
        return "the connection does not end"
    if answer and not (400 <= status < 500 or status in (501, 505)):
        return "answered with %s" % (status or answer[:40])
    if count_replies(answer) > 1:
        return "answered %d times" % count_replies(answer)
    return None


def pipelined(stage):
    """5,000 requests in one part: each is answered once, in order, up to the connection's last one."""
    before = stage.weir.memory("VmHWM")
    one = get(stage.stored, "Range: bytes=0-0").replace(b"Connection: close\r\n", b"")
    answer = stage.ask(one * 5000, 30)
    count, grown = count_replies(answer), stage.weir.memory("VmHWM") - before
    wrong = "%d answers, %d MB" % (count, grown >> 20)
    stage.case("5,000 requests at once", None if 0 < count <= 5000 and grown < 16 << 20 else wrong)


def upgraded(stage):
    """An upgrade is not taken, and what follows is no other protocol."""
    for protocol in ("websocket", "h2c", "TLS/1.3, HTTP/1.1"):
        fields = ["Upgrade: " + protocol, "Connection: Upgrade", "Sec-WebSocket-Key: YWFhYWFhYWFhYWFhYWFhYQ==", "HTTP2-Settings: AAAA"]
        status, _, _ = split(stage.ask(get("/offline/film.m3u8", *fields), 5))
        stage.case("an upgrade to " + protocol, "status %d" % status if status == 101 or status >= 500 or not status else None)


def run(stage):
    pipelined(stage)
    upgraded(stage)
    for label, request in REFUSED:
        stage.case(label, refusal(stage, request))
    for length in LENGTHS:
        stage.case(
            "Content-Length: %r" % length,
            refusal(stage, LINE + HOST + b"Content-Length: " + length + b"\r\n\r\n" + SECOND),
        )
    for path in PATHS:
        status, _, body = split(stage.ask(get(path), 40))
        stage.case(path[:60], "status %d" % status if status < 400 or b"root:" in body else None)
    for value in RANGES:
        status, _, body = split(stage.ask(get(stage.stored, "Range: " + value)))
        stage.case(
            "Range: " + value[:40], None if status in (200, 206, 400, 416, 431) and len(body) < 1 << 20 else "status %d" % status
        )
    template = LINE + HOST + b"Range: bytes=0-99\r\nAccept: */*\r\nUser-Agent: x\r\n\r\n"
    while stage.has_time() and stage.weir.is_up:
        request = changed(stage.random, template)
        answer = stage.ask(request, 14, ends=True)
        status, _, _ = split(answer)
        wrong = answer and (not status or 500 <= status and status not in (501, 502, 505))
        stage.case(repr(request), "answered with %r" % answer[:60] if wrong else None)


def changed(dice, template):
    """A head with one to three random changes."""
    data = bytearray(template)
    for _ in range(dice.randint(1, 3)):
        place, kind = dice.randrange(len(data)), dice.randrange(5)
        if kind == 0:
            data[place] = dice.randrange(256)
        elif kind == 1:
            del data[place : place + dice.randint(1, 12)]
        elif kind == 2:
            data[place:place] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 6)))
        elif kind == 3:
            data[place:place] = dice.choice(
                [b"\r\n", b"\n", b"\r", b"\x00", b": ", b" ", b"\t", b"Content-Length: 7\r\n", b"chunked", b"%00", b"/.."]
            )
        else:
            lines = bytes(data).split(b"\r\n")
            lines.insert(dice.randrange(len(lines)), dice.choice(lines))
            data = bytearray(b"\r\n".join(lines))
    return bytes(data)
