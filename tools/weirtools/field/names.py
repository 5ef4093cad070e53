"""A small DNS server (UDP) over a table of names, for the field laboratory."""

import ipaddress
import socket
import struct
import threading
import time

A, AAAA = 1, 28
REFUSED = {"NXDOMAIN": 3, "SERVFAIL": 2}


class NameServer:
    """Answers A and AAAA queries. `names` maps a name in lower case to a list of addresses, a callable that returns one, or a
    word of REFUSED; `delays` maps a name to the seconds before its first answer, after which it is known at once."""

    def __init__(self, address):
        self.names, self.delays, self.ready = {}, {}, {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            try:
                name, kind, question = parsed(query)
            except (IndexError, struct.error, UnicodeError):
                continue
            reply = self.answer(query[:2], name, kind, question)
            wait = self.ready.setdefault(name, time.monotonic() + self.delays.get(name, 0)) - time.monotonic()
            if wait <= 0:
                self.socket.sendto(reply, peer)
            else:
                threading.Timer(wait, self.socket.sendto, (reply, peer)).start()

    def forget(self, names):
        """The next answers for these names are slow again."""
        for name in names:
            self.ready.pop(name, None)

    def answer(self, identifier, name, kind, question):
        found = self.names.get(name, "NXDOMAIN")
        found = found() if callable(found) else found
        code = REFUSED[found] if isinstance(found, str) else 0
        addresses = [ipaddress.ip_address(text) for text in found] if not code else []
        packed = [address.packed for address in addresses if kind == (A if address.version == 4 else AAAA)]
        records = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, 1, len(data)) + data for data in packed)
        return identifier + struct.pack("!HHHHH", 0x8580 | code, 1, len(packed), 0, 0) + question + records


def parsed(query):
    """(name in lower case, type, the question's bytes) of a query."""
    position, labels = 12, []
    while length := query[position]:
        labels.append(query[position + 1:position + 1 + length].decode("ascii").lower())
        position += 1 + length
    kind, = struct.unpack_from("!H", query, position + 1)
    return ".".join(labels), kind, query[12:position + 5]
