"""One cell of tools/matrix: a player with a fixture, and what it made of it held against what it makes of a plain origin."""

import collections
import dataclasses
import random
import threading
import time

from weirtools.players import frames
from weirtools.scenes.scene import Scene, Trouble, wait_for

# For a player's whole run, in seconds.
WITHIN = 45
# Messages of players on a busy machine, whatever they play; of WebVTT, which libavformat cannot play from anywhere; and how VLC
# reports a discontinuity that a transport stream signals.
NOISE = ("discontinuity indicator", "Can't support the subtitle", "temporary CPU spikes", "Audio device underrun",
         "position will not match to the video", "desynchronisation", "too late", "late frames", "not seekable",
         "buffer deadlock prevented", "INPUT_CONTROL_SET_TIME")
# So often a player plays from a plain origin until it has said there what it says through Weir.
HEARINGS = 8
# Seconds before the end of which a position may be, as mpv and VLC are asked for it so seldom.
COARSE = {"mpv": 3.5, "vlc": 3.5}


def is_noise(line):
    return any(noise in line for noise in NOISE)


@dataclasses.dataclass
class Outcome:
    """Outcome of one play.

    In words what is wrong, if anything; for ffmpeg the number of frames that are lost; whether the player came to its end, None
    where it was not the player that was in trouble.
    """

    fault: str = None
    lost: int = 0
    ended: bool = None


class Baseline:
    """Results of a plain origin, played or decoded once each. Threads that ask for equal plays share one result.

    `notes` are sentences about fixtures, by their names, that belong under the table.
    """

    def __init__(self, binary, root):
        self.binary, self.root, self.known, self.notes = binary, root, {}, {}
        self.hearing, self.heard = threading.Lock(), {}

    def once(self, key, make):
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def streams(self, fixture, uri):
        """The decoded streams of one media playlist."""
        def decode():
            with Scene(self.binary, self.root) as scene:
                report, text = scene.play("ffmpeg", "%s/%s/%s" % (scene.origin().url, fixture.name, uri), WITHIN)
                if not report["ended"]:
                    raise Trouble("ffmpeg cannot decode %s of %s: %s" % (uri, fixture.name, report["problems"]))
                return frames.read(text)
        return self.once((fixture.name, uri), decode)

    def all_streams(self, fixture, variants=None, sounds=None):
        """Those of variants and of sounds apart, by default of all of both."""
        uris = (fixture.sounds if sounds is None else sounds) + (fixture.variants if variants is None else variants)
        return [stream for uri in uris for stream in self.streams(fixture, uri)]

    def segment_frames(self, fixture):
        """Total number of frames of one segment of each variant and of each sound."""
        counts = [(len(stream.frames), fixture.segments(uri)) for uri in fixture.variants + fixture.sounds
                  for stream in self.streams(fixture, uri)]
        return sum(-(-frames // segments) for frames, segments in counts)

    def play(self, fixture, player):
        """{"report", "requests": how many for media}; the second of two tries, if the first does not come to the end."""
        def play():
            for _ in range(2):
                found = self.play_again(fixture, player)
                if found["report"]["ended"]:
                    break
            return found
        return self.once((fixture.name, player), play)

    def play_again(self, fixture, player):
        """The result of one more play."""
        with Scene(self.binary, self.root) as scene:
            origin = scene.origin()
            report, _ = scene.play(player, origin.master(fixture.name), WITHIN)
            return {"report": report, "requests": len(origin.media_requests())}

    def unsaid(self, fixture, player, lines, hearings=HEARINGS):
        """Those lines that a player does not say of a plain origin: it plays from there until it has said all, or so often.

        What a player says by itself now and then it need not say the one time that it is listened to.
        """
        def left():
            return [line for line in lines if not any(line in report["problems"] for report in heard)]
        if not lines:
            return []
        with self.hearing:
            heard = self.heard.setdefault((fixture.name, player), [self.play(fixture, player)["report"]])
            while left() and len(heard) < hearings:
                heard.append(self.play_again(fixture, player)["report"])
            return left()

    def sayings(self):
        """Messages of players of a plain origin, and how often they came, as sentences; without NOISE."""
        for (fixture, player), heard in sorted(self.heard.items()):
            counts = collections.Counter(line for report in heard for line in report["problems"] if not is_noise(line))
            for line, count in sorted(counts.items()):
                if len(heard) > 1:
                    yield "%s of %s, in %d of %d plays: %s" % (player, fixture, count, len(heard), line)


class Cell:
    """One player with one fixture in one state: brings Weir there, lets it play, and says what is wrong."""

    def __init__(self, fixture, player, baseline, seed, away):
        self.fixture, self.player, self.baseline, self.away = fixture, player, baseline, away
        self.dice = random.Random(seed)
        self.moment = None
        self.seconds = 0.0
        self.hearings = HEARINGS

    def outcome(self, play):
        """The outcome of the cell; `play` is one of the functions in states.py."""
        begun = time.monotonic()
        try:
            with Scene(self.baseline.binary, self.baseline.root) as scene:
                return play(self, scene)
        except Trouble as trouble:
            return Outcome(str(trouble))
        finally:
            self.seconds = time.monotonic() - begun

    # What is expected

    def judged(self, report, text, expected, compare=frames.difference):
        """The report held against the plain origin's, and for ffmpeg the frames against those that are expected."""
        if self.player == "ffmpeg":
            found = frames.read(text)
            if fault := frames.all_differences(found, expected, compare):
                return Outcome(fault, frames.lost(found, expected)[0], report["ended"])
        return Outcome(self.shortcoming(report), ended=report["ended"])

    def shortcoming(self, report):
        """In words what a report shows to be worse than from a plain origin."""
        plain = self.baseline.play(self.fixture, self.player)["report"]
        new = [line for line in report["problems"] if line not in plain["problems"] and line != "[cplayer]"
               and not is_noise(line)]
        if not report["ended"]:
            return "did not come to the end but to %s s%s" % (report["position"], ": " + "; ".join(new[:3]) if new else "")
        bound = (plain["position"] or 0) - COARSE.get(self.player, 1.5)
        if (report["position"] or 0) < bound:
            return "ended at %s s instead of %s" % (report["position"], plain["position"])
        new = self.baseline.unsaid(self.fixture, self.player, new, self.hearings)
        return "says: " + "; ".join(new[:3]) if new else None

    def everything(self):
        return self.baseline.all_streams(self.fixture)

    def best(self):
        return self.baseline.all_streams(self.fixture, self.fixture.variants[-1:], self.fixture.default_sounds)

    def get(self, scene, weir, origin, *options):
        weir.run("get", origin.master(self.fixture.name), *options)

    # Something happens in the midst

    def at_a_moment(self, origin, act):
        """A function for Scene.play that acts at a moment drawn at random: after so many requests for media, and a while."""
        count = max(2, self.baseline.play(self.fixture, self.player)["requests"])
        number, later = self.dice.randint(1, max(1, count * 2 // 3)), self.dice.uniform(0, 0.5)
        self.moment = "%.1f s after request %d of about %d" % (later, number, count)

        def meanwhile(plays):
            wait_for("request %d" % number, lambda: not plays() or len(origin.media_requests()) >= number, WITHIN)
            time.sleep(later)
            if not plays():
                raise Trouble("it had ended before %s" % self.moment)
            act()
        return meanwhile
