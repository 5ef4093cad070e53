"""An origin as a program of its own: it logs its requests, is controlled at /_origin/, and ends with whoever started it."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sys

from weirtools.origins import server


class Program(server.Server):
    """An origin with a log of its requests. `reply` answers those that are no controls, `control` the others.

    An entry of the log is told at the head of tools/origin.
    """

    def __init__(self, log=None):
        super().__init__()
        self.requests, self.order = [], 0
        self.log = open(log, "a", encoding="utf-8") if log else None

    def answer(self, request):
        if request.path.startswith("/_origin/"):
            value = json.loads(request.body) if request.body else None
            with self.lock:
                status, answer = self.control(request.method, request.path.removeprefix("/_origin/"), value)
                return server.Reply(json.dumps(answer).encode(), "application/json", status)
        with self.lock:
            request.entry["order"] = self.order
            self.order += 1
            self.requests.append(request.entry)
        return self.reply(request)

    def reply(self, request):
        raise NotImplementedError

    def control(self, method, name, value):
        """Performs a control request: (status, answer)."""
        if name == "requests" and method in ("GET", "DELETE"):
            if method == "DELETE":
                self.requests = []
            return 200, self.requests
        if (method, name) == ("GET", "state"):
            return 200, {"connections": len(self.connections), "accepted": self.accepted}
        return 404, "no such control"

    def has_sent(self, request):
        if self.log and request.entry["order"] is not None:
            with self.lock:
                self.log.write(json.dumps(request.entry) + "\n")
                self.log.flush()


def add_options(parser):
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--listen", default="127.0.0.1")
    parser.add_argument("--log", type=pathlib.Path, help="append a JSON line for each request that has ended")
    parser.add_argument("--stop-with-stdin", action="store_true")


def listening(host, port):
    """The socket that this process was handed over, or a new one."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=3)
    return socket.create_server((host, port), backlog=512)


def run(name, make, arguments):
    """Serves what `make` gives until a signal, or the end of standard input, ends the process."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit())
    url = make().serve(server.Listener(listening(arguments.listen, arguments.port)))
    with contextlib.suppress(BrokenPipeError):
        print("%s is listening on %s" % (name, url), flush=True)
    while not arguments.stop_with_stdin:
        signal.pause()
    while os.read(0, 4096):
        pass
