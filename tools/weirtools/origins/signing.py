"""URLs with tokens that expire, for tools/origin."""

import re
import time
import urllib.parse

URI_ATTRIBUTE = re.compile(rb'(URI=")([^"]*)(")')


class Signer:
    """Gives out tokens, in the URIs of playlists, and honours them for so many seconds or requests."""

    def __init__(self, seconds=None, requests=None):
        self.seconds, self.requests = seconds, requests
        self.issued, self.left = 0, {}  # token -> when it expires, or how many requests it is good for

    def admits(self, target):
        """True if a request's target has a valid token. Counts the request."""
        token = urllib.parse.parse_qs(target.partition("?")[2]).get("token", [""])[0]
        left = self.left.get(token)
        if left is None or (left <= time.monotonic() if self.seconds is not None else left <= 0):
            return False
        if self.seconds is None:
            self.left[token] = left - 1
        return True

    def token(self):
        """A token made now."""
        self.issued += 1
        token = "t%d" % self.issued
        self.left[token] = self.requests if self.seconds is None else time.monotonic() + self.seconds
        return token

    def sign(self, playlist):
        """A playlist's text in which every URI has one new token."""
        query = b"token=" + self.token().encode()

        def signed(uri):
            return uri + (b"&" if b"?" in uri else b"?") + query

        lines = []
        for line in playlist.split(b"\n"):
            if line.startswith(b"#"):
                lines.append(URI_ATTRIBUTE.sub(lambda match: match[1] + signed(match[2]) + match[3], line))
            else:
                lines.append(signed(line) if line.strip() else line)
        return b"\n".join(lines)
