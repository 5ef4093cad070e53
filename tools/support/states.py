"""The states in which tools/matrix plays, what a player should make of each, and what it makes of a plain origin."""

import dataclasses
import random
import re
import time

import frames
from scene import Scene, Trouble, wait_for

# Bytes a second of each reply with media, where something happens in the midst of playing: a fixture takes seconds then.
THROTTLE = 40_000
# What is stored beforehand of a variant, and of the better one of a composite, in seconds.
HALF = 6
# For a player's whole run.
WITHIN = 45
# Seconds for which the network is away.
AWAY = (1, 4)
# What a busy machine makes players say, whatever they play; and the WebVTT that libavformat cannot play from anywhere.
NOISE = ("Can't support the subtitle", "temporary CPU spikes", "position will not match to the video", "Audio device underrun",
         "desynchronisation", "too late", "late frames", "not seekable", "buffer deadlock prevented", "INPUT_CONTROL_SET_TIME")
# Seconds before the end of which a position may be, as mpv and VLC are asked for it so seldom.
COARSE = {"mpv": 3.5, "vlc": 3.5}


@dataclasses.dataclass
class Outcome:
    """What became of a playing.

    In words what is wrong, if anything; for ffmpeg the number of frames that are lost; whether the player came to its end.
    """

    fault: str = None
    lost: int = 0
    ended: bool = False


class Baseline:
    """What a plain origin gives, played or decoded once each. Threads may ask for the same; it is the same then."""

    def __init__(self, binary, root):
        self.binary, self.root, self.known = binary, root, {}

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
        """How many frames one segment of each variant and of each sound come to in all."""
        counts = [(len(stream.frames), fixture.segments(uri)) for uri in fixture.variants + fixture.sounds
                  for stream in self.streams(fixture, uri)]
        return sum(-(-frames // segments) for frames, segments in counts)

    def play(self, fixture, player):
        """{"report", "requests": how many for media}; the second of two tries, if the first does not come to the end."""
        def play():
            for _ in range(2):
                with Scene(self.binary, self.root) as scene:
                    origin = scene.origin()
                    report, _ = scene.play(player, origin.master(fixture.name), WITHIN)
                    found = {"report": report, "requests": len(origin.media_requests())}
                if report["ended"]:
                    break
            return found
        return self.once((fixture.name, player), play)


class Cell:
    """One player with one fixture in one state: brings Weir there, lets it play, and says what is wrong."""

    def __init__(self, state, fixture, player, baseline, seed):
        self.state, self.fixture, self.player, self.baseline = state, fixture, player, baseline
        self.dice = random.Random(seed)
        self.moment = None
        self.seconds = 0.0

    def outcome(self, play=None):
        """What becomes of it; with a measure's function in the place of the state's, what becomes of that."""
        begun = time.monotonic()
        try:
            with Scene(self.baseline.binary, self.baseline.root) as scene:
                return (play or STATES[self.state])(self, scene)
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
               and not any(noise in line for noise in NOISE)]
        if not report["ended"]:
            return "did not come to the end but to %s s%s" % (report["position"], ": " + "; ".join(new[:3]) if new else "")
        bound = (plain["position"] or 0) - COARSE.get(self.player, 1.5)
        if (report["position"] or 0) < bound:
            return "ended at %s s instead of %s" % (report["position"], plain["position"])
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


def cold(cell, scene):
    """Nothing is stored."""
    origin, weir = scene.origin(), scene.weir()
    return cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN), cell.everything())


def through(weir, origin, cell):
    """The URL of a fixture at the origin, for a player of Weir's."""
    return weir.url + "/" + origin.master(cell.fixture.name)


def warm(cell, scene):
    """All of it has been played before, and Weir was started anew; no piece may be fetched again."""
    origin, weir = scene.origin(), scene.weir()
    scene.play("ffmpeg", through(weir, origin, cell), WITHIN)
    weir.kill()
    weir.start()
    origin.forget_requests()
    outcome = cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN), cell.everything())
    if outcome.fault is None and (again := origin.media_requests()):
        outcome.fault = "fetched again: " + ", ".join(again[:3])
    return outcome


def half(cell, scene):
    """The first half of the best variant is stored; it is not fetched again."""
    origin, weir = scene.origin(), scene.weir()
    cell.get(scene, weir, origin, "-q", "best", "--range", "0-%d" % HALF)
    stored = [request for request in origin.media_requests() if not is_shared(request)]
    origin.forget_requests()
    outcome = cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN), cell.everything())
    again = set(stored) & set(origin.media_requests())
    if outcome.fault is None and again:
        outcome.fault = "fetched again: " + ", ".join(sorted(again)[:3])
    return outcome


def is_shared(path):
    """Whether one path holds several pieces, so that it may well be asked for again."""
    return re.search(r"/all\.\w+$", path) is not None


