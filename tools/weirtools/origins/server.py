"""The one HTTP/1.1 server of the tools' origins: each byte of a reply, and each moment, is as it is told.

An origin is a `Server` whose `answer` gives a `Reply` for a request, bytes that are sent as they are, or a callable that does what it
likes with the connection. tools/origin makes replies of rules in JSON, the field laboratory of rules in Python, the attacks of bytes.
"""

import contextlib
import email.utils
import fcntl
import os
import select
import socket
import ssl
import struct
import termios
import threading
import time
import urllib.parse

MEDIA_TYPES = {
    ".m3u8": "application/vnd.apple.mpegurl", ".ts": "video/mp2t", ".m4s": "video/iso.segment", ".mp4": "video/mp4",
    ".aac": "audio/aac", ".vtt": "text/vtt", ".key": "application/octet-stream", ".html": "text/html",
}
REASONS = {200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other",
           304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
           403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 410: "Gone", 416: "Range Not Satisfiable",
           429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
           504: "Gateway Timeout"}
BLOCK = 256 * 1024
ABORT = struct.pack("ii", 1, 0)


class Ended(Exception):
    """The connection is over; the argument is the state for the log."""


# Bodies: `size`, `read(offset, length)`, `close()`, and `etag` and `modified`, which may be None.


class FileBody:
    """A file's bytes, with validators made from its size and modification time as nginx makes them."""

    def __init__(self, path):
        self.file = open(path, "rb")
        status = os.fstat(self.file.fileno())
        self.size = status.st_size
        self.etag = "%x-%x" % (int(status.st_mtime), self.size)
        self.modified = email.utils.formatdate(status.st_mtime, usegmt=True)

    def read(self, offset, length):
        return os.pread(self.file.fileno(), length, offset)

    def close(self):
        self.file.close()


class BytesBody:
    """Bytes made for this reply."""

    def __init__(self, data, etag=None):
        self.data, self.size, self.etag, self.modified = data, len(data), etag, None

    def read(self, offset, length):
        return self.data[offset:offset + length]

    def close(self):
        pass


class Request:
    """A request's head, with the entry of the log that belongs to it. `letter` is that of the listener that it reached."""

    def __init__(self, head, conversation):
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, version = lines[0].split(" ")
        self.raw, self.headers, self.body = head, {}, b""
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self.conversation, self.server, self.letter = conversation, conversation.server, conversation.listener.letter
        self.scheme, self.peer = conversation.scheme, conversation.peer
        path, _, query = self.target.partition("?")
        self.path, self.query = urllib.parse.unquote(path), dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.cookies = dict(pair.strip().partition("=")[::2] for pair in self.headers.get("cookie", "").split(";") if pair)
        self.keep = version == "HTTP/1.1" and self.headers.get("connection", "").lower() != "close"
        self.entry = {
            "order": None, "connection": conversation.number, "method": self.method, "path": self.target,
            "range": self.headers.get("range"), "headers": self.headers, "userAgent": self.headers.get("user-agent"),
            "status": None, "length": None, "bytes": 0, "state": "open",
        }


class Pause:
    """Where a body is held back: after so many bytes; with `at_end` also at the end of a shorter one.

    `wait` is called with the conversation and the request; `before`, if there is one, with the request, before the bytes that come last
    are sent.
    """

    def __init__(self, after, wait, at_end=False, before=None):
        self.after, self.wait, self.at_end, self.before = after, wait, at_end, before

    def place(self, total):
        """The number of bytes of so many after which it comes, or None."""
        return self.after if self.after <= total else total if self.at_end else None


