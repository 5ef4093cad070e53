"""The one stage of the tools: a temporary folder with an origin, a Weir of its own and whatever else runs, and their ends.

tools/matrix plays on `Scene`; the missions, the attacks and the benchmarks have stages of their own on top of `Stage`.
"""

import contextlib
import http.client
import itertools
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
import urllib.error
import urllib.parse
import urllib.request

from weirtools import MEDIA, TOOLS, processes
from weirtools.media import hls

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
# So long does a server have to begin, and a command to end.
PATIENCE = 60


# Set when all is to end early: no scene begins any more, and who plays is ended.
ENDING = threading.Event()


class Trouble(Exception):
    """Something beside the player did not do what it should; the argument says what."""


def need(condition, words):
    if not condition:
        raise Trouble(words)


def fetch(url, body=None):
    """The answer to a GET, or to a POST of JSON."""
    data = None if body is None else json.dumps(body).encode()
    with OPENER.open(urllib.request.Request(url, data, {"Content-Type": "application/json"}), timeout=PATIENCE) as reply:
        return reply.read().decode()


def load(url):
    """The bytes of the answer to a GET."""
    with OPENER.open(url, timeout=PATIENCE) as reply:
        return reply.read()


def ask(method, url, body=None, fields=None):
    """(status, head fields, body) of a request, whatever its status is."""
    request = urllib.request.Request(url, body, fields or {}, method=method)
    try:
        with OPENER.open(request, timeout=PATIENCE) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as reply:
        return reply.code, reply.headers, reply.read()


def uris(playlist):
    """The URIs of a playlist's segments or variants."""
    text = playlist if isinstance(playlist, str) else playlist.decode()
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def wait_for(what, condition, bound=PATIENCE, pause=0.03):
    """The condition's first true value."""
    until = time.monotonic() + bound
    while not (value := condition()):
        if ENDING.is_set() or time.monotonic() > until:
            raise Trouble("no %s within %d s" % (what, bound))
        time.sleep(pause)
    return value


# A shell hands over a socket as sd_listen_fds(3) has it.
HAND_OVER = 'exec 3<&%d; LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"'


class Running:
    """A server that runs: a child and its URL, its measures and its answers."""

    def __init__(self, child, url):
        self.child, self.url, self.port = child, url, int(url.rsplit(":", 1)[1])

    @property
    def process(self):
        """The id of the process that does the work."""
        return self.child.pid

    @property
    def is_up(self):
        return self.child.poll() is None

    # Measures

    def cpu(self):
        """Seconds of processor time so far, user and system."""
        return sum(processes.cpu(self.process))

    def memory(self, field="VmRSS"):
        """The memory that it has, in bytes; with VmHWM the most that it had at once."""
        return processes.memory(self.process, field)

    # Answers

    def load(self, path):
        """The bytes at a path; a whole URL is taken as it is."""
        return load(urllib.parse.urljoin(self.url, path))

    def text(self, path):
        return self.load(path).decode()

    def segments(self, path):
        """The absolute paths of the segments of the first rendition that an entry playlist leads to."""
        url = self.url + path
        for _ in range(2):
            found = [urllib.parse.urljoin(url, uri) for uri in uris(load(url))]
            if not found[0].split("?")[0].endswith(".m3u8"):
                break
            url = found[0]
        return ["/" + item.split("/", 3)[3] for item in found]


class Server(Running):
    """A child that says on which URL it listens, and can be started again on the same port.

    With a listener, that stays open between two children, as a service manager keeps it: who connects meanwhile waits.
    """

    # Where its words for a person go, and how long it has until it listens.
    errors, patience = subprocess.DEVNULL, PATIENCE
    # How many lines it says when it is ready. The last one has its URL. And whether it has a session of its own.
    greeting, has_session = 1, False

    def __init__(self, starts, environment=None, listener=None, named=True):
        # `starts`: its command line for a port. `named`: the line that it prints ends with its URL.
        self.starts, self.environment, self.child, self.port = starts, environment, None, 0
        self.listener, self.named = listener, named
        self.start()

    def start(self):
        command, handed = self.starts(self.port), []
        if self.listener:
            handed = [self.listener.fileno()]
            command = ["sh", "-c", HAND_OVER % handed[0], *command]
        self.child = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
                                      text=True, env=self.environment, pass_fds=handed, start_new_session=self.has_session)
        readable, _, _ = select.select([self.child.stdout], [], [], self.patience)
        self.said = [self.child.stdout.readline() for _ in range(self.greeting)] if readable else [""]
        line = self.said[-1]
        if "listening on" not in line:
            # Whatever it still does: nothing of it is left when this is told.
            self.kill()
            raise Trouble("%s did not start but said %r%s" % (pathlib.Path(self.child.args[0]).name, line, self.last_words()))
        if not self.named:
            return
        self.url = line.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def last_words(self):
        """The words that it had for a person, if they are kept."""
        return ""

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def end(self):
        """Ends it in order."""
        self.child.terminate()
        self.child.wait(PATIENCE)
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

    def __init__(self, root=MEDIA, throttle=None, listener=None):
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
        ask("DELETE", self.url + "/_origin/requests")


class Link(Server):
    """A tools/link in front of a server, with the same losses each time."""

    # Its first line has the URL by which it is controlled.
    greeting = 2

    def __init__(self, upstream, preset, state):
        super().__init__(lambda port: [sys.executable, TOOLS / "link", "--preset", preset, "--port", port, "--state", state, "--seed", "1",
                                       upstream])

    def set(self, **change):
        """Changes it, such as preset="3G" or down=0."""
        fetch(self.said[0].split()[-1], change)

    def seen(self):
        """Its state, such as bytesDown."""
        return json.loads(fetch(self.said[0].split()[-1]))


