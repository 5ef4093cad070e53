"""A stage for tools/matrix: an origin and a Weir of its own, and a real player, as children in a temporary folder."""

import contextlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from weirtools import TOOLS
from weirtools.media import hls

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# So long does a server have to begin, and a command to end.
PATIENCE = 60


# Set when all is to end early: no scene begins any more, and who plays is ended.
ENDING = threading.Event()


class Trouble(Exception):
    """Something beside the player did not do what it should; the argument says what."""


def fetch(url, body=None):
    """The answer to a GET, or to a POST of JSON."""
    data = None if body is None else json.dumps(body).encode()
    with OPENER.open(urllib.request.Request(url, data), timeout=PATIENCE) as reply:
        return reply.read().decode()


def wait_for(what, condition, bound=PATIENCE):
    """The condition's first true value."""
    until = time.monotonic() + bound
    while not (value := condition()):
        if ENDING.is_set() or time.monotonic() > until:
            raise Trouble("no %s within %d s" % (what, bound))
        time.sleep(0.03)
    return value


# A shell hands over a socket as sd_listen_fds(3) has it.
HAND_OVER = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"'


class Server:
    """A child that says on which URL it listens, and can be started again on the same port.

    With a listener, that stays open between two children, as a service manager keeps it: who connects meanwhile waits.
    """

    # Where its words for a person go, and how long it has until it listens.
    errors, patience = subprocess.DEVNULL, PATIENCE

    def __init__(self, command, environment=None, listener=None, named=True):
        # `named`: the line that it prints ends with its URL.
        self.command, self.environment, self.child, self.port = command, environment, None, 0
        self.listener, self.named = listener, named
        self.start()

    def start(self):
        command, handed = self.command(self.port), []
        if self.listener:
            handed = [self.listener.fileno()]
            command = ["sh", "-c", HAND_OVER % handed[0], *command]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                      text=True, env=self.environment, pass_fds=handed)
        readable, _, _ = select.select([self.child.stdout], [], [], self.patience)
        line = self.child.stdout.readline() if readable else ""
        if "listening on" not in line:
            # Whatever it still does: nothing of it is left when this is told.
            self.kill()
            raise Trouble("%s did not start but said %r" % (pathlib.Path(self.child.args[0]).name, line))
        if not self.named:
            return
        self.url = line.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def pause(self):
        self.child.send_signal(signal.SIGSTOP)

    def resume(self):
        self.child.send_signal(signal.SIGCONT)


def is_comparison(entry):
    """True for the request by which Weir compares one stored segment with the origin's, when a download or a session begins, before it
    fetches more of an asset, and when it ends: the first 4 KiB of it, or all of a smaller one, or an answer without a body. The piece
    is not fetched again."""
    if entry["status"] == 304:
        return entry["bytes"] == 0
    ends = re.fullmatch(r"bytes=(\d+)-(\d+)", entry["range"] or "")
    return entry["status"] == 206 and bool(ends) and is_small_range(entry["path"], int(ends[1]), int(ends[2]) + 1)


def is_small_range(path, start, end):
    """True if a range is the beginning of a piece as it is compared, and no small resource that is itself a range of a file."""
    return end - start == 4096 or start == 0 and end < 4096 and "/all." not in path


class Origin(Server):
    """A tools/origin. `throttle` bounds what each reply with media gives, in bytes a second."""

    def __init__(self, root, throttle=None, listener=None):
        self.throttle = throttle
        command = [sys.executable, str(TOOLS / "origin"), "--root", str(root)]
        super().__init__(lambda port: command + ["--port", str(port)], listener=listener)

    def start(self):
        super().start()
        if self.throttle:
            rules = [{"path": "*" + suffix, "throttle": self.throttle} for suffix in (".ts", ".m4s", ".mp4", ".aac")]
            fetch(self.url + "/_origin/rules", rules)

    def master(self, fixture):
        return "%s/%s/master.m3u8" % (self.url, fixture)

    def media_requests(self):
        """The paths of what was asked for that is no playlist, no subtitles and no comparison, in order."""
        paths = [entry["path"].partition("?")[0] for entry in self.requests() if not is_comparison(entry)]
        return [path for path in paths if not path.endswith((".m3u8", ".vtt", "/")) and "favicon" not in path]

    def requests(self):
        return json.loads(fetch(self.url + "/_origin/requests"))

    def comparisons(self):
        """The requests that only compared a stored segment."""
        return [entry for entry in self.requests() if is_comparison(entry)]

    def forget_requests(self):
        with OPENER.open(urllib.request.Request(self.url + "/_origin/requests", method="DELETE"), timeout=PATIENCE):
            pass


