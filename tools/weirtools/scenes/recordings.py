"""Five recordings of three channels at a time, of which each segment is compared with what was broadcast: for tools/check/recordings."""

import collections
import json
import threading
import time
import urllib.parse

from weirtools.media import films
from weirtools.origins import server
from weirtools.scenes import scene

# Seconds of a segment, and segments that a playlist lists: ten seconds.
SEGMENT, WINDOW = 0.5, 20
# Seconds for which the origin of one channel is away: twice as long as its playlist.
AWAY = 20
# Seconds by which a recording may be longer or shorter than it was ordered.
LEEWAY = 2.5


class Channel:
    """A broadcast that begins with this object, on a port of its own, whose server can go away and come back."""

    def __init__(self, name, folder, seconds):
        self.name, self.folder, self.server = name, folder, None
        films.encode(folder, seconds, segment=SEGMENT, kilobits=60, keys=5, tone=300 + 100 * len(name),
                     options=("-bf", "0", "-metadata", "service_name=" + name))
        count = len(list(folder.glob("*.ts")))
        self.segments = [(folder / ("%d.ts" % number)).read_bytes() for number in range(count)]
        # By its bytes each segment is known again.
        self.numbers = {data: number for number, data in enumerate(self.segments)}
        scene.need(len(self.numbers) == count, "two segments of %s are alike" % name)
        self.requests, self.lock = collections.Counter(), threading.Lock()
        self.begin, self.port = time.monotonic(), 0
        self.come()

    def come(self):
        self.server = server.Server(self.answer)
        self.port = int(self.server.listen(port=self.port).rsplit(":", 1)[1])

    def leave(self):
        self.server.close()

    def answer(self, request):
        if "range" not in request.headers:
            with self.lock:
                self.requests[request.path] += 1
        return server.Reply(self.body(request.path))

    @property
    def url(self):
        return "http://127.0.0.1:%d/%s.m3u8" % (self.port, self.name)

    @property
    def edge(self):
        """The number of segments that were broadcast."""
        return min(len(self.segments), WINDOW + int((time.monotonic() - self.begin) / SEGMENT))

    def body(self, path):
        edge, word = self.edge, path.strip("/").partition(".")[0]
        if word == self.name:
            first = max(0, edge - WINDOW)
            lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:%d" % first]
            for number in range(first, edge):
                lines += ["#EXTINF:%.3f," % SEGMENT, "%d.ts" % number]
            return ("\n".join(lines) + "\n").encode()
        if word.isdigit() and edge - WINDOW - 4 <= int(word) < edge:
            return self.segments[int(word)]
        return None


def record(weir, channel, seconds):
    """Begins a recording, and returns its name."""
    line = json.loads(weir.run("record", channel.url, "--for", "%ds" % seconds, "--json"))
    return line["asset"]


def wait_for_end(weir, names, seconds):
    def have_ended():
        known = weir.assets()
        return all(known[name]["state"] not in ("recording", "waiting", "downloading", "queued") for name in names)
    scene.wait_for("end of %s" % ", ".join(names), have_ended, seconds)


def recorded(weir, name, channel):
    """The numbers of the segments of a recording, as a player gets them; each byte must be the broadcast's."""
    url = "%s/offline/%s.m3u8" % (weir.url, name)
    text = scene.fetch(url)
    if "#EXT-X-STREAM-INF" in text:
        url = urllib.parse.urljoin(url, scene.uris(text)[0])
        text = scene.fetch(url)
    scene.need("#EXT-X-ENDLIST" in text, "%s has no end" % name)
    numbers, is_gap = [], False
    for line in text.splitlines():
        if line.startswith("#EXT-X-GAP"):
            is_gap = True
        elif line and not line.startswith("#"):
            if not is_gap:
                data = scene.load(urllib.parse.urljoin(url, line))
                scene.need(data in channel.numbers, "a segment of %s is none of the broadcast" % name)
                numbers.append(channel.numbers[data])
            is_gap = False
    return numbers


