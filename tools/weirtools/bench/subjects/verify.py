"""Measures what the verification of stored pieces costs: each is read once after a start, before it is played.

    tools/bench verify [--rounds 5] [--sizes 1K,200K,4M,64M]

For each size a presentation is downloaded with `weir get`. In each round Weir is started again, and one client requests all segments
one after the other, twice: in the first pass each piece is verified, ahead of the client or, for the very first one, before its first
byte; in the second one none is. Printed: milliseconds to the first byte of the very first segment, milliseconds for a segment in
each pass (the medians of the rounds), and the megabytes a second at which the first pass delivers. A film plays at 1 or 2 of these.
Last, ffmpeg decodes a film of two minutes in the same way, as fast as it can, twice after each start.
Wanted: the second pass as fast as without verification (tools/bench serve measures that), the first one above 200 MB/s from 200K on;
ffmpeg's first time at most 1.05 of its second one.
"""

import http.client
import shutil
import subprocess
import sys
import time

from weirtools.bench import common
from weirtools.media import films

# Bytes of one presentation, and the most segments of one.
TOTAL, MOST = 256 << 20, 200


def play(server, paths):
    """Requests all paths on one connection: (seconds to the first byte, seconds in all)"""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    began, first = time.perf_counter(), None
    for path in paths:
        client.request("GET", path)
        reply = client.getresponse()
        if reply.status != 200:
            sys.exit("Weir answers %d at %s" % (reply.status, path))
        reply.read(1)
        first = first or time.perf_counter() - began
        while reply.read(1 << 20):
            pass
    client.close()
    return first, time.perf_counter() - began


def twice(weir):
    paths = weir.segments("/offline/film.m3u8")
    return play(weir, paths), play(weir, paths)


def make_film(folder, seconds):
    films.encode(folder, seconds, segment=4, kilobits=3000, buffer=6000, size="1280x720", frames=25)


def decode(url):
    began = time.perf_counter()
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", url, "-f", "null", "-"], check=True)
    return time.perf_counter() - began


def rounds(bench, arguments, path, make, measure):
    """Downloads a presentation, and measures it twice after each start: [(first, second)]."""
    make(bench.folder / "files" / path)
    origin, weir, found = bench.nginx("root %s;" % (bench.folder / "files")), bench.weir(), []
    weir.run("get", "%s/%s/media.m3u8" % (origin.url, path), "--name", "film", timeout=600)
    for _ in range(arguments.rounds):
        weir.restart()
        found.append(measure(weir))
    weir.end()
    origin.end()
    for folder in (weir.folder, bench.folder / "files"):
        shutil.rmtree(folder)
    return found


SMOKE = {"sizes": [200 << 10]}


def add_options(parser):
    parser.add_argument("--sizes", type=common.sizes, default=[1 << 10, 200 << 10, 4 << 20, 64 << 20])


def measure(bench, arguments):
    print("%-8s %14s %14s %14s %10s" % ("size", "first byte ms", "first pass ms", "second ms", "MB/s"))
    for size in arguments.sizes:
        count = max(3, min(MOST, TOTAL // size))
        found = rounds(bench, arguments, str(size), lambda folder: common.write_presentation(folder, count, size), twice)
        byte = common.median([first[0] for first, _ in found])
        new, known = (common.median([each[place][1] for each in found]) for place in (0, 1))
        print("%-8s %14.2f %14.3f %14.3f %10.0f" % (
            common.size_name(size), byte * 1e3, new * 1e3 / count, known * 1e3 / count, size * count / new / 1e6), flush=True)
        common.row(arguments, "first play of stored segments of %s after a start, each verified" % common.size_name(size),
                   "the second play", "%.2f" % (known / new))

    seconds = 4 if arguments.smoke else 120
    found = rounds(bench, arguments, "film", lambda folder: make_film(folder, seconds),
                   lambda weir: [decode(weir.url + "/offline/film.m3u8") for _ in range(2)])
    new, known = (common.median([each[place] for each in found]) for place in (0, 1))
    print("ffmpeg decodes a film: %.2f s after a start, %.2f s again: %.3f" % (new, known, new / known))
    common.row(arguments, "time in which ffmpeg decodes a film after a start, each piece verified (below 1 is better)", "the second time",
               "%.2f" % (new / known))
