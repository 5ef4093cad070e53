"""Many connections of one client: opened again and again, silent, slow to write, slow to read. Another client notices nothing."""

import contextlib
import socket
import threading
import time

from weirtools.attacks.stage import SEGMENTS, count_replies, get, reply
from weirtools.scenes import scene

# Connections of a crowd, for so many that the daemon accepts.
COUNT, ACCEPTED = 300, 256


def open_again(stage, until, request=b""):
    """Opens a connection, perhaps asks, and leaves, until then."""
    while time.monotonic() < until:
        # A debug build accepts 8,000 a second.
        time.sleep(0 if stage.descriptors is None else 0.001)
        with contextlib.suppress(OSError), stage.connect(2) as connection:
            if request:
                connection.sendall(request.replace(b"{host}", stage.host.encode()))
                connection.recv(100)


def crowd(stage, label, seconds, act, threads=8):
    until = time.monotonic() + seconds
    before = stage.weir.memory()
    peak = before
    with stage.witnessed(label):
        workers = [threading.Thread(target=act, args=(until,), daemon=True) for _ in range(threads)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers) and time.monotonic() < until + 30:
            peak = max(peak, stage.weir.memory())
            time.sleep(0.1)
    # 256 KB for each connection.
    grown, count = peak - before, size(stage)
    stage.case(label, "%d MB for %d connections" % (grown >> 20, count) if grown > count * (256 << 10) + (16 << 20) else None)


def size(stage):
    """A fourth of the daemon's descriptors are connections, and a crowd has a few more."""
    return COUNT if stage.descriptors is None else COUNT * stage.descriptors // 4 // ACCEPTED


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


def long_segment(stage):
    """The path of a stored segment that is longer than what the buffers of a connection take: null packets fill it."""
    body = SEGMENTS[0].read_bytes() + (b"\x47\x1f\xff\x10" + b"\xff" * 184) * 90_000
    url = stage.origin.vod("paused", {0: reply(body, kind="video/mp2t")})
    playlist = scene.fetch("%s/%s" % (stage.weir.url, url))
    path = next(line for line in playlist.splitlines() if line and not line.startswith("#"))
    stage.ask(get(path), 60, 1 << 30)
    return path


def pipelined(stage):
    """5,000 requests in one part: each is answered once, in order, up to the connection's last one."""
    before = stage.weir.memory("VmHWM")
    one = get(stage.stored, "Range: bytes=0-0").replace(b"Connection: close\r\n", b"")
    count, grown = count_replies(stage.ask(one * 5000, 30)), stage.weir.memory("VmHWM") - before
    wrong = "%d answers, %d MB" % (count, grown >> 20)
    stage.case("5,000 requests at once", None if 0 < count <= 5000 and grown < 16 << 20 else wrong)


def run(stage):
    pipelined(stage)
    # While a playlist is written, its clients wait, and nothing is taken from them: 60 ms in a debug build for the short one.
    segments = 100_000 if stage.descriptors is None else 2_000
    lines = "".join("#EXTINF:2,\n%d.ts\n" % number for number in range(segments))
    text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n%s#EXT-X-ENDLIST\n" % lines
    stage.origin.replies["/long.m3u8"] = reply(text.encode(), kind="application/vnd.apple.mpegurl")
    long, count = get("/%s/long.m3u8" % stage.origin.url), size(stage)
    stage.ask(long, 60, 1 << 30)
    threads = 8 if stage.descriptors is None else 3
    # The owner's readers have no limit on their pauses, and give way to others all the same.
    paused = long_segment(stage)
    share = max(3, min(60, (stage.until - time.monotonic()) / 8))
    kinds = [
        ("opened and left", lambda until: open_again(stage, until), threads),
        ("opened and asked", lambda until: open_again(stage, until, get(stage.stored)), threads),
        ("opened and refused", lambda until: open_again(stage, until, b"nonsense\r\n\r\n"), threads),
        ("%d silent ones" % count, lambda until: held(stage, until, count, b""), 1),
        ("%d slow heads" % count, lambda until: held(stage, until, count, b"GET / HTTP/1.1\r\n", b"X-A: 1\r\n"), 1),
        ("%d that do not read a long playlist" % count, lambda until: held(stage, until, count, long), 1),
        ("%d that are paused in a long segment" % count, lambda until: held(stage, until, count, get(paused)), 1),
        ("%d that read slowly" % count, lambda until: held(stage, until, count, get(stage.stored), reads=True), 1),
    ]
    for label, act, threads in kinds:
        if stage.weir.is_up:
            crowd(stage, label, share, act, threads)
