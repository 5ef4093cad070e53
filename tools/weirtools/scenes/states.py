"""The states in which tools/matrix plays. Each function brings Weir there, lets the player play, and returns the outcome."""

import json
import re
import shutil
import time

from weirtools.media import hls
from weirtools.players import frames
from weirtools.scenes.judging import HEARINGS, Outcome, WITHIN
from weirtools.scenes.scene import Origin

# Bytes a second of each reply with media, where something happens in the midst of playing: a fixture takes seconds then.
THROTTLE = 40_000
# What is stored beforehand of a variant, and of the better one of a composite, in seconds.
HALF = 6


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
    """True if one path holds several pieces, so that requests for it may repeat."""
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
    url = "%s/offline/%s.m3u8" % (weir.url, cell.fixture.name)
    expected = cell.baseline.once(("composite", cell.fixture.name), lambda: composite_streams(cell, scene, weir, url))
    if isinstance(expected, str):
        return Outcome(expected)
    return cell.judged(*scene.play(cell.player, url, WITHIN), expected)


def composite_streams(cell, scene, weir, url):
    """The streams that a composite gives, after they were held against the pieces they should be made of; or what is wrong.

    Where the pictures of the two variants come at other times (their encoders' delays differ), the lower one may play alone,
    if Weir itself says why the two are not mixed.
    """
    fixture, baseline = cell.fixture, cell.baseline
    best, other = (baseline.streams(fixture, uri) for uri in (fixture.variants[-1], fixture.variants[-2]))
    share = fixture.share_before(fixture.variants[-1], HALF)
    sound = baseline.all_streams(fixture, [], fixture.default_sounds)
    report, text = scene.play("ffmpeg", url, WITHIN)
    found = frames.read(text)
    made = [stream for stream in found if frames.all_differences([stream], sound) is not None] if sound else found
    if all(stream.kind == "audio" for stream in best):
        truth = mixed_sound(cell, scene)
        faults = [frames.all_differences(candidate, truth) for candidate in mixed_first(made, other)]
        return "no composite: %s" % faults[0] if all(faults) else found
    for candidate in mixed_first(made, other):
        faults = [frames.composite(one, two, share)(stream, None) for stream, one, two in zip(candidate, best, other)]
        if len(candidate) == len(best) and not any(faults):
            return found
    reasons = reasons_against(weir, fixture)
    if reasons and not is_aligned(best, other) and frames.all_differences(made, other) is None:
        words = "not mixed, and %s plays whole, as its pictures come at other times than those of %s; %s"
        baseline.notes[fixture.name] = words % (
            other[0].name, best[0].name, "; ".join("%s: %s" % reason for reason in reasons))
        return found
    return "no composite: %s" % (next((fault for fault in faults if fault), None) or frames.names(found))


def mixed_sound(cell, scene):
    """The streams that a plain origin gives of the same pieces of two variants without pictures, listed in one playlist.

    A decoder of sound makes noise by all that it has decoded before, so frames are not those of either variant alone.
    """
    fixture, root, lines, start = cell.fixture, scene.folder / "mixed", [], 0
    shutil.copytree(fixture.folder, root / fixture.name)
    for pair in zip(*(hls.segments(fixture.folder / uri) for uri in fixture.variants[:-3:-1])):
        duration, path, *_ = pair[0] if start < HALF else pair[1]
        lines += ["#EXTINF:%f," % duration, str(path.relative_to(fixture.folder))]
        start += duration
    head = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % HALF, "#EXT-X-PLAYLIST-TYPE:VOD"]
    (root / fixture.name / "mixed.m3u8").write_text("\n".join(head + lines + ["#EXT-X-ENDLIST", ""]))
    origin = scene.serve(Origin(root))
    report, text = scene.play("ffmpeg", "%s/%s/mixed.m3u8" % (origin.url, fixture.name), WITHIN)
    return frames.read(text)


def reasons_against(weir, fixture):
    """Why other variants do not stand in for the best one, in Weir's own words: (variant, reason)."""
    told = json.loads(weir.run("show", fixture.name, "-q", "best", "--explain", "--json"))["explanation"].get("incompatible", [])
    return [(reason["id"], reason["reason"]) for reason in told]


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
    """True if the first pictures, or the first sounds, come within half a frame of each other."""
    one, two = best[0].frames, other[0].frames
    return abs(one[0][0] - two[0][0]) < (one[1][0] - one[0][0]) / 2


def lost(cell, scene):
    """In the midst of playing for the first time the network goes away for some seconds, and comes back."""
    origin, weir = scene.origin(THROTTLE), scene.weir()
    away, is_silent = cell.dice.uniform(*cell.away), cell.dice.random() < 0.5

    def act():
        origin.pause() if is_silent else origin.kill()
        time.sleep(away)
        origin.resume() if is_silent else origin.start()
    meanwhile = cell.at_a_moment(origin, act)
    cell.moment += ", for %.1f s, %s" % (away, "silent" if is_silent else "refusing")
    return cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN, meanwhile), cell.everything())


def killed(cell, scene):
    """In the midst of playing for the first time Weir is killed, and started again at once by the service manager that has its
    socket; what is played anew is whole."""
    origin, weir = scene.origin(THROTTLE), scene.weir(scene.kept_socket())

    def act():
        weir.kill()
        weir.start()
    meanwhile = cell.at_a_moment(origin, act)
    # What it says of a torn reply it says of no origin that is well: a torn one is listened to instead.
    cell.hearings = 1
    outcome = cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN, meanwhile), cell.everything())
    cell.hearings = HEARINGS
    # What a player loses with the reply that breaks off is one thing; what Weir has kept of it is another.
    anew = cell.judged(*scene.play(cell.player, through(weir, origin, cell), WITHIN), cell.everything())
    return Outcome("played anew: " + anew.fault) if anew.fault else outcome


def plain(cell, scene, origin, act):
    """The player at a plain origin, with which something happens in the midst of playing."""
    cell.hearings = 1
    meanwhile = cell.at_a_moment(origin, act)
    return cell.judged(*scene.play(cell.player, origin.master(cell.fixture.name), WITHIN, meanwhile), cell.everything())


def plain_killed(cell, scene):
    """The measure for `killed`: the same happens to the plain origin itself."""
    origin = scene.origin(THROTTLE, scene.kept_socket())

    def act():
        origin.kill()
        origin.start()
    return plain(cell, scene, origin, act)


def plain_silent(cell, scene):
    """The measure for `lost`: the plain origin is silent for as long, which is the best that whoever stands between can be."""
    origin = scene.origin(THROTTLE)

    def act():
        origin.pause()
        time.sleep(cell.away[1])
        origin.resume()
    return plain(cell, scene, origin, act)


STATES = {"cold": cold, "warm": warm, "half": half, "complete": complete, "composite": composite, "lost": lost,
          "killed": killed}
# What a state is held against where a player stumbles: the same with a plain origin, and at how many moments it is looked at.
MEASURES = {"killed": (plain_killed, 4), "lost": (plain_silent, 4)}