class Reply:
    """A reply before it is sent: rules change its fields."""

    def __init__(self, body=None, kind=None, status=None, **headers):
        self.status = status or (404 if body is None else 200)
        self.reason, self.body = None, b"none here\n" if body is None else body
        self.headers = {"Content-Type": kind or "text/plain", **{name.replace("_", "-"): value for name, value in headers.items()}}
        self.cookies = []
        # "length", "chunked" or "close", and a Content-Length that is not the body's.
        self.framing, self.claimed = "length", None
        # Whether a Range is answered with a part; the tag that If-None-Match may name, and the validators that If-Range may. Without
        # the latter (None) it is not heeded.
        self.has_ranges, self.etag, self.guards = True, None, None
        # Seconds before the head; the pauses.
        self.delay, self.pauses = 0, []
        # Bytes of body a second, and at most at once; instead of the former, what says how long so many bytes must wait: `pause(count)`.
        self.rate, self.block, self.bucket = None, BLOCK, None
        # Bytes of body after which the connection ends, -1 for before the head, and with what.
        self.cut, self.is_reset = None, False
        # Whether the connection goes on, and seconds for which it is kept behind a body that is shorter than its Content-Length.
        self.keep, self.hold = True, 0
        # Whether it is closed after it was sent, whatever it says, and no rule changes it any more.
        self.is_final = False

    def refuse(self, status, body=b"refused\n", **headers):
        self.status, self.reason, self.body, self.has_ranges, self.is_final = status, "Refused", body, False, True
        self.headers = {"Content-Type": "text/plain", **{name.replace("_", "-"): value for name, value in headers.items()}}

    def choose(self, request, size):
        """(start, end) of what is sent of so many bytes, by RFC 9110 13 and 14; sets the status 304, 206 or 416 and Content-Range."""
        asked = request.headers
        if self.status != 200:
            return 0, size
        if self.etag:
            known = [item.strip() for item in asked.get("if-none-match", "").split(",")]
            if self.etag in known or "*" in known:
                self.status = 304
                return 0, 0
        value = asked.get("range")
        if not self.has_ranges or value is None:
            return 0, size
        if self.guards is not None and asked.get("if-range") not in (None, *self.guards):
            return 0, size
        unit, _, text = value.partition("=")
        first, dash, last = text.strip().partition("-")
        if unit.strip().lower() != "bytes" or not dash or "," in text or not (first or last):
            return 0, size
        try:
            start = int(first) if first else max(0, size - int(last))
            end = min(size, int(last) + 1) if first and last else size
        except ValueError:
            return 0, size
        if start >= size or (first and end <= start):
            self.status, self.headers["Content-Range"] = 416, "bytes */%d" % size
            return 0, 0
        self.status, self.headers["Content-Range"] = 206, "bytes %d-%d/%d" % (start, end - 1, size)
        return start, end

    def head(self, count):
        """The head before so many bytes of body."""
        reason = self.reason or REASONS.get(self.status, "Status")
        lines = ["HTTP/1.1 %d %s" % (self.status, reason)] + ["%s: %s" % item for item in self.headers.items()]
        lines += ["Set-Cookie: " + cookie for cookie in self.cookies]
        if self.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
        length = self.claimed if self.claimed is not None else count if self.framing == "length" else None
        if length is not None and self.framing != "close" and self.status not in (204, 304):
            lines.append("Content-Length: %d" % length)
        if not self.keep or self.framing == "close":
            lines.append("Connection: close")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")

    def ends_connection(self, count):
        """True if after so many bytes of body the client may not go on with this connection."""
        is_short = self.framing == "length" and self.claimed not in (None, count)
        return not self.keep or self.framing == "close" or is_short


class Listener:
    """A socket with a letter for the requests that come by it, a TLS context, and the seconds by which all is late."""

    def __init__(self, connection, letter="", context=None, delay=0):
        self.connection, self.letter, self.context, self.delay = connection, letter, context, delay


