"""Proxies of the field laboratory: HTTP with CONNECT, SOCKS4a and SOCKS5. They connect from their own address, so that an origin
can refuse all others, and count what they carried."""

import base64
import contextlib
import socket
import struct
import threading

HTTP_PORT, SOCKS_PORT = 3128, 1080


class Proxy:
    """Listens on both ports of an address. With `user` (NAME:PASSWORD) it needs that; `names` are host names that only this proxy
    knows, with their addresses."""

    def __init__(self, site, address, user=None, names=None):
        self.site, self.address, self.user, self.names, self.targets = site, address, user, names or {}, []
        for port, serve in ((HTTP_PORT, self.serve_http), (SOCKS_PORT, self.serve_socks)):
            listener = socket.create_server((address, port), backlog=64)
            site.listeners.append(listener)
            threading.Thread(target=self.accept, args=(listener, serve), daemon=True).start()

    def accept(self, listener, serve):
        with listener, contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self.converse, args=(client, serve), daemon=True).start()

    def converse(self, client, serve):
        self.site.connections.add(client)
        try:
            serve(client)
        except (OSError, ValueError, struct.error, IndexError):
            pass
        finally:
            self.site.connections.discard(client)
            client.close()

    def connect(self, host, port):
        self.targets.append((host, port))
        address = self.names.get(host) or socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
        return socket.create_connection((address, port), 30, source_address=(self.address, 0))

    def serve_http(self, client):
        received = b""
        while b"\r\n\r\n" not in received:
            more = client.recv(65536)
            if not more:
                return
            received += more
        head, _, rest = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        fields = {line.partition(":")[0].strip().lower(): line.partition(":")[2].strip() for line in lines[1:]}
        if self.user and fields.get("proxy-authorization") != "Basic " + base64.b64encode(self.user.encode()).decode():
            client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"field\"\r\n"
                           b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            upstream = self.connect(host.strip("[]"), int(port))
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            # One request a connection; an absolute URL becomes a path.
            place, _, path = target.partition("://")[2].partition("/")
            host, _, port = place.partition(":")
            upstream = self.connect(host, int(port or 80))
            kept = [line for line in lines[1:] if not line.lower().startswith(("proxy-", "connection:"))]
            text = "\r\n".join(["%s /%s HTTP/1.1" % (method, path), *kept, "Connection: close"]) + "\r\n\r\n"
            upstream.sendall(text.encode("latin-1"))
        upstream.sendall(rest)
        carry(client, upstream)

    def serve_socks(self, client):
        version = exactly(client, 1)
        if version == b"\x04":
            self.serve_socks4(client)
            return
        methods = exactly(client, exactly(client, 1)[0])
        method = 2 if self.user else 0
        if method not in methods:
            client.sendall(b"\x05\xff")
            return
        client.sendall(bytes([5, method]))
        if self.user:
            exactly(client, 1)
            given = [exactly(client, exactly(client, 1)[0]).decode() for _ in range(2)]
            is_known = ":".join(given) == self.user
            client.sendall(b"\x01" + (b"\x00" if is_known else b"\x01"))
            if not is_known:
                return
        _, _, _, kind = exactly(client, 4)
        if kind == 1:
            host = socket.inet_ntoa(exactly(client, 4))
        elif kind == 4:
            host = socket.inet_ntop(socket.AF_INET6, exactly(client, 16))
        else:
            host = exactly(client, exactly(client, 1)[0]).decode()
        port, = struct.unpack("!H", exactly(client, 2))
        upstream = self.connect(host, port)
        client.sendall(b"\x05\x00\x00\x01" + bytes(6))
        carry(client, upstream)

    def serve_socks4(self, client):
        _, port = struct.unpack("!BH", exactly(client, 3))
        address = exactly(client, 4)
        until_zero(client)
        is_named = address[:3] == b"\0\0\0" and address[3]
        host = until_zero(client).decode() if is_named else socket.inet_ntoa(address)
        upstream = self.connect(host, port)
        client.sendall(b"\x00\x5a" + bytes(6))
        carry(client, upstream)


def exactly(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise ValueError
        data += more
    return data


def until_zero(connection):
    data = b""
    while (byte := exactly(connection, 1)) != b"\0":
        data += byte
    return data


def carry(one, other):
    """Carries bytes both ways until one side ends."""
    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
    back = threading.Thread(target=copy, args=(other, one), daemon=True)
    other.settimeout(None)
    back.start()
    copy(one, other)
    back.join()
    other.close()
