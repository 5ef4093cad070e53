"""The names in requests that go through tools/link: a server insists on its own, and clients write the relay's."""

LONGEST_HEAD = 65536


class Renaming:
    """Replaces the relay's authority by the upstream's in Host and Origin of the requests of one connection.

    Everything else goes through as it is, and all of it as soon as something comes that is no HTTP/1.1 request with a
    Content-Length or no body.
    """

    def __init__(self, own, upstream):
        self.own = {name.encode() for name in own}
        self.upstream = upstream.encode()
        self.held = b""
        self.body = 0  # bytes until the next head
        self.is_opaque = False

    def feed(self, data):
        """The bytes to send for these; what may be a part of a head is held back."""
        self.held += data
        ready = []
        while self.held and not self.is_opaque:
            if self.body:
                ready.append(self.held[:self.body])
                self.held = self.held[self.body:]
                self.body -= len(ready[-1])
                continue
            end = self.held.find(b"\r\n\r\n")
            if end < 0:
                line, end_of_line, _ = self.held.partition(b"\n")
                is_request = self.held[:1].isalpha() and (b" HTTP/1." in line or not end_of_line)
                self.is_opaque = len(self.held) > LONGEST_HEAD or not is_request
                break
            ready.append(self.renamed(self.held[:end]))
            self.held = self.held[end + 4:]
        return b"".join(ready) + (self.rest() if self.is_opaque else b"")

    def rest(self):
        """The bytes that were held back, once no more come."""
        held, self.held = self.held, b""
        return held

    def renamed(self, head):
        lines = head.split(b"\r\n")
        for number, line in enumerate(lines[1:], 1):
            name, _, value = line.partition(b":")
            name, value = name.lower(), value.strip()
            if name == b"host" and value.lower() in self.own:
                lines[number] = b"Host: " + self.upstream
            elif name == b"origin" and value.lower().removeprefix(b"http://") in self.own:
                lines[number] = b"Origin: http://" + self.upstream
            elif name == b"content-length" and value.isdigit():
                self.body = int(value)
            elif name in (b"transfer-encoding", b"upgrade"):
                self.is_opaque = True
        return b"\r\n".join(lines) + b"\r\n\r\n"
