"""One run of tools/check/lost: what it draws, how Weir is brought there, and what must hold of a player that loses the network."""

import dataclasses
import random
import re
import threading
import time
import urllib.parse

from weirtools.link import switch
from weirtools.players import frames, paced
from weirtools.scenes import scene
from weirtools.scenes.judging import Cell, WITHIN
from weirtools.scenes.states import HALF, is_aligned

# Seconds that a viewer has read ahead: less than half of what any player but a bare libavformat keeps (12 s), and more than
# it takes to give up on an origin that says nothing. Whatever comes later than that stops the picture.
BUFFER = 6
# After so many seconds it has to go on when the network is back. Where it is another network, nobody says that what was asked for
# on the old one will not come: Weir waits eight seconds for more of a body, and fifteen for a reply.
BACK, ELSEWHERE = 3, 18
# For a player's run beside the time of its media and of its losses, in seconds.
LEEWAY = 60
# Bytes a second of each connection to the origin, at real time: twice what the best variant takes.
THROTTLE = 40_000
# Times real time, as tools/lab/player has it play.
MPV_RATE = 4
# Sound that is cut where the pictures are has its joints some frames beside them, and overlaps there.
AROUND = 8

RECIPES = {
    "nothing": "nothing is stored",
    "half": "the first half of the best variant is stored",
    "stand-in": "the same, and a lower variant whole",
    "everything": "the best variant is stored whole",
    "scattered": "some segments of the best variant are stored",
    "patched": "the same, and a lower variant whole",
}
# Those that others can stand in for come more often, as do those that can be mixed.
FIXTURES = ("ts", "ts", "ts", "cmaf", "cmaf", "cmaf", "aes", "aes-noiv", "byterange-ts", "byterange-fmp4", "audio")
LENGTHS = ((0.3, 2), (0.3, 2), (2, 6), (2, 6), (6, 12), (12, 20))


@dataclasses.dataclass
class Cut:
    """One loss: so long after the picture has begun, for so long, in one of switch.KINDS; in seconds."""

    begins: float
    length: float
    kind: str

    @property
    def back(self):
        """By when it has to go on, in seconds after its begin."""
        return self.length + (ELSEWHERE if self.kind == "moved" else BACK)


def joined(cuts):
    """The losses, those as one between which Weir need not have found the network again."""
    found = []
    for cut in cuts:
        if found and cut.begins < found[-1].begins + found[-1].back:
            found[-1] = dataclasses.replace(found[-1], length=cut.begins + cut.length - found[-1].begins)
        else:
            found.append(cut)
    return found


class Draw:
    """The choices that follow from a seed."""

    def __init__(self, seed, rate=1.0, fixtures=None, recipes=None, kinds=None, players=None):
        dice = random.Random(seed)
        self.seed = seed
        self.player = dice.choice(players or ["ffmpeg"] * 9 + ["mpv"])
        self.fixture = dice.choice([name for name in FIXTURES if not fixtures or name in fixtures])
        self.recipe = dice.choice(recipes or list(RECIPES))
        self.rate = MPV_RATE if self.player == "mpv" else rate
        kind, at, self.cuts = dice.choice(kinds or list(switch.KINDS)), 0.0, []
        for _ in range(dice.choice((1, 1, 1, 2, 3))):
            at += dice.uniform(0, 11 / self.rate - at)
            self.cuts.append(Cut(at, dice.uniform(*dice.choice(LENGTHS)), kind))
            at += self.cuts[-1].length
            if at > 10 / self.rate:
                break
        self.kept = [dice.random() < 0.5 for _ in range(100)]

    @property
    def kind(self):
        return self.cuts[0].kind

    def __str__(self):
        losses = ", ".join("at %.1f s for %.1f s" % (cut.begins, cut.length) for cut in self.cuts)
        return "%s in %s, %s stored, %s %s" % (self.fixture, self.player, self.recipe, self.kind, losses)


@dataclasses.dataclass
class Part:
    """One segment of what is played, in the names of Weir's URLs: where it begins and ends, and what it needs on disk."""

    begins: float
    ends: float
    files: tuple

    def is_in(self, store):
        return all((store / file).exists() for file in self.files)


def parts(text, path):
    """The segments of the media playlist that is at a path of Weir's."""
    found, at, length, key, section = [], 0.0, 0.0, None, None
    for line in text.splitlines():
        if line.startswith("#EXTINF:"):
            length = float(line[8:].split(",")[0])
        elif line.startswith(("#EXT-X-KEY", "#EXT-X-MAP")):
            uri = re.search(r'URI="([^"]*)"', line)
            if line.startswith("#EXT-X-KEY"):
                key = uri and on_disk(urllib.parse.urljoin(path, uri[1]))
            else:
                section = uri and on_disk(urllib.parse.urljoin(path, uri[1]))
        elif line and not line.startswith("#"):
            files = tuple(file for file in (on_disk(urllib.parse.urljoin(path, line)), key, section) if file)
            found.append(Part(at, at + length, files))
            at += length
    return found


