"""Many connections of one client: opened again and again, silent, slow to write, slow to read. Another client notices nothing."""

import contextlib
import socket
import threading
import time

from weirtools.attacks.stage import get, reply
from weirtools.attacks.playlists import media

COUNT = 300


def open_again(stage, until, request=b""):
    """Opens a connection, perhaps asks, and leaves, until then."""
    while time.monotonic() < until:
        with contextlib.suppress(OSError), stage.connect(2) as connection:
            if request:
                connection.sendall(request.replace(b"{host}", stage.host.encode()))
                connection.recv(100)


def crowd(stage, label, seconds, act, threads=8):
    until = time.monotonic() + seconds
    before = stage.memory()
    peak = before
    with stage.witnessed(label):
        workers = [threading.Thread(target=act, args=(until,), daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers) and time.monotonic() < until + 30:
            peak = max(peak, stage.memory())
            time.sleep(0.1)
    # 256 KB for each connection.
    grown = peak - before
    stage.case(label, "%d MB for %d connections" % (grown >> 20, COUNT) if grown > COUNT * (256 << 10) + (16 << 20) else None)


def held(stage, until, count, begin, drip=b"", reads=False):
    """Keeps so many connections open, each with the beginning of a request, and a byte more each second."""
    connections = []
    with contextlib.ExitStack() as stack:
        while time.monotonic() < until:
            while len(connections) < count:
                try:
                    connection = stack.enter_context(stage.connect(2))
                    if begin:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                        connection.sendall(begin.replace(b"{host}", stage.host.encode()))
                    connections.append(connection)
                except OSError:
                    break
            for connection in list(connections):
                try:
                    if drip:
                        connection.sendall(drip)
                    connection.setblocking(False)
                    if reads and not connection.recv(16):
                        connections.remove(connection)
                except BlockingIOError:
                    pass
                except OSError:
                    connections.remove(connection)
            time.sleep(0.5)


def run(stage):
    stage.origin.replies["/long.m3u8"] = reply(media(100_000).encode(), kind="application/vnd.apple.mpegurl")
    long = get("/%s/long.m3u8" % stage.origin.url)
    stage.ask(long, 60, 1 << 30)
    share = max(3, min(60, (stage.until - time.monotonic()) / 7))
    kinds = [
        ("opened and left", lambda until: open_again(stage, until), 8),
        ("opened and asked", lambda until: open_again(stage, until, get(stage.stored)), 8),
        ("opened and refused", lambda until: open_again(stage, until, b"nonsense\r\n\r\n"), 8),
        ("300 silent ones", lambda until: held(stage, until, COUNT, b""), 1),
        ("300 slow heads", lambda until: held(stage, until, COUNT, b"GET / HTTP/1.1\r\n", b"X-A: 1\r\n"), 1),
        ("300 that do not read a long playlist", lambda until: held(stage, until, COUNT, long), 1),
        ("300 that read slowly", lambda until: held(stage, until, COUNT, get(stage.stored), reads=True), 1),
    ]
    for label, act, threads in kinds:
        if stage.is_alive():
            crowd(stage, label, share, act, threads)
