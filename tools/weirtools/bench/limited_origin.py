"""An HTTP/1.1 origin that counts what it sends: with or without ranges, and with a limit for each connection or for all together.

It states strong tags, and answers conditions, with and without ranges.

It counts the bytes of bodies that the system has taken from it, and all those that the client's system has acknowledged. The
system's send buffers have their usual size, so a reply that is broken off costs the program more than has arrived of it.
"""

import collections
import contextlib
import http.server
import mimetypes
import pathlib
import socket
import socketserver
import struct
import threading
import time

BLOCK = 8 << 10
# Where tcpi_bytes_acked stands in struct tcp_info (linux/tcp.h).
ACKNOWLEDGED = 120


class Bucket:
    """Lets a number of bytes pass in a second."""

    def __init__(self, rate):
        self.rate, self.free_at, self.lock = rate, 0.0, threading.Lock()

    def wait_for(self, count):
        with self.lock:
            now = time.monotonic()
            self.free_at = max(self.free_at, now - 0.05) + count / self.rate
            pause = self.free_at - now
        if pause > 0:
            time.sleep(pause)


class Origin(socketserver.ThreadingTCPServer):
    """Serves a folder. `rate`: bytes per second of a connection or, if `is_shared`, of all; None: no limit."""

    allow_reuse_address = True

    def __init__(self, folder, has_ranges, rate=None, is_shared=False):
        self.folder, self.has_ranges, self.rate = pathlib.Path(folder), has_ranges, rate
        self.bucket = Bucket(rate) if rate and is_shared else None
        self.lock = threading.Lock()
        self.sent, self.acknowledged = 0, 0
        self.requests, self.broken = collections.Counter(), []
        super().__init__(("127.0.0.1", 0), Handler)
        self.url, self.port = "http://127.0.0.1:%d" % self.server_address[1], self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that leaves is no fault."""

    def end(self):
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        server = self.server
        self.bucket = server.bucket or (Bucket(server.rate) if server.rate else None)

    def finish(self):
        with contextlib.suppress(OSError):
            super().finish()
        with contextlib.suppress(OSError, struct.error):
            information = self.connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            with self.server.lock:
                self.server.acknowledged += struct.unpack_from("Q", information, ACKNOWLEDGED)[0]

    def do_GET(self):
        file = self.server.folder / self.path.lstrip("/")
        if not file.is_file():
            return self.send_error(404)
        body, first = file.read_bytes(), 0
        tag = '"%d-%d"' % (file.stat().st_mtime_ns, file.stat().st_size)
        if self.headers.get("If-None-Match") == tag:
            self.send_response(304)
            self.send_header("ETag", tag)
            return self.end_headers()
        asked = self.headers.get("Range") if self.server.has_ranges else None
        with self.server.lock:
            self.server.requests[self.path, asked] += 1
        if asked:
            begin, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = int(begin), min(int(end or len(body) - 1), len(body) - 1)
            self.send_response(206)
            self.send_header("Content-Range", "bytes %d-%d/%d" % (first, last, len(body)))
            body = body[first:last + 1]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", mimetypes.guess_type(file.name)[0] or "application/octet-stream")
        self.send_header("ETag", tag)
        if self.server.has_ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        self.send_body(body, first)

    def send_body(self, body, first):
        sent = 0
        try:
            while sent < len(body):
                block = memoryview(body)[sent:sent + BLOCK]
                if self.bucket:
                    self.bucket.wait_for(len(block))
                count = self.connection.send(block)
                sent += count
                with self.server.lock:
                    self.server.sent += count
        except OSError:
            with self.server.lock:
                self.server.broken.append((self.path, first, sent, len(body)))
            self.close_connection = True

    def log_message(self, *_):
        """Says nothing."""
