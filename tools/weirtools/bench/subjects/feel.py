"""Measures what a person feels: the time to the first picture and after a seek, directly and through Weir, over links.

    tools/bench feel [--links off,Wi-Fi,LTE,3G,EDGE] [--ways direct,cold,auto,url,name,play] [--players mpv,ffplay]
                     [--rounds 5] [--seconds 180] [--checks] [--checks-only]

The film has three variants of transport streams, and comes from nginx over a link of tools/link. The ways:
    direct   the origin's URL
    cold     the same URL through a Weir that has nothing
    auto     the same by /auto/
    url      the same with the best variant stored, in a Weir that has just started
    name     the stored film by its name
    play     the stored film by the URL that `weir url` makes of the origin's, as weir play and weir.lua use it
Two more, only if they are named, show what the player and any program between would need:
    relay    the origin's URL through an nginx that passes everything on (proxy_pass) and keeps nothing
    change   from the origin, a playlist with the lowest quality up to the middle and the best one from there, as auto sends it
mpv is steered by its IPC: first picture, a seek to the middle, and a seek back to the beginning, each until the next picture.
ffplay has no such control: its first picture, and the first picture with -ss in the place of a seek, its start included.
Over 3G and EDGE the ways that load from the origin are measured beside each other, and so are the players, each over a link of its
own: the processor idles meanwhile.
Printed: medians in seconds. Wanted: cold at most 1.05 times direct, auto at least 1.5 times better, stored at most 0.15 s.

--checks adds, on 3G: what the origin sends later than a second after `weir pause`; the rate that `weir get` shows after 15 s, beside
the link's; the time until it says that a frozen origin sends nothing; and a seek beside a running `weir get -q best`.
"""

import argparse
import contextlib
import functools
import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time

from weirtools.bench import common
from weirtools.media import films
from weirtools.players import mpv

VARIANTS = [(160, 90, 200), (320, 180, 600), (640, 360, 1500)]  # width, height, kb/s
LIMIT = 120  # seconds for one picture
WAYS = ["direct", "cold", "auto", "url", "name", "play"]
STORED = ["url", "name", "play"]
# A transfer over one of these takes long and hardly any processor time.
SLOW = ["3G", "EDGE"]
FLOORS = ["relay", "change"]


SMOKE = {"links": ["off"], "seconds": 24}


def add_options(parser):
    parser.add_argument("--links", type=listed(), default=["off", "Wi-Fi", "LTE", "3G", "EDGE"])
    parser.add_argument("--ways", type=listed(WAYS + FLOORS), default=WAYS)
    parser.add_argument("--players", type=listed(PLAYERS), default=list(PLAYERS))
    parser.add_argument("--seconds", type=int, default=180, help="length of the film")
    parser.add_argument("--checks", action="store_true")
    parser.add_argument("--checks-only", action="store_true")


def listed(known=None):
    """An argument type: names with commas, of those that are known."""
    def read(text):
        names = text.split(",")
        if wrong := [name for name in names if known and name not in known]:
            raise argparse.ArgumentTypeError("unknown: %s" % ", ".join(wrong))
        return names
    return read


def measure(bench, arguments):
    make_film(bench.folder / "origin", arguments.seconds)
    origin = bench.nginx("root %s;" % (bench.folder / "origin"))
    if not arguments.checks_only:
        compare(bench, origin, arguments)
    if arguments.checks or arguments.checks_only:
        Checks(bench, origin, arguments).run()


