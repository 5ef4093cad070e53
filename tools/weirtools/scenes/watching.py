"""Scripted plays whose clocks are known: the players' own watched time and stalls, to compare with Weir's log."""

import dataclasses
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time

from weirtools import ROOT
from weirtools.media import films
from weirtools.players import mpv
from weirtools.scenes import scene

LENGTH, SEGMENT, SHORT = 90, 2, 16
RATES = {"low": 240, "high": 600}
# How far the log may be off: media seconds, and seconds of each stall.
WATCHED, STALLED = 2.0, 1.0
# So soon after its player a session ends.
GONE = 15


@dataclasses.dataclass
class Truth:
    """A playback by the player's own clock."""

    watched: float = 0.0
    stalls: list = dataclasses.field(default_factory=list)
    # None: the number of stalls is not compared, as the player does not count them.
    counts_stalls: bool = True


def make_film(folder):
    """/film/master.m3u8 of 90 s in two qualities, /film/high/media.m3u8, and /film/high/short.m3u8 of 16 s."""
    for name, rate in RATES.items():
        place = folder / name
        films.encode(place, LENGTH, segment=SEGMENT, kilobits=rate - 64, buffer=rate // 4, filled=True, tone=440)
        lines = (place / "media.m3u8").read_text().splitlines()
        ends = [index for index, line in enumerate(lines) if line.endswith(".ts")]
        (place / "short.m3u8").write_text("\n".join(lines[: ends[SHORT // SEGMENT - 1] + 1] + ["#EXT-X-ENDLIST", ""]))
    entries = ["#EXT-X-STREAM-INF:BANDWIDTH=%d\n%s/media.m3u8\n" % (rate * 1100, name) for name, rate in RATES.items()]
    (folder / "master.m3u8").write_text("#EXTM3U\n" + "".join(entries))


class MPV(mpv.MPV):
    """An mpv in real time. A thread reads its properties: watched media and stalls are summed up as they happen."""

    def __init__(self, stage, url, *options, script=False):
        folder = stage.folder / ("mpv-%d" % time.monotonic_ns())
        folder.mkdir()
        words = []
        if script:
            given = "weir-program=%s,weir-state=%s,weir-patience=20" % (stage.weir.binary, stage.weir.state)
            words = ["--script=%s" % (ROOT / "conf/mpv/weir.lua"), "--script-opts=" + given]
        self.truth, self.last, self.since, self.started, self.ended = Truth(), None, None, False, threading.Event()
        self.seeking = False
        environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "WEIR_STATE": "", "WEIR_LISTEN": ""}
        super().__init__(folder / "ipc", "--load-scripts=no", *words, *options, url,
                         start=lambda words: subprocess.Popen(words, env=environment, **mpv.QUIET))
        self.observe("time-pos", "paused-for-cache", "seeking")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for message in self.messages():
            self.take(message)
        self.end_stall()
        self.ended.set()

    def take(self, message):
        if message.get("event") == "playback-restart":
            self.started = True
        name, data = message.get("name"), message.get("data")
        if name == "seeking":
            self.seeking = bool(data)
        elif name == "time-pos" and data is not None:
            step = data - self.last if self.last is not None else 0
            if 0 < step < 1 and not self.seeking:
                self.truth.watched += step
            self.last = data
        elif name == "paused-for-cache" and self.started and not self.seeking:
            if data and self.since is None:
                self.since = time.monotonic()
            elif not data:
                self.end_stall()

    def end_stall(self):
        if self.since is not None:
            self.truth.stalls.append(time.monotonic() - self.since)
            self.since = None

    def watch(self, seconds):
        """Waits until so much more was played."""
        goal = self.truth.watched + seconds
        scene.wait_for("%.1f s played" % seconds, lambda: self.truth.watched >= goal or self.ended.is_set())

    def quit(self):
        self.send("quit")
        self.child.wait(20)

    def finish(self):
        self.child.wait(LENGTH + scene.PATIENCE)
        self.ended.wait(5)


class FFplay:
    """ffplay with its sound only; its statistics tell its clock."""

    def __init__(self, stage, url):
        self.file = stage.folder / "ffplay"
        self.child = subprocess.Popen(
            ["ffplay", "-nodisp", "-v", "warning", "-stats", "-autoexit", url], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(self.file, "wb"), env={**os.environ, "SDL_AUDIODRIVER": "dummy"})

    @property
    def truth(self):
        found = re.findall(r"(?:^|[\r\n])\s*(\d+\.\d+) (?:A-V|M-V|M-A|   )", self.file.read_text(errors="replace"))
        return Truth(float(found[-1]) - float(found[0]) if found else 0.0, counts_stalls=False)

    def watch(self, seconds):
        scene.wait_for("%.1f s played" % seconds, lambda: self.truth.watched >= seconds or self.child.poll() is not None)

    def quit(self):
        self.child.send_signal(signal.SIGTERM)
        self.child.wait(20)


PAGE = """<!doctype html><video muted></video><script type="module">
import * as all from "./hls.mjs";
const Hls = Object.values(all).find(each => each && each.isSupported), video = document.querySelector("video");
const seen = window.seen = {watched: 0, stalls: []};
let last = null, since = null;
setInterval(() => {
    const step = last === null ? 0 : video.currentTime - last;
    if (step > 0 && step < 1 && !video.seeking) seen.watched += step;
    last = video.currentTime;
}, 100);
video.addEventListener("waiting", () => { if (seen.watched > 0 && !video.seeking) since ??= performance.now(); });
video.addEventListener("playing", () => {
    if (since !== null) seen.stalls.push((performance.now() - since) / 1000);
    since = null;
});
const hls = window.hls = new Hls(%s);
hls.loadSource(%s);
hls.attachMedia(video);
video.play();
</script>"""


class HLSJS:
    """hls.js in a headless Chromium, on a page of the origin, which Weir is told to allow."""

    def __init__(self, stage, path, config="{}"):
        from weirtools.players import browsing
        shutil.copy(stage.hlsjs, stage.root / "hls.mjs")
        page = stage.write("watched.html", PAGE % (config, json.dumps(stage.weir.url + path)))
        self.browser = browsing.Browser()
        self.session = self.browser.page()
        self.browser.call("Page.navigate", self.session, url=page)

    @property
    def truth(self):
        seen = self.evaluate("window.seen && window.seen.watched !== undefined ? window.seen : {watched: 0, stalls: []}")
        return Truth(seen["watched"], [each for each in seen["stalls"] if each >= 0.5])

    def evaluate(self, script):
        return self.browser.evaluate(self.session, script)

    def watch(self, seconds):
        goal = self.truth.watched + seconds
        scene.wait_for("%.1f s played" % seconds, lambda: self.truth.watched >= goal)

    def quit(self):
        self.browser.close()


def short(stage):
    return stage.weir.url + "/" + stage.url("film/high/short.m3u8")


def long(stage, manner=""):
    return stage.weir.url + manner + "/" + stage.url("film/high/media.m3u8")


# mpv reads no more than this ahead, as it does where a film is larger than its cache.
LITTLE = ("--cache=yes", "--cache-secs=6", "--demuxer-readahead-secs=6", "--demuxer-max-back-bytes=0")


def to_the_end(stage):
    player = MPV(stage, short(stage))
    player.finish()
    return [player.truth]


def quits(stage, *options, url=None, seconds=8):
    player = MPV(stage, url or long(stage), *options)
    player.watch(seconds)
    player.quit()
    return [player.truth]


def quits_while_loading(stage):
    stage.rules({"path": "*/high/*.ts", "hold": True})
    player = MPV(stage, long(stage))
    scene.wait_for("request for a segment", lambda: stage.requests("/high/0.ts"))
    threading.Event().wait(3)
    player.quit()
    return [player.truth]


def pauses(stage, *options, script=False):
    player = MPV(stage, long(stage), *options, script=script)
    player.watch(9)
    player.send("set_property", "pause", True)
    threading.Event().wait(10)
    player.send("set_property", "pause", False)
    player.watch(7)
    player.quit()
    return [player.truth]


def pauses_and_quits(stage):
    player = MPV(stage, long(stage), *LITTLE)
    player.watch(9)
    player.send("set_property", "pause", True)
    threading.Event().wait(10)
    player.quit()
    return [player.truth]


def seeks(stage, *places, options=(), script=False):
    player = MPV(stage, long(stage), *options, script=script)
    player.watch(8)
    for place in places:
        player.send("seek", place, "absolute+exact")
        player.watch(7)
    player.quit()
    return [player.truth]


def slow_link(stage):
    player = MPV(stage, long(stage), *LITTLE)
    player.watch(7)
    # mpv has two requests at a time.
    stage.rules({"path": "*/high/*.ts", "throttle": RATES["high"] * 1000 // 8 * 25 // 100})
    threading.Event().wait(20)
    stage.clear_rules()
    player.watch(8)
    player.quit()
    return [player.truth]


def frozen_origin(stage):
    player = MPV(stage, long(stage), *LITTLE)
    player.watch(5)
    stage.origin.pause()
    threading.Event().wait(14)
    stage.origin.resume()
    player.watch(6)
    player.quit()
    return [player.truth]


def two_players(stage):
    first = MPV(stage, long(stage))
    first.watch(4)
    second = MPV(stage, long(stage))
    second.watch(5)
    first.quit()
    second.watch(3)
    second.quit()
    return [first.truth, second.truth]


def twice_as_fast(stage, *options, script=False):
    player = MPV(stage, long(stage), *options, script=script)
    player.watch(10)
    player.send("set_property", "speed", 2)
    player.watch(20)
    player.quit()
    return [player.truth]


def adaptive(stage):
    return quits(stage, url=stage.weir.url + "/auto/" + stage.url("film/master.m3u8"), seconds=10)


def offline(stage):
    stage.run("get", stage.url("film/high/short.m3u8"), "--name", "kept")
    return quits(stage, url=stage.weir.url + "/offline/kept.m3u8")


def live(stage):
    return quits(stage, url=stage.weir.url + "/" + stage.origin.url + "/_live/show/media.m3u8?auto=1", seconds=10)


def with_ffplay(stage):
    player = FFplay(stage, long(stage))
    player.watch(8)
    truth = player.truth
    player.quit()
    return [truth]


def in_hlsjs(stage, *, seek=None, pause=False, close="browser", config="{}"):
    player = HLSJS(stage, "/" + stage.url("film/high/media.m3u8"), config)
    player.watch(6)
    if pause:
        player.evaluate("document.querySelector('video').pause()")
        threading.Event().wait(10)
        player.evaluate("document.querySelector('video').play()")
        player.watch(6)
    if seek:
        player.evaluate("void (document.querySelector('video').currentTime = %d)" % seek)
        player.watch(4)
    truth = player.truth
    if close == "tab":
        player.browser.call("Page.navigate", player.session, url="about:blank")
        stage.browsers.append(player.browser)
    else:
        player.quit()
    return [truth]


@dataclasses.dataclass
class Play:
    name: str
    run: object
    is_quick: bool = False
    in_browser: bool = False
    # False: the session goes on, since the browser keeps its connections.
    ends: bool = True


PLAYS = [
    Play("mpv to the end", to_the_end, True),
    Play("mpv quits after 8 s", quits, True),
    Play("mpv quits while it loads", quits_while_loading),
    Play("mpv with weir.lua pauses for 10 s", lambda stage: pauses(stage, script=True)),
    Play("mpv with a small cache pauses for 10 s", lambda stage: pauses(stage, *LITTLE)),
    Play("mpv with a small cache pauses, then quits", pauses_and_quits),
    Play("mpv with weir.lua seeks forward", lambda stage: seeks(stage, 60, script=True)),
    Play("mpv with a small cache seeks forward", lambda stage: seeks(stage, 60, options=LITTLE)),
    Play("mpv with weir.lua seeks back", lambda stage: seeks(stage, 1, script=True)),
    Play("mpv with a small cache seeks back", lambda stage: seeks(stage, 50, 3, options=LITTLE)),
    Play("mpv on a slow link", slow_link, True),
    Play("mpv while the origin is frozen", frozen_origin),
    Play("two mpvs at one film", two_players),
    Play("mpv with weir.lua at twice the speed", lambda stage: twice_as_fast(stage, script=True)),
    Play("mpv with a small cache at twice the speed", lambda stage: twice_as_fast(stage, *LITTLE)),
    Play("mpv by /auto/", adaptive),
    Play("mpv offline", offline),
    Play("mpv live", live),
    Play("ffplay quits after 8 s", with_ffplay),
    Play("hls.js seeks forward", lambda stage: in_hlsjs(stage, seek=60), in_browser=True),
    Play("hls.js pauses for 10 s", lambda stage: in_hlsjs(stage, pause=True, config="{maxBufferLength: 10, maxBufferSize: 1}"),
         in_browser=True),
    Play("hls.js leaves its page", lambda stage: in_hlsjs(
        stage, close="tab", config="{maxBufferLength: 4, maxBufferSize: 1}"), in_browser=True, ends=False),
]


def sessions(stage):
    return stage.api("GET", "/sessions")[1]["sessions"]


def compare(stage, play, film):
    """The result of a play in words, and what is wrong with it, or None."""
    stage.origin  # lays its files into the root
    shutil.copytree(film, stage.root / "film", dirs_exist_ok=True)
    stage.weir
    truths = play.run(stage)
    until = time.monotonic() + GONE
    while time.monotonic() < until and play.ends and any("ended" not in each for each in sessions(stage)):
        time.sleep(0.2)
    if not play.ends:
        time.sleep(10)
    found = sessions(stage)
    words, wrong = [], []
    if len(found) != len(truths) and any(truth.watched > 0 for truth in truths):
        wrong.append("%d sessions of %d players" % (len(found), len(truths)))
    if play.ends and any("ended" not in each for each in found):
        wrong.append("still playing after %d s" % GONE)
    for truth, session in zip(truths, found):
        stalls = [each for each in truth.stalls if each >= 0.5] if truth.counts_stalls else []
        words.append("watched %.1f, log %.1f; stalls %s, log %d of %.1f s" % (
            truth.watched, session["watched"], " + ".join("%.1f" % each for each in stalls) or "none", session["stalls"],
            session["stallTime"]))
        if abs(truth.watched - session["watched"]) > WATCHED:
            wrong.append("watched")
        if truth.counts_stalls and session["stalls"] != len(stalls):
            wrong.append("number of stalls")
        if truth.counts_stalls and abs(session["stallTime"] - sum(stalls)) > STALLED * max(1, len(stalls)):
            wrong.append("length of stalls")
    return "; ".join(words), ", ".join(dict.fromkeys(wrong)) or None
