"""Clients that request many segments, each once: one that measures each reply, and eight at once."""

import socket
import sys
import threading
import time

CLIENTS = 8


class Client:
    """A kept-alive connection that times replies with a Content-Length."""

    def __init__(self, server):
        self.server = server
        self.connect()

    def connect(self):
        self.connection = socket.create_connection(("127.0.0.1", self.server.port))
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path):
        """(seconds to the head, to the first byte, to the last byte, length of the body)"""
        head = "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % (path, self.server.port)
        start = time.perf_counter()
        self.connection.sendall(head.encode())
        received, buffer = b"", bytearray(1 << 20)
        while b"\r\n\r\n" not in received:
            more = self.connection.recv(65536)
            if not more:
                sys.exit("%s closed on %s" % (self.server.url, path))
            received += more
        at_head = time.perf_counter()
        head, _, body = received.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
        if b" 200 " not in head.split(b"\r\n")[0] + b" " or b"content-length" not in fields:
            sys.exit("%s answers %r to %s" % (self.server.url, head, path))
        length, count = int(fields[b"content-length"]), len(body)
        at_first = at_head if count else None
        while count < length:
            more = self.connection.recv_into(buffer, min(len(buffer), length - count))
            at_first = at_first or time.perf_counter()
            if not more:
                sys.exit("%s breaks off %s" % (self.server.url, path))
            count += more
        end = time.perf_counter()
        if fields.get(b"connection") == b"close":
            self.connection.close()
            self.connect()
        return at_head - start, (at_first or end) - start, end - start, length


def shares(lists):
    """The paths that each client requests: one part in order, and no two the same. `lists` has all paths, as each client has them."""
    return [paths[len(paths) * index // CLIENTS:len(paths) * (index + 1) // CLIENTS] for index, paths in enumerate(lists)]


def throughput(server, lists):
    """Bytes a second of all clients together, over the time of the slowest. `lists` has the paths of each client."""
    failures, total = [], []

    def work(mine):
        try:
            client = Client(server)
            for path in mine:
                total.append(client.get(path)[3])
        except BaseException as error:  # a thread's exit would pass unseen
            failures.append(error)

    threads = [threading.Thread(target=work, args=(paths,)) for paths in lists]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        sys.exit("eight clients of %s: %s" % (server.url, failures[0]))
    return sum(total) / (time.perf_counter() - start)
