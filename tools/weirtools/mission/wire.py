"""Counts what a system has accepted of an origin's bytes: on the wire, and not what its programs have read."""

import socket
import struct
import threading
import time

# Where tcpi_bytes_acked stands in struct tcp_info (linux/tcp.h).
ACKNOWLEDGED = 120
# A small one, so that the relay itself holds little.
BUFFER = 64 * 1024


class Wire:
    """A relay in front of a port of this machine. `samples` are (seconds, bytes acknowledged so far), ten a second."""

    def __init__(self, port):
        self.target, self.open, self.past, self.samples = port, {}, 0, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lock, self.is_over = threading.Lock(), False
        for work in (self.accept, self.sample):
            threading.Thread(target=work, daemon=True).start()

    def kill(self):
        self.is_over = True
        self.listener.close()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
            far = socket.create_connection(("127.0.0.1", self.target))
            with self.lock:
                self.open[near] = 0
            threading.Thread(target=self.relay, args=(near, far, False), daemon=True).start()
            threading.Thread(target=self.relay, args=(far, near, True), daemon=True).start()

    def relay(self, source, target, is_answer):
        try:
            while data := source.recv(BUFFER):
                target.sendall(data)
        except OSError:
            pass
        if is_answer:
            with self.lock:
                self.past += self.acknowledged(target)
                self.open.pop(target, None)
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def acknowledged(self, connection):
        try:
            found = struct.unpack_from("Q", connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), ACKNOWLEDGED)[0]
        except OSError:
            return self.open.get(connection, 0)
        return max(0, found - 1)

    def sample(self):
        while not self.is_over:
            with self.lock:
                for connection in self.open:
                    self.open[connection] = self.acknowledged(connection)
                self.samples.append((time.monotonic(), self.past + sum(self.open.values())))
            time.sleep(0.1)

    def rates(self, seconds):
        """The bytes a second over each stretch of so many seconds."""
        found, begin = [], 0
        for at, total in self.samples:
            while at - self.samples[begin][0] > seconds:
                begin += 1
            if at - self.samples[begin][0] > seconds - 0.2:
                found.append((total - self.samples[begin][1]) / (at - self.samples[begin][0]))
        return found
