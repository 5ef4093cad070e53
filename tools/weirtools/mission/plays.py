"""The rows of the table that no test holds: real players, over the whole of a user's way."""

import contextlib
import http.client
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.parse

from weirtools.bench import common, limited_origin
from weirtools.players import frames, paced
from weirtools.scenes.scene import Trouble, need, wait_for


def limited(stage):
    """The rate of downloads beside a player, as it is on the wire: over any ten seconds."""
    stage.configure('limit-rate = "400KB"\n')
    common.write_presentation(stage.folder / "limited", 40, 400_000)
    seat, samples = paced.Viewer([stage.weir.url + "/" + stage.url("ts")]), []
    with contextlib.closing(limited_origin.Origin(stage.folder / "limited", has_ranges=True)) as origin:
        stage.run("add", origin.url + "/media.m3u8", "--name", "limited")
        begin = time.monotonic()
        while time.monotonic() - begin < 24:
            time.sleep(0.1)
            samples.append((time.monotonic(), origin.arrived()))
            if not seat.plays:
                seat = paced.Viewer([stage.weir.url + "/" + stage.url("cmaf")])
        seat.end()
    spans = [(first, next((last for last in samples if last[0] >= first[0] + 10), None)) for first in samples]
    rates = [(last[1] - first[1]) / (last[0] - first[0]) / 1000 for first, last in spans if last]
    need(rates and max(rates) <= 420, "limit-rate of 400 KB/s: up to %.0f over ten seconds" % max(rates, default=0))
    need(max(rates) >= 380, "limit-rate of 400 KB/s: at most %.0f over ten seconds" % max(rates))


def keys_beside_others(stage):
    """AES-128 beside a key of a DRM system: libavformat and VLC know only the key that is listed last."""
    text = (stage.origin and stage.root / "aes/90p/media.m3u8").read_text()
    other = '#EXT-X-KEY:METHOD=AES-128,URI="skd://film",KEYFORMAT="com.apple.streamingkeydelivery",KEYFORMATVERSIONS="1"'
    lines = [line + "\n" + other if line.startswith("#EXT-X-KEY") else line for line in text.splitlines()]
    stage.run("get", stage.write("aes/90p/systems.m3u8", "\n".join(lines) + "\n"), "--name", "systems")
    stage.origin.kill()
    stage.plays("/offline/systems.m3u8", "aes/90p/media.m3u8")
    for player in ("mpv", "vlc", "chromium"):
        report = stage.player(player, stage.weir.url + "/offline/systems.m3u8")
        need(report["ended"] and report["position"] > 9, "%s ends at %s: %s" % (player, report["position"], report["problems"][:2]))


def tolerant(stage):
    text = (stage.origin and stage.root / "ts/90p/media.m3u8").read_text()
    end = "#EXT-X-ENDLIST\n"
    loose = {
        "unknown tags": text.replace("#EXTINF", "#EXT-X-DATERANGE:NO=ID\n#EXT-X-UNKNOWN\n\n#EXTINF").replace("#EXT-X-VERSION:3", "#EXT-X-VERSION:NaN"),
        "a lone CR at the end": text.rstrip("\n") + "\r",
        "its end in the head and behind all": text.replace("#EXTM3U\n", "#EXTM3U\n" + end),
        "a comma in its path": text,
    }
    for number, (what, playlist) in enumerate(loose.items()):
        folder = "odd,k=%d~1" % number
        shutil.copytree(stage.root / "ts/90p", stage.root / folder)
        url = stage.write(folder + "/media.m3u8", playlist)
        with told(what):
            stage.plays("/" + url, "ts/90p/media.m3u8")
            stage.run("get", url, "--name", "odd%d" % number)
            stage.plays("/offline/odd%d.m3u8" % number, "ts/90p/media.m3u8")
    ranges = (stage.root / "byterange-ts/90p/media.m3u8").read_text()
    first, *rest = ranges.split("#EXT-X-BYTERANGE:")
    rest = [rest[0]] + [re.sub("@[0-9]+", "@", line, count=1) for line in rest[1:]]
    url = stage.write("byterange-ts/90p/at.m3u8", "#EXT-X-BYTERANGE:".join([first, *rest]))
    with told("ranges without an offset behind @"):
        stage.plays("/" + url, "byterange-ts/90p/media.m3u8")

    # The ways in which players and pages write a URL.
    url = stage.url("ts/90p/media.m3u8")
    with told("a percent-encoded URL"):
        stage.plays("/" + urllib.parse.quote(url, safe=""), "ts/90p/media.m3u8")
    with told("a request in absolute form"):
        need(absolute(stage, "/" + url).startswith(b"#EXTM3U"), "it is not answered with the playlist")
    stage.run("get", stage.url("ts/180p/media.m3u8") + "|Referer=https://page.example/&User-Agent=Odd", "--name", "piped")
    fields = stage.requests("/180p/")[-1]["headers"]
    need(fields.get("referer") == "https://page.example/" and fields.get("user-agent") == "Odd", "URL|Referer=… sends %s" % fields)

    # Anything else is named at once.
    words = {"list.pls": (b"[playlist]\nFile1=http://a/b\n", "PLS"), "film.m3u8": (b"\0\0\0\x18ftypisom" + bytes(40_000), "MP4")}
    for name, (body, word) in words.items():
        since = time.monotonic()
        said = stage.refused(76, "get", stage.write("odd/" + name, body))
        need(word in said, "%s is named as: %s" % (name, said.strip()[:200]))
        need(time.monotonic() - since < 4, "%s is named after %.1f s" % (name, time.monotonic() - since))


