"""Live streams that are paused, rewound, and recorded while they are played: in mpv, VLC, Chromium's own HLS player and hls.js."""

import json
import re
import tempfile
import time

from weirtools import TOOLS
from weirtools.origins import server
from weirtools.players import browsing, mpv, vlc
from weirtools.scenes import scene

# The origin of tools/lab/live lists five segments of two seconds.
WINDOW = 10


class Broadcast(scene.Server):
    """tools/lab/live for some seconds."""

    patience = 180

    def __init__(self, seconds):
        super().__init__(lambda port: [str(TOOLS / "lab" / "live"), "--seconds", str(seconds), "--port", str(port)])


class MPV(mpv.MPV):
    """mpv that reads six seconds ahead, as it does where a stream is larger than its cache."""

    name, jumps_to_end = "mpv", False
    LITTLE = ("--cache=yes", "--cache-secs=6", "--demuxer-readahead-secs=6", "--demuxer-max-back-bytes=0")

    def __init__(self, url):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-mpv-")
        super().__init__(self.folder.name + "/ipc", *self.LITTLE, url)

    def position(self):
        return self.ask("get_property", "time-pos")

    def pause(self, is_paused):
        self.ask("set_property", "pause", is_paused)

    def seek(self, position):
        self.ask("seek", position, "absolute")

    def close(self):
        super().close()
        self.folder.cleanup()


class VLC(vlc.VLC):
    """VLC as it is."""

    # Whatever a live playlist lists, VLC 3 goes on at its end after a pause; but it seeks in all of it.
    name, jumps_to_end = "VLC", True

    def __init__(self, url):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-vlc-")
        super().__init__(self.folder.name, url, patience=scene.PATIENCE)
        scene.need(self.connection, "VLC has no interface")

    def position(self):
        return self.ask("get_time")

    def pause(self, _):
        self.ask("pause")

    def seek(self, position):
        self.ask("seek %d" % position)

    def close(self):
        super().close()
        self.folder.cleanup()


class Chromium:
    """Chromium's own HLS player in a page of Weir's."""

    name, jumps_to_end = "Chromium", False

    def __init__(self, url):
        self.browser = browsing.Browser()
        self.session = self.browser.page()
        host = re.match(r"http://[^/]*/", url)[0]
        self.browser.call("Page.navigate", self.session, url=host)
        self.browser.wait(self.session, "document.readyState === 'complete'")
        self.browser.evaluate(self.session, """(() => {
            const video = window.video = document.createElement("video");
            video.muted = true;
            video.src = %s;
            document.body.append(video);
            video.play().catch(() => {});
        })()""" % json.dumps(url))

    def position(self):
        return self.browser.evaluate(self.session, "window.video.currentTime")

    def pause(self, is_paused):
        self.browser.evaluate(self.session, "void window.video.%s" % ("pause()" if is_paused else "play()"))

    def seek(self, position):
        self.browser.evaluate(self.session, "void (window.video.currentTime = %f)" % position)

    def close(self):
        self.browser.close()


PAGE = """<!doctype html><video muted></video><script type="module">
import * as all from "./hls.mjs";
const Hls = Object.values(all).find(each => each && each.isSupported);
const video = window.video = document.querySelector("video"), hls = window.hls = new Hls();
window.faults = [];
hls.on("hlsError", (_, data) => { if (data.fatal) window.faults.push(data.details); });
hls.attachMedia(video);
window.open_stream = url => { hls.loadSource(url); video.play().catch(() => {}); };
</script>"""


class Pages:
    """Serves a page with hls.js, which is given as an ES module. Weir must be told to allow its origin."""

    def __init__(self, library):
        files = {"/": (PAGE.encode(), "text/html"), "/hls.mjs": (library.read_bytes(), "text/javascript")}
        self.origin = server.Server(lambda request: server.Reply(*files.get(request.path, ()))).listen()


class HLSJS(Chromium):
    """hls.js with its defaults in a Chromium, on a page of another origin."""

    name, jumps_to_end = "hls.js", False
    # Set by the tool that has the library.
    pages = None

    def __init__(self, url):
        self.browser = browsing.Browser()
        self.session = self.browser.page()
        self.browser.call("Page.navigate", self.session, url=self.pages.origin + "/")
        self.browser.wait(self.session, "window.open_stream")
        self.browser.evaluate(self.session, "void window.open_stream(%s)" % json.dumps(url))

    def position(self):
        faults = self.browser.evaluate(self.session, "window.faults")
        scene.need(not faults, "hls.js gives up: %s" % faults)
        return super().position()


PLAYERS = (MPV, VLC, Chromium, HLSJS)


def watch(player, seconds, tolerance=2.0):
    """Plays on; the position then. Neither a jump nor a stall of more than the tolerance may be in it."""
    last = scene.wait_for("position of %s" % player.name, lambda: (value := player.position()) and value >= 1 and value)
    begin, moved = last, time.monotonic()
    while last < begin + seconds:
        position = player.position()
        if position is not None and position != last:
            scene.need(-0.5 < position - last < tolerance, "%s jumps from %.1f s to %.1f s" % (player.name, last, position))
            last, moved = position, time.monotonic()
        scene.need(time.monotonic() - moved < 12, "%s stands still at %.1f s" % (player.name, last))
        time.sleep(0.1)
    return last


def go_back(player, position):
    time.sleep(3)
    player.seek(position)
    scene.wait_for("seek of %s" % player.name, lambda: abs((player.position() or 1e9) - position) < 3, 20)


def pause(make, url, seconds):
    """Pauses a live stream for some seconds, many times as long as the origin's window; what is seen, in words."""
    player = make(url)
    try:
        before = watch(player, 6)
        player.pause(True)
        time.sleep(seconds)
        at = player.position()
        player.pause(False)
        if player.jumps_to_end:
            go_back(player, at)
        after = watch(player, 2 * WINDOW)
        scene.need(abs(at - before) < 3, "%s went on from %.1f s to %.1f s while it was paused" % (player.name, before, at))
        return "paused at %.1f s for %d s, played on to %.1f s" % (at, seconds, after)
    finally:
        player.close()


def rewind(make, url, seconds):
    """Plays what is kept, goes back by some seconds and plays on; what is seen, in words."""
    player = make(url)
    try:
        # All of it is kept by somebody else; it is played at once up to the end.
        far = watch(player, seconds + 3)
        go_back(player, far - seconds)
        near = watch(player, 5)
        return "went from %.1f s to %.1f s" % (far, near)
    finally:
        player.close()
