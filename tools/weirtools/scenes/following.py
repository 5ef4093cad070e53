"""Live streams that are followed from their beginning to their end in real players, through Weir and directly at the same time."""

import json
import os
import pwd
import re
import subprocess
import time

from weirtools.players import frames
from weirtools.scenes import scene

KINDS, PLAYERS, WAYS = ("ll", "window", "event"), ("ffmpeg", "mpv", "vlc"), ("weir", "direct")
# Seconds after the end of a broadcast in which its players must end.
LEEWAY = 60


class Play:
    """A player of one kind of stream, by one way."""

    def __init__(self, stage, kind, player, way, base):
        self.kind, self.player, self.way, self.ended = kind, player, way, "plays on"
        self.name = "%s-%s-%s" % (kind, player, way)
        self.url = "%sfor/%s/%s/master.m3u8" % (base, self.name, kind)
        self.home = stage.home(self.name)
        self.begin = time.monotonic()
        with open(self.home / "out", "wb") as out, open(self.home / "err", "wb") as err:
            self.child = subprocess.Popen(self.words(), stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)

    def words(self):
        if self.player == "ffmpeg":
            return ["ffmpeg", "-nostdin", "-v", "warning", "-copyts", "-i", self.url, "-map", "0:v:1", "-map", "0:a:1", "-f", "framemd5",
                    "-"]
        if self.player == "mpv":
            return ["mpv", "--no-config", "--vo=null", "--ao=null", "--ytdl=no", "--no-terminal", "--log-file=%s" % (self.home / "log"),
                    self.url]
        user = []
        if os.geteuid() == 0:  # VLC refuses to run as root
            nobody = pwd.getpwnam("nobody")
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
            self.home.parent.chmod(0o755)
            user = ["runuser", "-u", "nobody", "--"]
        return user + [
            "env", "HOME=%s" % self.home, "XDG_RUNTIME_DIR=%s" % self.home, "LC_ALL=C.UTF-8", "DBUS_SESSION_BUS_ADDRESS=", "cvlc", "-I",
            "dummy", "--vout", "dummy", "--aout", "dummy", "--no-media-library", "--no-metadata-network-access", "--verbose", "2",
            self.url, "vlc://quit"]

    def has_ended(self):
        if self.ended == "plays on" and self.child.poll() is not None:
            self.ended = "%.0f s, exit %d" % (time.monotonic() - self.begin, self.child.returncode)
        return self.ended != "plays on"

    def text(self, name):
        return (self.home / name).read_text(errors="replace")

    def stalls(self):
        """Number of stalls that the player reported, in words."""
        if self.player == "ffmpeg":
            return "-"
        return str(self.text("log").count("Enter buffering") if self.player == "mpv" else self.text("err").count("is called too late"))

    def streams(self):
        """For each stream, (presentation time: hash) of each decoded frame."""
        return [dict(stream.frames) for stream in frames.read(self.text("out"))]

    def fetched(self, requests):
        """({media sequence number: how many requests brought it}, requests for media playlists)."""
        numbers, reloads = {}, 0
        for request in requests:
            path = request["path"].partition("?")[0]
            if not path.startswith("/for/%s/" % self.name) or request["status"] not in (200, 206):
                continue
            reloads += path.endswith("/media.m3u8")
            if found := re.fullmatch(r".*/(low|high)/(\d+)\.(?:ts|m4s)", path):
                key = (found[1], int(found[2]))
                numbers[key] = numbers.get(key, 0) + 1
        return numbers, reloads


def span(numbers):
    """The numbers of any rendition, as in "9-38"; with what is missing between."""
    found = sorted({number for _, number in numbers})
    if not found:
        return "nothing"
    holes = [number for number in range(found[0], found[-1]) if number not in found]
    return "%d-%d" % (found[0], found[-1]) + (" without %s" % ",".join(map(str, holes)) if holes else "")


def compare(through, direct):
    """The difference in words, or None. Several renditions may be fetched, but none of their segments twice."""
    ours, theirs = ({number for _, number in numbers} for numbers in (through, direct))
    if not ours or not theirs:
        return "nothing was fetched"
    first, last = max(min(ours), min(theirs)), max(theirs)
    if missing := [number for number in range(first, last + 1) if number not in ours]:
        return "through Weir %s are missing" % missing
    if twice := [key for key, count in through.items() if count > 1]:
        return "through Weir %s were fetched twice" % twice
    return None


def compare_frames(through, direct):
    """The difference between decoded frames in words, from the time at which both have begun; None without one."""
    if len(through) != 2 or len(direct) != 2:
        return "no frames"
    for ours, theirs in zip(through, direct):
        if not ours or not theirs:
            return "no frames"
        first = max(min(ours), min(theirs))
        ours, theirs = ({when: value for when, value in seen.items() if when >= first} for seen in (ours, theirs))
        if ours != theirs:
            return "%d of %d frames differ" % (sum(ours.get(when) != value for when, value in theirs.items()), len(theirs))
    return None


def follow(stage, weir, origin, seconds, players, kinds):
    """Plays all; prints a table, and returns True if through Weir all is as it is directly."""
    bases = {"weir": "%s/%s/" % (weir.url, origin.url), "direct": origin.url + "/"}
    plays = {(kind, player, way): Play(stage, kind, player, way, bases[way]) for kind in kinds for player in players for way in WAYS}
    try:
        until = time.monotonic() + seconds + LEEWAY
        while not all([play.has_ended() for play in plays.values()]) and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        for play in plays.values():
            if play.child.poll() is None:
                os.killpg(play.child.pid, 9)
                play.child.wait()
    requests, good = json.loads(scene.fetch(origin.url + "/_origin/requests")), True
    print("%-7s %-7s %s" % ("stream", "player", "  ".join(
        "%-24s %6s %7s %-15s" % (way, "stalls", "reloads", "ended") for way in ("through Weir", "directly"))))
    for kind in kinds:
        for player in players:
            pair = [plays[kind, player, way] for way in WAYS]
            found = [play.fetched(requests) for play in pair]
            fault = compare(*(numbers for numbers, _ in found))
            if not fault and player == "ffmpeg":
                fault = compare_frames(*(play.streams() for play in pair))
            cells = ["%-24s %6s %7d %-15s" % (span(numbers), play.stalls(), reloads, play.ended)
                     for play, (numbers, reloads) in zip(pair, found)]
            print("%-7s %-7s %s  %s" % (kind, player, "  ".join(cells), fault or "same"), flush=True)
            good = good and not fault
    return good
