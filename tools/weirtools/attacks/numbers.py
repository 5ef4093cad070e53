"""Numbers from the edges of every type, in playlists and in the API's bodies: played, shown, paused, cancelled, removed."""

from weirtools.attacks.stage import SEGMENTS, get, reply, split

EDGES = [
    "0",
    "-0",
    "-1",
    "1",
    "2147483647",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1" + "0" * 30,
    "9" * 300,
    "0.0000000001",
    "1e308",
    "1e999",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "1.7976931348623157e309",
    "9000000000000000000",
    "9223372036854775807.5",
    # Of SequenceNumber, SubRange, BitRate and MediaDuration.
    "2305843009213693951",
    "2305843009213693952",
    "4611686018427387903",
    "4398046511104",
    "4398046511105",
    "1000000000000000",
    "1000000000000001",
    "1000000000",
    "1000000000.0000001",
    "9999999999.999999",
]
# {n} is the number.
MEDIA = [
    "#EXT-X-TARGETDURATION:{n}",
    "#EXT-X-MEDIA-SEQUENCE:{n}",
    "#EXT-X-DISCONTINUITY-SEQUENCE:{n}",
    "#EXT-X-VERSION:{n}",
    "#EXT-X-BITRATE:{n}",
    "#EXT-X-START:TIME-OFFSET={n}",
    "#EXT-X-BYTERANGE:{n}",
    "#EXT-X-BYTERANGE:{n}@0",
    "#EXT-X-BYTERANGE:1@{n}",
    "#EXT-X-BYTERANGE:{n}@{n}",
    '#EXT-X-MAP:URI="0.ts",BYTERANGE="{n}@{n}"',
    "#EXT-X-SKIP:SKIPPED-SEGMENTS={n}",
    "#EXT-X-PART-INF:PART-TARGET={n}",
    "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL={n},HOLD-BACK={n},PART-HOLD-BACK={n}",
    '#EXT-X-PART:DURATION={n},URI="0.ts"',
    '#EXT-X-PART:DURATION=1,URI="0.ts",BYTERANGE="{n}@{n}"',
    '#EXT-X-PRELOAD-HINT:TYPE=PART,URI="0.ts",BYTERANGE-START={n},BYTERANGE-LENGTH={n}',
    '#EXT-X-RENDITION-REPORT:URI="a",LAST-MSN={n},LAST-PART={n}',
    '#EXT-X-DATERANGE:ID="a",START-DATE="2026-01-01T00:00:00Z",DURATION={n},PLANNED-DURATION={n}',
    "#EXT-X-PROGRAM-DATE-TIME:{n}-01-01T00:00:00Z",
    "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:{n}Z",
    '#EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x{n}',
    '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k",KEYFORMATVERSIONS="{n}"',
]
MASTER = [
    "BANDWIDTH={n}",
    "BANDWIDTH=1,AVERAGE-BANDWIDTH={n}",
    "BANDWIDTH=1,RESOLUTION={n}x{n}",
    "BANDWIDTH=1,FRAME-RATE={n}",
    "BANDWIDTH=1,SCORE={n}",
    "BANDWIDTH=1,PROGRAM-ID={n}",
]
# Live texts, the later ones of which replace the first: {n} is the number, {m} another.
LIVE = [
    ["#EXT-X-MEDIA-SEQUENCE:{n}", "#EXT-X-MEDIA-SEQUENCE:{m}", "#EXT-X-MEDIA-SEQUENCE:0"],
    ["#EXT-X-MEDIA-SEQUENCE:{n}\n#EXT-X-DISCONTINUITY-SEQUENCE:{n}", "#EXT-X-MEDIA-SEQUENCE:{n}\n#EXT-X-SKIP:SKIPPED-SEGMENTS={m}"],
    ["#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL={n}\n#EXT-X-MEDIA-SEQUENCE:{n}", "#EXT-X-MEDIA-SEQUENCE:{m}"],
    ["#EXT-X-DISCONTINUITY-SEQUENCE:{n}\n#EXT-X-BITRATE:{m}", "#EXT-X-DISCONTINUITY-SEQUENCE:{m}\n#EXT-X-MEDIA-SEQUENCE:9"],
]
# (method, path behind /api/v1, body): {n} is the number, {u} a URL. Orders that may let an asset expire are for "plain": the film
# must still play at the end.
BODIES = [
    ("POST", "/downloads", '{"source": "{u}", "quality": "{n}"}'),
    ("POST", "/downloads", '{"source": "{u}", "quality": "{n}p"}'),
    ("POST", "/downloads", '{"source": "{u}", "preferences": {"minimumBitRate": {n}}}'),
    ("POST", "/downloads", '{"source": "{u}", "preferences": {"minimumSize": "{n}x{n}"}}'),
    ("POST", "/downloads", '{"source": "{u}", "range": [{n}, {n}]}'),
    ("POST", "/selection", '{"source": "{u}", "conditions": ["height<={n}", "peak<={n}", "fps<{n}"]}'),
    ("PUT", "/assets/plain/policy", '{"expires": {n}, "afterFirstPlay": {n}, "keysExpire": {n}}'),
    ("POST", "/assets/plain/keys", '{"action": "setExpiry", "expires": {n}}'),
    ("GET", "/log?limit={n}", ""),
]


def text(line, number, duration="2"):
    """A playlist with this line before its second segment. The lines of a head are read there too."""
    lines = [
        "#EXTM3U",
        "#EXT-X-TARGETDURATION:2",
        "#EXTINF:2,",
        "0.ts",
        line.replace("{n}", number),
        "#EXTINF:%s," % duration,
        "1.ts",
        "#EXTINF:2,",
        "2.ts",
        "#EXT-X-ENDLIST",
    ]
    return "\n".join(lines) + "\n"


