"""The origin of one case of the field laboratory: hosts with names and addresses of their own, and rules that act on replies.

Full control over each byte of a reply is needed here, over TLS too, and over the names: tools/origin has one address and no names.
"""

import contextlib
import fnmatch
import socket
import ssl
import struct
import threading
import time
import urllib.parse

MEDIA_TYPES = {"m3u8": "application/vnd.apple.mpegurl", "ts": "video/mp2t", "m4s": "video/iso.segment", "mp4": "video/mp4",
               "aac": "audio/aac", "vtt": "text/vtt", "html": "text/html"}
ABORT = struct.pack("ii", 1, 0)


class Request:
    """A request's head, with the letter of the host that it reached."""

    def __init__(self, site, letter, head, scheme, peer):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ", 2)
        pairs = [line.partition(":") for line in lines[1:]]
        self.headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        self.site, self.letter, self.scheme, self.peer = site, letter, scheme, peer
        self.path = urllib.parse.unquote(self.target.partition("?")[0])
        self.query = dict(urllib.parse.parse_qsl(self.target.partition("?")[2], keep_blank_values=True))
        self.cookies = dict(pair.strip().partition("=")[::2] for pair in self.headers.get("cookie", "").split(";") if pair)

    def memory(self, key):
        """A dictionary that lasts for one way of playing the case."""
        return self.site.memory.setdefault(key, {})


class Reply:
    """A reply before it is sent; rules change its fields."""

    def __init__(self, body, kind):
        self.status, self.reason, self.body = (404, "Not Found", b"none here\n") if body is None else (200, "OK", body)
        self.headers = {"Content-Type": kind or "text/plain"}
        self.cookies, self.framing, self.claimed, self.has_ranges = [], "length", None, True
        self.delay, self.rate, self.cut, self.is_reset, self.pause, self.keep, self.is_final = 0, None, None, False, None, True, False
        # Seconds for which the connection is kept behind a body that is shorter than its Content-Length.
        self.hold = 0

    def refuse(self, status, body=b"refused\n", **headers):
        self.status, self.reason, self.body, self.has_ranges, self.is_final = status, "Refused", body, False, True
        self.headers = {"Content-Type": "text/plain", **{name.replace("_", "-"): value for name, value in headers.items()}}

    def apply_range(self, request):
        """A part of the body for a Range, as any file server gives it."""
        wanted = request.headers.get("range", "")
        if self.status != 200 or not self.has_ranges or not wanted.startswith("bytes=") or "Content-Encoding" in self.headers:
            return
        first, _, last = wanted[6:].partition("-")
        if not first:
            return
        start, end, size = int(first), min(int(last or 1 << 62), len(self.body) - 1), len(self.body)
        if start >= size:
            self.refuse(416, b"", **{"Content-Range": "bytes */%d" % size})
            return
        self.status, self.reason, self.body = 206, "Partial Content", self.body[start:end + 1]
        self.headers["Content-Range"] = "bytes %d-%d/%d" % (start, end, size)

    def head(self):
        lines = ["HTTP/1.1 %d %s" % (self.status, self.reason)] + ["%s: %s" % item for item in self.headers.items()]
        lines += ["Set-Cookie: " + cookie for cookie in self.cookies]
        if self.framing == "length":
            lines.append("Content-Length: %d" % (len(self.body) if self.claimed is None else self.claimed))
        elif self.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
            if self.claimed is not None:
                lines.append("Content-Length: %d" % self.claimed)
        if not self.keep or self.framing == "close":
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")


