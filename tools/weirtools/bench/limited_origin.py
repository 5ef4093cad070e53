"""An HTTP/1.1 origin that counts what it sends: with or without ranges, and with a limit for each connection or for all together.

It states strong tags, and answers conditions, with and without ranges.

It counts the bytes of bodies that the system has taken from it, and all those that the client's system has acknowledged. The
system's send buffers have their usual size, so a reply that is broken off costs the program more than has arrived of it.
"""

import collections
import contextlib
import mimetypes
import pathlib
import socket
import struct
import threading
import time

from weirtools.origins import server

BLOCK = 8 << 10
# Where tcpi_bytes_acked stands in struct tcp_info (linux/tcp.h).
ACKNOWLEDGED = 120


class Bucket:
    """Lets a number of bytes pass in a second."""

    def __init__(self, rate):
        self.rate, self.free_at, self.lock = rate, 0.0, threading.Lock()

    def pause(self, count):
        """Seconds until so many more may pass."""
        with self.lock:
            now = time.monotonic()
            self.free_at = max(self.free_at, now - 0.05) + count / self.rate
            return max(0, self.free_at - now)


class Origin(server.Server):
    """Serves a folder. `rate`: bytes per second of a connection or, if `is_shared`, of all; None: no limit."""

    def __init__(self, folder, has_ranges, rate=None, is_shared=False):
        super().__init__()
        self.folder, self.has_ranges, self.rate = pathlib.Path(folder), has_ranges, rate
        self.shared = Bucket(rate) if rate and is_shared else None
        self.buckets = {}
        self.sent, self.acknowledged = 0, 0
        self.requests, self.broken = collections.Counter(), []
        self.port = int(self.listen().rsplit(":", 1)[1])

    def answer(self, request):
        file = self.folder / request.path.lstrip("/")
        if not file.is_file():
            return server.Reply()
        reply = server.Reply(server.FileBody(file), mimetypes.guess_type(file.name)[0] or "application/octet-stream")
        reply.etag = reply.headers["ETag"] = '"%s"' % reply.body.etag
        reply.has_ranges, reply.guards, reply.block = self.has_ranges, None, BLOCK
        if self.has_ranges:
            reply.headers["Accept-Ranges"] = "bytes"
        if self.rate:
            reply.bucket = self.shared or self.buckets.setdefault(request.entry["connection"], Bucket(self.rate))
        return reply

    def has_sent(self, request):
        entry, asked = request.entry, request.headers.get("range") if self.has_ranges else None
        with self.lock:
            self.sent += entry["bytes"]
            if entry["status"] != 304:
                self.requests[request.path, asked] += 1
            if entry["state"] != "done":
                self.broken.append((request.path, asked, entry["bytes"], entry["length"]))

    def has_left(self, connection):
        with self.lock:
            self.acknowledged += acknowledged(connection)

    def arrived(self):
        """The bytes that clients' systems have acknowledged so far, whatever their programs have read."""
        with self.lock:
            return self.acknowledged + sum(map(acknowledged, self.connections.copy()))


def acknowledged(connection):
    """The bytes of a connection that the other end's system has."""
    with contextlib.suppress(OSError, struct.error):
        return struct.unpack_from("Q", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), ACKNOWLEDGED)[0]
    return 0