def live_texts(lines, number, other):
    """Replies of a live playlist, one after the other; the last one stays."""
    head = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n"
    tail = "".join("#EXTINF:1,\n%d.ts\n" % n for n in range(3))
    return [reply((head + line.replace("{n}", number).replace("{m}", other) + "\n" + tail).encode()) for line in lines]


def give_in_turn(replies):
    def give(connection, _):
        connection.sendall(replies.pop(0) if len(replies) > 1 else replies[0])

    return give


def drive_live(stage, label, url, name):
    """Plays and records a live stream whose numbers jump, ends the recording, and plays what there is."""
    steps = []
    made = stage.api("POST", "/downloads", {"source": url, "name": name, "record": True})
    steps.append(made[0])
    for path in ("/" + url, "/" + url, "/%s?_HLS_msn=9223372036854775807" % url, "/local/%s.m3u8" % name, "/offline/%s.m3u8" % name):
        status, _, body = split(stage.ask(get(path), 10))
        steps.append(status or None)
        uris = [line for line in body.decode("utf-8", "replace").splitlines() if line and not line.startswith("#")]
        for directives in ("", "?_HLS_skip=YES", "?_HLS_msn=%d&_HLS_part=%d" % (1 << 60, 1 << 60)) if uris else ():
            stage.ask(get(uris[-1] + directives), 10)
    if number := (made[1] or {}).get("id"):
        for word in ("pause", "resume", "cancel"):
            steps.append(stage.api("POST", "/downloads/%s/%s" % (number, word), {})[0])
    for path in ("/assets", "/assets/" + name, "/downloads", "/sessions"):
        steps.append(stage.api("GET", path)[0])
    steps.append(stage.api("DELETE", "/assets/" + name)[0])
    bad = [step for step in steps if not step or step == 500]
    stage.case(label, "answers %s" % bad if bad and stage.weir.is_up else None if stage.weir.is_up else "the daemon has ended")


def drive(stage, label, url, name):
    """Plays, shows, queues, pauses, cancels and removes; the daemon must answer each request."""
    steps = []
    for path in ("/" + url, "/auto/" + url):
        status, _, body = split(stage.ask(get(path), 30))
        steps.append(status)
        uris = [line for line in body.decode("utf-8", "replace").splitlines() if line and not line.startswith("#")]
        if status == 200 and uris:
            stage.ask(get(uris[-1]), 30)
    status, made = stage.api("POST", "/downloads", {"source": url, "name": name})
    steps.append(status)
    for path in ("/assets", "/assets/" + name, "/downloads", "/sessions", "/store", "/presentation?url=" + url):
        steps.append(stage.api("GET", path)[0])
    if made and (number := made.get("id")):
        for word in ("pause", "resume", "cancel"):
            steps.append(stage.api("POST", "/downloads/%s/%s" % (number, word), {})[0])
    for asset in (stage.api("GET", "/assets")[1] or {}).get("assets", []):
        if asset["name"] not in ("film", "plain"):
            steps.append(stage.api("GET", "/assets/" + asset["name"])[0])
            steps.append(stage.api("DELETE", "/assets/" + asset["name"])[0])
    bad = [step for step in steps if not step or step == 500]
    stage.case(label, "answers %s" % bad if bad and stage.weir.is_up else None if stage.weir.is_up else "the daemon has ended")


def run(stage):
    cases = [(line, number, "2") for line in MEDIA for number in EDGES] + [
        ("#EXT-X-BITRATE:" + number, number, number) for number in EDGES
    ]
    cases += [(line, number, None) for line in MASTER for number in EDGES]
    cases += [(lines, number, stage.random.choice(EDGES)) for lines in LIVE for number in EDGES]
    stage.random.shuffle(cases)
    plain = {"source": stage.origin.vod("plain"), "name": "plain"}
    status, made = stage.api("POST", "/downloads", plain)
    stage.case("a plain download", None if status in (200, 201, 202) and made.get("id") else "status %d" % status)
    for count, (line, number, duration) in enumerate(cases):
        if not stage.weir.is_up or count >= 60 and not stage.has_time():
            return
        name = "n%d" % count
        for segment in range(3):
            stage.origin.replies["/%s/%d.ts" % (name, segment)] = reply(SEGMENTS[segment].read_bytes(), kind="video/mp2t")
        if isinstance(line, list):
            stage.origin.replies["/%s/media.m3u8" % name] = give_in_turn(live_texts(line, number, duration))
            drive_live(stage, "live: %s %s" % (line[0][:60], number[:25]), "%s/%s/media.m3u8" % (stage.origin.url, name), name)
            continue
        inner = text("#", "", "2") if duration is None else text(line, number, duration)
        stage.origin.replies["/%s/media.m3u8" % name] = reply(inner.encode())
        stage.origin.replies["/%s/master.m3u8" % name] = reply(
            ("#EXTM3U\n#EXT-X-STREAM-INF:%s\nmedia.m3u8\n" % line.replace("{n}", number)).encode()
        )
        kind = "master" if duration is None else "media"
        drive(stage, line.replace("{n}", number)[:90], "%s/%s/%s.m3u8" % (stage.origin.url, name, kind), name)
        if count % 8 == 0:
            method, path, body = stage.random.choice(BODIES)
            # An order before may have let it expire.
            stage.api("DELETE", "/assets/plain")
            stage.api("POST", "/downloads", plain)
            body = body.replace("{n}", number).replace("{u}", stage.origin.url + "/film/media.m3u8")
            status = stage.api(method, path.replace("{n}", number), body.encode())[0]
            stage.case(body[-60:] or path, None if status and status != 500 else "answers %s" % status)
