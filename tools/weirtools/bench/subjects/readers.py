"""Counts what an origin sends for one film that several readers play at once, with and without a download beside them.

    tools/bench readers [--limits connection,program,link,http2] [--ranges with,without] [--readers 1,2,4] [--downloads without,with]
                        [--rate 600K] [--seconds 48] [--rounds 1] [--jobs 4] [--details]

Each play begins with a Weir that has nothing. The first reader is mpv in real time, which reads the whole film ahead; the others are
ffmpeg, which copies as fast as it can, and begin a second after each other. A download of the same film begins two seconds before
them. The film takes nine tenths of --rate, so that its readers have thin buffers. The limits, each with an origin that knows ranges
and one that does not:
    connection   the origin sends each connection --rate bytes a second
    program      the origin sends all connections together that many
    link         the origin has no limit, and a link of tools/link of that rate, 40 ms there and back, is between
    http2        the same link before an nginx that answers by HTTP/2
Printed for each: the bytes of media that the origin's program has sent, and those that have crossed the link or were acknowledged,
each in shares of the film; the replies that Weir has broken off; the seconds in which mpv had nothing to play, and those until its
first picture. Wanted: the program sends at most 3 % and 64 KB for each broken reply more than the film, and the link carries 8 % more.
"""

import concurrent.futures
import os
import subprocess
import sys
import threading
import time

from weirtools import processes
from weirtools.bench import certificates, common, limited_origin
from weirtools.media import films
from weirtools.players import mpv

LIMITS = ["connection", "program", "link", "http2"]
# Of the picture, in shares of the rate; the packets of the transport stream and short segments take some more.
SHARE = 0.85
SEGMENT = 4
# Seconds between the beginnings of two readers.
LATER = 1
# For each broken reply.
ALLOWANCE = 64 << 10
BOUND = 240


ROUNDS, SMOKE = 1, {"limits": ["connection"], "readers": [1, 2], "seconds": 8}


def add_options(parser):
    parser.add_argument("--limits", type=lambda text: text.split(","), default=LIMITS)
    parser.add_argument("--ranges", type=lambda text: text.split(","), default=["with", "without"])
    parser.add_argument("--downloads", type=lambda text: text.split(","), default=["without", "with"])
    parser.add_argument("--readers", type=common.numbers, default=[1, 2, 4])
    parser.add_argument("--rate", type=lambda text: common.sizes(text)[0], default=600_000)
    parser.add_argument("--seconds", type=int, default=48)
    parser.add_argument("--jobs", type=int, default=4, help="plays at one time")
    parser.add_argument("--details", action="store_true", help="name the broken replies")


def measure(bench, arguments):
    make_film(bench.folder / "origin", arguments)
    if "http2" in arguments.limits:
        bench.certificate = certificates.make(bench.folder)
        os.environ["CURL_CA_BUNDLE"] = str(bench.certificate[0])
    cells = [(limit, ranges, download, count) for limit in arguments.limits for ranges in arguments.ranges
             for download in arguments.downloads for count in arguments.readers]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        plays = [[pool.submit(play, bench, arguments, *cell) for _ in range(arguments.rounds)] for cell in cells]
        found = {cell: [one.result() for one in own] for cell, own in zip(cells, plays)}
    report(bench, arguments, found)


def make_film(folder, arguments):
    """media.m3u8 with segments of four seconds."""
    films.encode(folder, arguments.seconds, segment=SEGMENT, kilobits=int(arguments.rate * 8 * SHARE) // 1000, size="640x360", frames=25,
                 keys=50, filled=True, noise=20)


class NGINX:
    """An nginx that answers by HTTP/2 and logs what it sends. It looks like a limited_origin.Origin."""

    acknowledged = None

    def __init__(self, bench, has_ranges):
        self.bench, self.port = bench, processes.free_port()
        self.log = bench.home("log") / "access"
        chain, key = bench.certificate
        self.server = bench.nginx("root %s;" % bench.folder, http="""
            log_format sent '$uri "$http_range" $body_bytes_sent $sent_http_content_length $request_completion';
            server {
                listen 127.0.0.1:%d ssl http2; ssl_certificate %s; ssl_certificate_key %s; root %s; %s access_log %s sent;
            }""" % (self.port, chain, key, bench.folder / "origin", "" if has_ranges else "max_ranges 0;", self.log))

    def close(self):
        self.server.end()
        lines = [line.split() for line in self.log.read_text().splitlines() if ".ts" in line]
        self.sent = sum(int(line[2]) for line in lines)
        self.broken = [(line[0], line[1], int(line[2]), int(line[3])) for line in lines if line[-1] != "OK"]


class Play:
    """The figures of one play."""

    def __init__(self, origin, link, player):
        self.sent, self.broken = origin.sent, origin.broken
        self.crossed = link or origin.acknowledged
        self.stalled, self.first = player.stalled, player.first or 0


