"""The stage of an attack: a daemon of its own, an origin whose every byte is free, raw requests, and a witness.

The witness is another client, in a process of its own, that asks for a stored segment again and again, and notices
what an attack costs everybody else.
"""

import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time

from weirtools import MEDIA, TOOLS
from weirtools.origins import server
from weirtools.scenes import scene

# An attack may add so much to the witness's p99, in seconds (promise 9), and to the daemon's memory, in bytes.
LATENCY, MEMORY = 0.05, 256 << 20
SEGMENTS = sorted((MEDIA / "ts/90p").glob("*.ts"), key=lambda path: int(path.stem))


class Origin(server.Server):
    """Gives a path's bytes, or what a callable does with the connection, which is closed then. Each request has one reply."""

    def __init__(self):
        super().__init__()
        self.replies, self.requests = {}, []
        self.listen()

    def answer(self, request):
        path = request.target.partition("?")[0]
        with self.lock:
            self.requests.append((path, request.raw))
        return self.replies.get(path, reply(b"none here", 404))

    def vod(self, name, bodies=()):
        """The URL of a playlist of three segments, of which `bodies` replaces some: {number: reply}."""
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
        for number in range(3):
            lines += ["#EXTINF:2,", "%d.ts" % number]
            self.replies["/%s/%d.ts" % (name, number)] = dict(bodies).get(
                number, reply(SEGMENTS[number].read_bytes(), kind="video/mp2t")
            )
        text = "\n".join([*lines, "#EXT-X-ENDLIST", ""])
        self.replies["/%s/media.m3u8" % name] = reply(text.encode(), kind="application/vnd.apple.mpegurl")
        return "%s/%s/media.m3u8" % (self.url, name)


def reply(body=b"", status=200, kind="text/plain", length=None, fields=()):
    lines = [
        "HTTP/1.1 %d Here" % status,
        "Content-Type: " + kind,
        "Connection: close",
        "Content-Length: %s" % (len(body) if length is None else length),
        *fields,
    ]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Stage(scene.Stage):
    """A daemon with one stored film, the origin, the witness, and the findings of one topic."""

    def __init__(self, binary, seconds, descriptors=None):
        super().__init__(binary, name="attack")
        self.descriptors, self.until = descriptors, time.monotonic() + seconds
        self.cases, self.findings, self.most_memory, self.notes = 0, [], 0, []

    def __enter__(self):
        super().__enter__()
        self.origin = Origin()
        limit = "--nofile=%d:%d" % (self.descriptors, self.descriptors) if self.descriptors else None
        self.weir = self.new_weir(users="root", wrapper=["prlimit", limit] if limit else [])
        self.token = self.weir.token
        self.store_film()
        self.memory_before = self.weir.memory("VmHWM")
        self.baseline = self.witness(1.5)[0]
        return self

    def store_film(self):
        """Downloads the film that the witness plays."""
        self.weir.run("get", self.origin.vod("film"), "--name", "film")
        self.stored = self.weir.segments("/offline/film.m3u8")[0]

    def __exit__(self, *_):
        super().__exit__()
        self.origin.close()

    # Findings

    def case(self, label, finding=None):
        """Counts a case, with what was wrong."""
        self.cases += 1
        if finding:
            self.findings.append("%s: %s" % (label, finding))
        self.most_memory = max(self.most_memory, self.weir.memory("VmHWM"))

    def finish(self):
        """Checks the daemon and its film after an attack."""
        if not self.weir.is_up:
            return self.findings.append("the daemon has ended with status %d" % self.weir.child.returncode)
        status, _, body = split(self.ask(get(self.stored)))
        if status != 200 or body != SEGMENTS[0].read_bytes():
            self.findings.append("the stored film does not play any more: %s" % status)
        if self.most_memory - self.memory_before > MEMORY:
            self.findings.append("the daemon took %d MB more" % ((self.most_memory - self.memory_before) >> 20))

    # Requests

    @property
    def host(self):
        return self.weir.url.removeprefix("http://")

    def connect(self, timeout=15):
        connection = socket.create_connection(("127.0.0.1", self.weir.port), timeout=timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def ask(self, request, timeout=15, most=64 << 20):
        """All that comes back for these bytes until the end of the connection; what there is after the timeout."""
        request = request.replace(b"{host}", self.host.encode())
        got = bytearray()
        with contextlib.suppress(OSError), self.connect(timeout) as connection:
            connection.sendall(request)
            end = time.monotonic() + timeout
            while len(got) < most and time.monotonic() < end:
                try:
                    part = connection.recv(1 << 16)
                except TimeoutError:
                    break
                except OSError:
                    part = b""
                if not part:
                    break
                got += part
        return bytes(got)

    def api(self, method, path, body=None, timeout=30):
        """(status, JSON) of the API; (0, None) if there is no answer."""
        status = 0
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            status, text = self.weir.call(method, path, body, timeout)
            return status, json.loads(text)
        return status, None

    # The witness

    @contextlib.contextmanager
    def witnessed(self, label):
        """Compares what the witness sees during an attack with what it saw before."""
        process = self.start_witness()
        try:
            yield
        finally:
            p99, failures, count = self.end_witness(process)
            self.notes.append("%s: p99 %.0f ms of %d" % (label, p99 * 1000, count))
            if p99 > self.baseline + LATENCY:
                self.findings.append(
                    "%s: another client waits %.0f ms at p99, %.0f before" % (label, p99 * 1000, self.baseline * 1000)
                )
            if failures:
                self.findings.append(
                    "%s: %d of another client's %d requests fail: %s" % (label, sum(failures.values()), count, failures)
                )

    def witness(self, seconds):
        process = self.start_witness()
        time.sleep(seconds)
        return self.end_witness(process)

    def start_witness(self):
        words = [sys.executable, "-B", "-m", "weirtools.attacks.witness", str(self.weir.port), self.stored]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=TOOLS)
        process.stdout.readline()
        return process

    @staticmethod
    def end_witness(process):
        process.send_signal(signal.SIGTERM)
        seen = json.loads(process.communicate(timeout=60)[0])
        times = sorted(seen["times"]) or [0.0]
        return times[min(len(times) - 1, len(times) * 99 // 100)], seen["failures"], len(times)


def get(path, *fields):
    return (
        "GET %s HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n%s\r\n" % (path, "".join(field + "\r\n" for field in fields))
    ).encode("latin-1", "replace")


def split(answer):
    """(status, head, body) of a reply; status 0 without one."""
    head, _, body = answer.partition(b"\r\n\r\n")
    first = head.split(b" ", 2)
    status = int(first[1]) if len(first) > 1 and first[0].startswith(b"HTTP/1.1") and first[1].isdigit() else 0
    return status, head, body


def count_replies(answer):
    return len(re.findall(rb"HTTP/1\.1 [0-9]{3} ", answer))
