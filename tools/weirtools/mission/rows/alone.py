"""W: what Weir alone has."""

import base64
import contextlib
import http.server
import threading

from weirtools.mission.row import Missing, need, row
from weirtools.mission.rows.seeds import variant_path
from weirtools.players import frames


@contextlib.contextmanager
def plain_server(folder):
    """A static web server without Weir; its URL."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler(folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield "http://127.0.0.1:%d" % server.server_address[1]
        finally:
            server.shutdown()


class QuietHandler:
    """Makes handlers over a folder that write no log."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, *arguments):
        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

        return Handler(*arguments, directory=str(self.folder))


@row("W1", "Any player, with no options", "mpv http://localhost:8216/URL", quick=False)
def any_player(stage):
    for name in ("mpv", "ffplay", "vlc", "gstreamer", "chromium"):
        report = stage.player(name, stage.weir.url + "/" + stage.url("ts"))
        need(report["ended"], "%s does not play to the end: %s" % (name, report["problems"]))


@row("W2", "A stored asset is plain HLS on disk, that any web server can serve", "weir export NAME FOLDER")
def plain(stage):
    key = (stage.origin and stage.root / "aes/keys").iterdir()
    text = (stage.root / "aes/90p/media.m3u8").read_text()
    data = "data:;base64," + base64.b64encode(sorted(key)[0].read_bytes()).decode()
    uri = text.split('URI="')[1].split('"')[0]
    url = stage.write("aes/90p/data.m3u8", text.replace('URI="%s"' % uri, 'URI="%s"' % data))
    stage.run("get", url, "--name", "keyed")
    stage.plays("/offline/keyed.m3u8", "aes/90p/media.m3u8")
    stage.run("export", "keyed", stage.folder / "out")
    with plain_server(stage.folder / "out") as base:
        found = stage.frames(base + "/master.m3u8")
        if words := frames.all_differences(found, stage.of_fixture("aes/90p/media.m3u8")):
            raise Missing("from a plain server: %s" % words)


@row("W3", "What plays through Weir is equal to the origin, frame by frame, in every state", "mpv http://localhost:8216/URL")
def exact(stage):
    stage.plays("/" + stage.url("ts/270p/media.m3u8"), "ts/270p/media.m3u8")
    stage.plays("/" + stage.url("ts/270p/media.m3u8"), "ts/270p/media.m3u8")
    stage.restart()
    stage.plays("/" + stage.url("ts/270p/media.m3u8"), "ts/270p/media.m3u8")


@row("W4", "Pieces of different quality are joined without a gap, in fMP4 too", "weir play URL")
def joined(stage):
    stage.run("get", stage.url("cmaf"), "-q", "180p")
    stage.run("get", "cmaf", "-q", "270p", "--range", "0-6")
    stage.rules({"path": "*/video-270p/*.m4s", "status": 404})
    found = stage.frames(stage.weir.url + variant_path(stage, stage.url("cmaf"), "270p"))
    video = next((each for each in found if each.kind == "video"), None)
    wanted = [hash for _, hash in stage.of_fixture("cmaf/video-270p/media.m3u8")[0].frames]
    need(video and len(video.frames) == len(wanted), "the mixture has %d of %d frames" % (len(video.frames) if video else 0, len(wanted)))
    times = [time for time, _ in video.frames]
    need(all(later > before for before, later in zip(times, times[1:])), "time does not go on in the mixture")
    best = sum(one == other for (_, one), other in zip(video.frames, wanted))
    need(60 <= best < 120, "%d of 120 frames are of the best quality" % best)


@row("W5", "Quality that adapts, for players that cannot", "weir play URL --auto")
def adaptive(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "0-2")
    text = stage.text("/auto/ts.m3u8")
    need(text.count("#EXT-X-STREAM-INF") <= 1, "the adaptive view lists several variants")
    found = stage.frames(stage.weir.url + "/auto/ts.m3u8")
    need(found and len(found[0].frames) == len(stage.of_fixture("ts/270p/media.m3u8")[0].frames), "the adaptive view loses frames")


@row("W6", "What a plain origin cannot do in a player, Weir mends", "mpv http://localhost:8216/URL")
def mended(stage):
    url = stage.write("odd/media.m3u8", "\ufeff#EXTM3U\n#EXT-X-VERSION:11\n#EXT-X-DEFINE:NAME=\"up\",VALUE=\"../ts/90p\"\n#EXT-X-TARGETDURATION:2\n"
                      + "".join("#EXTINF:2,\n{$up}/%d.ts\n" % number for number in range(6)) + "#EXT-X-ENDLIST\n")
    stage.plays("/" + url, "ts/90p/media.m3u8")


@row("W7", "What any player plays, plays", "mpv http://localhost:8216/URL")
def tolerant(stage):
    text = (stage.origin and stage.root / "ts/90p/media.m3u8").read_text()
    url = stage.write("ts/90p/loose.m3u8", text.replace("#EXTINF", "#EXT-X-DATERANGE:NO=ID\n#EXT-X-UNKNOWN\n\n#EXTINF").replace("#EXT-X-VERSION:4", "#EXT-X-VERSION:NaN"))
    stage.plays("/" + url, "ts/90p/media.m3u8")


@row("W8", "One revision in one playback", "weir update NAME")
def one_revision(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "0-5")
    for number in range(6):
        (stage.root / ("ts/90p/%d.ts" % number)).write_bytes((stage.root / ("ts/180p/%d.ts" % number)).read_bytes())
    found = stage.frames(stage.weir.url + variant_path(stage, stage.url("ts"), "90p"))
    sizes = {stream.size for stream in found if stream.kind == "video"}
    new = [hash for _, hash in stage.of_fixture("ts/180p/media.m3u8")[0].frames]
    got = [hash for stream in found if stream.kind == "video" for _, hash in stream.frames]
    share = sum(hash in set(new) for hash in got)
    need(share in (0, len(got)), "%d of %d frames are of the new content (%s)" % (share, len(got), sizes))
