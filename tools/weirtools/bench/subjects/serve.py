"""Serves the same stored segments with Weir (one loop) and nginx (one worker, sendfile) and loads them with wrk, in turns.

    tools/bench serve [--rounds 5] [--seconds 2] [--sizes 1K,32K,200K,4M] [--connections 1,8,64]

For each size a presentation of 16 segments is downloaded with `weir get`; wrk then asks for its segments in turn, as a player's
URLs name them. nginx serves the very same files, out of Weir's store. Printed for each size and number of connections: requests a second (the
median of the rounds), the ratio of the medians, and processor time of the server for each request.
Wanted: at least 1.0 in each cell, above 1.3 at 1 KiB.
"""

import re
import subprocess
import sys

from weirtools.bench import common

COUNT = 16

SCRIPT = """
local requests, count, at = {}, 0, 0
init = function()
    for path in io.lines("%s") do
        count = count + 1
        requests[count] = wrk.format("GET", path)
    end
end
request = function()
    at = at %% count + 1
    return requests[at]
end
"""


class Target:
    """A server with the wrk script that asks for the segments of each size."""

    def __init__(self, bench, name, server, paths):
        self.name, self.server, self.scripts = name, server, {}
        for size, items in paths.items():
            listing = bench.folder / ("%s-%d.paths" % (name, size))
            listing.write_text("\n".join(items) + "\n")
            self.scripts[size] = bench.folder / ("%s-%d.lua" % (name, size))
            self.scripts[size].write_text(SCRIPT % listing)

    def measure(self, size, connections, seconds):
        """(requests a second, microseconds of processor time a request)"""
        before = self.server.cpu()
        text = subprocess.run(
            ["wrk", "-t", "1", "-c", str(connections), "-d", "%gs" % seconds, "-s", str(self.scripts[size]), self.server.url],
            check=True, capture_output=True, text=True).stdout
        spent = self.server.cpu() - before
        requests = int(re.search(r"(\d+) requests in", text)[1])
        if "Non-2xx" in text or not requests:
            sys.exit("%s does not serve segments of %s:\n%s" % (self.name, common.size_name(size), text))
        return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), spent * 1e6 / requests


def piece_of(path):
    """The file in the store's assets folder that Weir serves at a path: /a/<asset>/<session>/<rendition>/<file>."""
    _, _, asset, _, rendition, file = path.split("/")
    return "/%s/%s/%s" % (asset, rendition, file)


SMOKE = {"seconds": 1, "sizes": [1 << 10], "connections": [8]}
HAS_PEERS = True


def add_options(parser):
    parser.add_argument("--seconds", type=int, default=2)  # wrk takes whole seconds.
    parser.add_argument("--sizes", type=common.sizes, default=[1 << 10, 32 << 10, 200 << 10, 4 << 20])
    parser.add_argument("--connections", type=common.numbers, default=[1, 8, 64])


def measure(bench, arguments):
    for size in arguments.sizes:
        common.write_presentation(bench.folder / "files" / str(size), COUNT, size)
    nginx = bench.nginx("root %s;" % (bench.folder / "files"))
    targets = [Target(bench, "nginx", nginx, {size: ["/%d/%d.ts" % (size, n) for n in range(COUNT)] for size in arguments.sizes})]
    if arguments.weir:
        weir, paths = bench.weir(), {}
        for size in arguments.sizes:
            name, url = "bench-%d" % size, "%s/%d/media.m3u8" % (nginx.url, size)
            weir.run("get", url, "--name", name, timeout=600)
            paths[size] = weir.segments("/%s.m3u8" % name)
            for n, path in enumerate(paths[size]):
                if weir.load(path) != (bench.folder / "files" / str(size) / ("%d.ts" % n)).read_bytes():
                    sys.exit("Weir serves other bytes at " + path)
        # The same files for both: the layout of a file in the page cache depends on how it was written.
        nginx = bench.nginx("root %s;" % (weir.store / "assets"))
        pieces = {size: [piece_of(path) for path in items] for size, items in paths.items()}
        targets = [Target(bench, "weir", weir, paths), Target(bench, "nginx", nginx, pieces)]

    print("%-8s %5s" % ("size", "conn") + "".join(" %10s/s %8s" % (target.name, "us each") for target in targets)
          + ("  ratio" if arguments.weir else ""))
    for size in arguments.sizes:
        ratios = []
        for connections in arguments.connections:
            results = {target.name: [] for target in targets}
            for _ in range(arguments.rounds):
                for target in targets:
                    results[target.name].append(target.measure(size, connections, arguments.seconds))
            rates = {name: common.median([rate for rate, _ in found]) for name, found in results.items()}
            line = "%-8s %5d" % (common.size_name(size), connections)
            for name, found in results.items():
                line += " %12.0f %8.1f" % (rates[name], common.median([cpu for _, cpu in found]))
            if arguments.weir:
                ratios.append(rates["weir"] / rates["nginx"])
                line += "  %.2f" % ratios[-1]
            print(line, flush=True)
        common.row(arguments, "requests a second for stored segments of %s, at %s connections" % (
            common.size_name(size), common.listed("%d", arguments.connections)), "nginx, one worker, sendfile",
            common.listed("%.2f", ratios))
