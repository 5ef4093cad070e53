"""A browser that tests drive over HTTP: a POST of {"method", "session", "parameters"} is a command, a GET gives all events so far."""

import json
import os
import signal
import sys

from weirtools.origins import server


class Driven(server.Server):
    """Answers commands by `call(method, session, parameters)`, and events by `events()`, one at a time."""

    def __init__(self, call, events):
        super().__init__()
        self.call, self.events = call, events

    def answer(self, request):
        with self.lock:
            answer = self.events() if request.method == "GET" else self.act(json.loads(request.body))
        return server.Reply(json.dumps(answer).encode(), "application/json")

    def act(self, wish):
        try:
            return {"result": self.call(wish["method"], wish.get("session"), wish.get("parameters", {}))}
        except (RuntimeError, OSError) as error:
            return {"error": "%s: %s" % (wish["method"], error or "no answer")}


def serve(browser, call, events):
    """Serves until standard input ends, and then ends the browser."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        print("browser is listening on " + Driven(call, events).listen(), flush=True)
        while os.read(0, 4096):
            pass
    finally:
        browser.close()
