"""The origin of one case of the field laboratory: hosts with names and addresses of their own, and rules that act on replies."""

import fnmatch

from weirtools.origins import server


class Site(server.Server):
    """The hosts of a case. `files` maps a path, or LETTER:PATH, to text, bytes or a callable; `rules` are (glob, action)."""

    def __init__(self, files, rules, names, text):
        super().__init__()
        self.files, self.rules, self.names, self.text = files, rules, names, text
        self.memories, self.log = {}, []

    def begin(self):
        """Forgets what earlier plays did."""
        with self.lock:
            self.memories, self.log, self.handshakes = {}, [], []

    def memory(self, key):
        """A dictionary that lasts for one way of playing the case."""
        return self.memories.setdefault(key, {})

    def find(self, request):
        """The bytes at a request's path with their media type, or None."""
        for key in ("%s:%s" % (request.letter, request.path), request.path):
            if key in self.files:
                found = self.files[key]
                found = found(request) if callable(found) else found
                data = self.text(found).encode("utf-8") if isinstance(found, str) else found
                return data, server.MEDIA_TYPES.get("." + request.path.rpartition(".")[2], "application/octet-stream")
        return None, None

    def answer(self, request):
        with self.lock:
            reply = server.Reply(*self.find(request))
            for glob, action in self.rules:
                whole = "%s:%s" % (request.letter, request.path)
                if fnmatch.fnmatchcase(whole if glob[1:2] == ":" else request.path, glob):
                    action(request, reply)
                    if reply.is_final:
                        break
            self.log.append((request, reply.status))
        if "Content-Encoding" in reply.headers:
            reply.has_ranges = False
        return reply