class Weir(Server):
    """A `weir serve` over folders of its own, and the commands that talk to it. Nothing of the user's settings reaches it.

    Its words for a person are in the file `log` of its folder. `users` count as its owner: where we are root, VLC plays as nobody. The
    words of a wrapper go before its own.
    """

    # Commands that need no daemon.
    ALONE = ("check", "link")

    def __init__(self, binary, folder, listener=None, options=(), users="nobody", variables=None, wrapper=()):
        self.binary, self.folder, self.state, self.store = str(binary), folder, folder / "state", folder / "store"
        proxies = {name + "_proxy": "" for name in ("http", "https", "all", "HTTP", "HTTPS", "ALL")}
        homes = {"XDG_%s_HOME" % name: str(folder / name) for name in ("CONFIG", "DATA", "STATE")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("WEIR_")}
        options = ["--store", self.store, "--state", self.state, "--reserve", "0", *options]
        super().__init__(lambda port: [*wrapper, self.binary, "serve", "--listen", "127.0.0.1:%d" % port, *options],
                         {**kept, **proxies, **homes, "HOME": str(folder), "NO_COLOR": "1", "WEIR_START": "false",
                          **({"WEIR_USERS": users} if users else {}), **(variables or {})}, listener)

    def start(self):
        if self.errors != subprocess.DEVNULL:
            return super().start()
        with open(self.folder / "log", "ab") as self.errors:
            try:
                super().start()
            finally:
                del self.errors

    def last_words(self):
        log = self.folder / "log"
        return "\n" + log.read_text(errors="replace")[-500:] if log.exists() else ""

    def restart(self):
        """Ends it in order, and starts it again over the same folders."""
        self.end()
        self.start()

    # Commands

    def words(self, *words):
        """The whole command line of a command."""
        state = [] if words[0] in self.ALONE else ["--state", self.state]
        return [self.binary, *map(str, words), *map(str, state)]

    def command(self, *words, text="", environment=None, timeout=None):
        """(exit status, standard output, standard error) of a command. `text` is its standard input."""
        done = subprocess.run(self.words(*words), input=text, capture_output=True, text=True, timeout=timeout or PATIENCE,
                              env={**self.environment, **(environment or {})})
        return done.returncode, done.stdout, done.stderr

    def run(self, *words, **options):
        """A command to its end, which must be a good one; what it says."""
        status, output, errors = self.command(*words, **options)
        if status:
            raise Trouble("weir %s: exit %d, %s" % (words[0], status, errors.strip()))
        return output

    def assets(self):
        """The lines of `weir list --json`, by the names of the assets."""
        return {each["name"]: each for each in map(json.loads, self.run("list", "--json").splitlines())}

    # The API

    @property
    def token(self):
        return (self.state / "token").read_text().strip()

    @property
    def fields(self):
        """The head fields of a request to the API."""
        return {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}

    def call(self, method, path, body=None, timeout=None):
        """(status, body) of the API. A connection for each request: what is cut belongs to one act.

        `body` is sent as JSON, or as it is if it is bytes.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout or PATIENCE)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        with contextlib.closing(connection):
            connection.request(method, "/api/v1" + path, data, self.fields)
            reply = connection.getresponse()
            return reply.status, reply.read()

    def api(self, method, path, body=None, timeout=None):
        """(status, JSON) of the API; None where there is none."""
        status, text = self.call(method, path, body, timeout)
        return status, json.loads(text) if text else None


class Stage:
    """A temporary folder, and the servers on it, which end, and go with the folder, when the with statement does."""

    def __init__(self, binary, root=MEDIA, name="scene"):
        self.binary, self.root, self.name = binary, root, name
        self.servers, self.listeners, self.homes = [], [], itertools.count(1)

    # Where the folder is; None: where temporary folders are.
    place = None

    def __enter__(self):
        if ENDING.is_set():
            raise Trouble("ended early")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-%s-" % self.name, dir=self.place))
        return self

    def __exit__(self, *_):
        for server in reversed(self.servers):
            with contextlib.suppress(ProcessLookupError, ValueError):
                server.kill()
        for listener in self.listeners:
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def serve(self, server):
        """Has a server end with the stage."""
        self.servers.append(server)
        return server

    def new_origin(self, **options):
        return self.serve(Origin(self.root, **options))

    def new_weir(self, folder=None, binary=None, **options):
        return self.serve(Weir(binary or self.binary, folder or self.folder, **options))

    def new_link(self, upstream, preset="off"):
        return self.serve(Link(upstream, preset, self.home("link")))

    def home(self, name):
        """A new folder for one server."""
        home = self.folder / ("%s-%d" % (name, next(self.homes)))
        home.mkdir()
        return home

    def kept_socket(self):
        """A socket as a service manager has it for a server: who connects while that starts again waits."""
        self.listeners.append(socket.create_server(("127.0.0.1", 0), backlog=512))
        return self.listeners[-1]


class Scene(Stage):
    """The stage of one cell of the matrix, with players."""

    def __init__(self, binary, root=MEDIA, name="matrix"):
        super().__init__(binary, root, name)
        self.plays = 0

    def origin(self, throttle=None, listener=None):
        return self.new_origin(throttle=throttle, listener=listener)

    def weir(self, listener=None):
        return self.new_weir(listener=listener)

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
