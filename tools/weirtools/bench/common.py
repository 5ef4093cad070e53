"""Shared by the benchmarks: nginx and Weir as children in a temporary folder, media that looks like segments, options and tables.

Everything listens on 127.0.0.1 on free ports. The folder is in /dev/shm if that has 8 GiB free, else under TMPDIR.
"""

import contextlib
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from weirtools import ROOT, TOOLS, packages
from weirtools.origins import virtual

TICKS = os.sysconf("SC_CLK_TCK")
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Bench:
    """A temporary folder and the children of one benchmark; both are gone when the with statement ends."""

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-bench-", dir=memory()))
        self.children, self.homes, self.is_over = [], itertools.count(1), False
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_):
        self.is_over = True
        for child in list(self.children):
            self.stop(child)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, arguments, has_input=False, **options):
        """A child; with `has_input` one that ends with its standard input."""
        if self.is_over:
            sys.exit("the benchmark is over")  # In a thread that goes on beside the one that has failed.
        source = subprocess.PIPE if has_input else subprocess.DEVNULL
        child = subprocess.Popen([str(item) for item in arguments], stdin=source, start_new_session=True, **options)
        self.children.append(child)
        return child

    def stop(self, child):
        child.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()

    def home(self, name):
        """A new folder for one server."""
        home = self.folder / ("%s-%d" % (name, next(self.homes)))
        home.mkdir()
        return home

    def nginx(self, locations, http="", wrapper=()):
        """An nginx with one worker and sendfile; `locations` is the inside of its server block. The words of a wrapper go before its
        own; it is then one process.
        """
        home = self.home("nginx")
        port = free_port()
        user = "user root;" if os.geteuid() == 0 else ""
        temporary = "\n".join("%s_temp_path %s/%s;" % (name, home, name)
                              for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (home / "nginx.conf").write_text("""
            daemon off; %s %s worker_processes 1; pid %s/pid; error_log stderr error;
            events { worker_connections 1024; }
            http {
                access_log off; sendfile on; tcp_nopush on; %s
                types { video/mp2t ts; application/vnd.apple.mpegurl m3u8; }
                %s
                server { listen 127.0.0.1:%d backlog=511; %s }
            }""" % ("master_process off;" if wrapper else "", user, home, temporary, http, port, locations))
        child = self.start([*wrapper, "nginx", "-p", home, "-e", "stderr", "-c", home / "nginx.conf"])
        wait_for("nginx", lambda: connects(port))
        return Server("http://127.0.0.1:%d" % port, child, child.pid if wrapper else first_child(child.pid))

    def caching_nginx(self, origin, wrapper=()):
        """An nginx that keeps what it gets from an origin."""
        return self.nginx(
            "location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_cache miss;"
            " proxy_cache_valid 200 1h; }",
            "proxy_cache_path %s/cache levels=1:2 keys_zone=miss:10m max_size=4g use_temp_path=off;"
            " upstream origin { server 127.0.0.1:%d; keepalive 16; }" % (self.folder, origin.port), wrapper)

    def weir(self, binary, home=None, options=(), wrapper=()):
        """A `weir serve` over a store of its own, or over one in a folder that an earlier one has left. The words of a wrapper go
        before its own.
        """
        home = home or self.home("weir")
        options = ["--store", home / "store", "--state", home / "state", "--reserve", "0", *options]
        with open(home / "log", "w") as log:
            child = self.start([*wrapper, binary, "serve", "--listen", "127.0.0.1:0"] + options, stdout=subprocess.PIPE, stderr=log, text=True)
        line = child.stdout.readline()
        if "listening on" not in line:
            sys.exit("weir serve did not start: it said %r\n%s" % (line, (home / "log").read_text()))
        server = Server(line.split()[-1], child, child.pid)
        server.home, server.store, server.state = home, home / "store", home / "state"
        return server

    def link(self, upstream, preset):
        """A tools/link in front of a server; the same losses each time."""
        command = [sys.executable, TOOLS / "link", "--preset", preset, "--state", self.home("link"), "--seed", "1", upstream]
        child = self.start(command, stdout=subprocess.PIPE, text=True)
        lines = [child.stdout.readline() for _ in range(2)]
        if "listening on" not in lines[1]:
            sys.exit("tools/link did not start: it said %r" % lines)
        link = Server(lines[1].split()[-1], child, child.pid)
        link.control = lines[0].split()[-1]
        return link

    def forget(self, child, number=signal.SIGTERM):
        """Ends a child before the end of the benchmark."""
        child.send_signal(number)
        self.stop(child)
        self.children.remove(child)


def memory():
    """A folder in memory where there is room, else None, the usual temporary folder.

    On a disk, ext4 looks at every inode that was freed in the last minutes before it takes a new one: what one round deletes
    costs the next ones more than the work that is to be measured.
    """
    with contextlib.suppress(OSError):
        if shutil.disk_usage("/dev/shm").free >= 8 << 30:
            return "/dev/shm"
    return None


class Server:
    """A running server: its base URL, its child process, and the process that does the work."""

    def __init__(self, url, child, worker):
        self.url, self.child, self.worker = url, child, worker
        self.port = int(url.rsplit(":", 1)[1])

    def cpu(self):
        """Seconds of processor time so far, user and system."""
        fields = pathlib.Path("/proc/%d/stat" % self.worker).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def get(self, path):
        """The body of a GET as text; a whole URL is taken as it is."""
        url = path if path.startswith("http") else self.url + path
        with OPENER.open(url, timeout=60) as reply:
            return reply.read().decode()

    def segments(self, path):
        """The absolute paths of the segments of the first rendition that an entry playlist leads to."""
        url = self.url + path
        for _ in range(2):
            lines = [line for line in self.get(url).splitlines() if line and not line.startswith("#")]
            found = [urllib.parse.urljoin(url, line) for line in lines]
            if not found[0].split("?")[0].endswith(".m3u8"):
                break
            url = found[0]
        return ["/" + item.split("/", 3)[3] for item in found]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def connects(port):
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True


def first_child(pid):
    """nginx's worker under its master. A cache manager may follow it, but the worker comes first."""
    def found():
        return pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()
    wait_for("a worker of nginx", found)
    return int(found()[0])


def wait_for(what, condition, bound=15, pause=0.02):
    until = time.monotonic() + bound
    while not condition():
        if time.monotonic() > until:
            sys.exit("no %s within %d seconds" % (what, bound))
        time.sleep(pause)


def write_presentation(folder, count, size):
    """A media playlist media.m3u8 with `count` segments of `size` bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "media.m3u8").write_bytes(virtual.long_playlist(count)[0])
    for number in range(count):
        body = virtual.PatternBody(size, "%s/%d.ts" % (folder.name, number))
        (folder / ("%d.ts" % number)).write_bytes(body.read(0, size))


def write_transport(folder, count, template):
    """A media playlist media.m3u8 with `count` segments that are transport streams."""
    write_playlist(folder, count, template.seconds)
    for number in range(count):
        (folder / ("%d.ts" % number)).write_bytes(template.segment(number))


def write_playlist(folder, count, seconds):
    """A media playlist media.m3u8 of segments of that length."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % math.ceil(seconds), "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(count):
        lines += ["#EXTINF:%.3f," % seconds, "%d.ts" % number]
    (folder / "media.m3u8").write_text("\n".join(lines + ["#EXT-X-ENDLIST", ""]))


def weir_binary(parser, arguments):
    """The binary to measure; without it the benchmark ends with 69."""
    binary = pathlib.Path(arguments.weir).resolve()
    if not binary.is_file():
        parser.exit(69, "no %s: swift build -c release --product weir\n" % binary)
    return binary


def add_options(parser, rounds=5):
    """The options of benchmarks of the program."""
    parser.add_argument("--weir", default=str(ROOT / ".build" / "release" / "weir"), help="the binary to measure")
    parser.add_argument("--peers-only", action="store_true", help="measure the others alone")
    add_own_options(parser, rounds)


def add_own_options(parser, rounds=5):
    """The options of all benchmarks."""
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--rows", type=pathlib.Path, help="append the rows of the benchmark page to this file, as lines of JSON")
    parser.add_argument("--smoke", action="store_true",
                        help="only see that it runs: smallest sizes, one round, the debug build")


def parse(parser, **smoke):
    """The arguments. `smoke` has the defaults for --smoke; an option on the command line goes first."""
    if "--smoke" in sys.argv[1:]:
        parser.set_defaults(weir=str(ROOT / ".build" / "debug" / "weir"), rounds=1, **smoke)
    return parser.parse_args()


def numbers(text):
    """An argument type: numbers such as 1,8,64."""
    return [int(item) for item in text.split(",")]


def sizes(text):
    """An argument type: sizes in bytes such as 1K,4M."""
    return [int(item[:-1]) << {"K": 10, "M": 20}[item[-1:].upper()] for item in text.split(",")]


def row(arguments, subject, peer, seen):
    """Adds a row to the table of the benchmark page. tools/bench/all adds the command."""
    if arguments.rows:
        with open(arguments.rows, "a", encoding="utf-8") as file:
            file.write(json.dumps([subject, peer, seen], ensure_ascii=False) + "\n")


def listed(form, values):
    """Figures in one cell, such as 1.08, 1.61."""
    return ", ".join(form % value for value in values)


def rooms(room):
    """The rooms that a room imports, each after those that it needs, and the room itself."""
    sources = "\n".join(path.read_text() for path in (ROOT / "Sources" / room).rglob("*.swift"))
    names = sorted(set(re.findall(r"^(?:\w+ )?import (\w+)$", sources, re.MULTILINE)))
    needed = [other for name in names if (ROOT / "Sources" / name).is_dir() for other in rooms(name)]
    return list(dict.fromkeys([*needed, room]))


def compile_round(room, main, home, is_smoke):
    """Compiles a Swift program against one pure room, as a module of its own and optimized, unless that was done already.

    A smoke run takes the objects of the debug build if there are any, and only type-checks the rooms: that needs seconds, not a
    minute.
    """
    home.mkdir(parents=True, exist_ok=True)
    options = ["-package-name", "weir", "-swift-version", "6", "-parse-as-library", "-enable-upcoming-feature", "ExistentialAny",
               "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility"]
    debug = ROOT / ".build" / "debug"
    sources = {name: sorted((ROOT / "Sources" / name).rglob("*.swift")) for name in rooms(room)}
    # SwiftPM keeps the objects of files that are gone.
    present = {"%s.o" % path.name for paths in sources.values() for path in paths}
    objects = [path for name in sources for path in sorted((debug / ("%s.build" % name)).rglob("*.swift.o"))
               if path.name in present]
    uses_debug = is_smoke and objects
    if uses_debug:
        program, modules, inputs = home / "smoke", debug / "Modules", objects
    else:
        program, modules, inputs = home / "weir", home, [path for paths in sources.values() for path in paths]
    if program.exists() and program.stat().st_mtime > max(path.stat().st_mtime for path in [*inputs, main]):
        return program
    print("compiling %s" % program.relative_to(ROOT), flush=True)
    if uses_debug:
        for name, paths in sources.items():
            subprocess.run(["swiftc", *options, "-typecheck", "-module-name", name, "-I", modules, *paths], check=True)
    else:
        options.insert(0, "-O")
        objects = [home / ("%s.o" % name) for name in sources]
        for (name, paths), output in zip(sources.items(), objects):
            subprocess.run(["swiftc", *options, "-wmo", "-module-name", name, "-I", home, "-emit-module", "-emit-module-path",
                            home / ("%s.swiftmodule" % name), "-emit-object", "-o", output, *paths], check=True)
    subprocess.run(["swiftc", *options, "-module-name", "Round", "-I", modules, main, *objects, "-o", program], check=True)
    return program


def compile_c(source, home, *libraries):
    """Compiles a C program of one file with libraries that pkg-config(1) knows, unless that was done already."""
    home.mkdir(parents=True, exist_ok=True)
    program = home / source.stem
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", *libraries], check=True, capture_output=True, text=True).stdout.split()
        subprocess.run(["gcc", "-O2", "-Wall", "-o", program, source, *flags], check=True)
    return program


def ensure_tools():
    subprocess.run([str(TOOLS / "install"), "bench"], check=True)


def python_package(requirement):
    """The folder with a package from PyPI, as NAME==VERSION, for PYTHONPATH; installed the first time."""
    return packages.library(packages.environment(requirement.partition("==")[0], requirement))


def median(values):
    return statistics.median(values) if values else float("nan")


def size_name(size):
    return "%d MiB" % (size >> 20) if size >= 1 << 20 else "%d KiB" % (size >> 10)