def complete(cell, scene):
    """The best variant with its sound is stored, and the origin has ended."""
    origin, weir = scene.origin(), scene.weir()
    cell.get(scene, weir, origin, "-q", "best")
    origin.kill()
    return cell.judged(*scene.play(cell.player, "%s/%s.m3u8" % (weir.url, cell.fixture.name), WITHIN), cell.best())


def composite(cell, scene):
    """One variant is stored whole, of a better one the first half, and the origin has ended: played is the best of each."""
    origin, weir = scene.origin(), scene.weir()
    height = cell.fixture.heights[-2]
    cell.get(scene, weir, origin, "-q", height + "p" if height else "worst")
    cell.get(scene, weir, origin, "-q", "best", "--range", "0-%d" % HALF)
    origin.kill()
    url = "%s/%s.m3u8" % (weir.url, cell.fixture.name)
    expected = cell.baseline.once(("composite", cell.fixture.name), lambda: composite_streams(cell, scene, url))
    if isinstance(expected, str):
        return Outcome(expected)
    return cell.judged(*scene.play(cell.player, url, WITHIN), expected)


def composite_streams(cell, scene, url):
    """The streams that a composite gives, after they were held against the pieces they should be made of; or what is wrong.

    Where the pictures of the two variants come at other times (their encoders' delays differ), the lower one may play alone.
    """
    fixture, baseline = cell.fixture, cell.baseline
    best, other = (baseline.streams(fixture, uri) for uri in (fixture.variants[-1], fixture.variants[-2]))
    share = fixture.share_before(fixture.variants[-1], HALF)
    sound = baseline.all_streams(fixture, [], fixture.default_sounds)
    report, text = scene.play("ffmpeg", url, WITHIN)
    found = frames.read(text)
    made = [stream for stream in found if frames.all_differences([stream], sound) is not None] if sound else found
    for candidate in mixed_first(made, other):
        faults = [frames.composite(one, two, share)(stream, None) for stream, one, two in zip(candidate, best, other)]
        if len(candidate) == len(best) and not any(faults):
            return found
    if not is_aligned(best, other) and frames.all_differences(made, other) is None:
        return found
    return "no composite: %s" % (next((fault for fault in faults if fault), None) or frames.names(found))


def mixed_first(made, other):
    """The streams that may be the composite: all, or those that are not the lower variant, which may be listed beside it."""
    left = list(made)
    for stream in other:
        for index, candidate in enumerate(left):
            if frames.difference(candidate, stream) is None:
                del left[index]
                break
    return [made, left]


def is_aligned(best, other):
    """Whether the first pictures, or the first sounds, come within half a frame of each other."""
    one, two = best[0].frames, other[0].frames
    return abs(one[0][0] - two[0][0]) < (one[1][0] - one[0][0]) / 2


def lost(cell, scene):
    """In the midst of playing for the first time the network goes away for some seconds, and comes back."""
    origin, weir = scene.origin(THROTTLE), scene.weir()
    away, is_silent = cell.dice.uniform(*AWAY), cell.dice.random() < 0.5

    def act():
        origin.pause() if is_silent else origin.kill()
        time.sleep(away)
        origin.resume() if is_silent else origin.start()
    meanwhile = cell.at_a_moment(origin, act)
    cell.moment += ", for %.1f s, %s" % (away, "silent" if is_silent else "refusing")
    return cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN, meanwhile), cell.everything())


def killed(cell, scene):
    """In the midst of playing for the first time Weir is killed, and started again at once."""
    origin, weir = scene.origin(THROTTLE), scene.weir()

    def act():
        weir.kill()
        weir.start()
    meanwhile = cell.at_a_moment(origin, act)
    return cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN, meanwhile), cell.everything())


def plain(cell, scene, act):
    """The player at a plain origin, with which something happens in the midst of playing."""
    origin = scene.origin(THROTTLE)
    meanwhile = cell.at_a_moment(origin, lambda: act(origin))
    return cell.judged(*scene.play(cell.player, origin.master(cell.fixture.name), WITHIN, meanwhile), cell.everything())


def plain_killed(cell, scene):
    """The measure for `killed`: the same happens to the plain origin itself."""
    def act(origin):
        origin.kill()
        origin.start()
    return plain(cell, scene, act)


def plain_silent(cell, scene):
    """The measure for `lost`: the plain origin is silent for as long, which is the best that whoever stands between can be."""
    def act(origin):
        origin.pause()
        time.sleep(AWAY[1])
        origin.resume()
    return plain(cell, scene, act)


STATES = {"cold": cold, "warm": warm, "half": half, "complete": complete, "composite": composite, "lost": lost,
          "killed": killed}
# What a state is held against where a player stumbles: the same with a plain origin, and at how many moments it is looked at.
MEASURES = {"killed": (plain_killed, 1), "lost": (plain_silent, 4)}
