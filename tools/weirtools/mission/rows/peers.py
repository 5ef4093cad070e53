"""P: what other downloaders and proxies have."""

import subprocess
import threading
import time
import urllib.parse

from weirtools.mission.row import need, row
from weirtools.mission.rows.seeds import chosen, variant_path
from weirtools.mission.wire import Wire
from weirtools.players import paced


@row("P1", "Conditions for downloads, and the reason why one waits", "weir pause NAME --reason TEXT; weir list")
def reasons(stage):
    stage.run("add", stage.url("ts"), "-q", "worst", "--paused")
    stage.run("pause", "ts", "--reason", "until tonight")
    need("until tonight" in stage.run("list"), "weir list does not print the reason")
    reasons = [reason["message"] for reason in stage.download("ts").get("reasons", [])]
    need(reasons == ["until tonight"], "the API has the reasons %s" % reasons)
    change = stage.system_bus(Metered=1, IdleHint=False)
    stage.configure('metered = "pause"\nonly-idle = true\n')
    stage.restart(kill=False)
    stage.run("resume", "ts")
    stage.wait("download that waits", lambda: stage.download("ts")["state"] == "waiting")
    kinds = [reason["kind"] for reason in stage.download("ts")["reasons"]]
    need(kinds == ["metered", "idle"], "the API has the reasons %s" % kinds)
    need("the network is metered" in stage.run("list"), "weir list does not say that the network is metered")
    need("the network is metered" in stage.command("doctor")[1], "weir doctor does not say that the network is metered")
    change(Metered=2, IdleHint=True)
    stage.wait("complete download", lambda: stage.download("ts")["state"] == "complete", 15)

    # The rate of downloads, beside a player, as it is on the wire: over any ten seconds.
    stage.configure('limit-rate = "400KB"\n')
    stage.restart(kill=False)
    wire = stage.serve(Wire(stage.origin.port))
    stage.run("add", "http://127.0.0.1:%d/_vod/40x400000/media.m3u8" % wire.port, "--name", "limited")
    seat = paced.Viewer([stage.weir.url + "/" + stage.url("ts")])
    begin = time.monotonic()
    while time.monotonic() - begin < 24:
        time.sleep(0.5)
        if not seat.plays:
            seat = paced.Viewer([stage.weir.url + "/" + stage.url("cmaf")])
    seat.end()
    rates = [rate / 1000 for rate in wire.rates(10)]
    need(rates and max(rates) <= 420, "limit-rate of 400 KB/s: up to %.0f over ten seconds" % max(rates, default=0))
    need(max(rates) >= 380, "limit-rate of 400 KB/s: at most %.0f over ten seconds" % max(rates))


@row("P2", "Segments in parallel; adjacent byte ranges in one request", "weir get URL")
def parallel(stage):
    stage.run("get", stage.url("byterange-ts"), "-q", "worst")
    ranges = [entry for entry in stage.requests(".ts") if entry["range"]]
    segments = (stage.root / "byterange-ts/90p/media.m3u8").read_text().count("#EXTINF")
    need(0 < len(ranges) < segments, "%d requests for %d byte ranges" % (len(ranges), segments))
    stage.plays("/offline/byterange-ts.m3u8", "byterange-ts/90p/media.m3u8")


