"""Counts the instructions and allocations that Weir needs for one unit of its work, beside other programs and the least work.

    tools/bench instructions [--cells stored,new,downloaded,reload,playlist] [--json FILE]
    tools/bench instructions --check      Weir alone: 1 if a figure is more than 3 % from that of instructions.json beside it
    tools/bench instructions --write      its figures become those of that file

    stored      a stored segment of 32 KiB, requested on a kept connection; nginx serves the same files
    new         a segment of 32 KiB that is not stored yet; nginx keeps it in a proxy_cache
    downloaded  a segment of 32 KiB of a download over one connection; curl --parallel
    reload      a reload of a live playlist of six segments; nginx relays it
    playlist    each segment of a long playlist that a player opens for the first time; libavformat, which parses alone; nginx relays it

Other load of the machine changes nothing of these figures, since no time is measured: callgrind, of valgrind, counts the instructions
outside the kernel, in all threads and libraries, and the calls of the memory allocator. Instructions of the hash (SHA-256) stand
apart, because they depend on the processor. The least work is that of a C program: open, fstat, sendfile and close for a stored
segment; libcurl, a hash and a file of its own for a downloaded one; both for a new one; libcurl for a reload.

A figure is the lower quartile of several batches, after some that are not counted: what is done every few seconds, such as a log of
the running sessions, is not in it. That of a download or a playlist is the difference of a long and a short one (medians), for each
further segment. The figures belong to a build (release, with Swift's runtime in the program, as tools/start makes it), a compiler and
to libraries: another release of Swift, curl or libevent needs --write.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import threading

from weirtools.bench import callgrind, clients, common
from weirtools.origins import virtual

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "instructions.json"
BUILD = common.ROOT / ".build-bench" / "instructions"
# A figure may differ by this share. Allocations of a request may differ by one: those for the log depend on how many events one write
# of it takes.
TOLERANCE, LEAST = 0.03, 1
SIZE = 32 << 10
TITLES = {
    "stored": "a stored segment of 32 KiB",
    "new": "a segment of 32 KiB that is not stored yet",
    "downloaded": "a downloaded segment of 32 KiB",
    "reload": "a reload of a live playlist of six segments",
    "playlist": "each segment of a long playlist that is opened first",
}
# Batches that are not counted: first uses, and tables that grow.
WARM = 2
WINDOW, CHANNELS = 6, 6


class Plan:
    """How much of everything is done."""

    def __init__(self, is_smoke):
        self.batches = 1 if is_smoke else 12
        self.stored, self.new = (16, 8) if is_smoke else (640, 32)
        # Segments of a short and of a long download or playlist, and how often each comes.
        self.downloads, self.playlists = ((4, 8), (10, 20)) if is_smoke else ((20, 220), (1000, 6000))
        self.pairs = 1 if is_smoke else 5
        # Reloads of a batch, at each of the channels. A channel is reloaded once a second.
        self.reloads = 1 if is_smoke else 2


class Cells:
    """Measures the cells. Each is a method that returns the cost of each program by its name."""

    def __init__(self, bench, arguments):
        self.bench, self.plan, self.is_alone = bench, Plan(arguments.smoke), arguments.check
        self.grind = callgrind.Callgrind(bench)
        self.program = self.grind.program(bench.binary)
        self.files = bench.folder / "files"
        # Each segment of a live channel is the same file.
        self.origin = bench.nginx("root %s; keepalive_requests 1000000; location ~ /live-segment- { try_files /any.ts =404; }" % self.files)
        if not self.is_alone:
            self.least = self.grind.program(common.compile_c(common.ROUNDS / "least.c", BUILD, "libcurl", "libcrypto"))

    def weir(self, home=None, options=()):
        return self.grind.server("weir", lambda words: self.bench.weir(home, options, words, self.program))

    def batches(self, server, count, work):
        """The cost of one of `count` units, of which `work(number of the batch)` does as many."""
        costs = []
        for number in range(WARM + self.plan.batches):
            work(number)
            costs.append(server.spent().per(count))
        server.server.end()
        return callgrind.low(costs[WARM:])

    def pairs(self, sizes, measure):
        """The cost of each further unit: `measure(number, size)` returns that of so many."""
        costs = [measure(number, sizes[number % 2]) for number in range(2 * self.plan.pairs)]
        short, long = costs[::2], costs[1::2]
        # The first one also pays for first uses.
        skipped = min(1, self.plan.pairs - 1)
        return (callgrind.middle(long[skipped:]) - callgrind.middle(short[skipped:])).per(sizes[1] - sizes[0])

    def requests(self, server, paths, count):
        """The cost of a request for one of the paths, each of which is requested in its turn on one connection."""
        client = clients.Client(server.server)

        def work(number):
            for at in range(number * count, (number + 1) * count):
                client.get(paths[at % len(paths)])

        return self.batches(server, count, work)

    def stored(self):
        common.write_presentation(self.files / "stored", 16, SIZE)
        first = self.bench.weir()
        first.run("get", self.origin.url + "/stored/media.m3u8", "--name", "stored")
        first.end()
        weir = self.weir(first.folder, ["--offline"])
        found = {"weir": self.requests(weir, weir.server.segments("/stored.m3u8"), self.plan.stored)}
        if self.is_alone:
            return found
        nginx = self.grind.server("nginx", lambda words: self.bench.nginx("root %s;" % self.files, wrapper=words))
        paths = ["/stored/%d.ts" % number for number in range(16)]
        found["nginx"] = self.requests(nginx, paths, self.plan.stored)
        found["least work"] = self.least_stored()
        return found

    def least_stored(self):
        def start(words):
            child = self.bench.start([*words, self.least, "serve", self.files], stdout=subprocess.PIPE, text=True)
            return common.Child(self.bench, child, child.stdout.readline().split()[-1])

        if not (self.files / "stored").exists():
            common.write_presentation(self.files / "stored", 16, SIZE)
        paths = ["/stored/%d.ts" % number for number in range(16)]
        return self.requests(self.grind.server("least", start), paths, self.plan.stored)

    def new(self):
        count = (WARM + self.plan.batches) * self.plan.new
        common.write_presentation(self.files / "new", count, SIZE)
        weir = self.weir()
        found = {"weir": self.requests(weir, weir.server.segments("/%s/new/media.m3u8" % self.origin.url), self.plan.new)}
        if self.is_alone:
            return found
        nginx = self.grind.server("nginx", lambda words: self.bench.caching_nginx(self.origin, words))
        found["nginx"] = self.requests(nginx, ["/new/%d.ts" % number for number in range(count)], self.plan.new)
        found["least work"] = self.least_downloaded() + self.least_stored()
        return found

    def downloaded(self):
        # With one connection the turns of the loop do not depend on how several share the processor.
        weir = self.weir(options=["--max-parallel", "1"])

        def measure(number, size):
            url, name = self.presentation(size, number), "film-%d" % number
            order = weir.server.words("get", url + "media.m3u8", "--name", name, "--json")
            # Once it has begun it goes on without the command: what that is told depends on the time that all takes.
            command = subprocess.Popen(order, env=weir.server.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            command.stdout.readline()
            command.terminate()
            command.communicate()
            cost = weir.spent(callgrind.LATER)
            if self.pieces(weir.server) != size:
                sys.exit("the download %s is not whole" % name)
            weir.server.run("remove", name, "--yes")
            weir.spent(callgrind.LATER)
            return cost

        found = {"weir": self.pairs(self.plan.downloads, measure)}
        weir.server.end()
        if self.is_alone:
            return found
        found["curl --parallel"] = self.pairs(self.plan.downloads, self.curl)
        found["least work"] = self.least_downloaded()
        return found

    def presentation(self, size, number=0):
        """The URL of the folder of a presentation of so many segments."""
        name = "download-%d-%d" % (size, number)
        if not (self.files / name).exists():
            common.write_presentation(self.files / name, size, SIZE)
        return "%s/%s/" % (self.origin.url, name)

    @staticmethod
    def pieces(server):
        return sum(file.stat().st_size == SIZE for file in (server.store / "assets").rglob("*") if file.is_file())

    def curl(self, number, size):
        url, out = self.presentation(size), self.bench.home("curl")
        orders = "".join('url="%s%d.ts"\noutput="%s/%d.ts"\n' % (url, segment, out, segment) for segment in range(size))
        command = ["curl", "-sf", "--no-progress-meter", "--parallel", "--parallel-max", "6", "-K", "-"]
        return self.grind.run(command, input=orders, text=True, stdout=subprocess.DEVNULL)

    def least_downloaded(self):
        def measure(number, size):
            return self.grind.run([self.least, "fetch", self.presentation(size), size, self.bench.home("least")])

        return self.pairs(self.plan.downloads, measure)

    def reload(self):
        """All channels have a new segment before each reload."""
        self.edge = 0
        common.write_presentation(self.files, 1, SIZE)
        (self.files / "0.ts").rename(self.files / "any.ts")
        self.advance()
        weir = self.weir()
        found = {"weir": self.reloads(weir, [self.media_playlist(weir.server, number) for number in range(CHANNELS)])}
        if self.is_alone:
            return found
        relay = "location / { proxy_pass %s; proxy_http_version 1.1; proxy_set_header Connection ''; }" % self.origin.url
        nginx = self.grind.server("nginx", lambda words: self.bench.nginx(relay, wrapper=words))
        found["nginx"] = self.reloads(nginx, ["/live-%d.m3u8" % number for number in range(CHANNELS)])
        found["least work"] = self.pairs((20, 220), lambda number, size: self.grind.run(
            [self.least, "relay", self.origin.url + "/live-0.m3u8", size], stdout=subprocess.DEVNULL))
        return found

    def advance(self):
        self.edge += 1
        lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:1", "#EXT-X-MEDIA-SEQUENCE:%d" % (1000 + self.edge)]
        for number in range(self.edge, self.edge + WINDOW):
            lines += ["#EXTINF:1.000,", "live-segment-%d.ts" % (1000 + number)]
        for channel in range(CHANNELS):
            file = self.files / ("live-%d.m3u8" % channel)
            part = file.with_suffix(".part")
            part.write_text("\n".join([*lines, ""]))
            part.rename(file)

    def media_playlist(self, server, channel):
        """The path of the playlist that a player of a channel reloads."""
        path = "/%s/live-%d.m3u8" % (self.origin.url, channel)
        lines = [line for line in server.text(path).splitlines() if line and not line.startswith("#")]
        return "/" + lines[0].split("/", 3)[3] if lines[0].startswith("http") else lines[0]

    def reloads(self, server, paths):
        kept = [clients.Client(server.server) for _ in paths]

        def work(_):
            for _ in range(self.plan.reloads):
                self.advance()
                # Weir holds each back until it is due.
                players = [threading.Thread(target=client.get, args=(path,)) for client, path in zip(kept, paths)]
                for player in players:
                    player.start()
                for player in players:
                    player.join()

        return self.batches(server, self.plan.reloads * len(paths), work)

    def playlist(self):
        self.files.mkdir(exist_ok=True)

        def file(number, size):
            path = self.files / ("long-%d.m3u8" % number)
            path.write_bytes(virtual.long_playlist(size)[0])
            return path

        def opened(server, before, looks=callgrind.SOON):
            def measure(number, size):
                name = file(number, size).name
                lines = [line for line in server.server.text(before + name).splitlines() if line and not line.startswith("#")]
                if len(lines) != size:
                    lines = [line for line in server.server.text(lines[0]).splitlines() if line and not line.startswith("#")]
                if len(lines) != size:
                    sys.exit("%s has %d segments for %d" % (name, len(lines), size))
                return server.spent(looks)

            server.spent()
            cost = self.pairs(self.plan.playlists, measure)
            server.server.end()
            return cost

        found = {"weir": opened(self.weir(), "/%s/" % self.origin.url, callgrind.LATER)}
        if self.is_alone:
            return found
        relay = "location / { proxy_pass %s; proxy_http_version 1.1; proxy_set_header Connection ''; }" % self.origin.url
        found["nginx"] = opened(self.grind.server("nginx", lambda words: self.bench.nginx(relay, wrapper=words)), "/")
        source = common.ROUNDS / "libavformat.c"
        parser = self.grind.program(common.compile_c(source, BUILD, "libavformat", "libavutil"))
        found["libavformat"] = self.pairs(self.plan.playlists, lambda number, size: self.grind.run(
            [parser, file(number, size), 1], stdout=subprocess.DEVNULL))
        return found


def figures(cost):
    return {"instructions": round(cost.instructions), "hashing": round(cost.hashing), "allocations": round(cost.allocations, 2)}


def allowance(name, known):
    is_counted = name == "allocations" and known > LEAST
    return max(LEAST if is_counted else 0, TOLERANCE * known)


def checked(found):
    """Compares with the file; returns the exit."""
    expected = json.loads(EXPECTED.read_text(encoding="utf-8"))
    status = 0
    for cell, costs in found.items():
        for name in ("instructions", "allocations"):
            seen, known = figures(costs["weir"])[name], expected["cells"][cell][name]
            change = seen / known - 1
            print("%-12s %-12s %12.2f, expected %12.2f: %+.1f %%" % (cell, name, seen, known, 100 * change))
            if abs(seen - known) > allowance(name, known):
                status = 1
    if status:
        print("tools/bench instructions: a figure has moved by more than %.0f %%. If that is meant: tools/bench instructions --write"
              % (100 * TOLERANCE), file=sys.stderr)
    return status


def written(found):
    cells = json.loads(EXPECTED.read_text(encoding="utf-8"))["cells"] if EXPECTED.exists() else {}
    cells |= {cell: {name: value for name, value in figures(costs["weir"]).items() if name != "hashing"}
              for cell, costs in found.items()}
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    text = json.dumps({"compiler": swift, "cells": {cell: cells[cell] for cell in TITLES if cell in cells}}, indent=2)
    EXPECTED.write_text(text + "\n", encoding="utf-8")


def report(arguments, cell, costs):
    print("\n%s\n%-20s %14s %14s %12s" % (TITLES[cell], "", "instructions", "of the hash", "allocations"))
    for name, cost in costs.items():
        print("%-20s %14.0f %14.0f %12.2f" % (name, *cost), flush=True)
    weir = costs["weir"]
    peers = ", ".join("%s: %.0f, %.0f, %.1f" % (name, *cost) for name, cost in costs.items() if name != "weir")
    common.row(arguments, "%s: instructions outside the kernel, those of the hash, allocations" % TITLES[cell], peers,
               "%.0f, %.0f, %.1f" % weir)


SMOKE = {"cells": ["stored"]}


def add_options(parser):
    parser.add_argument("--cells", type=listed, default=list(TITLES))
    parser.add_argument("--json", type=pathlib.Path, help="write all figures to this file")
    parser.add_argument("--check", action="store_true", help="compare Weir's figures with the file's")
    parser.add_argument("--write", action="store_true", help="write Weir's figures to the file")


def listed(text):
    """An argument type: names of cells, with commas."""
    cells = text.split(",")
    if strange := [cell for cell in cells if cell not in TITLES]:
        raise argparse.ArgumentTypeError("%s is none of %s" % (strange[0], ", ".join(TITLES)))
    return cells


def measure(bench, arguments):
    cells, found = Cells(bench, arguments), {}
    for cell in arguments.cells:
        found[cell] = getattr(cells, cell)()
        report(arguments, cell, found[cell])
    if arguments.json:
        rows = {cell: {name: figures(cost) for name, cost in costs.items()} for cell, costs in found.items()}
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    if arguments.write:
        written(found)
    return checked(found) if arguments.check else 0
