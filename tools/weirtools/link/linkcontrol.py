"""The control side of tools/link: a small HTTP listener, and the file by which `weir link` finds it."""

import asyncio
import contextlib
import json
import os
import pathlib
import tomllib

from weirtools.link import links

REASONS = {200: "OK", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
           415: "Unsupported Media Type"}
LARGEST_BODY = 65536


class Refused(Exception):
    """(status, sentence)"""


class Control:
    """Answers /_link and /_link/presets."""

    def __init__(self, relay):
        self.relay, self.server = relay, None

    async def listen(self, host, port):
        self.server = await asyncio.start_server(self.converse, host, port)
        return self.server.sockets[0].getsockname()[1]

    async def converse(self, reader, writer):
        try:
            while await self.exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            writer.close()

    async def exchange(self, reader, writer):
        """One request; whether another one may come."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, version = head[0].split(" ")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        length = int(headers.get("content-length", 0))
        if not 0 <= length <= LARGEST_BODY:
            raise ValueError("too large")
        body = await reader.readexactly(length)
        try:
            status, answer = 200, self.act(method, target, headers, body)
        except Refused as refused:
            status, answer = refused.args[0], {"error": refused.args[1]}
        except links.BadLink as bad:
            status, answer = 400, {"error": str(bad)}
        text = json.dumps(answer).encode() + b"\n"
        writer.write(b"HTTP/1.1 %d %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
            status, REASONS[status].encode(), len(text), text))
        await writer.drain()
        return version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"

    def act(self, method, target, headers, body):
        # A page of the web can neither name this host nor send JSON without asking first.
        if headers.get("host", "").rpartition(":")[0] not in ("127.0.0.1", "localhost") or "origin" in headers:
            raise Refused(403, "the link is controlled from this machine only")
        if target == "/_link/presets" and method == "GET":
            return [link.as_json() for link in [*links.PRESETS, links.OFF]]
        if target != "/_link":
            raise Refused(404, "there are /_link and /_link/presets")
        if method == "POST":
            self.set(headers, body)
        elif method != "GET":
            raise Refused(405, "/_link takes GET and POST")
        return self.relay.state()

    def set(self, headers, body):
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "the body is to be application/json")
        try:
            fields = json.loads(body)
        except ValueError as error:
            raise Refused(400, "the body is not JSON: %s" % error) from error
        if not isinstance(fields, dict):
            raise Refused(400, 'the body is to be an object such as {"preset": "3G"}')
        self.relay.set_link(links.changed(self.relay.link, fields))


class Note:
    """The file `link` in Weir's state directory: the URL of the conditioner that was started last, while it runs."""

    def __init__(self, directory, url):
        self.path, self.text = pathlib.Path(directory) / "link", url + "\n"

    def __enter__(self):
        """May raise OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_name("link.%d.new" % os.getpid())
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "w", encoding="ascii") as file:
            file.write(self.text)
        draft.replace(self.path)
        return self

    def __exit__(self, *_):
        """Takes the note away, unless another conditioner has written its own since."""
        with contextlib.suppress(OSError):
            if self.path.read_text(encoding="ascii") == self.text:
                self.path.unlink()


def state_directory(environment):
    """The state directory, found as `weir` finds it: WEIR_STATE, the configuration's `state`, XDG_STATE_HOME, ~/.local/state."""
    home = pathlib.Path(environment.get("HOME", "/"))
    if environment.get("WEIR_STATE"):
        return within(home, environment["WEIR_STATE"])
    config = environment.get("WEIR_CONFIG") or folder(environment, "XDG_CONFIG_HOME", home / ".config") / "weir.toml"
    with contextlib.suppress(OSError, ValueError, TypeError):
        return within(home, tomllib.loads(pathlib.Path(config).read_text(encoding="utf-8"))["state"])
    return folder(environment, "XDG_STATE_HOME", home / ".local" / "state")


def folder(environment, variable, fallback):
    base = environment.get(variable, "")
    return (pathlib.Path(base) if base.startswith("/") else fallback) / "weir"


def within(home, text):
    return home / text[2:] if text.startswith("~/") else pathlib.Path(text).absolute()
