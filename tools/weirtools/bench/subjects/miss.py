"""Requests segments that are not stored yet: from Weir, from nginx with an empty proxy_cache, and from the origin itself.

    tools/bench miss [--rounds 5] [--requests N]

Each segment is requested once, in turns, on one kept-alive connection to each server, so each is a miss that is stored while it is
sent. Printed for each size: the time from the request to the head, to the first byte and to the last byte of the body (medians over
all segments), the time that each server adds to the origin's own time to the first byte, and the throughput of eight clients, each of
which plays a part of its own.
Required of Weir: at most nginx's added time and at least its throughput, ratios of at most and at least 1.0.
"""


from weirtools.bench import clients, common

# Segments a round for each size: one half for each of the two measurements.
COUNTS = {32 << 10: 800, 200 << 10: 300, 4 << 20: 60}


SMOKE = {"requests": 16}
HAS_PEERS = True


def add_options(parser):
    parser.add_argument("--requests", type=int, help="segments a round, instead of as many as each size needs")


def measure(bench, arguments):
    counts = {size: arguments.requests or count for size, count in COUNTS.items()}
    added, throughputs = [], []
    for size, count in counts.items():
        for turn in range(arguments.rounds):
            common.write_presentation(bench.folder / "files" / ("%d-%d" % (size, turn)), count, size)
    origin = bench.nginx("root %s;" % (bench.folder / "files"))
    cache = bench.caching_nginx(origin)
    servers = {"origin": origin, "nginx": cache}
    if arguments.weir:
        servers["weir"] = bench.weir()

    print("%-8s %-7s %9s %9s %9s %9s %10s" % ("size", "server", "head ms", "first ms", "last ms", "added ms", "8 x MiB/s"))
    for size, count in counts.items():
        times, rates = {name: [] for name in servers}, {name: [] for name in servers}
        for turn in range(arguments.rounds):
            paths = {name: ["/%d-%d/%d.ts" % (size, turn, n) for n in range(count)] for name in servers}
            if arguments.weir:
                entry = "/%s/%d-%d/media.m3u8" % (origin.url, size, turn)
                paths["weir"] = servers["weir"].segments(entry)
            half = count // 2
            kept = {name: clients.Client(server) for name, server in servers.items()}
            for number in range(half):
                for name, client in kept.items():
                    times[name].append(client.get(paths[name][number]))
            for name, server in servers.items():
                # At Weir each client has a session, and so paths of its own.
                lists = [server.segments(entry) if name == "weir" else paths[name] for _ in range(clients.CLIENTS)]
                rates[name].append(clients.throughput(server, clients.shares([each[half:] for each in lists])))
        first = {name: common.median([item[1] for item in found]) for name, found in times.items()}
        for name, found in times.items():
            middle = [common.median([item[part] for item in found]) * 1000 for part in range(3)]
            print("%-8s %-7s %9.3f %9.3f %9.3f %9.3f %10.0f" % (
                common.size_name(size), name, *middle, (first[name] - first["origin"]) * 1000,
                common.median(rates[name]) / (1 << 20)))
        if arguments.weir:
            added.append((first["weir"] - first["origin"]) / max(1e-6, first["nginx"] - first["origin"]))
            throughputs.append(common.median(rates["weir"]) / common.median(rates["nginx"]))
            print("%-8s Weir to nginx: added time %.2f, throughput %.2f" % (common.size_name(size), added[-1], throughputs[-1]),
                  flush=True)
    names = ", ".join(common.size_name(size) for size in counts)
    common.row(arguments, "throughput of segments that are not stored yet, 8 clients: %s" % names, "nginx `proxy_cache`, missing",
               common.listed("%.2f", throughputs))
    common.row(arguments, "time added to the first byte of these (below 1 is better)", "nginx `proxy_cache`, missing",
               common.listed("%.2f", added))