def judge(weir, name, channel, seconds, holes=0):
    """Compares a recording with the broadcast; returns what is seen, in words. `holes`: the fewest segments that are missing."""
    numbers = recorded(weir, name, channel)
    scene.need(numbers, "%s is empty" % name)
    scene.need(all(one < other for one, other in zip(numbers, numbers[1:])), "the segments of %s are not in order" % name)
    span = numbers[-1] + 1 - numbers[0]
    missing = span - len(numbers)
    length = span * SEGMENT
    # It begins with what the origin lists then.
    most = seconds + WINDOW * SEGMENT + LEEWAY
    scene.need(seconds - LEEWAY <= length <= most, "%s covers %.1f s in place of %d to %.1f" % (name, length, seconds, most))
    shortfall = weir.assets()[name].get("shortfall")
    if not holes:
        scene.need(missing == 0, "%s lacks %d segments: %s" % (name, missing, numbers))
        scene.need(shortfall is None, "%s is said to lack something: %s" % (name, shortfall))
        return "%s: %d segments, each as broadcast" % (name, len(numbers))
    jumps = sum(other > one + 1 for one, other in zip(numbers, numbers[1:]))
    scene.need(jumps == 1, "%s has %d holes in place of 1: %s" % (name, jumps, numbers))
    scene.need(holes <= missing <= holes + 12, "%s lacks %d segments; the origin had dropped %d" % (name, missing, holes))
    words = weir.run("list")
    line = next((line for line in words.splitlines() if name in line), "")
    scene.need("1 hole" in line and "missing" in line, "weir list does not say what %s lacks: %s" % (name, line))
    return "%s: %d segments, each as broadcast, and %d missing in one hole, as weir list says" % (name, len(numbers), missing)


def beside_everything(weir, channels, origin, say):
    """Two recordings of one channel, one of another beside three downloads, and one whose origin is away."""
    one, two, three = channels
    films = []
    for number in range(3):
        films.append("film-%d" % number)
        weir.run("add", "%s/_vod/200x%d/media.m3u8" % (origin.url, 100_000 + number), "--name", films[-1])
    scene.wait_for("three downloads", lambda: all(weir.assets()[name]["state"] == "downloading" for name in films))

    begin = time.monotonic()
    first, busy, broken = record(weir, one, 25), record(weir, two, 20), record(weir, three, 45)
    scene.wait_for("bytes of %s" % busy, lambda: weir.assets()[busy]["bytes"] > 0, 8)
    time.sleep(max(0, begin + 6 - time.monotonic()))
    three.leave()
    second = record(weir, one, 25)
    scene.need(first != second, "the second recording of a channel is the first")
    time.sleep(max(0, begin + 6 + AWAY - time.monotonic()))
    three.come()
    wait_for_end(weir, [first, second, busy, broken], 60)
    states = [weir.assets()[name]["state"] for name in films]
    scene.need(states == ["downloading"] * 3, "the downloads beside them are %s" % states)

    say(judge(weir, first, one, 25) + ", at the same time as")
    say(judge(weir, second, one, 25))
    say(judge(weir, busy, two, 20) + ", beside three downloads")
    say(judge(weir, broken, three, 45, holes=int(AWAY / SEGMENT) - WINDOW - 4))
    twice = [path for path, count in one.requests.items() if path.endswith(".ts") and count > 1]
    scene.need(not twice, "the player and two recordings fetched twice: %s" % twice)


def across_a_kill(weir, channel, say):
    name = record(weir, channel, 20)
    scene.wait_for("bytes of %s" % name, lambda: weir.assets()[name]["bytes"] > 0)
    time.sleep(5)
    weir.kill()
    weir.start()
    wait_for_end(weir, [name], 60)
    say(judge(weir, name, channel, 20) + ", across kill -9")
