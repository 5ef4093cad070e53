"""Playlists at the limits, and random changes of good ones: each may be refused or played, and costs other clients nothing."""

import time

from weirtools import MEDIA
from weirtools.attacks.stage import SEGMENTS, get, reply, split

HEAD = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n"
END = "#EXT-X-ENDLIST\n"
# Seconds within which a playlist is answered, if only with an error.
PATIENCE = 60


def media(count, line="#EXTINF:2,\n%d.ts\n", head=HEAD):
    return head + "".join(line % n if "%d" in line else line for n in range(count)) + END


def master(count, uri="v%d.m3u8"):
    return "#EXTM3U\n" + "".join(
        '#EXT-X-STREAM-INF:BANDWIDTH=%d,CODECS="avc1.42c00a",RESOLUTION=%dx%d\n%s\n'
        % (100000 + n * 1000, 160 + n * 2, 90 + n, uri % n if "%d" in uri else uri)
        for n in range(count)
    )


def nested(depth):
    """Variables whose values would double at each step, if they were replaced within each other."""
    lines = ['#EXT-X-DEFINE:NAME="v0",VALUE="aaaaaaaaaaaaaaaa"']
    lines += ['#EXT-X-DEFINE:NAME="v%d",VALUE="{$v%d}{$v%d}"' % (n, n - 1, n - 1) for n in range(1, depth)]
    return "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + "\n".join(lines) + "\n#EXTINF:2,\n{$v%d}.ts\n" % (depth - 1) + END


