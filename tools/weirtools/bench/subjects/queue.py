"""Starts `weir serve` with a queue of many long downloads, and measures the memory of downloads of many segments.

    tools/bench queue [--assets 100] [--segments 10000] [--counts 1000,10000] [--rounds 3]

First as many presentations of as many segments are asked for over the API of one `weir serve`, which is then killed: an origin
that sends little keeps them from coming to an end. Then, in each round, Weir is started over what is there. Printed are the
seconds from its start until it listens, until the first bytes of a segment have come, and until it has then listed all assets over
the API; and the most memory. Wanted: all within a second.

Then `weir get` of 1,000 and of 10,000 segments of 64 KiB, each over a fresh store, and the most memory that the daemon takes. What
there is more of may be the playlist and the names in it, at most 1 KiB for each segment, and nothing of the segments themselves.
"""

import os
import shutil
import sys
import time

from weirtools.bench import common, downloaders
from weirtools.media import transport

SIZE = 64 << 10
# Bytes of a queued segment. Weir keeps the first 64 KiB of a download in memory; half of this is more than that.
LARGE = 256 << 10
RATE = "1k"  # bytes a second of the second half of each segment: nothing comes to its end


ROUNDS, SMOKE = 3, {"assets": 3, "segments": 100, "counts": [20, 60]}


def add_options(parser):
    parser.add_argument("--assets", type=int, default=100)
    parser.add_argument("--segments", type=int, default=10_000)
    parser.add_argument("--counts", type=common.numbers, default=[1000, 10_000], help="segments of the two long downloads")


def measure(bench, arguments):
    start(bench, arguments)
    compare_memory(bench, arguments)


# The queue


def start(bench, arguments):
    """Queues, kills and starts."""
    seconds = write_origin(bench.folder / "origin", arguments)
    origin = bench.nginx("root %s; keepalive_requests 100000; location ~ [.]ts$ { rewrite ^ /segment.ts break;"
                         " limit_rate_after %d; limit_rate %s; }" % (bench.folder / "origin", LARGE // 2, RATE))
    server = bench.weir()
    for number in range(arguments.assets):
        server.api("POST", "/downloads", {"source": "%s/%d/media.m3u8" % (origin.url, number), "name": "asset-%d" % number})
    server.kill()
    print("%d x %d segments of %.2f s" % (arguments.assets, arguments.segments, seconds))
    print("%-10s %12s %10s %10s %10s" % ("", "listening s", "bytes s", "listed s", "MiB"))
    bytes_after = []
    for turn in range(arguments.rounds):
        began = time.monotonic()
        server.start()
        times = [time.monotonic() - began]
        common.wait_for("byte of a segment", lambda: has_bytes(server.store / "tmp"), pause=0.002)
        times.append(time.monotonic() - began)
        count = len(server.api("GET", "/assets")[1]["assets"])
        times.append(time.monotonic() - began)
        if count != arguments.assets:
            sys.exit("Weir lists %d assets, not %d" % (count, arguments.assets))
        memory = server.memory("VmHWM")
        server.kill()
        print("%-10s %12.3f %10.3f %10.3f %10.1f" % ("round %d" % (turn + 1), *times, memory / (1 << 20)), flush=True)
        bytes_after.append(times[1])
    origin.end()
    common.row(arguments, "%d queued downloads of %d segments: from the start to the first bytes"
               % (arguments.assets, arguments.segments), "", "%.2f s" % common.median(bytes_after))


def write_origin(folder, arguments):
    """Presentations in folders 0, 1 and so on, and the one segment that all of theirs are; gives its length in time."""
    template = transport.Template(LARGE)
    for number in range(arguments.assets):
        common.write_playlist(folder / str(number), arguments.segments, template.seconds)
    (folder / "segment.ts").write_bytes(template.segment(0))
    return template.seconds


def has_bytes(folder):
    """True if a segment on its way has bytes in a file."""
    return any(entry.stat().st_size for entry in os.scandir(folder))


# Memory


def compare_memory(bench, arguments):
    print("\n%-24s %10s %10s" % ("weir get", "seconds", "peak MiB"))
    peaks = []
    for count in arguments.counts:
        template = transport.Template(SIZE)
        common.write_transport(bench.folder / "origin" / "many", count, template)
        origin = bench.nginx("root %s; keepalive_requests 100000;" % (bench.folder / "origin"))
        presentation = downloaders.Presentation(origin.url + "/many/", count, len(template.body))
        weir = downloaders.Weir(bench)
        runs = [weir.fetch(presentation, 120, False) for _ in range(arguments.rounds)]
        origin.end()
        shutil.rmtree(bench.folder / "origin" / "many")
        peaks.append(common.median([run.memory for run in runs]))
        print("%-24s %10.2f %10.1f" % ("%d x %s" % (count, common.size_name(SIZE)), common.median([run.seconds for run in runs]),
                                       peaks[-1] / (1 << 20)), flush=True)
    more = (peaks[-1] - peaks[0]) / (arguments.counts[-1] - arguments.counts[0])
    print("%.0f bytes more for each segment more" % more)
    common.row(arguments, "memory for each further segment of a long download", "", "%.0f bytes" % more)
