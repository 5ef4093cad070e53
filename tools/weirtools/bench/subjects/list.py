"""Starts a `weir serve` over a store of many assets, lists them, and removes an asset of many pieces.

    tools/bench list [--assets 10000] [--segments 10] [--pieces 10000] [--rounds 3]

The store has only bundles, as Weir writes them: three renditions of so many segments each, all of which are one file under many
names. Weir adopts them as assets, because there is no catalogue: the first line is the time for that. Then, in each round, Weir is
stopped (in every second round killed) and started again. Printed are the seconds from its start until it listens; for the first list
over the API (brief, as `weir list` requests it), for the second, for one with all tracks and for a page of 100; for `weir list` from
its start to its end; and the daemon's memory at the end and at its peak.
Wanted: a list within 0.2 s, and listening well within 1 s.

Finally an asset of so many pieces is removed while a client reads segments of another one. Printed are the seconds until the answer,
of the longest of these reads, and until all of its files are deleted. Wanted: an answer within 1 s.
"""

import json
import statistics
import threading
import time

from weirtools.bench import bundles, common


ROUNDS, SMOKE = 4, {"assets": 20, "segments": 3, "pieces": 30}


def add_options(parser):
    parser.add_argument("--assets", type=int, default=10_000)
    parser.add_argument("--segments", type=int, default=10)
    parser.add_argument("--pieces", type=int, default=10_000)


def measure(bench, arguments):
    server = adopt(bench, arguments)
    compare_starts(bench, server, arguments)
    remove(server, arguments)


# The store


def adopt(bench, arguments):
    home = bench.home("weir")
    segment = bundles.write_all(bench, home, arguments.assets, arguments.segments)
    bundles.write(home / "store" / "assets" / "long-aaaa", arguments.pieces // 3, segment)
    adoption = bundles.Adoption(bench, home, arguments.assets + 1)
    print("%d bundles of %d pieces that nobody knew: listening after %.3f s, all in the list after %.1f s, noted after %.1f s"
          % (arguments.assets, 3 * arguments.segments, adoption.listening, adoption.known, adoption.noted), flush=True)
    return adoption.server


# The list


def compare_starts(bench, server, arguments):
    names = ("listening", "first list", "second", "all tracks", "page", "weir list")
    print("\n%-10s" % "" + "".join("%12s" % name for name in names) + "%10s%10s" % ("MiB", "peak"))
    rows = []
    for turn in range(arguments.rounds):
        end = server.kill if turn % 2 else server.end
        end()
        began = time.monotonic()
        server.start()
        row = [time.monotonic() - began]
        for query in ("?brief=1", "?brief=1", "", "?limit=100"):
            row.append(timed(server, query, arguments.assets + 1))
        row.append(command(server, arguments.assets + 1))
        rows.append(row)
        memory = [value / (1 << 20) for value in (server.memory(), server.memory("VmHWM"))]
        print("%-10s" % ("killed" if turn % 2 else "stopped") + "".join("%12.3f" % value for value in row)
              + "%10.1f%10.1f" % tuple(memory), flush=True)
    medians = [statistics.median(column) for column in zip(*rows)]
    print("%-10s" % "median" + "".join("%12.3f" % value for value in medians), flush=True)
    common.row(arguments, "%d assets: until Weir listens, the first list over the API after that, later ones, `weir list`"
               % arguments.assets, "", common.listed("%.2f", [medians[0], medians[1], medians[2], medians[5]]) + " s")


def timed(server, query, count):
    began = time.monotonic()
    _, text = server.call("GET", "/assets" + query, timeout=600)
    seconds = time.monotonic() - began
    found = len(json.loads(text)["assets"])
    if found != (min(100, count) if "limit" in query else count):
        raise SystemExit("Weir lists %d assets" % found)
    return seconds


def command(server, count):
    began = time.monotonic()
    text = server.run("list")
    seconds = time.monotonic() - began
    # Between the heading and the totals.
    complete = sum("saved" in line for line in text.splitlines()[1:count + 1])
    if complete != count:
        raise SystemExit("weir list has %d lines with complete assets" % complete)
    return seconds


# Removing


def remove(server, arguments):
    paths = server.segments("/film-00000.m3u8")
    readings, isOver = [], threading.Event()

    def play():
        while not isOver.is_set():
            began = time.monotonic()
            if len(server.load(paths[len(readings) % len(paths)])) != len(bundles.BODY):
                raise SystemExit("a segment is not whole")
            readings.append(time.monotonic() - began)

    player = threading.Thread(target=play)
    player.start()
    common.wait_for("segment", lambda: len(readings) > 100)
    alone = max(readings)
    count = len(readings)
    began = time.monotonic()
    server.call("DELETE", "/assets/long", timeout=600)
    answered = time.monotonic() - began
    common.wait_for("end", lambda: not any((server.store / "tmp").iterdir()), bound=600, pause=0.01)
    gone = time.monotonic() - began
    isOver.set()
    player.join()
    print("\n%d pieces removed: answered after %.3f s, gone after %.3f s; another asset's segments took at most %.1f ms meanwhile, "
          "%.1f ms before" % (arguments.pieces // 3 * 3, answered, gone, 1000 * max(readings[count:]), 1000 * alone))
    common.row(arguments, "removing an asset of %d segments: until the answer, until all is gone, the longest read of another asset"
               % (arguments.pieces // 3 * 3), "", common.listed("%.2f", [answered, gone, max(readings[count:])]) + " s")