@row("P3", "A player has the line before a download", "mpv http://localhost:8216/NAME.m3u8")
def preempted(stage):
    def received():
        download = stage.download("ts")
        return download["bytes"] + download.get("arriving", 0)

    # The player's segment takes six seconds.
    stage.rules({"path": "*/270p/*.ts", "throttle": 4_000}, {"path": "*/90p/*.ts", "throttle": 4_000})
    stage.run("add", stage.url("ts"), "-q", "270p")
    stage.wait("bytes of a download", lambda: received() > 0)
    path = variant_path(stage, stage.url("ts"), "90p")
    segment = next(line for line in stage.text(path).splitlines() if line and not line.startswith("#"))
    player = threading.Thread(target=stage.get, args=(segment if segment.startswith("/") else path.rsplit("/", 1)[0] + "/" + segment,))
    player.start()
    stage.wait("a player's request", lambda: any(entry["bytes"] > 4_000 for entry in stage.requests("/90p/") if entry["path"].endswith(".ts")))
    before, asked = received(), len(stage.requests("/270p/"))
    stage.wait("most of a player's segment", lambda: any(entry["bytes"] > 20_000 for entry in stage.requests("/90p/")), 20)
    need(player.is_alive() and received() == before, "a download receives %d bytes while a player waits" % (received() - before))
    need(len(stage.requests("/270p/")) == asked, "a download asks for more while a player waits")
    # Its bytes are kept, and the download goes on without a player.
    player.join()
    stage.clear_rules()
    stage.wait("end of the download", lambda: stage.download("ts")["state"] == "complete", 60)
    ranges = [entry["range"] for entry in stage.requests("/270p/") if entry["range"]]
    # A look at the first bytes has an end.
    need("bytes=0-" not in ranges, "what had arrived is fetched again: %s" % ranges)


@row("P4", "A download of a range of time", "weir get URL --range 0:03-0:06")
def time_range(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "3-6")
    numbers = sorted(int(path.split("/")[-1].split(".")[0]) for path in stage.media_requests())
    need(0 < len(numbers) < 5, "a range of 3 s of 12 fetches segments %s" % numbers)
    need("0:03" in stage.run("list") or "3-6" in stage.run("list") or "0:03" in stage.run("show", "ts"), "the range is not listed")
    odd = [odd_sound(stage, seconds, range(4, 8)) for seconds in ("1.9", "2.5", "3.3")]
    for name, url, _ in odd:
        stage.run("get", url, "--range", "4-8", "--subs", "en", "--name", name)
    stage.end_origin()
    for name, _, part in odd:
        need("SUBTITLES" in stage.text("/offline/%s.m3u8" % name), "the subtitles of %s are not listed" % name)
        stage.plays("/offline/%s.m3u8" % name, part)
        report = stage.player("mpv", stage.weir.url + "/offline/%s.m3u8" % name)
        need(report["ended"] and report["position"] > 3.5, "mpv ends %s at %s" % (name, report["position"]))


def odd_sound(stage, seconds, saved):
    """A film whose picture is cut each second, its sound at other times, and its subtitles never: its name, its URL, and a
    file that lists only the segments that reach into a range of time."""
    url = stage.url("cmaf")
    name, root = "sound-" + seconds.replace(".", "-"), stage.root / "cmaf"
    (root / name).mkdir()
    subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-allowed_extensions", "ALL", "-i", root / "audio-en" / "media.m3u8", "-c", "copy", "-f", "hls",
         "-hls_time", seconds, "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_segment_filename", root / name / "%d.m4s",
         root / name / "media.m3u8"], check=True, cwd=root / name)
    text = "#EXTM3U\n#EXT-X-TARGETDURATION:12\n#EXTINF:12,\n../subtitles-en/0.vtt\n#EXT-X-ENDLIST\n"
    stage.write("cmaf/%s/subtitles.m3u8" % name, text)
    for folder in (name, "video-270p"):
        stage.write("cmaf/%s/part-%s.m3u8" % (folder, name), reaching(root / folder / "media.m3u8", saved))
    lines = (
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="%s/%s"',
        '#EXT-X-STREAM-INF:BANDWIDTH=200000,RESOLUTION=480x270,CODECS="avc1.42c00a,mp4a.40.2",AUDIO="a"%s\nvideo-270p/%s',
    )
    subtitles = '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="%s/subtitles.m3u8"' % name
    part = "part-%s.m3u8" % name
    stage.master("cmaf/" + part, lines[0] % (name, part), lines[1] % ("", part))
    stage.master("cmaf/%s.m3u8" % name, subtitles, lines[0] % (name, "media.m3u8"), lines[1] % (',SUBTITLES="s"', "media.m3u8"))
    return name, url.replace("master", name), "cmaf/" + part


