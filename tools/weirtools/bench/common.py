"""Shared by the benchmarks: their stage, media that looks like segments, types of options, programs and figures.

Everything listens on 127.0.0.1 on free ports. The folder is in /dev/shm if that has 8 GiB free, else under TMPDIR.
"""

import contextlib
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

from weirtools import ROOT, packages, processes
from weirtools.origins import virtual
from weirtools.scenes import scene

# Programs that the benchmarks of one part compile.
ROUNDS = pathlib.Path(__file__).resolve().parent / "rounds"


class Bench(scene.Stage):
    """The stage of one benchmark: Weir, nginx, links and whatever else runs, in a folder in memory."""

    def __init__(self, binary=None):
        super().__init__(binary, name="bench")
        self.children, self.is_over, self.place = [], False, memory()

    def __enter__(self):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return super().__enter__()

    def __exit__(self, *_):
        self.is_over = True
        for child in list(self.children):
            self.stop(child)
        super().__exit__()

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

    def forget(self, child, number=signal.SIGTERM):
        """Ends a child before the end of the benchmark."""
        child.send_signal(number)
        self.stop(child)
        self.children.remove(child)

    def nginx(self, locations, http="", wrapper=()):
        """An nginx with one worker and sendfile; `locations` is the inside of its server block. The words of a wrapper go before its
        own; it is then one process.
        """
        home = self.home("nginx")
        port = processes.free_port()
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
        return Child(self, child, "http://127.0.0.1:%d" % port, child.pid if wrapper else first_child(child.pid))

    def caching_nginx(self, origin, wrapper=()):
        """An nginx that keeps what it gets from an origin."""
        return self.nginx(
            "location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_cache miss;"
            " proxy_cache_valid 200 1h; }",
            "proxy_cache_path %s/cache levels=1:2 keys_zone=miss:10m max_size=4g use_temp_path=off;"
            " upstream origin { server 127.0.0.1:%d; keepalive 16; }" % (self.folder, origin.port), wrapper)

    def weir(self, folder=None, options=(), wrapper=(), binary=None):
        """A `weir serve` over a store of its own, or over one in a folder that an earlier one has left."""
        return self.serve(Weir(binary or self.binary, folder or self.home("weir"), options=options, wrapper=wrapper, users=None))


class Weir(scene.Weir):
    """A Weir that shares the processor with the others as a service does: Linux shares it between sessions."""

    has_session = True


class Child(scene.Running):
    """A server that is a child of a benchmark; `process` does the work."""

    process = None

    def __init__(self, bench, child, url, process=None):
        super().__init__(child, url)
        self.bench, self.process = bench, process or child.pid

    def end(self):
        self.bench.forget(self.child)


def memory():
    """A folder in memory where there is room, else None, the usual temporary folder.

    On a disk, ext4 looks at every inode that was freed in the last minutes before it takes a new one: what one round deletes
    costs the next ones more than the work that is to be measured.
    """
    with contextlib.suppress(OSError):
        if shutil.disk_usage("/dev/shm").free >= 8 << 30:
            return "/dev/shm"
    return None


def connects(port):
    with contextlib.suppress(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port)).close()
        return True


def first_child(pid):
    """nginx's worker under its master. A cache manager may follow it, but the worker comes first."""
    def found():
        return pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()
    return int(wait_for("a worker of nginx", found)[0])


def wait_for(what, condition, bound=15, pause=0.02):
    """The condition's first true value; without one the benchmark ends."""
    try:
        return scene.wait_for(what, condition, bound, pause)
    except scene.Trouble as trouble:
        sys.exit(str(trouble))


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


def numbers(text):
    """An argument type: numbers such as 1,8,64."""
    return [int(item) for item in text.split(",")]


def sizes(text):
    """An argument type: sizes in bytes such as 1K,4M."""
    return [int(item[:-1]) << {"K": 10, "M": 20}[item[-1:].upper()] for item in text.split(",")]


def row(arguments, subject, peer, seen):
    """Adds a row to the table of the benchmark page. tools/bench adds the command."""
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


def python_package(requirement):
    """The folder with a package from PyPI, as NAME==VERSION, for PYTHONPATH; installed the first time."""
    return packages.library(packages.environment(requirement.partition("==")[0], requirement))


def median(values):
    return statistics.median(values) if values else float("nan")


def size_name(size):
    return "%d MiB" % (size >> 20) if size >= 1 << 20 else "%d KiB" % (size >> 10)