class Site:
    """The hosts of a case. `files` maps a path, or LETTER:PATH, to text, bytes or a callable; `rules` are (glob, action)."""

    def __init__(self, files, rules, names, text):
        self.files, self.rules, self.names, self.text = files, rules, names, text
        self.memory, self.log, self.listeners, self.connections = {}, [], [], set()
        # For each TLS handshake, whether it resumed a session.
        self.handshakes = []
        self.lock, self.is_open = threading.RLock(), True

    def begin(self):
        """Forgets what earlier plays did."""
        with self.lock:
            self.memory, self.log, self.handshakes = {}, [], []

    def close(self):
        """Ends all connections and refuses new ones.

        Each thread closes its own socket: OpenSSL would go on writing to the number of a descriptor that is another file by then.
        """
        self.is_open = False
        for item in [*self.listeners, *self.connections.copy()]:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(item, socket.SHUT_RDWR)

    def listen(self, letter, address, port, context=None, delay=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, port), family=family, backlog=128)
        self.listeners.append(listener)
        threading.Thread(target=self.accept, args=(listener, letter, context, delay), daemon=True).start()

    def accept(self, listener, letter, context, delay):
        with listener, contextlib.suppress(OSError):
            while self.is_open:
                connection, peer = listener.accept()
                threading.Thread(target=self.converse, args=(connection, peer[0], letter, context, delay), daemon=True).start()

    def converse(self, connection, peer, letter, context, delay):
        self.connections.add(connection)
        plain = connection
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context:
                # A client's handshake at a distance takes two round trips.
                time.sleep(2 * delay)
                connection = context.wrap_socket(connection, server_side=True)
                self.handshakes.append(connection.session_reused)
                self.connections.add(connection)
            scheme, received = "https" if context else "http", b""
            while self.is_open:
                while b"\r\n\r\n" not in received:
                    more = connection.recv(65536)
                    if not more or len(received) > 65536:
                        return
                    received += more
                head, _, received = received.partition(b"\r\n\r\n")
                request = Request(self, letter, head, scheme, peer)
                time.sleep(delay)
                reply = self.reply(request)
                if not self.send(connection, request, reply):
                    if context and reply.cut is None and not reply.keep:
                        # OpenSSL resumes no session of TLS 1.2 that ended without close_notify.
                        connection.settimeout(1)
                        connection.unwrap()
                    return
        except (OSError, ssl.SSLError, ValueError):
            pass
        finally:
            self.connections -= {plain, connection}
            with contextlib.suppress(OSError):
                connection.close()

    def find(self, request):
        for key in ("%s:%s" % (request.letter, request.path), request.path):
            if key in self.files:
                found = self.files[key]
                found = found(request) if callable(found) else found
                data = self.text(found).encode("utf-8") if isinstance(found, str) else found
                return data, MEDIA_TYPES.get(request.path.rpartition(".")[2], "application/octet-stream")
        return None, None

    def reply(self, request):
        with self.lock:
            reply = Reply(*self.find(request))
            for glob, action in self.rules:
                whole = "%s:%s" % (request.letter, request.path)
                if fnmatch.fnmatchcase(whole if glob[1:2] == ":" else request.path, glob):
                    action(request, reply)
                    if reply.is_final:
                        break
            self.log.append((request, reply.status))
        reply.apply_range(request)
        return reply

    def send(self, connection, request, reply):
        """Sends a reply; True if the connection goes on."""
        time.sleep(reply.delay)
        if reply.cut == -1:
            return False
        connection.sendall(reply.head())
        if request.method == "HEAD" or reply.status == 304:
            return True
        body = reply.body[:reply.cut] if reply.cut is not None else reply.body
        for position in range(0, len(body), 16384):
            block = body[position:position + 16384]
            if reply.pause and position >= reply.pause[0] and position - 16384 < reply.pause[0]:
                time.sleep(reply.pause[1])
            if reply.rate:
                time.sleep(len(block) / reply.rate)
            connection.sendall(b"%x\r\n%s\r\n" % (len(block), block) if reply.framing == "chunked" else block)
        if reply.cut is not None:
            if reply.is_reset:
                time.sleep(0.05)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            return False
        if reply.framing == "chunked":
            connection.sendall(b"0\r\n\r\n")
        time.sleep(reply.hold)
        is_short = reply.claimed is not None and reply.claimed != len(reply.body) and reply.framing == "length"
        return reply.keep and reply.framing != "close" and not is_short and \
            request.headers.get("connection", "").lower() != "close"