def reaching(playlist, saved):
    """The text of a media playlist with the segments alone that reach into a range of seconds."""
    kept, end, start, stays = [], 0.0, 0.0, True
    for line in playlist.read_text().splitlines():
        if line.startswith("#EXTINF:"):
            start, end = end, end + float(line[8:].split(",")[0])
            stays = start < saved.stop and end > saved.start
        if stays or line == "#EXT-X-ENDLIST":
            kept.append(line)
    return "\n".join(kept) + "\n"


@row("P5", "The size is estimated, and a full disk refused, before the download begins", "weir show URL")
def sizes(stage):
    need("about" in stage.run("show", stage.url("cmaf")), "no sizes are estimated")
    stage.restart(options=("--reserve", "100000000"))
    need(stage.refused(74, "get", stage.url("cmaf")), "a download begins on a full disk")
    need(not stage.media_requests(), "a download on a full disk fetches media")


@row("P6", "Subtitles, chapters and thumbnails are attached", "weir attach NAME FILE --lang de")
def attached(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    file = stage.folder / "subtitles.srt"
    file.write_text("1\n00:00:01,000 --> 00:00:03,000\nGuten Tag\n")
    stage.run("attach", "ts", file, "--lang", "de")
    text = stage.text("/offline/ts.m3u8")
    need("TYPE=SUBTITLES" in text and 'LANGUAGE="de"' in text, "the subtitles are not in the playlist")
    # As yt-dlp copies it from a page.
    chapters = stage.folder / "chapters.json"
    chapters.write_text('[{"start-time":0,"duration":1e300,"titles":[{"language":"en","title":"One"}]}]')
    stage.run("attach", "ts", chapters)
    # A line of many beginnings of tags, and no end.
    for language in ("fr", "it", "es"):
        file.write_text("1\n00:00:01,000 --> 00:00:03,000\n" + "<" * 600_000 + "\n")
        stage.run("attach", "ts", file, "--lang", language)
    need(stage.get("/offline/ts.m3u8")[0] == 200, "the film does not play any more")


@row("P7", "The same film at another URL, with another token, is the same asset", "weir get URL?token=B")
def identity(stage):
    stage.run("get", stage.url("ts") + "?token=a1", "-q", "90p")
    before = len(stage.media_requests())
    stage.run("get", stage.url("ts") + "?token=b2", "-q", "90p")
    need(len(stage.api("GET", "/assets")[1]["assets"]) == 1, "a new token makes a new asset")
    need(len(stage.media_requests()) == before, "a new token fetches again")


@row("P8", "Header fields and cookies for each asset", "weir get URL --header 'X-Gate: open' --cookies FILE")
def fields(stage):
    jar = stage.folder / "cookies.txt"
    url = stage.url("ts")
    jar.write_text("# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tpass\tseven\n")
    stage.run("get", url, "-q", "worst", "--header", "X-Gate: open", "--cookies", jar)
    for entry in stage.requests("/ts/"):
        need(entry["headers"].get("x-gate") == "open", "%s lacks the field" % entry["path"])
        need("pass=seven" in entry["headers"].get("cookie", ""), "%s lacks the cookie" % entry["path"])


@row("P9", "The first seconds of a film are kept in advance", "weir cache NAME --seconds 4")
def cached(stage):
    stage.run("cache", stage.url("ts"), "--seconds", "4")
    numbers = {path.split("/")[-1] for path in stage.wait("media", stage.media_requests)}
    need("0.ts" in numbers and "5.ts" not in numbers, "4 s fetch %s" % sorted(numbers))
    # They begin playback, also where Weir chooses the quality, and whatever the link could do.
    before = stage.media_requests()
    variant = variant_of(stage, "/auto/ts.m3u8")
    segments = [line for line in stage.text(variant).splitlines() if line and not line.startswith("#")]
    for segment in segments[:2]:
        status, head, _ = stage.get(urllib.parse.urljoin(variant, segment))
        need(status == 200 and "hit" in head["Cache-Status"], "%s is answered with %d, %s" % (segment, status, head["Cache-Status"]))
    need(stage.media_requests() == before, "what was kept in advance is fetched again")


def variant_of(stage, view):
    """The path of the only variant's playlist in a view."""
    variants = [line for line in stage.text(view).splitlines() if line and not line.startswith("#")]
    need(len(variants) == 1, "%s lists %d variants" % (view, len(variants)))
    return variants[0]


@row("P10", "A cache of what was played, apart from downloads", "weir serve --play-cache 10GB")
def play_cache(stage):
    stage.frames(stage.weir.url + "/" + stage.url("ts"))
    need(stage.api("GET", "/store")[1]["playCache"]["bytes"] > 0, "what was played is not in the cache")


@row("P11", "One request at the origin for many readers", "mpv http://localhost:8216/NAME.m3u8")
def one_request(stage):
    stage.rules({"path": "*/0.ts", "pauseAfter": 1000})
    path = variant_path(stage, stage.url("ts"), "90p")
    segment = next(line for line in stage.text(path).splitlines() if line and not line.startswith("#"))
    segment = segment if segment.startswith("/") else path.rsplit("/", 1)[0] + "/" + segment
    with stage.unread(segment) as one, stage.unread(segment) as other:
        stage.ask("POST", stage.origin.url + "/_origin/release", b"{}")
        need(one.read() == other.read(), "two readers get other bytes")
    need(len(stage.requests("/90p/0.ts")) == 1, "%d requests for two readers" % len(stage.requests("/90p/0.ts")))


@row("P12", "What is stored plays where the origin fails", "mpv http://localhost:8216/NAME.m3u8")
def stale(stage):
    stage.run("get", stage.url("ts"), "-q", "90p")
    stage.rules({"path": "*", "status": 500})
    stage.plays(variant_path(stage, stage.url("ts"), "90p"), "ts/90p/media.m3u8")
    stage.clear_rules()
    stage.run("get", stage.url("aes"), "-q", "90p", "--range", "0-6")
    stage.run("get", stage.url("ts/180p/media.m3u8"), "--name", "lone", "--range", "0-6")
    faults = [({"status": status}, False) for status in (403, 404, 410, 500, 503)] + [({"html": True}, False), ({"hold": True}, True)]
    for fault, is_silent in faults:
        for name, url in (("aes", stage.url("aes")), ("lone", stage.url("ts/180p/media.m3u8"))):
            stage.restart()
            stage.rules({"path": "*.m3u8", **fault})
            for view in ("/" + url, "/%s.m3u8" % name, "/auto/" + url, "/local/" + url):
                begins_with_what_is_stored(stage, view, is_silent)
            stage.clear_rules()
    # What has expired does not stand in.
    stage.run("policy", "ts", "--expires", "2020-01-01")
    stage.rules({"path": "*", "status": 500})
    status, _, _ = stage.get("/" + stage.url("ts"))
    need(status == 410, "an expired asset stands in for an entry that fails: %d" % status)


def begins_with_what_is_stored(stage, view, is_silent):
    """Half of the media is stored. Of an origin that is silent the rest stays listed; one that answers with an error has none."""
    since = time.monotonic()
    status, _, body = stage.get(view)
    took = time.monotonic() - since
    need(status == 200, "%s is answered with %d after %.1f s" % (view, status, took))
    need(took < 2, "%s is answered after %.1f s" % (view, took))
    text = body.decode()
    if "#EXT-X-STREAM-INF" in text:
        text = stage.text([line for line in text.splitlines() if line and not line.startswith("#")][0])
    count = text.count("#EXTINF")
    need(count > 2 and (count < 6 or is_silent), "%s lists %d segments" % (view, count))


@row("P13", "AES-128 keys are stored", "weir get URL")
def stored_keys(stage):
    stage.run("get", stage.url("aes"), "-q", "worst")

    # Beside a key of a DRM system: libavformat and VLC know only the key that is listed last.
    text = (stage.root / "aes/90p/media.m3u8").read_text()
    other = '#EXT-X-KEY:METHOD=AES-128,URI="skd://film",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"'
    lines = [line + "\n" + other if line.startswith("#EXT-X-KEY") else line for line in text.splitlines()]
    stage.run("get", stage.write("aes/90p/systems.m3u8", "\n".join(lines) + "\n"), "--name", "systems")

    # Other bytes than the key: the download fails, what is stored is kept, and the key comes again later.
    keys = sorted((stage.root / "aes/keys").glob("*.key"))
    bytes_of_keys = [key.read_bytes() for key in keys]
    for key in keys:
        key.write_bytes(b"sixteen letters.")
    words = stage.refused(65, "get", stage.write("aes/90p/locked.m3u8", text), "--name", "locked")
    need("does not decrypt" in words, "the reason is not told: %s" % words.strip()[:200])
    need(stage.download("locked")["state"] == "failed", "the download is %s" % stage.download("locked")["state"])
    for key, content in zip(keys, bytes_of_keys):
        key.write_bytes(content)
    before = [path for path in stage.media_requests() if path.endswith(".ts")]
    stage.run("resume", "locked")
    stage.wait("the download with its keys", lambda: stage.download("locked")["state"] == "complete")
    need([path for path in stage.media_requests() if path.endswith(".ts")] == before, "segments are fetched again")

    stage.end_origin()
    for name in ("aes", "systems", "locked"):
        stage.plays("/offline/%s.m3u8" % name, "aes/90p/media.m3u8")
    for player in ("mpv", "vlc", "chromium"):
        report = stage.player(player, stage.weir.url + "/offline/systems.m3u8")
        need(report["ended"] and report["position"] > 9, "%s ends at %s: %s" % (player, report["position"], report["problems"][:2]))


@row("P14", "Web pages that you allow, and other machines with a token", "weir serve --allowed-origins https://example.com --lan ADDRESS")
def pages(stage):
    stage.restart(options=("--allowed-origins", "https://page.example"))
    stage.run("get", stage.url("ts"), "-q", "worst")
    status, head, _ = stage.get("/ts.m3u8", Origin="https://page.example")
    need(status == 200 and head["Access-Control-Allow-Origin"] == "https://page.example", "an allowed page gets %d" % status)
    need(stage.get("/ts.m3u8", Origin="https://other.example", Sec_Fetch_Site="cross-site")[0] == 403, "a page that is not allowed is served")
    status, _, _ = stage.get("/ts.m3u8", Referer="https://page.example/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="no-cors", Sec_Fetch_Dest="video")
    need(status == 200, "a <video> on an allowed page gets %d" % status)


@row("P15", "A download goes on where a player seeks to", "weir get URL --play")
def seeks(stage):
    stage.restart(options=("--max-parallel", "1"))
    stage.rules({"path": "*.ts", "throttle": 30_000})
    path = variant_path(stage, stage.url("ts"), "90p")
    segments = [line for line in stage.text(path).splitlines() if line and not line.startswith("#")]
    stage.run("add", stage.url("ts"), "-q", "90p")
    stage.wait("a download at work", stage.media_requests)
    stage.get(segments[3] if segments[3].startswith("/") else path.rsplit("/", 1)[0] + "/" + segments[3])
    stage.wait("complete download", lambda: stage.download("ts")["state"] == "complete")
    order = [int(each.split("/")[-1].split(".")[0]) for each in stage.media_requests()]
    need(order.index(4) < order.index(2), "the segments are fetched in the order %s" % order)


@row("P16", "Lists of preferred codecs and languages", "weir get URL --codecs avc1,hvc1 --languages fr,en")
def lists(stage):
    need(chosen(stage, stage.url("cmaf"), "--languages", "fr,en")[1] == ["audio-fr"], "--languages fr does not take French")


@row("P17", "An asset expires some time after its first play", "weir policy NAME --after-first-play 48h")
def first_play(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.run("policy", "ts", "--after-first-play", "1s")
    need(stage.get("/offline/ts.m3u8")[0] == 200, "it expires before it is played")
    stage.frames(stage.weir.url + "/offline/ts.m3u8", "-t", "1")
    stage.wait("end after the first play", lambda: stage.get("/offline/ts.m3u8")[0] != 200)
