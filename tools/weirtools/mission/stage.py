"""The stage of a user's play: an origin with the fixtures, a daemon of its own, commands, the API, players and their frames."""

import contextlib
import http.client
import json
import os
import shutil
import subprocess

from weirtools import MEDIA, TOOLS
from weirtools.players import frames
from weirtools.scenes import scene
from weirtools.scenes.scene import Trouble, need


class Stage(scene.Stage):
    """Everything is started when it is first used, and gone when the with statement ends."""

    def __init__(self, binary, options=()):
        super().__init__(binary, name="mission")
        self.options, self.plain = options, {}
        self.own_origin = self.own_weir = None

    def __enter__(self):
        super().__enter__()
        self.root = self.folder / "origin"
        return self

    # The origin

    @property
    def origin(self):
        if not self.own_origin:
            shutil.copytree(MEDIA, self.root, dirs_exist_ok=True)
            self.own_origin = self.new_origin()
        return self.own_origin

    def url(self, fixture):
        """The URL of a fixture's multivariant playlist, or of a file of the origin."""
        return self.origin.master(fixture) if "." not in fixture else "%s/%s" % (self.origin.url, fixture)

    def write(self, path, text):
        """Lays a file at the origin, and returns its URL."""
        origin = self.origin
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return "%s/%s" % (origin.url, path)

    def rules(self, *rules):
        scene.fetch(self.origin.url + "/_origin/rules", list(rules))

    def clear_rules(self):
        scene.ask("DELETE", self.origin.url + "/_origin/rules")

    def requests(self, part=""):
        """The origin's requests so far whose path contains a text."""
        return [entry for entry in self.origin.requests() if part in entry["path"]]

    # The daemon

    @property
    def weir(self):
        if not self.own_weir:
            self.own_weir = self.new_weir(options=self.options, users="root,nobody")
        return self.own_weir

    def configure(self, text):
        """Writes the configuration file that the daemon and the commands read."""
        file = self.folder / "CONFIG" / "weir" / "weir.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    # Commands and the API

    def command(self, *words, **options):
        """(exit status, standard output, standard error) of a command."""
        return self.weir.command(*words, **options)

    def run(self, *words, **options):
        """The output of a command, which must exit with 0."""
        return self.weir.run(*words, **options)

    def refused(self, status, *words):
        """The words on standard error of a command, which must exit with this status."""
        found, _, errors = self.command(*words)
        need(found == status, "weir %s exits with %d, not %d: %s" % (" ".join(map(str, words[:2])), found, status, errors.strip()[:200]))
        return errors

    def api(self, method, path, body=None):
        """(status, JSON) of the API."""
        return self.weir.api(method, path, body)

    # Players

    def frames(self, url, *options, timeout=60):
        """The frames that ffmpeg decodes from a URL."""
        words = ["ffmpeg", "-v", "error", "-nostdin", *options, *frames.hashed(url, "-")]
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL, env=environment)
        return frames.read(done.stdout)

    def of_fixture(self, path):
        """The frames of a fixture's file, as they are on disk."""
        if path not in self.plain:
            self.plain[path] = self.frames(str(self.root / path), "-allowed_extensions", "ALL")
        return self.plain[path]

    def plays(self, path, fixture):
        """A path of Weir must give exactly the frames of a fixture's file."""
        found = self.frames(self.weir.url + path)
        need(found and any(stream.frames for stream in found), "%s plays nothing" % path)
        if words := frames.all_differences(found, self.of_fixture(fixture)):
            raise Trouble("%s: %s" % (path, words))

    def player(self, name, url, within=60):
        """The report of a real player that plays to the end: mpv, vlc, chromium …"""
        words = ["python3", str(TOOLS / "lab" / "player"), name, url, "--within", str(within)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=within + 60, stdin=subprocess.DEVNULL)
        need(done.returncode == 0, "%s: %s" % (name, (done.stderr.strip().splitlines() or ["no words"])[-1]))
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def unread(self, path):
        """A connection of a player that reads a little of a path's body and stays."""
        connection = http.client.HTTPConnection("127.0.0.1", self.weir.port, timeout=scene.PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        try:
            yield answer
        finally:
            connection.close()
