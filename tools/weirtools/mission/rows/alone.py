"""W: what Weir alone has."""

import base64
import contextlib
import http.client
import http.server
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import urllib.parse

from weirtools import MEDIA, TOOLS
from weirtools.bench import common, limited_origin
from weirtools.media import transport
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
    # What is stored comes first, even if the playlists of the other qualities do not come.
    stage.rules({"path": "*/180p/media.m3u8", "hold": True}, {"path": "*/270p/media.m3u8", "hold": True})
    before = stage.media_requests()
    since = time.monotonic()
    text = stage.text("/auto/ts.m3u8")
    need(text.count("#EXT-X-STREAM-INF") == 1, "the adaptive view lists several variants")
    variant = next(line for line in text.splitlines() if line and not line.startswith("#"))
    first = next(line for line in stage.text(variant).splitlines() if line and not line.startswith("#"))
    status, head, _ = stage.get(urllib.parse.urljoin(variant, first))
    took = time.monotonic() - since
    need(status == 200 and "hit" in head["Cache-Status"], "the first segment is answered with %d, %s" % (status, head["Cache-Status"]))
    need(took < 3, "the first segment comes after %.1f s" % took)
    need(stage.media_requests() == before, "what is stored is fetched again")
    stage.clear_rules()
    stage.ask("POST", stage.origin.url + "/_origin/release", b"{}")
    text = stage.text("/auto/ts.m3u8")
    need(text.count("#EXT-X-STREAM-INF") <= 1, "the adaptive view lists several variants")
    found = stage.frames(stage.weir.url + "/auto/ts.m3u8")
    need(found and len(found[0].frames) == len(stage.of_fixture("ts/270p/media.m3u8")[0].frames), "the adaptive view loses frames")


@row("W6", "What a plain origin cannot do in a player, Weir mends", "mpv http://localhost:8216/URL")
def mended(stage):
    url = stage.write("odd/media.m3u8", "\ufeff#EXTM3U\n#EXT-X-VERSION:11\n#EXT-X-DEFINE:NAME=\"up\",VALUE=\"../ts/90p\"\n#EXT-X-TARGETDURATION:2\n"
                      + "".join("#EXTINF:2,\n{$up}/%d.ts\n" % number for number in range(6)) + "#EXT-X-ENDLIST\n")
    stage.plays("/" + url, "ts/90p/media.m3u8")


@row("W7", "What any player plays, plays", "mpv http://localhost:8216/URL", quick=False)
def tolerant(stage):
    text = (stage.origin and stage.root / "ts/90p/media.m3u8").read_text()
    end = "#EXT-X-ENDLIST\n"
    loose = {
        "unknown tags": text.replace("#EXTINF", "#EXT-X-DATERANGE:NO=ID\n#EXT-X-UNKNOWN\n\n#EXTINF").replace("#EXT-X-VERSION:3", "#EXT-X-VERSION:NaN"),
        "a lone CR at the end": text.rstrip("\n") + "\r",
        "its end in the head and behind all": text.replace("#EXTM3U\n", "#EXTM3U\n" + end),
        "a comma in its path": text,
    }
    for number, (what, playlist) in enumerate(loose.items()):
        folder = "odd,k=%d~1" % number
        shutil.copytree(stage.root / "ts/90p", stage.root / folder)
        url = stage.write(folder + "/media.m3u8", playlist)
        with told(what):
            stage.plays("/" + url, "ts/90p/media.m3u8")
            stage.run("get", url, "--name", "odd%d" % number)
            stage.plays("/offline/odd%d.m3u8" % number, "ts/90p/media.m3u8")
    ranges = (stage.root / "byterange-ts/90p/media.m3u8").read_text()
    first, *rest = ranges.split("#EXT-X-BYTERANGE:")
    rest = [rest[0]] + [re.sub("@[0-9]+", "@", line, count=1) for line in rest[1:]]
    url = stage.write("byterange-ts/90p/at.m3u8", "#EXT-X-BYTERANGE:".join([first, *rest]))
    with told("ranges without an offset behind @"):
        stage.plays("/" + url, "byterange-ts/90p/media.m3u8")

    # The ways in which players and pages write a URL.
    url = stage.url("ts/90p/media.m3u8")
    with told("a percent-encoded URL"):
        stage.plays("/" + urllib.parse.quote(url, safe=""), "ts/90p/media.m3u8")
    with told("a request in absolute form"):
        need(absolute(stage, "/" + url).startswith(b"#EXTM3U"), "it is not answered with the playlist")
    stage.run("get", stage.url("ts/180p/media.m3u8") + "|Referer=https://page.example/&User-Agent=Odd", "--name", "piped")
    fields = stage.requests("/180p/")[-1]["headers"]
    need(fields.get("referer") == "https://page.example/" and fields.get("user-agent") == "Odd", "URL|Referer=… sends %s" % fields)

    # Anything else is named at once.
    words = {"list.pls": (b"[playlist]\nFile1=http://a/b\n", "PLS"), "film.m3u8": (b"\0\0\0\x18ftypisom" + bytes(40_000), "MP4")}
    for name, (body, word) in words.items():
        since = time.monotonic()
        said = stage.refused(76, "get", stage.write("odd/" + name, body))
        need(word in said, "%s is named as: %s" % (name, said.strip()[:200]))
        need(time.monotonic() - since < 4, "%s is named after %.1f s" % (name, time.monotonic() - since))


