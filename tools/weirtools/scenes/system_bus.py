#!/usr/bin/env python3
"""A system bus with NetworkManager and systemd-logind, for tests: python3 system_bus.py SOCKET VALUES

Listens on a Unix socket and speaks as much of D-Bus as a client needs that reads properties, or keeps the machine awake: EXTERNAL
authentication, Hello, Properties.Get, and logind's Manager.Inhibit. VALUES is a JSON file such as {"Metered": 1, "IdleHint": true},
read at each call, so that a test changes the machine by writing it. A property that it does not have is answered with an error, as by
a bus without that service. {"Inhibit": true} lets the machine be kept awake: a line is printed when that begins, and when it ends.
"""

import array
import json
import os
import pathlib
import socket
import struct
import sys
import threading


def padded(data, size):
    return data + b"\0" * (-len(data) % size)


def text(value):
    return struct.pack("<I", len(value)) + value.encode() + b"\0"


def strings(body):
    """The strings of a body that has nothing else."""
    found, place = [], 0
    while place < len(body):
        place += -place % 4
        (count,) = struct.unpack_from("<I", body, place)
        found.append(body[place + 4:place + 4 + count].decode())
        place += 4 + count + 1
    return found


def message(kind, serial, answered, body, signature=b"", descriptors=0):
    fields = struct.pack("<BB", 5, 1) + b"u\0" + struct.pack("<I", answered)
    if kind == 3:
        fields = padded(fields, 8) + struct.pack("<BB", 4, 1) + b"s\0" + text("org.freedesktop.DBus.Error.ServiceUnknown")
    if signature:
        fields = padded(fields, 8) + struct.pack("<BB", 8, 1) + b"g\0" + struct.pack("<B", len(signature)) + signature + b"\0"
    if descriptors:
        fields = padded(fields, 8) + struct.pack("<BB", 9, 1) + b"u\0" + struct.pack("<I", descriptors)
    head = b"l" + struct.pack("<BBB", kind, 0, 1) + struct.pack("<III", len(body), serial, len(fields))
    return padded(head + fields, 8) + body


class Client:
    def __init__(self, connection, values):
        self.connection, self.values, self.serial = connection, values, 0
        self.stream = connection.makefile("rb")

    def send(self, kind, answered, body=b"", signature=b"", descriptors=()):
        self.serial += 1
        data = message(kind, self.serial, answered, body, signature, len(descriptors))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        self.connection.sendmsg([data], rights)

    def serve(self):
        with self.connection:
            if self.stream.read(1) != b"\0" or not self.authenticate():
                return
            while head := self.stream.read(16):
                order, _, _, _, length, serial, fields = struct.unpack("<BBBBIII", head)
                if order != ord("l"):
                    return
                self.stream.read(fields + -fields % 8)
                self.answer(serial, self.stream.read(length))

    def authenticate(self):
        """True once the client has begun. It names its user, or leaves that to the socket."""
        user, accepted = str(os.getuid()).encode().hex().encode(), False
        while line := self.stream.readline():
            word, _, rest = line.strip().partition(b" ")
            if word == b"BEGIN":
                return accepted
            answer = b"ERROR"
            if line.strip() == b"AUTH EXTERNAL":
                answer = b"DATA"
            elif word == b"NEGOTIATE_UNIX_FD":
                self.connection.sendall(b"AGREE_UNIX_FD\r\n")
                continue
            elif word in (b"AUTH", b"DATA"):
                accepted = rest in (b"EXTERNAL " + user, b"")
                answer = b"OK 0123456789abcdef0123456789abcdef" if accepted else b"REJECTED EXTERNAL"
            self.connection.sendall(answer + b"\r\n")
        return False

    def answer(self, serial, body):
        if not body:
            # As a bus does: the name that was lost or acquired comes as a signal in between.
            self.send(2, serial, text(":1.1"), b"s")
            return
        words = strings(body)
        values = json.loads(self.values.read_text())
        if len(words) == 4 and values.get("Inhibit"):
            self.inhibit(serial, words)
            return
        value = values.get(words[1])
        if value is None or len(words) != 2:
            self.send(3, serial, text("there is no such service"), b"s")
        else:
            kind = b"b" if isinstance(value, bool) else b"u"
            self.send(2, serial, b"\1" + kind + b"\0\0" + struct.pack("<I", int(value)), b"v")

    def inhibit(self, serial, words):
        """Hands out a lock, which lasts until the client closes it, or ends."""
        mine, given = os.pipe()
        self.send(2, serial, struct.pack("<I", 0), b"h", [given])
        os.close(given)
        print("inhibited " + " | ".join(words), flush=True)
        threading.Thread(target=self.wait, args=(mine,), daemon=True).start()

    @staticmethod
    def wait(mine):
        os.read(mine, 1)
        os.close(mine)
        print("released", flush=True)


def main():
    path, values = sys.argv[1], pathlib.Path(sys.argv[2])
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(16)
    print("listening on " + path, flush=True)
    while True:
        threading.Thread(target=Client(server.accept()[0], values).serve, daemon=True).start()


if __name__ == "__main__":
    main()