def make_film(folder, seconds):
    """A master with three variants of six-second segments."""
    lines = ["#EXTM3U"]
    for width, height, rate in VARIANTS:
        home = folder / ("%dp" % height)
        films.encode(home, seconds, segment=6, kilobits=rate, size="%dx%d" % (width, height), frames=25, keys=50, noise=20, tone=440, sound="64k")
        lines += ["#EXT-X-STREAM-INF:BANDWIDTH=%d,RESOLUTION=%dx%d" % ((rate + 90) * 1000, width, height),
                  "%dp/media.m3u8" % height]
    (folder / "master.m3u8").write_text("\n".join(lines) + "\n")
    lowest = (folder / "90p" / "media.m3u8").read_text(encoding="utf-8").splitlines()
    # Segments of 6 s; a seek to the middle begins with the one before it.
    change = next(place for place, line in enumerate(lowest) if line == "%d.ts" % max(0, seconds // 12 - 1))
    (folder / "change.m3u8").write_text("\n".join(
        line if line.startswith("#") else "%s/%s" % ("360p" if place >= change else "90p", line)
        for place, line in enumerate(lowest)) + "\n")


class Way:
    """One way to the film over one link: the URL to play, in a fresh state."""

    def __init__(self, bench, origin, preset):
        self.bench, self.preset = bench, preset
        self.link = bench.new_link(origin.url)
        self.film = self.link.url + "/master.m3u8"
        self.stored = None

    def set(self, preset):
        self.link.set(preset=preset)

    def fill(self):
        """Stores the best variant, over a fast link."""
        self.set("off")
        weir = self.bench.weir()
        weir.run("get", self.film, "-q", "best", "--name", "film", timeout=600)
        weir.end()
        self.stored = weir.folder

    @contextlib.contextmanager
    def url(self, way):
        """The URL of one round."""
        if way in STORED and not self.stored:
            self.fill()
        self.set(self.preset)
        if way == "direct":
            yield self.film
            return
        if way == "change":
            yield self.link.url + "/change.m3u8"
            return
        if way == "relay":
            relay = self.bench.nginx(
                "location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ''; }",
                "upstream origin { server 127.0.0.1:%d; keepalive 16; }" % self.link.port)
            try:
                yield relay.url + "/master.m3u8"
            finally:
                relay.end()
            return
        weir = self.bench.weir(self.stored if way in STORED else None)
        try:
            if way == "play":
                yield weir.run("url", self.film).strip()
            else:
                yield weir.url + {"cold": "/", "auto": "/auto/", "url": "/", "name": "/film.m3u8"}[way] + (
                    "" if way == "name" else self.film)
        finally:
            weir.end()

    def end(self):
        self.link.end()


def compare(bench, origin, arguments):
    """Measures over all links, and prints the tables."""
    tables = [Table(bench, origin, link, arguments) for link in arguments.links]
    slow = [table for table in tables if table.preset in SLOW]
    loading, stored = ([way for way in arguments.ways if (way in STORED) == is_stored] for is_stored in (False, True))
    beside([functools.partial(table.measure, [player], loading) for table in slow for player in arguments.players])
    for table in tables:
        table.measure(arguments.players, stored if table in slow else arguments.ways)
        table.report()


def beside(calls):
    """Makes each call in a thread of its own. Raises the first failure at once."""
    ended = queue.SimpleQueue()

    def run(call):
        try:
            call()
            ended.put(None)
        except BaseException as failure:
            ended.put(failure)
    for call in calls:
        threading.Thread(target=run, args=(call,), daemon=True).start()
    for _ in calls:
        if failure := ended.get():
            raise failure


class Table:
    """All ways and players over one link."""

    def __init__(self, bench, origin, preset, arguments):
        self.bench, self.origin, self.preset, self.arguments = bench, origin, preset, arguments
        self.found = {player: {} for player in arguments.players}

    def measure(self, players, ways):
        """All rounds of the players and ways, over one link."""
        way, home = Way(self.bench, self.origin, self.preset), self.bench.home("players")
        for _ in range(self.arguments.rounds):
            for name in ways:
                for player in players:
                    with way.url(name) as url:
                        times = PLAYERS[player](self.bench, url, self.arguments.seconds, home)
                    for what, seconds in times.items():
                        self.found[player].setdefault(what, {}).setdefault(name, []).append(seconds)
        way.end()

    def report(self):
        print("%-30s" % self.preset + "".join("%10s" % way for way in self.arguments.ways))
        place = "on loopback" if self.preset == "off" else "over " + self.preset
        for player, found in self.found.items():
            for what, ways in found.items():
                middles = [common.median(ways[way]) for way in self.arguments.ways]
                print("%-30s" % ("%s, %s" % (player, what)) + "".join("%10.2f" % value for value in middles))
                common.row(self.arguments, "%s %s: %s" % (player, place, what), ", ".join(self.arguments.ways),
                           common.listed("%.2f", middles) + " s")
        print(flush=True)


class MPV(mpv.MPV):
    """mpv that notes when a picture comes."""

    def __init__(self, bench, home):
        self.bench, path = bench, home / "mpv"
        path.unlink(missing_ok=True)
        super().__init__(path, "--idle", "--hls-bitrate=max", start=lambda words: bench.start(words, env=environment()), left=lambda: LIMIT)

    def picture_after(self, *command):
        """Seconds from a command until the next picture."""
        start = time.monotonic()
        self.send(*command)
        try:
            message = self.next(lambda message: message.get("event") in ("playback-restart", "end-file"))
        except TimeoutError:
            return float("inf")
        if message["event"] == "end-file":
            sys.exit("mpv cannot play it")
        return time.monotonic() - start

    def end(self):
        self.bench.forget(self.child, signal.SIGKILL)
        self.connection.close()


def play_mpv(bench, url, seconds, home):
    player = MPV(bench, home)
    try:
        return {"first picture": player.picture_after("loadfile", url),
                "cold seek": player.picture_after("seek", seconds // 2, "absolute"),
                "seek back": player.picture_after("seek", 1, "absolute")}
    finally:
        player.end()


def play_ffplay(bench, url, seconds, _home):
    return {"first picture": ffplay(bench, url), "cold seek (-ss)": ffplay(bench, url, "-ss", seconds // 2)}


def ffplay(bench, url, *options):
    """Seconds from the start until its clock of the video runs."""
    start = time.monotonic()
    child = bench.start(
        ["ffplay", "-v", "error", "-stats", "-autoexit", *options, url], stderr=subprocess.PIPE, env=environment())
    try:
        text = b""
        while time.monotonic() - start < LIMIT:
            if select.select([child.stderr], [], [], 1)[0]:
                new = os.read(child.stderr.fileno(), 4096)
                if not new:
                    sys.exit("ffplay cannot play it: %s" % text[-300:].decode(errors="replace"))
                text += new
                if any(not line.strip().startswith(b"nan") and b"A-V" in line for line in text.replace(b"\r", b"\n").split(b"\n")):
                    return time.monotonic() - start
        return float("inf")
    finally:
        bench.forget(child, signal.SIGKILL)


PLAYERS = {"mpv": play_mpv, "ffplay": play_ffplay}


class Checks:
    """Checks of `weir get` and `weir pause` on 3G."""

    def __init__(self, bench, origin, arguments):
        self.bench, self.origin, self.arguments = bench, origin, arguments

    def run(self):
        for check in (self.pause, self.numbers, self.seek):
            way = Way(self.bench, self.origin, "3G")
            way.set("3G")
            weir = self.bench.weir()
            lines = []
            get = self.bench.start(
                weir.words("get", way.film, "-q", "best", "--name", "film", "--json"), env=weir.environment,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=lambda get=get, lines=lines: lines.extend(
                (time.monotonic(), json.loads(line)) for line in get.stdout), daemon=True).start()
            common.wait_for("byte of the download", lambda way=way: way.link.seen()["bytesDown"] > 100_000, 60)
            check(way, weir, lines)
            weir.end()
            self.bench.forget(get)
            way.end()

    def pause(self, way, weir, _lines):
        time.sleep(10)
        weir.run("pause", "film")
        time.sleep(1)
        after = way.link.seen()["bytesDown"]
        time.sleep(10)
        self.tell("bytes over the link later than 1 s after weir pause", "%d" % (way.link.seen()["bytesDown"] - after))

    def numbers(self, way, _weir, lines):
        begun = time.monotonic()
        time.sleep(16)
        before = way.link.seen()
        time.sleep(15)
        after = way.link.seen()
        true = (after["bytesDown"] - before["bytesDown"]) / (after["seconds"] - before["seconds"])
        rates = [line["rate"] for at, line in lines if "rate" in line and at > begun + 15]
        self.tell("shown rate after 15 s, in shares of the link's", "%.2f to %.2f" % (
            min(rates, default=0) / true, max(rates, default=0) / true))
        way.link.set(down=0)
        frozen = time.monotonic()
        common.wait_for("notice of the silence", lambda: lines and "silence" in lines[-1][1], 40)
        self.tell("seconds until a frozen origin is told", "%.1f" % (time.monotonic() - frozen))

    def seek(self, way, weir, _lines):
        home = self.bench.home("player")
        beside = play_mpv(self.bench, weir.url + "/" + way.film, self.arguments.seconds, home)
        direct = play_mpv(self.bench, self.alone().film, self.arguments.seconds, home)
        for name in ("first picture", "cold seek"):
            self.tell("%s beside weir get -q best, and directly" % name, "%.1f s, %.1f s" % (beside[name], direct[name]))

    def alone(self):
        way = Way(self.bench, self.origin, "3G")
        way.set("3G")
        return way

    def tell(self, what, value):
        print("3G: %s: %s" % (what, value), flush=True)
        common.row(self.arguments, "3G: " + what, "", value)


def environment():
    """Players without a window and without sound."""
    return {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy"}