@contextlib.contextmanager
def told(what):
    """Says of what kind the playlist was."""
    try:
        yield
    except Missing as missing:
        raise Missing("%s: %s" % (what, missing)) from missing


def absolute(stage, path):
    """The body of a reply to a request whose target is a whole URL, as proxies' clients send it."""
    connection = http.client.HTTPConnection("127.0.0.1", stage.weir.port, timeout=10)
    connection.request("GET", stage.weir.url + path)
    with contextlib.closing(connection):
        return connection.getresponse().read()


# What an origin says of its files, as a rule.
VALIDATORS = {
    "strong": {},
    "weak": {"noValidators": True, "headers": {"ETag": 'W/"same"'}},
    "no": {"noValidators": True},
}


@row("W8", "One revision in one playback", "weir update NAME")
def one_revision(stage):
    change_of_a_part(stage)
    for validators in VALIDATORS:
        change_within_a_download(stage, validators)
        change_within_a_playback(stage, validators)
    change_of_the_sound(stage)


def lay_over(stage, old, new, count=6):
    """From now on the files of one folder have the content of another's."""
    for number in range(count):
        file, other = next((stage.root / old).glob("%d.*" % number)), next((stage.root / new).glob("%d.*" % number))
        file.write_bytes(other.read_bytes())


def need_one_content(found, old, new, what, kind="video"):
    """The frames must be of one content; a part of it is enough."""
    got = [hash for stream in found if stream.kind == kind for _, hash in stream.frames]
    shares = [sum(hash in known for hash in got) for known in (set(old), set(new))]
    need(got, "%s: nothing plays" % what)
    need(0 in shares, "%s: %d frames are of the old content and %d of the new" % (what, *shares))


def hashes(stage, path, kind="video"):
    return [hash for stream in stage.of_fixture(path) if stream.kind == kind for _, hash in stream.frames]


def change_of_a_part(stage):
    """A part is saved; then the origin has other content under the same names."""
    old, new = hashes(stage, stage.origin and "ts/90p/media.m3u8"), hashes(stage, "ts/180p/media.m3u8")
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "0-5")
    lay_over(stage, "ts/90p", "ts/180p")
    found = stage.frames(stage.weir.url + variant_path(stage, stage.url("ts"), "90p"))
    need_one_content(found, old, new, "a part and its rest")