def texts():
    """(label, text) of playlists at the limits."""
    return [
        ("100,000 segments", media(100_000)),
        ("4,000 variants", master(4000)),
        ("20,000 keys", media(20_000, '#EXT-X-KEY:METHOD=AES-128,URI="k%d"\n#EXTINF:2,\na.ts\n')),
        ("20,000 sections", media(20_000, '#EXT-X-MAP:URI="m%d"\n#EXTINF:2,\na.mp4\n')),
        ("30,000 date ranges", media(30_000, '#EXT-X-DATERANGE:ID="d%d",START-DATE="2026-01-01T00:00:00Z",X-ASSET-URI="a.m3u8"\n')),
        ("50,000 discontinuities", media(50_000, "#EXT-X-DISCONTINUITY\n#EXTINF:2,\n%d.ts\n")),
        (
            "50,000 renditions",
            "#EXTM3U\n"
            + "".join('#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="n%d",URI="a%d.m3u8"\n' % (n, n) for n in range(50_000))
            + '#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="g"\nv.m3u8\n',
        ),
        (
            "1,000 renditions in each of 300 variants",
            "#EXTM3U\n"
            + "".join(
                '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="n%d",LANGUAGE="x%d",URI="a%d.m3u8"\n' % (n, n, n) for n in range(1000)
            )
            + "".join('#EXT-X-STREAM-INF:BANDWIDTH=%d,AUDIO="g"\nv%d.m3u8\n' % (n + 1, n) for n in range(300)),
        ),
        ("variables in variables", nested(60)),
        ("a line of 2 MB", HEAD + "#EXTINF:2," + "a" * (2 << 20) + "\na.ts\n" + END),
        (
            "100,000 attributes",
            HEAD + '#EXT-X-MAP:URI="a"' + "".join(",A%d=1" % n for n in range(100_000)) + "\n#EXTINF:2,\na.mp4\n" + END,
        ),
        ("quotes without end", HEAD + '#EXT-X-MAP:URI="' * 20_000 + "\n" + END),
        ("commas", HEAD + "#EXT-X-KEY:" + "," * 500_000 + "\n#EXTINF:2,\na.ts\n" + END),
        ("itself", master(50, "media.m3u8")),
        ("70 MB", HEAD + "# aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 1_150_000 + END),
        ("lines of CR", media(50_000).replace("\n", "\r")),
        ("NUL in each line", media(20_000).replace(",\n", ",\0\n")),
        ("blanks", HEAD + " \t" * 1_000_000 + "\n#EXTINF:2,\na.ts\n" + END),
        ("one bitrate, long", HEAD + "#EXT-X-BITRATE:2147483647\n" + media(3, "#EXTINF:1000000000,\n%d.ts\n", "") + END),
        ("a skip of all", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-SKIP:SKIPPED-SEGMENTS=9223372036854775807\n#EXTINF:2,\na.ts\n"),
        (
            "a live one with all the names that it may have",
            "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.1\n"
            + "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=6,PART-HOLD-BACK=1,CAN-BLOCK-RELOAD=YES\n"
            + "".join("#EXTINF:1,\n%d.ts\n" % n for n in range(100_000))
            + "".join('#EXT-X-PART:DURATION=0.1,URI="p%d.ts"\n' % n for n in range(1_000))
            + "".join('#EXT-X-RENDITION-REPORT:URI="r%d.m3u8",LAST-MSN=1\n' % n for n in range(1_000)),
        ),
        ("a live one with 200,000 segments", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + "#EXTINF:1,\na.ts\n" * 200_000),
        (
            "parts without end",
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PART-INF:PART-TARGET=0.1\n" + '#EXT-X-PART:DURATION=0.1,URI="p.ts"\n' * 50_000,
        ),
    ]


TOKENS = [
    "#EXTM3U",
    "#EXTINF:",
    "#EXTINF:2,",
    '#EXT-X-KEY:METHOD=AES-128,URI="k"',
    '#EXT-X-MAP:URI="m"',
    "#EXT-X-BYTERANGE:1@0",
    "#EXT-X-ENDLIST",
    "#EXT-X-DISCONTINUITY",
    "#EXT-X-GAP",
    "#EXT-X-MEDIA-SEQUENCE:9",
    "#EXT-X-STREAM-INF:BANDWIDTH=1",
    "#EXT-X-I-FRAMES-ONLY",
    "{$a}",
    '"',
    ",",
    "=",
    "\0",
    "\u2028",
    "\ufeff",
    "http://127.0.0.1:1/",
    "file:///etc/passwd",
    "//",
    "..",
    "data:,a",
    '#EXT-X-DEFINE:QUERYPARAM="a"',
    "#EXT-X-PLAYLIST-TYPE:EVENT",
    "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1",
    '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="p"',
    '#EXT-X-DATERANGE:ID="a",START-DATE="x"',
]


def give(stage, label, text):
    """Plays a playlist: itself, the first that it names, by /auto/, and its first segment."""
    name = "p%d" % stage.cases
    stage.origin.replies["/%s/media.m3u8" % name] = reply(text.encode("utf-8", "replace"), kind="application/vnd.apple.mpegurl")
    for number in range(3):
        stage.origin.replies["/%s/%d.ts" % (name, number)] = reply(SEGMENTS[number].read_bytes(), kind="video/mp2t")
        stage.origin.replies["/%s/v%d.m3u8" % (name, number)] = reply(media(4000).encode())
    url, started = "%s/%s/media.m3u8" % (stage.origin.url, name), time.monotonic()
    for path in ("/" + url, "/auto/" + url):
        status, _, body = split(stage.ask(get(path), PATIENCE, 256 << 20))
        uris = [line for line in body.decode("utf-8", "replace").splitlines() if line and not line.startswith("#")]
        if not status:
            return stage.case(label, "no answer after %.0f s" % (time.monotonic() - started))
        if status == 200 and uris and path.startswith("/http"):
            for uri in (uris[0], uris[-1]):
                stage.ask(get(uri), PATIENCE)
    assets = (stage.api("GET", "/assets", timeout=PATIENCE)[1] or {}).get("assets", [])
    for asset in assets:
        if asset.get("name") != "film":
            stage.api("GET", "/assets/" + asset["name"], timeout=PATIENCE)
            stage.api("DELETE", "/assets/" + asset["name"], timeout=PATIENCE)
    return stage.case(label, None if stage.weir.is_up else "the daemon has ended")


DEPTH = 200_000
# (label, body) of lists of interstitials (X-ASSET-LIST), which are JSON.
LISTS = [
    ("a deep list", "[" * DEPTH + "]" * DEPTH),
    ("a deep object", '{"a":' * DEPTH + "1" + "}" * DEPTH),
    ("deep within its assets", '{"ASSETS": [{"URI": "a.m3u8", "DURATION": 1, "X": ' + "[" * DEPTH + "]" * DEPTH + "}]}"),
    ("a number without end", '{"ASSETS": [{"URI": "a.m3u8", "DURATION": ' + "9" * DEPTH + "}]}"),
    ("100,000 assets", '{"ASSETS": [' + ",".join('{"URI": "a%d.m3u8", "DURATION": 1e308}' % n for n in range(100_000)) + "]}"),
    ("half of a pair", '{"ASSETS": [{"URI": "\\ud800.m3u8", "DURATION": -1}]}'),
]


def give_lists(stage):
    """Plays a presentation with interstitials, and asks for each list."""
    for number, (label, body) in enumerate(LISTS):
        line = '#EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z",X-ASSET-LIST="list%d.json"\n'
        dated = "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        name = "/list%d" % number
        stage.origin.replies[name + "/media.m3u8"] = reply((HEAD + dated + line % number + "#EXTINF:2,\na.ts\n" + END).encode())
        stage.origin.replies["%s/list%d.json" % (name, number)] = reply(body.encode(), kind="application/json")
        status, _, text = split(stage.ask(get("/%s%s/media.m3u8" % (stage.origin.url, name)), PATIENCE))
        links = [part.split('"')[0] for part in text.decode().split('X-ASSET-LIST="')[1:]]
        answers = [split(stage.ask(get(link), PATIENCE))[0] for link in links]
        wrong = "no link in %d" % status if not links else "no answer" if 0 in answers else None
        stage.case("a list: " + label, wrong if stage.weir.is_up else "the daemon has ended")


def give_changing(stage):
    """An URL whose answers are in turn a media playlist, a multivariant one, a page, and a live one with other names each time."""
    short = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
    forms = [
        lambda n: media(3),
        lambda n: master(3),
        lambda n: "<html>%d</html>" % n,
        lambda n: short + "".join("#EXTINF:1,\n%d-%d.ts\n" % (n, s) for s in range(2000)),
        lambda n: short + "#EXT-X-MEDIA-SEQUENCE:%d\n" % (n * 10**6) + "".join("#EXTINF:1,\ns%d.ts?%d\n" % (s, n) for s in range(2000)),
    ]
    for label, turn in (("all kinds", forms), ("other names each time", forms[3:4]), ("other numbers each time", forms[4:])):
        count = [0]

        def answer(connection, _, turn=turn, count=count):
            count[0] += 1
            connection.sendall(reply(turn[count[0] % len(turn)](count[0]).encode(), kind="application/vnd.apple.mpegurl"))

        path, before = "/changing%d.m3u8" % stage.cases, stage.weir.memory("VmHWM")
        stage.origin.replies[path] = answer
        until, statuses = time.monotonic() + 3, []
        while time.monotonic() < until and stage.weir.is_up:
            status, _, body = split(stage.ask(get("/" + stage.origin.url + path), 10, 64 << 20))
            statuses.append(status)
            uris = [line for line in body.decode("utf-8", "replace").splitlines() if line and not line.startswith("#")]
            if status == 200 and uris and uris[-1].startswith("/a/"):
                stage.ask(get(uris[-1]), 5, 1 << 20)
        grown = stage.weir.memory("VmHWM") - before
        wrong = "%d MB more" % (grown >> 20) if grown > 64 << 20 else "no answer" if 0 in statuses else None
        stage.case("an URL with " + label, wrong if stage.weir.is_up else "the daemon has ended")


def run(stage):
    with stage.witnessed("lists and playlists that change"):
        give_lists(stage)
        give_changing(stage)
    with stage.witnessed("playlists at the limits"):
        for label, text in texts():
            if not stage.weir.is_up:
                return
            give(stage, label, text)
    seeds = [path.read_text() for path in sorted(MEDIA.glob("*/**/*.m3u8"))]
    with stage.witnessed("changed playlists"):
        while stage.has_time() and stage.weir.is_up:
            lines = stage.random.choice(seeds).splitlines()
            for _ in range(stage.random.randint(1, 6)):
                place, kind = stage.random.randrange(len(lines)), stage.random.randrange(5)
                if kind == 0:
                    lines.insert(place, stage.random.choice(TOKENS))
                elif kind == 1 and len(lines) > 1:
                    del lines[place]
                elif kind == 2:
                    lines.insert(place, stage.random.choice(lines))
                else:
                    column = stage.random.randrange(len(lines[place]) + 1)
                    lines[place] = lines[place][:column] + stage.random.choice(TOKENS) + lines[place][column + kind - 3 :]
            give(stage, "changed: %r" % "\n".join(lines)[:80], "\n".join(lines) + "\n")
