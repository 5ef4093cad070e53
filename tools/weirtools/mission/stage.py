"""The stage of one row: an origin with the fixtures, a daemon of its own, commands, the API, players and their frames."""

import contextlib
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import threading

from weirtools import MEDIA, TOOLS
from weirtools.mission.row import Missing, need
from weirtools.players import frames
from weirtools.scenes import scene

HEAD = "#EXTM3U\n#EXT-X-VERSION:6\n"


class Stage(scene.Stage):
    """Everything is started when it is first used, and gone when the with statement ends."""

    def __init__(self, binary, options=()):
        super().__init__(binary, name="mission")
        self.options, self.plain = options, {}
        self.own_origin = self.own_weir = None
        # Of the daemon's environment and of the commands', from the next start on.
        self.variables = {}

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

    def master(self, path, *lines):
        """Lays a multivariant playlist at the origin, and returns its URL."""
        return self.write(path, HEAD + "\n".join(lines) + "\n")

    def rules(self, *rules):
        scene.fetch(self.origin.url + "/_origin/rules", list(rules))

    def clear_rules(self):
        scene.ask("DELETE", self.origin.url + "/_origin/rules")

    def requests(self, part=""):
        """The origin's requests so far whose path contains a text."""
        return [entry for entry in self.origin.requests() if part in entry["path"]]

    def media_requests(self):
        return self.origin.media_requests()

    def end_origin(self):
        self.origin.kill()

    # The daemon

    @property
    def weir(self):
        if not self.own_weir:
            self.own_weir = self.new_weir(options=self.options, users="root,nobody", variables=self.variables)
        return self.own_weir

    def restart(self, options=None, kill=True):
        """Ends the daemon, at once or in order, and starts another over the same folders."""
        if self.own_weir:
            self.servers.remove(self.own_weir)
            if kill:
                self.own_weir.kill()
            else:
                self.own_weir.end()
            self.own_weir = None
        self.options = self.options if options is None else options
        return self.weir

    def configure(self, text):
        """Writes the configuration file that the daemon and the commands read."""
        file = self.folder / "CONFIG" / "weir" / "weir.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @property
    def token(self):
        return self.weir.token

    # Commands

    def command(self, *words, **options):
        """(exit status, standard output, standard error) of a command."""
        return self.weir.command(*words, **options)

    def run(self, *words, **options):
        """The output of a command, which must exit with 0."""
        status, output, errors = self.command(*words, **options)
        if status:
            raise Missing("weir %s exits with %d: %s" % (" ".join(map(str, words[:2])), status, errors.strip()[:200]))
        return output

    def lines(self, *words, **options):
        """The JSON objects that a command prints, one a line."""
        return [json.loads(line) for line in self.run(*words, **options).splitlines()]

    def refused(self, status, *words):
        """The words on standard error of a command, which must exit with this status."""
        found, _, errors = self.command(*words)
        need(found == status, "weir %s exits with %d, not %d: %s" % (" ".join(map(str, words[:2])), found, status, errors.strip()[:200]))
        return errors

    @contextlib.contextmanager
    def following(self, *words):
        """A command that runs beside the row; a list that its lines of JSON are added to."""
        child = subprocess.Popen(self.weir.words(*words), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=self.weir.environment)
        seen = []

        def read():
            for line in child.stdout:
                seen.append(json.loads(line))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            yield seen
        finally:
            child.terminate()
            child.wait()
            reader.join(5)

    # HTTP

    @staticmethod
    def ask(method, url, body=None, fields=None):
        """(status, head fields, body) of a request."""
        return scene.ask(method, url, body, fields)

    def get(self, path, **fields):
        return self.ask("GET", self.weir.url + path, fields={name.replace("_", "-"): value for name, value in fields.items()})

    def text(self, path):
        status, _, body = self.get(path)
        need(status == 200, "GET %s is answered with %d" % (path, status))
        return body.decode()

    def system_bus(self, **values):
        """A system bus with NetworkManager and logind; returns a function that changes their properties, such as Metered=1."""
        path, known = self.folder / "bus", self.folder / "bus.json"

        def change(**values):
            new = known.with_suffix(".new")
            new.write_text(json.dumps(values))
            new.replace(known)

        change(**values)
        script = TOOLS / "weirtools" / "scenes" / "system_bus.py"
        self.serve(scene.Server(lambda _: [sys.executable, script, path, known], named=False))
        self.variables["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=%s" % path
        return change

    def api(self, method, path, body=None):
        """(status, JSON) of the API."""
        return self.weir.api(method, path, body)

    def asset(self, name):
        status, found = self.api("GET", "/assets/" + name)
        need(status == 200, "the API has no asset %s: %d" % (name, status))
        return found

    def download(self, name):
        _, found = self.api("GET", "/downloads")
        return next((each for each in found["downloads"] if each["asset"] == name), None)

    def settle(self):
        """Waits until the sums of all stored pieces are on disk: only then damage can be told."""
        def is_settled():
            folders = {piece.parent for piece in (self.folder / "store").rglob("*.ts")}
            return folders and all(
                (folder / "SHA256SUMS").is_file()
                and len(re.findall(r"(?m)^[0-9a-f]{64}", (folder / "SHA256SUMS").read_text())) == len(list(folder.glob("*.ts")))
                for folder in folders
            )
        self.wait("sums of the stored pieces", is_settled)

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

    def plays(self, path, fixture, **options):
        """A path of Weir must give exactly the frames of a fixture's file."""
        found = self.frames(path if path.startswith("http") else self.weir.url + path, **options)
        need(found and any(stream.frames for stream in found), "%s plays nothing" % path)
        if words := frames.all_differences(found, self.of_fixture(fixture)):
            raise Missing("%s: %s" % (path, words))

    def player(self, name, url, within=60):
        """The report of a real player that plays to the end: mpv, vlc, chromium …"""
        words = ["python3", str(TOOLS / "lab" / "player"), name, url, "--within", str(within)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=within + 60, stdin=subprocess.DEVNULL)
        need(done.returncode == 0, "%s: %s" % (name, (done.stderr.strip().splitlines() or ["no words"])[-1]))
        return json.loads(done.stdout)

    @staticmethod
    def wait(what, condition, bound=30):
        try:
            return scene.wait_for(what, condition, bound)
        except scene.Trouble as trouble:
            raise Missing(str(trouble)) from trouble

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