def copy(stage, name):
    """Lays a film of its own at the origin, and returns its URL."""
    shutil.copytree(MEDIA / "ts/90p", stage.root / name / "90p")
    return stage.url("%s/90p/media.m3u8" % name)


def change_after(stage, name, count, validators, act):
    """Lets the content of a film change while something is done, once its first segments are there."""
    slow = {"path": "*/%s/90p/[%d-5].ts" % (name, count), "delay": 0.7, **VALIDATORS[validators]}
    stage.rules(slow, {"path": "*/%s/*.ts" % name, **VALIDATORS[validators]})
    work = threading.Thread(target=act)
    work.start()
    stage.wait("the first segments", lambda: len([entry for entry in stage.requests("/%s/90p/" % name) if entry["path"].endswith(".ts") and entry["state"] == "done"]) >= count)
    lay_over(stage, "%s/90p" % name, "ts/270p")
    work.join(60)
    stage.clear_rules()


def change_within_a_download(stage, validators):
    old, new = hashes(stage, "ts/90p/media.m3u8"), hashes(stage, "ts/270p/media.m3u8")
    name = "download-%s" % validators
    url = copy(stage, name)
    change_after(stage, name, 1, validators, lambda: stage.command("get", url, "--name", name))
    stage.wait("complete download", lambda: stage.download(name)["state"] == "complete")
    need_one_content(stage.frames(stage.weir.url + "/offline/%s.m3u8" % name), old, new, "a download with %s validators" % validators)


def change_within_a_playback(stage, validators):
    old, new = hashes(stage, "ts/90p/media.m3u8"), hashes(stage, "ts/270p/media.m3u8")
    name = "playback-%s" % validators
    url = copy(stage, name)
    change_after(stage, name, 2, validators, lambda: stage.frames(stage.weir.url + "/" + url))
    what = "a later playback with %s validators" % validators
    need_one_content(stage.frames(stage.weir.url + "/" + url), old, new, what)


def change_of_the_sound(stage):
    """The sound alone changes while it is downloaded."""
    old, new = hashes(stage, "cmaf/audio-en/media.m3u8", "audio"), hashes(stage, "cmaf/audio-fr/media.m3u8", "audio")
    shutil.copytree(stage.root / "cmaf", stage.root / "sound")
    stage.rules({"path": "*/sound/audio-en/[2-6].m4s", "delay": 0.7, "noValidators": True}, {"path": "*.m4s", "noValidators": True})
    work = threading.Thread(target=lambda: stage.command("get", stage.url("sound"), "-q", "90p", "--name", "sound"))
    work.start()
    stage.wait("the first sound", lambda: [entry for entry in stage.requests("/sound/audio-en/1.m4s") if entry["state"] == "done"])
    lay_over(stage, "sound/audio-en", "cmaf/audio-fr")
    work.join(60)
    stage.clear_rules()
    stage.wait("complete download", lambda: stage.download("sound")["state"] == "complete")
    need_one_content(stage.frames(stage.weir.url + "/offline/sound.m3u8"), old, new, "a sound that changes", "audio")


# An MPEG-TS packet that players skip.
NULL_PACKET = b"\x47\x1f\xff\x10" + b"\xff" * 184
# Longer than any limit on a client that does not read has been.
PAUSE = 75


