"""Downloads many small segments over TLS from far away: `weir get` by HTTP/2 and by HTTP/1.1, and `curl --parallel --http2`, in turns.

    tools/bench http2 [--count 5000] [--size 20K] [--delay 50] [--streams 32] [--rounds 3]

nginx offers HTTP/2 by ALPN; a relay delays every byte, so that a round trip takes --delay milliseconds. Each download starts with
nothing. Weir's HTTP/1.1 is `weir serve --http2 false`, with six connections. curl has as many streams at once as Weir.
Wanted: HTTP/1.1 takes at least twice as long as HTTP/2, and Weir at most 1.1 times as long as curl.
"""

import os
import subprocess
import sys

from weirtools import TOOLS, processes
from weirtools.bench import certificates, common, downloaders
from weirtools.media import transport

SERVER = """
server {
    listen 127.0.0.1:%d ssl http2 backlog=511; ssl_certificate %s; ssl_certificate_key %s;
    http2_max_concurrent_streams 128; keepalive_requests 1000000; root %s;
}"""


def far_origin(bench, milliseconds, chain, key):
    """The port of a relay in front of an nginx that serves the folder "origin" by HTTP/2."""
    port = processes.free_port()
    bench.nginx("root %s;" % (bench.folder / "origin"), http=SERVER % (port, chain, key, bench.folder / "origin"))
    relay = bench.start([sys.executable, TOOLS / "weirtools" / "bench" / "delay.py", port, milliseconds / 2],
                        stdout=subprocess.PIPE, text=True, has_input=True)
    return int(relay.stdout.readline())


def curl(streams):
    def command(presentation, folder):
        words = downloaders.curl(streams)(presentation, folder)
        return words[:1] + ["--http2"] + words[1:]
    return command


ROUNDS, SMOKE, HAS_PEERS = 3, {"count": 24, "delay": 10}, True


def add_options(parser):
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--size", type=lambda text: common.sizes(text)[0], default=20 << 10)
    parser.add_argument("--delay", type=float, default=50, help="the round trip in milliseconds")
    parser.add_argument("--streams", type=int, default=32)


def measure(bench, arguments):
    chain, key = certificates.make(bench.folder)
    template = transport.Template(arguments.size)
    common.write_transport(bench.folder / "origin" / "far", arguments.count, template)
    url = "https://127.0.0.1:%d/far/" % far_origin(bench, arguments.delay, chain, key)
    presentation = downloaders.Presentation(url, arguments.count, len(template.body))
    # Both know it.
    os.environ["CURL_CA_BUNDLE"] = str(chain)
    runners = {"curl, HTTP/2": downloaders.Peer(bench, curl(arguments.streams), downloaders.check_list)}
    if bench.binary:
        for name, choice in (("weir, HTTP/2", "true"), ("weir, HTTP/1.1", "false")):
            runners[name] = downloaders.Weir(bench, "--http2", choice)
    compare(arguments, presentation, runners)


def compare(arguments, presentation, runners):
    runs = {name: [] for name in runners}
    for _ in range(arguments.rounds):
        for name, runner in runners.items():
            runs[name].append(runner.fetch(presentation, 600, True))
    print("%d x %s over TLS, %g ms there and back\n%-16s %9s %9s %9s %9s" % (
        presentation.count, common.size_name(arguments.size), arguments.delay, "", "median s", "best s", "s CPU/GB", "peak MiB"))
    medians = {name: common.median([run.seconds for run in own]) for name, own in runs.items()}
    for name, own in runs.items():
        print("%-16s %9.2f %9.2f %9.2f %9.1f" % (
            name, medians[name], min(run.seconds for run in own), common.median([run.cpu for run in own]) / presentation.bytes * 1e9,
            common.median([run.memory for run in own]) / (1 << 20)))
    if "weir, HTTP/2" not in medians:
        return
    own = medians["weir, HTTP/2"]
    slower, relative = medians["weir, HTTP/1.1"] / own, own / medians["curl, HTTP/2"]
    print("HTTP/1.1 takes %.2f times as long (wanted: 2.00 or more); Weir takes %.2f times as long as curl (1.10 or less)" % (
        slower, relative))
    subject = "`weir get` of %d × %s over TLS, %g ms there and back, by HTTP/2" % (
        presentation.count, common.size_name(arguments.size), arguments.delay)
    common.row(arguments, subject, "curl --http2, %d at a time" % arguments.streams, "%.2f" % (1 / relative))
    common.row(arguments, subject, "`weir get` by HTTP/1.1", "%.2f" % slower)
