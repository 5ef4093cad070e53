#!/usr/bin/env python3
"""A bare copy of a download: its bytes are received and written, by one process over one connection, and nothing else.

    bare_copy.py [--hash] URL COUNT SIZE

Fetches the files 0.ts, 1.ts, … of so many bytes each, below a URL that ends in a slash, into the current folder. Requests are sent
ahead, so that the server never waits for one. With --hash each file is hashed too (SHA-256).
"""

import argparse
import collections
import hashlib
import os
import socket
import urllib.parse

AHEAD = 6  # requests under way
STEP = 1 << 20  # bytes received at a time at most
HEAD = 4096  # bytes of a reply's head at most


class Stream:
    """The bytes that come from the server, in pieces as long as the socket gives them."""

    def __init__(self, connection):
        self.connection, self.view = connection, memoryview(bytearray(STEP))
        self.start = self.end = 0

    def fill(self):
        """Receives behind what is unread, which moves to the front first."""
        unread = self.end - self.start
        self.view[:unread] = bytes(self.view[self.start:self.end])
        count = self.connection.recv_into(self.view[unread:])
        if not count:
            raise SystemExit("the server has closed the connection")
        self.start, self.end = 0, unread + count

    def head(self):
        """The head of a reply, as text."""
        while (at := bytes(self.view[self.start:min(self.end, self.start + HEAD)]).find(b"\r\n\r\n")) < 0:
            if self.end - self.start >= HEAD:
                raise SystemExit("the server sent no head of a reply")
            self.fill()
        head = bytes(self.view[self.start:self.start + at])
        self.start += at + 4
        return head.decode()

    def part(self, most):
        """Some of the next bytes, not more than that; valid until the next call."""
        if self.start == self.end:
            self.start = self.end = 0
            self.fill()
        end = min(self.end, self.start + most)
        part, self.start = self.view[self.start:end], end
        return part


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hash", action="store_true", help="hash each file")
    parser.add_argument("url")
    parser.add_argument("count", type=int)
    parser.add_argument("size", type=int)
    arguments = parser.parse_args()
    url = urllib.parse.urlsplit(arguments.url)
    connection = socket.create_connection((url.hostname, url.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    stream = Stream(connection)
    requests = collections.deque("GET %s%d.ts HTTP/1.1\r\nHost: %s\r\n\r\n" % (url.path, number, url.netloc)
                                 for number in range(arguments.count))

    def ask(most):
        text = "".join(requests.popleft() for _ in range(min(most, len(requests))))
        connection.sendall(text.encode())

    ask(AHEAD)
    for number in range(arguments.count):
        head = stream.head()
        if not head.startswith("HTTP/1.1 200 ") or "Content-Length: %d\r\n" % arguments.size not in head + "\r\n":
            raise SystemExit("the server sent another reply:\n" + head)
        ask(1)
        digest, missing = hashlib.sha256() if arguments.hash else None, arguments.size
        file = os.open("%d.ts" % number, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        while missing:
            part = stream.part(missing)
            if os.write(file, part) < len(part):
                raise SystemExit("the disk is full")
            if digest:
                digest.update(part)
            missing -= len(part)
        os.close(file)


main()