def long_segments(stage, folder, size=16 << 20):
    """Lays a fixture at the origin whose segments are as long as those of a film in the best quality; its URL."""
    for number in range(6):
        media = (stage.origin and stage.root / ("ts/90p/%d.ts" % number)).read_bytes()
        stage.write("%s/%d.ts" % (folder, number), media + NULL_PACKET * ((size - len(media)) // len(NULL_PACKET)))
    return stage.write("%s/media.m3u8" % folder, (stage.root / "ts/90p/media.m3u8").read_text())


class RealTime:
    """An ffmpeg that plays a URL in real time, and decodes every frame."""

    def __init__(self, stage, url, name):
        self.progress, self.found = stage.folder / (name + ".progress"), stage.folder / (name + ".frames")
        words = ["ffmpeg", "-v", "error", "-nostdin", "-re", "-progress", str(self.progress), *frames.hashed(url, self.found)]
        self.child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    @property
    def has_begun(self):
        return self.progress.exists() and any(
            line.partition("=")[2].isdigit() and int(line.partition("=")[2]) > 500_000
            for line in self.progress.read_text().splitlines() if line.startswith("out_time_us=")
        )

    def end(self):
        """(the frames, the messages)"""
        _, errors = self.child.communicate(timeout=60)
        return frames.read(self.found.read_text()), errors.strip()

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.child.pid, signal.SIGCONT)
        self.child.kill()
        self.child.wait()


@row("W9", "A player that is paused loses nothing, however long and whatever it had left unread", "mpv http://localhost:8216/URL", quick=False)
def paused(stage):
    new, stored = long_segments(stage, "new"), long_segments(stage, "stored")
    stage.run("get", stored, "--name", "stored")
    plays = [("new", stage.weir.url + "/" + new), ("stored", stage.weir.url + "/offline/stored.m3u8")]
    with contextlib.ExitStack() as stack:
        players = []
        for name, url in plays:
            player = RealTime(stage, url, name)
            stack.callback(player.close)
            players.append(player)
        for player in players:
            stage.wait("picture", lambda player=player: player.has_begun)
            player.child.send_signal(signal.SIGSTOP)
        # A connection that a player keeps for a segment of which it has read nothing.
        last = stage.text("/offline/stored.m3u8").split("#EXT-X-ENDLIST")[0].split()[-1]
        with stage.unread(urllib.parse.urljoin("/offline/stored.m3u8", last)) as reply:
            time.sleep(PAUSE)
            rest = len(reply.read())
        need(rest == (stage.root / "stored/5.ts").stat().st_size, "a reader gets %d bytes after %d s" % (rest, PAUSE))
        for player in players:
            player.child.send_signal(signal.SIGCONT)
        for (name, _), player in zip(plays, players):
            found, errors = player.end()
            if words := frames.all_differences(found, stage.of_fixture("ts/90p/media.m3u8")):
                raise Missing("%s, after a pause of %d s: %s; %s" % (name, PAUSE, words, errors[:200]))


@row("W10", "No byte twice, however many readers and downloads", "weir get URL --play", quick=False)
def no_byte_twice(stage):
    folder, count = stage.folder / "film", 6
    common.write_transport(folder, count, transport.Template(2_800_000))
    film = sum(path.stat().st_size for path in folder.glob("*.ts"))
    for has_ranges in (True, False):
        sent, broken = bytes_of_one_film(stage, folder, has_ranges)
        allowed = film * 1.03 + (64 << 10) * broken
        need(sent <= allowed, "%s ranges the origin sends %.3f times the film" % ("with" if has_ranges else "without", sent / film))
    repeated_files(stage)


def repeated_files(stage):
    """A file that a playlist lists several times is asked for once, and plays wherever it is listed."""
    files = ["0.ts", "1.ts", "0.ts", "2.ts", "0.ts"]
    lines = "#EXT-X-DISCONTINUITY\n".join("#EXTINF:2.0,\n%s\n" % file for file in files)
    text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n%s#EXT-X-ENDLIST\n" % lines
    stage.run("get", stage.write("ts/90p/repeated.m3u8", text), "--name", "repeated")
    media = [entry["path"] for entry in stage.requests("/ts/90p/") if entry["path"].endswith(".ts") and not entry["range"]]
    asked = sorted(path.rsplit("/", 1)[-1] for path in media)
    need(asked == ["0.ts", "1.ts", "2.ts"], "of files that are listed several times the origin is asked for %s" % asked)
    stage.end_origin()
    stage.plays("/offline/repeated.m3u8", "ts/90p/repeated.m3u8")


def bytes_of_one_film(stage, folder, has_ranges):
    """(bytes of media that the origin sends, replies that are broken off) for a download and three readers of a film."""
    player, origin, readers = stage.weir.url, limited_origin.Origin(folder, has_ranges=has_ranges), []
    # 600 KB/s; the film needs nine tenths of that.
    link = subprocess.Popen([TOOLS / "link", "--down", "4800k", "--delay-down", "20", "--delay-up", "20", "--state", stage.folder,
                             "--stop-with-stdin", origin.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        url = [link.stdout.readline() for _ in range(2)][-1].split()[-1]
        work = threading.Thread(target=lambda: stage.command("get", url + "/media.m3u8", "--name", "film-%s" % has_ranges, timeout=120))
        work.start()
        played = ["-i", "%s/%s/media.m3u8" % (player, url), "-c", "copy", "-f", "null", "-"]
        # One at the film's rate, which is 49 KB in a second of its media, and two that read as fast as they can.
        for pace in (["-readrate", "11"], [], []):
            time.sleep(1)
            readers.append(subprocess.Popen(["ffmpeg", "-nostdin", "-v", "error", *pace, *played]))
        for reader in readers:
            need(reader.wait(120) == 0, "a reader fails")
        work.join(120)
    finally:
        for reader in readers:
            reader.kill()
        stage.restart()
        link.communicate()
        origin.close()
    return origin.sent, len(origin.broken)


@row("W11", "A dead host costs nothing of what the others serve", "mpv http://localhost:8216/URL")
def dead_host(stage):
    dead = "http://ads.invalid/"
    text = (stage.origin and stage.root / "ts/90p/media.m3u8").read_text()
    advertised = text.replace("\n2.ts", "\n%s2.ts" % dead).replace("\n3.ts", "\n%s3.ts" % dead)
    url = stage.write("ts/90p/advertised.m3u8", advertised)
    shown = stage.text("/" + url)
    need(shown.count(".ts") == 4, "a playlist names %d of 4 segments that can be played" % shown.count(".ts"))
    found = stage.frames(stage.weir.url + "/" + url, timeout=15)
    whole = len(stage.of_fixture("ts/90p/media.m3u8")[0].frames)
    need(found and len(found[0].frames) == whole * 4 // 6, "an advertisement's dead host costs frames of the film")
    words = stage.refused(3, "get", url, "--name", "advertised")
    need(dead in words, "weir get does not say what is missing: %s" % words.strip()[:200])
    # The best variant, and the default sound.
    for fixture, part in (("ts", "270p/"), ("cmaf", "audio-en/")):
        master = (stage.root / fixture / "master.m3u8").read_text().replace(part, dead + part)
        shown = stage.text("/" + stage.write(fixture + "/dead.m3u8", master))
        need(part.strip("/") not in shown, "an entry names %s, whose host is dead" % part.strip("/"))


@row("W12", "Nothing that was cut, and no mixture of two contents, is kept", "weir get URL")
def whole_pieces(stage):
    lengths_that_are_too_small(stage)
    chunks_without_a_last(stage)
    for validators in CHANGED_VALIDATORS:
        rest_of_another_content(stage, validators)


# The validators of a rest whose beginning had a strong tag.
CHANGED_VALIDATORS = {"weak": {"ETag": 'W/"b"'}, "missing": {}, "foreign": {"ETag": '"b"'}}


def lengths_that_are_too_small(stage):
    """The length of a segment ends inside a packet, or behind one; the rest follows."""
    for size in (188 * 60, 188 * 60 + 77):
        name, url = "length-%d" % size, copy(stage, "length-%d" % size)
        stage.rules({"path": "*/%s/90p/[1-4].ts" % name, "contentLength": size, "noRanges": True})
        stage.run("get", url, "--name", name)
        stage.clear_rules()
        stage.plays("/offline/%s.m3u8" % name, "ts/90p/media.m3u8")


def chunks_without_a_last(stage):
    """Each answer for a segment breaks off at the same byte, inside a packet."""
    url = copy(stage, "chunks")
    stage.rules({"path": "*/chunks/90p/2.ts", "chunked": True, "cutAfter": 188 * 60 + 77, "noRanges": True, "noValidators": True})
    status, _, errors = stage.command("get", url, "--name", "chunks")
    stage.clear_rules()
    need(status != 0, "weir get says that a film with a cut segment is complete")
    need("ended before it was complete" in errors, "weir get does not say what is cut: %s" % errors.strip()[-300:])


def rest_of_another_content(stage, validators):
    """A segment is cut once; its rest is of another content, whatever If-Range says."""
    name, cut = "rest-" + validators, 188 * 60 + 77
    url = copy(stage, name)
    size = (stage.root / name / "90p/3.ts").stat().st_size
    other = (stage.root / "ts/180p/3.ts").read_bytes()[cut:size]
    path = "*/%s/90p/3.ts" % name
    stage.rules(
        {"path": path, "cutAfter": cut, "times": 1, "etag": "a"},
        {"path": path, "range": "bytes=%d-" % cut, "status": 206, "bodyHex": other.hex(), "noValidators": True,
         "headers": {"Content-Range": "bytes %d-%d/%d" % (cut, size - 1, size), **CHANGED_VALIDATORS[validators]}},
        {"path": path, "etag": "a"})
    stage.run("get", url, "--name", name)
    stage.clear_rules()
    stage.plays("/offline/%s.m3u8" % name, "ts/90p/media.m3u8")


@row("W13", "The next broadcast at the same live URL is shown in place of the last one", "mpv http://localhost:8216/URL", quick=False)
def next_broadcast(stage):
    for name, names, is_restarted in (("same", "", False), ("other", "b", False), ("restarted", "", True)):
        url = broadcast(stage, name, "ts/90p", "", has_ended=False)
        need("#EXT-X-ENDLIST" not in stage.text("/" + url), "a broadcast is shown as ended")
        broadcast(stage, name, "ts/90p", "", has_ended=True)
        stage.wait("end of the broadcast", lambda: "#EXT-X-ENDLIST" in stage.text("/" + url))
        # Fetched after its end, so that all of it is stored.
        found = stage.frames(stage.weir.url + "/" + url)
        need(found and found[0].frames, "a broadcast that has ended does not play")
        if is_restarted:
            stage.restart()
        broadcast(stage, name, "ts/270p", names, has_ended=False)
        begin = time.monotonic()
        stage.wait("next broadcast", lambda: "#EXT-X-ENDLIST" not in stage.text("/" + url))
        took = time.monotonic() - begin
        need(took <= 2 * TARGET + 1, "the next broadcast (%s) is shown after %.1f s" % (name, took))
        listed = [line for line in stage.text("/" + url).splitlines() if line and not line.startswith("#")]
        need(len(listed) == SEGMENTS, "a playlist of the next broadcast (%s) names %d segments" % (name, len(listed)))
        for number, line in enumerate(listed):
            _, _, body = stage.get(urllib.parse.urljoin("/" + url, line))
            need(body == (stage.root / ("ts/270p/%d.ts" % number)).read_bytes(), "segment %d (%s) is not of the next broadcast" % (number, name))


# Seconds, and the length of a broadcast.
TARGET, SEGMENTS = 2, 4


def broadcast(stage, name, content, names, has_ended):
    """Lays a broadcast at the origin; its URL."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % TARGET, "#EXT-X-MEDIA-SEQUENCE:0"]
    for number in range(SEGMENTS):
        stage.write("live-%s/%s%d.ts" % (name, names, number), (stage.origin and stage.root / content / ("%d.ts" % number)).read_bytes())
        lines += ["#EXTINF:%d," % TARGET, "%s%d.ts" % (names, number)]
    return stage.write("live-%s/media.m3u8" % name, "\n".join(lines + ["#EXT-X-ENDLIST"] * has_ended) + "\n")
