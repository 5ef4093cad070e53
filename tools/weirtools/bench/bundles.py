"""Stores of many assets for tools/bench list and page: bundles as Weir leaves them, of which it makes assets."""

import hashlib
import json
import os
import sqlite3
import time

from weirtools.bench import common

BODY = (b"\x47\x40\x11\x10" + b"\xff" * 184) * 4
RENDITIONS = (("video-720p", 'BANDWIDTH=2000000,RESOLUTION=1280x720,CODECS="avc1.64001f,mp4a.40.2",AUDIO="a"'),
              ("video-360p", 'BANDWIDTH=600000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"'))
SOUND = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="audio-en/media.m3u8"'


def write_all(bench, home, assets, segments):
    """Writes bundles film-00000… to a new store below a folder. Returns the file that all their segments are hard links of."""
    folder = home / "store" / "assets"
    folder.mkdir(parents=True)
    for number in range(assets):
        # ext4 takes 65,000 names of one file.
        segment = bench.folder / ("segment-%d.ts" % (number * segments // 20_000))
        if not segment.exists():
            segment.write_bytes(BODY)
        write(folder / ("film-%05d-aaaa" % number), segments, segment)
    return segment


def write(folder, segments, segment):
    """A bundle as Weir leaves it, made now: nothing of it is to be verified soon."""
    folder.mkdir()
    identity = {"format": 1, "id": folder.name, "name": folder.name.rpartition("-")[0], "created": int(time.time()),
                "origin": "https://films.example/%s/master.m3u8" % folder.name}
    (folder / "asset.json").write_text(json.dumps(identity))
    lines = ["#EXTM3U", "#EXT-X-INDEPENDENT-SEGMENTS", SOUND]
    for name, attributes in RENDITIONS:
        lines += ["#EXT-X-STREAM-INF:" + attributes, name + "/media.m3u8"]
    (folder / "master.m3u8").write_text("\n".join(lines) + "\n")
    ledger = "".join("# %d\n%s  %d.ts\n" % (len(BODY), hashlib.sha256(BODY).hexdigest(), number) for number in range(segments))
    playlist = "\n".join(["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD"]
                         + ["#EXTINF:6.000,\n%d.ts" % number for number in range(segments)] + ["#EXT-X-ENDLIST", ""])
    for name in ("video-720p", "video-360p", "audio-en"):
        (folder / name).mkdir()
        (folder / name / "media.m3u8").write_text(playlist)
        (folder / name / "SHA256SUMS").write_text(ledger)
        for number in range(segments):
            os.link(segment, folder / name / ("%d.ts" % number))


class Adoption:
    """A Weir over a store of bundles that nobody knew, once all of them are in the list and noted; the seconds that it took."""

    def __init__(self, bench, home, count):
        began = time.monotonic()
        self.server = bench.weir(home)
        self.listening = time.monotonic() - began
        # Not by asking, which would have to be done while all of them are looked into.
        common.wait_for("assets", lambda: "listed again" in (home / "log").read_text(), bound=1800, pause=0.2)
        self.known = time.monotonic() - began
        common.wait_for("summaries", lambda: summaries(self.server) >= count, bound=1800, pause=1)
        self.noted = time.monotonic() - began


def summaries(server):
    """Number of assets whose summary for the list is in the catalogue."""
    database = sqlite3.connect("file:%s?mode=ro" % (server.store / "catalogue-1.sqlite"), uri=True)
    try:
        return database.execute("SELECT count(*) FROM summary").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()