def on_disk(path):
    """The file with the piece that is at /a/ASSET/SESSION/RENDITION/FILE."""
    _, _, asset, _, rendition, file = path.split("/")
    return "/".join((asset, rendition, file))


class Entry:
    """The media playlists that Weir lists at a URL: of the variants, lowest first, and of the default sound."""

    def __init__(self, weir, url):
        self.weir = weir
        lines = scene.fetch(url).splitlines()
        rows = [(int(re.search(r"[:,]BANDWIDTH=(\d+)", line)[1]), uri)
                for line, uri in zip(lines, lines[1:]) if line.startswith("#EXT-X-STREAM-INF")]
        self.variants = [uri for _, uri in sorted(rows)]
        self.sounds = [re.search(r'URI="([^"]*)"', line)[1] for line in lines
                       if line.startswith("#EXT-X-MEDIA:TYPE=AUDIO") and "DEFAULT=YES" in line]
        self.parts = {uri: parts(scene.fetch(weir.url + uri), uri) for uri in self.variants[-2:] + self.sounds}

    @property
    def best(self):
        return self.variants[-1]

    def fetch(self, uri, wanted):
        """Lets the wanted segments of a rendition flow through Weir, with what they need."""
        session = uri.rsplit("/", 2)[0]
        for part, is_wanted in zip(self.parts[uri], wanted):
            for file in part.files if is_wanted else ():
                _, rendition, name = file.split("/")
                with scene.OPENER.open(urllib.parse.urljoin(self.weir.url, "%s/%s/%s" % (session, rendition, name))) as reply:
                    reply.read()


