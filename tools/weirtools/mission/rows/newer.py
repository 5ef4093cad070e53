"""A: what the newer interfaces of AVFoundation have."""

import json
import time

from weirtools.mission.row import need, row
from weirtools.mission.rows.seeds import chosen, ladder


@row("A1", "Conditions for the variant: rates, codec, size, range, frame rate, channels", "weir get URL --where 'height<=1080' --where range=SDR")
def conditions(stage):
    url = ladder(stage, extra=(",FRAME-RATE=25", ",FRAME-RATE=50,VIDEO-RANGE=PQ", ",FRAME-RATE=50,AVERAGE-BANDWIDTH=250000"))
    for condition, expected in (("height<=180", "180p"), ("peak<=150k", "90p"), ("fps<=30", "90p"), ("range=SDR", "270p"),
                                ("average<=200k", "180p"), ("codec=avc1", "270p")):
        variant = chosen(stage, url, "--where", condition)[0]
        need(variant == ["video-" + expected], "--where %s takes %s" % (condition, variant))
    need(stage.command("show", url, "--where", "hight<=180")[0] == 64, "a misspelt condition is accepted")


@row("A2", "Several configurations in one download; the same picture is stored once", "weir get URL --audio en --also '--audio fr'")
def configurations(stage):
    stage.run("get", stage.url("cmaf"), "-q", "90p", "--audio", "en", "--also", "-q 90p --audio fr")
    paths = [path for path in stage.media_requests() if "video-90p" in path]
    need(len(paths) == len(set(paths)), "the picture is fetched twice")
    complete = [each["id"] for each in stage.asset("cmaf")["tracks"]["audio"] if each["isComplete"]]
    need(complete == ["audio-en", "audio-fr"], "stored sounds: %s" % complete)


@row("A3", "Which variants will be downloaded is known before", "weir show URL --explain")
def before(stage):
    text = stage.run("show", stage.url("cmaf"), "--explain", "-q", "180p")
    need("chosen: 180p" in text, "show --explain does not name the variant")
    need(not stage.media_requests(), "asking fetches media")


@row("A4", "Interstitials are downloaded, and play without a network", "weir get URL --interstitials")
def interstitials(stage):
    url = stage.write(
        "a4/media.m3u8",
        "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n"
        '#EXT-X-DATERANGE:ID="ad",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:02Z",DURATION=12,'
        'X-ASSET-URI="../ts/90p/media.m3u8"\n'
        + "".join("#EXTINF:1,\n../ts/180p/%d.ts\n" % number for number in range(4)) + "#EXT-X-ENDLIST\n")
    stage.run("get", url, "--name", "film", "--interstitials")
    stage.end_origin()
    text = stage.text("/offline/film.m3u8")
    inner = next((line for line in text.splitlines() if line and not line.startswith("#")), None)
    lists = text if "X-ASSET-URI" in text else stage.text(inner if inner.startswith("/") else "/offline/" + inner)
    need("X-ASSET-URI" in lists, "offline there is no interstitial")
    path = lists.split('X-ASSET-URI="')[1].split('"')[0]
    stage.plays(path if path.startswith("/") else "/offline/" + path, "ts/90p/media.m3u8")


@row("A5", "A summary at the end of each download", "weir get URL --json")
def summary(stage):
    result = stage.lines("get", stage.url("ts"), "-q", "worst", "--json")[-1]
    found = result.get("summary") or {}
    need(found.get("bytes"), "the result has no summary: %s" % json.dumps(sorted(result)))
    stage.restart()
    kept = stage.api("GET", "/downloads/" + stage.asset("ts")["download"])[1].get("summary") or {}
    need(kept.get("bytes") == found["bytes"], "the summary is not kept")

    # A download that goes on after an orderly end of the daemon, and after a kill: all of it is in the summary.
    url, size, count = stage.origin.url + "/_vod/40x100000/media.m3u8", 100_000, 40
    for is_killed in (False, True):
        name = "killed" if is_killed else "stopped"
        stage.rules({"path": "/_vod/*.ts", "throttle": 100_000})
        begun = len(stage.requests("/_vod/"))
        stage.run("add", url + "?" + name, "--name", name)
        stage.wait("some of the download", lambda: len(stage.requests("/_vod/")) > begun + 12)
        # What came in the last five seconds before a kill may be missing.
        time.sleep(6 if is_killed else 0)
        stage.restart(kill=is_killed)
        stage.clear_rules()
        stage.wait("the end of the download", lambda: (stage.download(name) or {}).get("state") == "complete", 60)
        found = stage.api("GET", "/downloads/" + stage.asset(name)["download"])[1]["summary"]
        least = (count - (12 if is_killed else 0)) * size
        need(least <= found["bytes"] <= count * size, "%s: the summary has %d bytes of %d" % (name, found["bytes"], count * size))
        need(found["requests"] >= count - (12 if is_killed else 0), "%s: the summary has %d requests" % (name, found["requests"]))
        stage.run("remove", name, "--yes")