@contextlib.contextmanager
def told(what):
    """Says of what kind the playlist was."""
    try:
        yield
    except Trouble as trouble:
        raise Trouble("%s: %s" % (what, trouble)) from trouble


def absolute(stage, path):
    """The body of a reply to a request whose target is a whole URL, as proxies' clients send it."""
    connection = http.client.HTTPConnection("127.0.0.1", stage.weir.port, timeout=10)
    connection.request("GET", stage.weir.url + path)
    with contextlib.closing(connection):
        return connection.getresponse().read()


# An MPEG-TS packet that players skip.
NULL_PACKET = b"\x47\x1f\xff\x10" + b"\xff" * 184
# Longer than any limit on a client that does not read has been.
PAUSE = 75


def long_segments(stage, folder, size=16 << 20):
    """Lays a fixture at the origin whose segments are as long as those of a film in the best quality; its URL."""
    for number in range(6):
        media = (stage.origin and stage.root / ("ts/90p/%d.ts" % number)).read_bytes()
        stage.write("%s/%d.ts" % (folder, number), media + NULL_PACKET * ((size - len(media)) // len(NULL_PACKET)))
    return stage.write("%s/media.m3u8" % folder, (stage.root / "ts/90p/media.m3u8").read_text())


class RealTime:
    """An ffmpeg that plays a URL in real time, and decodes every frame."""

    def __init__(self, stage, url, name):
        self.progress, self.found = stage.folder / (name + ".progress"), stage.folder / (name + ".frames")
        words = ["ffmpeg", "-v", "error", "-nostdin", "-re", "-progress", str(self.progress), *frames.hashed(url, self.found)]
        self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @property
    def has_begun(self):
        return self.progress.exists() and any(
            line.partition("=")[2].isdigit() and int(line.partition("=")[2]) > 500_000
            for line in self.progress.read_text().splitlines() if line.startswith("out_time_us=")
        )

    def end(self):
        """(the frames, the messages)"""
        _, errors = self.child.communicate(timeout=60)
        return frames.read(self.found.read_text()), errors.strip()

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGCONT)
        self.child.kill()
        self.child.wait()


def paused(stage):
    new, stored = long_segments(stage, "new"), long_segments(stage, "stored")
    stage.run("get", stored, "--name", "stored")
    plays = [("new", stage.weir.url + "/" + new), ("stored", stage.weir.url + "/offline/stored.m3u8")]
    with contextlib.ExitStack() as stack:
        players = []
        for name, url in plays:
            player = RealTime(stage, url, name)
            stack.callback(player.close)
            players.append(player)
        for player in players:
            wait_for("picture", lambda player=player: player.has_begun, 30)
            player.child.send_signal(signal.SIGSTOP)
        # A connection that a player keeps for a segment of which it has read nothing.
        last = stage.weir.text("/offline/stored.m3u8").split("#EXT-X-ENDLIST")[0].split()[-1]
        with stage.unread(urllib.parse.urljoin("/offline/stored.m3u8", last)) as reply:
            time.sleep(PAUSE)
            rest = len(reply.read())
        need(rest == (stage.root / "stored/5.ts").stat().st_size, "a reader gets %d bytes after %d s" % (rest, PAUSE))
        for player in players:
            player.child.send_signal(signal.SIGCONT)
        for (name, _), player in zip(plays, players):
            found, errors = player.end()
            if words := frames.all_differences(found, stage.of_fixture("ts/90p/media.m3u8")):
                raise Trouble("%s, after a pause of %d s: %s; %s" % (name, PAUSE, words, errors[:200]))


# The functions of this file, by the numbers of their rows.
PLAYS = {"P1": limited, "P13": keys_beside_others, "W7": tolerant, "W9": paused}
