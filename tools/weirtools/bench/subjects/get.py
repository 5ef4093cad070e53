"""Downloads a presentation with `weir get`, `curl --parallel`, aria2c, yt-dlp and `ffmpeg -c copy`, in turns.

    tools/bench get [--links off,LTE] [--shapes 400x1M,5000x20K] [--disk 300x15M] [--peers curl,aria2c,yt-dlp,ffmpeg]
                    [--rounds 5] [--link-rounds 1] [--seconds 10] [--parallel 6]

Segments come from nginx, directly (off) and over links of tools/link. A link gets as many of the segments as it carries in
--seconds, with as many connections as --parallel and a round trip between two segments on each; where these would be fewer than
four times --parallel, smaller ones, of that number. `--links all` takes all presets but two: 100% Loss carries nothing, and High
Latency DNS is as fast as none.

Each download starts with nothing: a new store for Weir, a new folder for the others, both in memory; the shapes of --disk come
directly, and go to the usual folder for temporary files (TMPDIR), which should be on a disk. Time runs from the command's
start to its end; `weir serve` runs already. The others use as many transfers at once as Weir does to one host (yt-dlp as
--concurrent-fragments; ffmpeg has its own way); curl-50 and aria2c-16, named in --peers, have as many as they usually would. curl
and aria2c are given the list of the segments; on a link they fetch the playlist before, as the others do. Without a link two bare
copies stand beside them, which show the limit of the kernel: one process that receives and writes the bytes over one connection, and
one that hashes them too. A disk has these and curl alone.

Printed for each: the median and the best time, and how many times as fast Weir is. For Weir also the time until all is hashed, synced
and recorded, for which its `get` does not wait; without a link for the others, too, the time until all is synced. Then the share that
the best time has of what the link allows: three round trips for the connection, the playlist and the first segment, and the bytes at
its rate, without what is lost. Then processor time for 10^9 bytes and the most memory; Weir's are the daemon's, with hashing and syncing.
Wanted: on each link, and directly, at least 1.00 against each downloader, or 97 % of what the link allows.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

from weirtools.bench import common, downloaders
from weirtools.link import links
from weirtools.media import transport

LISTS = 4  # this many times --parallel segments at least
LIMIT = 60  # seconds for a download, besides eight times --seconds
COPIES = {"copy": "a bare copy: received and written", "hashed-copy": "a bare copy that is hashed too"}


SMOKE = {"links": [links.OFF], "shapes": [(12, 64 << 10)], "disk": [(2, 1 << 20)], "peers": ["curl", "aria2c"]}
HAS_PEERS = True


def add_options(parser):
    parser.add_argument("--links", type=read_links, default=[links.OFF, links.preset("LTE")])
    parser.add_argument("--shapes", type=read_shapes, default=[(400, 1 << 20), (5000, 20 << 10)])
    parser.add_argument("--disk", type=read_shapes, default=[])
    parser.add_argument("--peers", type=lambda text: text.split(","), default=["curl", "aria2c", "yt-dlp", "ffmpeg"])
    parser.add_argument("--link-rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--parallel", type=int, default=6)


def measure(bench, arguments):
    known = downloaders.peers(bench, arguments.parallel)

    def runners(*names):
        weir = {"weir": downloaders.Weir(bench)} if bench.binary else {}
        return weir | {name: known[name] for name in names}

    origin = bench.nginx("root %s; keepalive_requests 100000;" % (bench.folder / "origin"))
    for link in arguments.links:
        programs = runners(*arguments.peers, *(COPIES if link is links.OFF else ()))
        # What a slow link carries in time may be the same of two shapes.
        for count, size in dict.fromkeys(fitting(link, arguments, *shape) for shape in arguments.shapes):
            Comparison(bench, link, arguments, programs).measure(origin, count, size)
    if arguments.disk and is_in_memory(tempfile.gettempdir()):
        print("%s is in memory: without a TMPDIR on a disk, the files for a disk are left out" % tempfile.gettempdir())
        arguments.disk = []
    for count, size in arguments.disk:
        Comparison(bench, links.OFF, arguments, runners("curl", *COPIES), is_on_disk=True).measure(origin, count, size)


def is_in_memory(folder):
    kind = subprocess.run(["stat", "-f", "-c", "%T", folder], check=True, capture_output=True, text=True).stdout
    return kind.strip() in ("tmpfs", "ramfs")


def rate_of(link):
    """Bytes a second, without what is lost."""
    return math.inf if link.down is None else link.down / 8 * (1 - link.loss / 100)


def fitting(link, arguments, count, size):
    """(count, size) of what the link carries in time."""
    if link is links.OFF:
        return count, size
    rate, seconds, parallel = rate_of(link), arguments.seconds, arguments.parallel
    room = rate * seconds
    # The next request on a connection waits for the end of the one before it, and its own reply for a round trip.
    turns = seconds / (link.round_trip + parallel * size / rate)
    count = min(count, max(math.floor(min(room / size, parallel * turns)), LISTS * parallel))
    return count, min(size, math.floor(room / count))


class Comparison:
    """All downloaders over one link, in turns."""

    def __init__(self, bench, link, arguments, runners, is_on_disk=False):
        self.bench, self.link, self.arguments, self.runners, self.is_on_disk = bench, link, arguments, runners, is_on_disk
        self.is_far = link is not links.OFF
        self.rate = rate_of(link)
        self.runs, self.failures = {name: [] for name in runners}, {}
        self.carried = math.inf

    def measure(self, origin, count, size):
        template = transport.Template(size)  # In whole packets.
        size = len(template.body)
        folder = "%s-%dx%d" % (self.link.preset, count, size)
        common.write_transport(self.bench.folder / "origin" / folder.replace(" ", "-"), count, template)
        server = self.bench.new_link(origin.url, self.link.preset) if self.is_far else origin
        presentation = downloaders.Presentation("%s/%s/" % (server.url, folder.replace(" ", "-")), count, size)
        for _ in range(self.arguments.link_rounds if self.is_far else self.arguments.rounds):
            for name in self.runners:
                self.run(name, presentation, server)
        if self.is_far:
            server.end()
        shutil.rmtree(self.bench.folder / "origin" / folder.replace(" ", "-"))
        self.report(presentation)

    def run(self, name, presentation, server):
        if name in self.failures:
            return
        before = self.carried_by(server)
        limit = LIMIT + 8 * self.arguments.seconds + (downloaders.slow_disk(presentation) if self.is_on_disk else 0)
        if self.is_on_disk:
            os.sync()  # What others have written goes to the disk before.
        place = tempfile.gettempdir() if self.is_on_disk else None
        try:
            self.runs[name].append(self.runners[name].fetch(presentation, limit, self.is_far, place))
        except downloaders.Failure as failure:
            self.failures[name] = str(failure)
        else:
            self.carried = min(self.carried, self.carried_by(server) - before)

    def carried_by(self, server):
        """The bytes that have arrived over the link so far."""
        return server.seen()["bytesDown"] if self.is_far else 0

    def report(self, presentation):
        own = common.median([run.seconds for run in self.runs.get("weir", [])])
        title = "%d x %s %s" % (presentation.count, common.size_name(presentation.size + transport.PACKET), self.place())
        print("%s\n%-12s %9s %9s %9s %9s %8s %9s %9s %9s" % (
            title, "", "median s", "best s", "synced s", "MB/s", "Weir is", "of link", "s CPU/GB", "peak MiB"))
        for name, runs in self.runs.items():
            if name in self.failures:
                print("%-12s %s" % (name, self.failures[name]))
                continue
            middle, best = common.median([run.seconds for run in runs]), min(run.seconds for run in runs)
            share = "%7.1f %%" % (100 * self.possible() / best) if self.is_far else "-"
            synced = "-" if self.is_far and name != "weir" else "%9.2f" % self.synced(name)
            print("%-12s %9.2f %9.2f %9s %9.3f %8.2f %9s %9.2f %9.1f" % (
                name, middle, best, synced, presentation.bytes / middle / 1e6, middle / own, share,
                common.median([run.cpu for run in runs]) / presentation.bytes * 1e9,
                common.median([run.memory for run in runs]) / (1 << 20)))
        print(flush=True)
        self.add_rows("`weir get` of %d × %s %s" % (
            presentation.count, common.size_name(presentation.size + transport.PACKET), self.place()), own)

    def synced(self, name):
        return common.median([run.synced for run in self.runs[name]])

    def add_rows(self, name, own):
        """Directly, how many times as fast Weir is as each peer, also with the time until all is synced; over a link, the shares of the rate that it allows."""
        medians = {peer: common.median([run.seconds for run in runs]) for peer, runs in self.runs.items() if peer not in self.failures}
        if "weir" in self.failures:
            sys.exit("tools/bench get: %s: Weir: %s" % (name, self.failures["weir"]))
        if not self.is_far:
            for peer in [peer for peer in medians if peer != "weir"]:
                who = COPIES.get(peer) or "%s, %d at a time" % (peer, self.arguments.parallel)
                common.row(self.arguments, name, who, "%.2f; until all is synced: %.2f" % (
                    medians[peer] / own, self.synced(peer) / self.synced("weir")))
            return
        shares = {peer: 100 * self.possible() / min(run.seconds for run in self.runs[peer]) for peer in medians}
        if best := max((peer for peer in shares if peer != "weir"), key=shares.get, default=None):
            common.row(self.arguments, name + ": share of what the link allows", best,
                       "%.0f %% for %.0f %%" % (shares.get("weir", math.nan), shares[best]))

    def place(self):
        if not self.is_far:
            return "directly, to a disk" if self.is_on_disk else "directly"
        return "over %s: %g Mb/s, %d ms there and back, %g %% lost" % (
            self.link.preset, self.link.down / 1e6, self.link.round_trip * 1000, self.link.loss)

    def possible(self):
        """The seconds that the link needs at least."""
        return 3 * self.link.round_trip + self.carried / self.rate


def read_links(text):
    """The links of a list of names."""
    if text == "all":
        return [links.OFF] + [link for link in links.PRESETS if link.down]
    try:
        return [links.preset(name) for name in text.split(",")]
    except links.BadLink as bad:
        raise argparse.ArgumentTypeError(str(bad)) from bad


def read_shapes(text):
    """(count, bytes) of 400x1M,5000x20K"""
    shapes = []
    for item in text.split(","):
        count, _, size = item.partition("x")
        unit = {"K": 1 << 10, "M": 1 << 20}.get(size[-1:].upper(), 0)
        if not (unit and count.isdecimal() and size[:-1].isdecimal() and int(count) and int(size[:-1])):
            raise argparse.ArgumentTypeError("%s is no shape such as 400x1M or 5000x20K" % item)
        shapes.append((int(count), int(size[:-1]) * unit))
    return shapes