class Conversation:
    """One connection of a client, on a thread of its own."""

    def __init__(self, server, listener, connection, peer, number):
        self.server, self.listener, self.connection, self.peer, self.number = server, listener, connection, peer, number
        self.scheme, self.ends_in_order = "https" if listener.context else "http", False
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self):
        """Answers requests until one of the two ends the connection. True if a reply said that it would."""
        if self.listener.context:
            # A client's handshake at a distance takes two round trips.
            time.sleep(2 * self.listener.delay)
            self.connection = self.listener.context.wrap_socket(self.connection, server_side=True)
            self.server.handshakes.append(self.connection.session_reused)
            self.server.connections.add(self.connection)
        self.poller = select.poll()
        # POLLRDHUP; errors and hang-ups come unasked.
        self.poller.register(self.connection, 0x2000)
        received = b""
        while self.server.is_open:
            while b"\r\n\r\n" not in received:
                more = self.connection.recv(65536)
                if not more or len(received) > 65536:
                    return False
                received += more
            head, _, received = received.partition(b"\r\n\r\n")
            try:
                request = Request(head, self)
                length = int(request.headers.get("content-length", "0"))
            except ValueError:
                self.connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                return False
            if request.headers.get("expect", "").lower() == "100-continue":
                self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            most = self.server.takes(request)
            while len(received) < (length if most is None else min(length, most)):
                more = self.connection.recv(65536)
                if not more:
                    return False
                received += more
            if most is not None:
                return False
            request.body, received = received[:length], received[length:]
            if not self.respond(request):
                return self.ends_in_order
        return False

    def respond(self, request):
        """Answers one request, and keeps its entry in the log true; True if the connection goes on."""
        time.sleep(self.listener.delay)
        entry, keeps = request.entry, False
        try:
            reply = self.server.answer(request)
            if isinstance(reply, bytes):
                self.connection.sendall(reply)
            elif callable(reply):
                reply(self.connection, request.raw)
            else:
                keeps = self.send(request, reply)
            entry["state"] = "done"
            return keeps
        except Ended as ended:
            entry["state"] = str(ended)
            raise
        except OSError:
            entry["state"] = "gone"
            raise
        finally:
            self.server.has_sent(request)

    def send(self, request, reply):
        """Sends a reply; True if the connection goes on."""
        entry, body = request.entry, reply.body
        body = BytesBody(body) if isinstance(body, (bytes, bytearray, memoryview)) else body
        try:
            self.stay(reply.delay)
            self.end_early(reply, -1)
            start, end = reply.choose(request, body.size)
            entry["status"], entry["length"] = reply.status, end - start
            self.connection.sendall(reply.head(end - start))
            if request.method == "HEAD" or reply.status in (204, 304):
                return reply.keep and request.keep
            self.send_body(request, reply, body, start, end - start)
        finally:
            body.close()
        self.stay(reply.hold)
        self.ends_in_order = not reply.keep
        return request.keep and not reply.ends_connection(end - start)

    def send_body(self, request, reply, body, start, total):
        """The body in steps that end exactly where something is to happen."""
        stops = [place for place in (reply.cut, *(pause.place(total) for pause in reply.pauses)) if place is not None]
        step = reply.block if reply.rate is None else max(1, min(reply.block, int(reply.rate) // 20))
        sent = 0
        while True:
            for pause in reply.pauses:
                if pause.place(total) == sent:
                    pause.wait(self, request)
            self.end_early(reply, sent)
            if sent == total:
                break
            limit = min([stop for stop in stops if stop > sent] + [total])
            data = body.read(start + sent, min(step, limit - sent))
            if reply.bucket:
                self.stay(reply.bucket.pause(len(data)))
            for pause in reply.pauses:
                if pause.before and pause.place(total) == sent + len(data):
                    pause.before(request)
            self.connection.sendall(b"%x\r\n%b\r\n" % (len(data), data) if reply.framing == "chunked" else data)
            sent += len(data)
            request.entry["bytes"] = sent
            if reply.rate is not None and sent < total:
                self.stay(len(data) / reply.rate)
        if reply.framing == "chunked":
            self.connection.sendall(b"0\r\n\r\n")

    def end_early(self, reply, sent):
        """Closes or resets the connection if that is to happen after so many bytes."""
        if reply.cut != sent:
            return
        if reply.is_reset:
            # Its system has acknowledged them all.
            while struct.unpack("i", fcntl.ioctl(self.connection, termios.TIOCOUTQ, b"\0" * 4))[0]:
                self.stay(0.001)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        elif self.scheme == "http":
            with contextlib.suppress(BlockingIOError):  # bytes left unread would turn the close into a reset
                self.connection.recv(65536, socket.MSG_DONTWAIT)
        raise Ended("cut")

    # A reply that waits must notice when its client leaves, without eating a pipelined request.

    def stay(self, seconds):
        """Waits so long, but no longer than the client stays."""
        if seconds > 0 and self.poller.poll(1000 * seconds):
            raise Ended("gone")

    def wait(self, event=None):
        """Waits for an event, without one for ever, but no longer than the client stays."""
        while not (event and event.wait(0.02)):
            self.stay(0.02 if event is None else 1e-6)


class Server:
    """An origin. `answer` is its heart; all of its methods are called on the threads of the connections."""

    def __init__(self, answer=None):
        self.answer = answer or self.answer
        self.listeners, self.connections, self.lock, self.is_open = [], set(), threading.RLock(), True
        self.accepted = 0
        # For each TLS handshake, whether it resumed a session.
        self.handshakes = []

    def answer(self, request):
        raise NotImplementedError

    def takes(self, request):
        """Called with a request's head: None, or the number of bytes of its body after which the connection ends."""

    def has_sent(self, request):
        """Called when a reply has ended, however it did."""

    def has_left(self, connection):
        """Called when a connection is over, before it is closed."""

    def listen(self, address="127.0.0.1", port=0, letter="", context=None, delay=0):
        """Listens, and returns the URL."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return self.serve(Listener(socket.create_server((address, port), family=family, backlog=512), letter, context, delay))

    def serve(self, listener):
        """Serves a socket that listens already, and returns the URL."""
        self.listeners.append(listener.connection)
        threading.Thread(target=self.accept, args=(listener,), daemon=True).start()
        self.url = "http://%s:%d" % listener.connection.getsockname()[:2]
        return self.url

    def accept(self, listener):
        with listener.connection, contextlib.suppress(OSError):
            while self.is_open:
                connection, peer = listener.connection.accept()
                with self.lock:
                    self.accepted += 1
                    number = self.accepted
                threading.Thread(target=self.converse, args=(listener, connection, peer[0], number), daemon=True).start()

    def converse(self, listener, connection, peer, number):
        self.connections.add(connection)
        conversation = Conversation(self, listener, connection, peer, number)
        try:
            if conversation.run() and listener.context:
                # OpenSSL resumes no session of TLS 1.2 that ended without close_notify.
                conversation.connection.settimeout(1)
                conversation.connection.unwrap()
        except (OSError, ssl.SSLError, ValueError, Ended):
            pass
        finally:
            self.connections -= {connection, conversation.connection}
            self.has_left(conversation.connection)
            with contextlib.suppress(OSError):
                conversation.connection.close()

    def go_away(self):
        """Ends all connections, and refuses new ones until it listens again."""
        self.close()
        self.listeners, self.is_open = [], True

    def close(self):
        """Ends all connections and refuses new ones.

        Each thread closes its own socket: OpenSSL would go on writing to the number of a descriptor that is another file by then.
        """
        self.is_open = False
        for item in [*self.listeners, *self.connections.copy()]:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(item, socket.SHUT_RDWR)