class Loss:
    """One run."""

    def __init__(self, draw, stage):
        self.draw, self.stage = draw, stage
        self.fixture = scene.Fixture(stage.baseline.root, draw.fixture)
        self.is_covered, self.faults, self.late, self.seconds, self.stood_in = False, [], 0.0, 0.0, 0

    def run(self):
        begun = time.monotonic()
        try:
            with scene.Scene(self.stage.baseline.binary, self.stage.baseline.root) as theatre:
                wire = switch.Switch(self.stage.wires, self.stage.origin.port)
                try:
                    self.play(theatre, wire)
                finally:
                    wire.close()
        except scene.Trouble as trouble:
            self.faults.append(str(trouble))
        self.seconds = time.monotonic() - begun
        return self

    def play(self, theatre, wire):
        weir, url = theatre.weir(), "%s/%s/master.m3u8" % (wire.url, self.fixture.name)
        self.store(weir, url)
        entry = Entry(weir, weir.url + "/" + url)
        self.missing = self.find_missing(entry, theatre.folder / "store" / "assets")
        wire.rate = THROTTLE * self.draw.rate * (1 if self.draw.player == "ffmpeg" else 2)
        if self.draw.player == "ffmpeg":
            self.watch(weir, wire, entry)
        else:
            self.play_in(theatre, wire, weir.url + "/" + url)
        if weir.child.poll() is not None:
            self.faults.append("Weir has ended, with %d" % weir.child.returncode)

    # What is stored

    def store(self, weir, url):
        recipe = self.draw.recipe
        if recipe in ("stand-in", "patched"):
            height = self.fixture.heights[-2]
            weir.run("get", url, "-q", height + "p" if height else "worst")
        if recipe in ("half", "stand-in"):
            weir.run("get", url, "-q", "best", "--range", "0-%d" % HALF)
        elif recipe == "everything":
            weir.run("get", url, "-q", "best")
        elif recipe in ("scattered", "patched"):
            entry = Entry(weir, weir.url + "/" + url)
            for uri in [entry.best] + entry.sounds:
                entry.fetch(uri, self.draw.kept)

    def find_missing(self, entry, store):
        """The moments at which segments begin and end that neither are stored nor have anything to stand in for them."""
        lower = entry.parts[entry.variants[-2]] if self.can_mix else []
        self.own = [part.is_in(store) for part in entry.parts[entry.best]]
        self.other = [part.is_in(store) for part in lower] or [False] * len(self.own)
        missing = []
        for uri in [entry.best] + entry.sounds:
            for number, part in enumerate(entry.parts[uri]):
                has_stand_in = uri == entry.best and self.other[number]
                if not part.is_in(store) and not has_stand_in:
                    missing.append((part.begins, part.ends))
        return sorted(missing)

    @property
    def can_mix(self):
        """True if segments of the best variant and of the one below it can be mixed (PlaybackInDetail.md says which can)."""
        if self.fixture.name not in ("ts", "cmaf", "audio"):
            return False
        streams = [self.streams(uri) for uri in self.fixture.variants[-2:]]
        return is_aligned(streams[1], streams[0])

    @property
    def decodes(self):
        """False where no variant has pictures: a decoder of sound makes noise by all that it has decoded before, so that the
        decoded frames of mixed segments are those of neither variant."""
        return any(self.fixture.heights)

    def streams(self, uri):
        """The frames of one media playlist from a plain origin."""
        if self.decodes:
            return self.stage.baseline.streams(self.fixture, uri)

        def read():
            viewer = paced.Viewer(["%s/%s/%s" % (self.stage.origin.url, self.fixture.name, uri)], rate=None, decodes=False)
            if not viewer.finish(WITHIN):
                raise scene.Trouble("ffmpeg cannot read %s of %s" % (uri, self.fixture.name))
            return viewer.streams
        return self.stage.baseline.once(("encoded", self.fixture.name, uri), read)

    # Playing

    def lose(self, wire, since, plays):
        """Cuts the wire and mends it as it was drawn, as long as somebody plays."""
        for cut in self.draw.cuts:
            if not self.stage.wait_until(since + cut.begins, plays):
                return
            wire.cut(cut.kind)
            self.stage.wait_until(since + cut.begins + cut.length, plays)
            wire.mend()
            # The loss as it was: on a busy machine it ends later than drawn.
            cut.length = max(cut.length, time.monotonic() - since - cut.begins)

    def watch(self, weir, wire, entry):
        """ffmpeg, in real time or in a multiple of that."""
        viewer = paced.Viewer([weir.url + uri for uri in [entry.best] + entry.sounds], self.draw.rate, self.decodes)
        length = sum(cut.length for cut in self.draw.cuts)
        loser = threading.Thread(target=lambda: viewer.begun.wait(LEEWAY) and viewer.began is not None and self.lose(
            wire, viewer.began, lambda: viewer.plays))
        loser.start()
        has_ended = viewer.finish(entry.parts[entry.best][-1].ends + length + LEEWAY)
        loser.join()
        self.late, at = viewer.lateness(self.draw.rate)
        bound = self.bound()
        if not has_ended:
            self.faults.append("did not come to the end")
        if self.late > bound:
            self.faults.append("at %.1f s it is %.1f s late, %s" % (
                at, self.late, "and stalls" if self.is_covered else "more than the %.1f s of the loss" % bound))
        if new := self.stage.new_problems(self.fixture, viewer.errors):
            self.faults.append("says: " + "; ".join(new[:3]))
        if fault := self.wrong_frames(viewer.streams):
            self.faults.append(fault)

    def bound(self):
        """By how much a frame may be late; notes whether the playhead is covered."""
        left = []
        for cut in joined(self.draw.cuts):
            ahead = [begins / self.draw.rate for begins, ends in self.missing if ends > cut.begins * self.draw.rate]
            if ahead and min(ahead) + BUFFER < cut.begins + cut.back:
                left.append(cut)
        self.is_covered = not left
        return BUFFER if self.is_covered else sum(cut.back for cut in self.draw.cuts)

    def wrong_frames(self, found):
        """In words where the frames are not those of the pieces that may be chosen."""
        expected = [stream for uri in self.fixture.default_sounds + self.fixture.variants[-1:] for stream in self.streams(uri)]
        if [stream.kind for stream in found] != [stream.kind for stream in self.in_order(expected)]:
            return "%s instead of %s" % (frames.names(found), frames.names(expected))
        lower = self.streams(self.fixture.variants[-2]) if self.can_mix else []
        for stream, best in zip(found, self.in_order(expected)):
            other = next((one for one in lower if one.kind == stream.kind), None)
            if fault := self.wrong_stream(stream, best, other):
                return fault
        return None

    def in_order(self, streams):
        """Pictures first, as they are asked for."""
        return sorted(streams, key=lambda stream: stream.kind != "video")

    def wrong_stream(self, found, best, other):
        if len(found.frames) != len(best.frames):
            return "%s: %d frames instead of %d" % (found.name, len(found.frames), len(best.frames))
        apart = (best.frames[1][0] - best.frames[0][0]) / 2
        for index, (one, own) in enumerate(zip(found.frames, best.frames)):
            if abs(one[0] - own[0]) > max(apart, frames.TICK):
                return "%s: frame %d comes at %.3f s instead of %.3f" % (found.name, index, one[0], own[0])
        count = len(self.own)
        for number in range(count):
            first, last = (round(len(best.frames) * (number + more) / count) for more in (0, 1))
            if best.kind == "audio":
                first, last = first + AROUND, last - AROUND
            if all(found.frames[index][1] == best.frames[index][1] for index in range(first, last)):
                continue
            strange = next(index for index in range(first, last) if found.frames[index][1] != best.frames[index][1])
            if not other or self.own[number] or not self.other[number]:
                return "%s: frame %d is not that of the best" % (found.name, strange)
            if any(found.frames[index][1] != other.frames[index][1] for index in range(first, last)):
                return "%s: segment %d, from frame %d on, is neither of its two" % (found.name, number, strange)
            self.stood_in += 1
        return None

    def play_in(self, theatre, wire, url):
        """mpv, at four times real time."""
        begun = time.monotonic()
        within = WITHIN + sum(cut.length for cut in self.draw.cuts)
        report, _ = theatre.play("mpv", url, within, lambda plays: self.lose(wire, begun, plays))
        self.bound()
        cell = Cell(self.fixture, "mpv", self.stage.baseline, self.draw.seed, (1, 1))
        if fault := cell.shortcoming(report):
            self.faults.append(fault)
        if not self.missing and report["stalls"]:
            self.faults.append("stalls %d times" % report["stalls"])