class Weir(Server):
    """A `weir serve` over folders of its own, and the commands that talk to it. Nothing of the user's settings reaches it.

    `users` count as its owner: where we are root, VLC plays as nobody.
    """

    def __init__(self, binary, folder, listener=None, options=(), users="nobody", variables=None):
        self.binary, self.state = str(binary), str(folder / "state")
        proxies = {name + "_proxy": "" for name in ("http", "https", "all", "HTTP", "HTTPS", "ALL")}
        homes = {"XDG_%s_HOME" % name: str(folder / name) for name in ("CONFIG", "DATA", "STATE")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_")}
        options = ["--store", str(folder / "store"), "--state", self.state, "--reserve", "0", *options]
        super().__init__(lambda port: [self.binary, "serve", "--listen", "127.0.0.1:%d" % port] + options,
                         {**kept, **proxies, **homes, "HOME": str(folder), "NO_COLOR": "1", "WEIR_USERS": users, "WEIR_START": "false",
                          **(variables or {})}, listener)

    def run(self, *words):
        """A command to its end, which must be a good one; what it says."""
        command = [self.binary, *words, "--state", self.state]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment)
        if done.returncode:
            raise Trouble("weir %s: exit %d, %s" % (words[0], done.returncode, done.stderr.strip()))
        return done.stdout


class Scene:
    """A temporary folder and the children of one cell of the matrix; both are gone when the with statement ends."""

    def __init__(self, binary, root):
        self.binary, self.root = binary, root

    def __enter__(self):
        if ENDING.is_set():
            raise Trouble("ended early")
        self.folder, self.servers, self.plays = pathlib.Path(tempfile.mkdtemp(prefix="weir-matrix-")), [], 0
        self.listeners = []
        return self

    def __exit__(self, *_):
        for server in self.servers:
            with contextlib.suppress(ProcessLookupError, ValueError):
                server.kill()
        for listener in self.listeners:
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def origin(self, throttle=None, listener=None):
        self.servers.append(Origin(self.root, throttle, listener))
        return self.servers[-1]

    def weir(self, listener=None):
        self.servers.append(Weir(self.binary, self.folder, listener))
        return self.servers[-1]

    def kept_socket(self):
        """A socket as a service manager has it for a server."""
        self.listeners.append(socket.create_server(("127.0.0.1", 0), backlog=512))
        return self.listeners[-1]

    def play(self, player, url, within, meanwhile=None):
        """(report, framemd5 text) of a player. `meanwhile` is called beside it, with a function that says if it still plays."""
        self.plays += 1
        output, errors, hashes = (self.folder / ("%s-%d" % (name, self.plays)) for name in ("report", "errors", "frames"))
        options = ["--frames", str(hashes)] if player == "ffmpeg" else []
        command = [sys.executable, str(TOOLS / "lab" / "player"), player, url, "--within", str(within), *options]
        with open(output, "wb") as out, open(errors, "wb") as err:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            if meanwhile:
                meanwhile(lambda: child.poll() is None)
            wait_for("report of %s" % player, lambda: child.poll() is not None, within + PATIENCE)
        finally:
            if child.poll() is None:
                child.terminate()  # it ends what it has started
                child.wait()
        if child.returncode:
            raise Trouble("tools/lab/player %s: %s" % (player, (errors.read_text().strip().splitlines() or ["no words"])[-1]))
        return json.loads(output.read_text()), hashes.read_text() if hashes.exists() else ""


class Fixture:
    """The media playlists that a fixture's multivariant playlist names: of its variants and of its default sound."""

    def __init__(self, root, name):
        self.name, self.folder = name, root / name
        lines = (self.folder / "master.m3u8").read_text().splitlines()
        self.variants = [after for before, after in zip(lines, lines[1:]) if before.startswith("#EXT-X-STREAM-INF")]
        sounds = [line for line in lines if line.startswith("#EXT-X-MEDIA:TYPE=AUDIO")]
        self.sounds = [line.split('URI="')[1].split('"')[0] for line in sounds]
        self.default_sounds = [uri for uri, line in zip(self.sounds, sounds) if "DEFAULT=YES" in line]
        rows = [line for line in lines if line.startswith("#EXT-X-STREAM-INF")]
        self.heights = [found and found[1] for found in (re.search(r"RESOLUTION=\d+x(\d+)", row) for row in rows)]

    def segments(self, uri):
        """Number of segments of a media playlist."""
        return len(hls.segments(self.folder / uri))

    def share_before(self, variant, seconds):
        """The share of a variant's time that the segments have which begin before a moment."""
        durations = [segment[0] for segment in hls.segments(self.folder / variant)]
        starts = [sum(durations[:index]) for index in range(len(durations))]
        return sum(length for start, length in zip(starts, durations) if start < seconds) / sum(durations)