def play(bench, arguments, limit, ranges, download, count):
    """Plays the film once with so many readers."""
    has_ranges = ranges == "with"
    rate = None if limit == "link" else arguments.rate
    if limit == "http2":
        origin = NGINX(bench, has_ranges)
        url = link_url = "https://127.0.0.1:%d"
    else:
        origin = limited_origin.Origin(bench.folder / "origin", has_ranges, rate, is_shared=limit == "program")
        url, link_url = origin.url, "http://127.0.0.1:%d"
    link = None
    if limit in ("link", "http2"):
        link = bench.new_link("http://127.0.0.1:%d" % origin.port)
        link.set(down=arguments.rate * 8, delayDown=20, delayUp=20)
        url = link_url % link.port
    weir = bench.weir()
    children = []
    if download == "with":
        children.append(bench.start(weir.words("get", url + "/media.m3u8", "--name", "film"), env=weir.environment,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(2 * LATER)
    film = "%s/%s/media.m3u8" % (weir.url, url)
    player = MPV(bench, film)
    for _ in range(count - 1):
        time.sleep(LATER)
        children.append(bench.start(["ffmpeg", "-nostdin", "-v", "error", "-i", film, "-c", "copy", "-f", "null", "-"]))
    player.wait_until_all_is_read()
    for child in children:
        if child.wait(BOUND):
            sys.exit("%s failed" % child.args)
        bench.forget(child)
    player.end()
    weir.end()
    crossed = link.seen()["bytesDown"] if link else None
    if link:
        link.end()
    origin.close()
    return Play(origin, crossed, player)


class MPV(mpv.MPV):
    """mpv in real time; a thread reads what it reports."""

    def __init__(self, bench, url):
        self.began, self.first, self.since, self.stalled = time.monotonic(), None, None, 0.0
        self.has_read_all, self.bench = threading.Event(), bench
        super().__init__(bench.home("mpv") / "socket", url, start=bench.start)
        self.observe("paused-for-cache", "demuxer-cache-state")
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for message in self.messages():
            self.take(message)
        self.has_read_all.set()

    def take(self, message):
        now = time.monotonic()
        if message.get("event") == "playback-restart" and self.first is None:
            self.first = now - self.began
        if message.get("name") == "paused-for-cache" and self.first is not None:
            if message.get("data"):
                self.since = now
            elif self.since is not None:
                self.stalled += now - self.since
                self.since = None
        if message.get("name") == "demuxer-cache-state" and (message.get("data") or {}).get("eof"):
            self.has_read_all.set()

    def wait_until_all_is_read(self):
        if not self.has_read_all.wait(BOUND):
            sys.exit("mpv has not read the film in %d s" % BOUND)

    def end(self):
        self.bench.forget(self.child)
        self.connection.close()


def report(bench, arguments, found):
    """Prints the figures, and adds a row for each kind of limit to the page."""
    size = sum(path.stat().st_size for path in (bench.folder / "origin").glob("*.ts"))
    print("a film of %.1f MB at %d KB/s\n%-40s %8s %8s %7s %8s %8s" % (
        size / 1e6, arguments.rate / 1000, "", "program", "link", "broken", "stalled", "first"))
    for limit in arguments.limits:
        for ranges in arguments.ranges:
            cells = []
            for download in arguments.downloads:
                for count in arguments.readers:
                    cells.append(figures(arguments, size, (limit, ranges, download, count), found))
            common.row(arguments, "one film for %s readers, %s a download beside them, limited by %s, %s ranges: bytes that the"
                       " origin's program sends, those that cross the link, in shares of the film" % (
                           ", ".join(map(str, arguments.readers)), " and ".join(arguments.downloads), limit, ranges),
                       "the film", ", ".join(cells))


def figures(arguments, size, cell, found):
    """Prints those of one cell, its worst round first; gives the shares."""
    limit, ranges, download, count = cell
    worst = max(found[cell], key=lambda one: one.sent)
    allowed = size * 1.03 + ALLOWANCE * len(worst.broken)
    is_too_much = worst.sent > allowed or worst.crossed > size * 1.08
    print("%-40s %8.3f %8.3f %7d %8.1f %8.2f%s" % (
        "%s, %s ranges, %d%s" % (limit, ranges, count, " and a download" if download == "with" else ""), worst.sent / size,
        worst.crossed / size, len(worst.broken), max(one.stalled for one in found[cell]), max(one.first for one in found[cell]),
        "  too much" if is_too_much else ""), flush=True)
    if arguments.details:
        for path, first, sent, length in worst.broken:
            print("    %s from %s: %d of %d bytes" % (path, first, sent, length))
    return "%.3f/%.3f" % (worst.sent / size, worst.crossed / size)
