"""The sockets of tools/link: TCP connections in pairs, with the two pipes of a link (weirtools/link/shaper.py) between them."""

import asyncio
import collections
import math
import random
import socket
import struct
import time

from weirtools.link import links, renaming, shaper

BLOCK = 65536
# Small, so that a sender feels the link and not the memory of this machine; large enough for its rate between two looks.
KERNEL_BUFFER = 256 * 1024
# Bytes of a packet on an Ethernet, without headers and options of TCP.
SEGMENT = shaper.PACKET + 12
# How long a name stays known: what libcurl and most systems do at least.
NAME_LIFE = 60
ABORT = struct.pack("ii", 1, 0)
# Not in Python's socket module.
TCP_NOTSENT_LOWAT = 25
# Where tcpi_snd_wnd stands in struct tcp_info (linux/tcp.h).
SEND_WINDOW = 228


class Half:
    """One direction of a connection: reads from one socket what its pipe takes, writes to the other what has arrived."""

    def __init__(self, connection, pipe, source, target, starts_at, requests=None):
        self.connection, self.relay, self.pipe = connection, connection.relay, pipe
        self.source, self.target = source, target
        self.flow = shaper.Flow(self, starts_at)
        self.chunks = collections.deque()
        self.requests = requests  # a Renaming, or None
        self.is_reading = self.is_writing = self.is_done = False

    def read_on(self):
        if not (self.is_reading or self.flow.is_ending or self.flow.is_gone):
            self.is_reading = True
            self.relay.loop.add_reader(self.source, self.readable)

    def stop_reading(self):
        if self.is_reading:
            self.is_reading = False
            self.relay.loop.remove_reader(self.source)

    def readable(self):
        try:
            data = self.source.recv(BLOCK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            return self.connection.broken(self.source)
        is_end, now = not data, self.relay.now()
        if self.requests:
            data = self.requests.rest() if is_end else self.requests.feed(data)
        if data:
            self.chunks.append(memoryview(data))
            self.pipe.send(self.flow, len(data), now)
        if is_end:
            self.pipe.finish(self.flow, now)
            self.stop_reading()
        elif self.flow.queued >= self.pipe.queue_limit:
            self.stop_reading()
            self.relay.waiting.add(self)
        self.relay.schedule()

    def write(self):
        """Hands on what has arrived, as far as the reader takes it."""
        flow, taken = self.flow, 0
        try:
            while taken < flow.arrived:
                chunk = self.chunks[0]
                count = self.target.send(chunk[:flow.arrived - taken])
                taken += count
                if count == len(chunk):
                    self.chunks.popleft()
                else:
                    self.chunks[0] = chunk[count:]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            return self.connection.broken(self.target)
        if taken:
            flow.reader_window = window_of(self.target)
            self.pipe.take(flow, taken, self.relay.now())
        self.wait_for_room(flow.arrived > 0)
        if flow.has_ended and not flow.arrived and not self.is_done:
            self.finish()

    def wait_for_room(self, is_full):
        if is_full and not self.is_writing:
            self.relay.loop.add_writer(self.target, self.room)
        elif self.is_writing and not is_full:
            self.relay.loop.remove_writer(self.target)
        self.is_writing = is_full

    def room(self):
        self.write()
        self.relay.schedule()

    def finish(self):
        self.is_done = True
        try:
            self.target.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.connection.half_done()

    def stop(self):
        self.stop_reading()
        if self.is_writing:
            self.wait_for_room(False)
        self.relay.waiting.discard(self)
        self.pipe.drop(self.flow)
        self.chunks.clear()


class Connection:
    """A client's connection, and the one to the upstream that stands for its other end."""

    def __init__(self, relay, client):
        self.relay, self.client, self.server = relay, client, None
        self.halves, self.open, self.task = [], {client}, None
        relay.connections.add(self)

    def begin(self):
        """The handshake is over."""
        self.task = self.relay.loop.create_task(self.establish())

    async def establish(self):
        """Connects to the upstream, at the first of its addresses that answers."""
        for family, address in self.relay.addresses:
            try:
                self.server = await self.connect(family, address)
                break
            except OSError:
                continue
        else:
            return self.reset(self.client)
        self.open.add(self.server)
        now = self.relay.now()
        requests = renaming.Renaming(self.relay.names, "%s:%d" % bracketed(self.relay.upstream))
        self.halves = [Half(self, self.relay.up, self.client, self.server, now, requests),
                       Half(self, self.relay.down, self.server, self.client, now)]
        for half in self.halves:
            half.read_on()

    async def connect(self, family, address):
        server = socket.socket(family)
        try:
            prepare(server)
            await self.relay.loop.sock_connect(server, address)
        except OSError:
            server.close()
            raise
        return server

    def half_done(self):
        if all(half.is_done for half in self.halves):
            for end in list(self.open):
                self.close(end)

    def broken(self, end):
        """One end is gone; the other learns of it when that has crossed the link."""
        self.stop()
        self.close(end)
        other = self.server if end is self.client else self.client
        link = self.relay.link
        self.relay.after((link.delay_up if end is self.client else link.delay_down) / 1000, self.reset, other)

    def stop(self):
        for half in self.halves:
            half.stop()

    def reset(self, end):
        """Ends one end with a TCP reset."""
        if end in self.open:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
            self.close(end)

    def close(self, end):
        self.open.discard(end)
        end.close()
        if not self.open or self.server is None:
            self.stop()
            self.relay.connections.discard(self)


class Relay:
    """The listener, the two pipes, and everything between them. `log` takes what is worth a line in the log."""

    def __init__(self, upstream, link, seed, log):
        self.loop = asyncio.get_running_loop()
        self.upstream, self.log = upstream, log
        self.addresses = [(found[0], found[4]) for found in socket.getaddrinfo(*upstream, type=socket.SOCK_STREAM)]
        self.random = random.Random(seed)
        self.started = time.monotonic()
        self.seconds = {}  # second since the start: [bytes down, bytes up]
        self.totals = [0, 0]
        self.down, self.up = (shaper.Pipe(self.random, self.meter(column)) for column in (0, 1))
        self.connections, self.waiting, self.after_death = set(), set(), []
        self.accepted, self.name_known_at, self.name_until = 0, 0.0, -math.inf
        self.timer = self.listener = self.filler = None
        self.names = []  # by which clients call this relay
        self.link = links.OFF
        self.set_link(link)

    def now(self):
        """Seconds since the start."""
        return time.monotonic() - self.started

    def meter(self, column):
        def note(at, size):
            self.totals[column] += size
            self.seconds.setdefault(int(at), [0, 0])[column] += size
        return note

    # The link

    def set_link(self, link):
        now, was_dead = self.now(), self.link.is_dead
        if self.listener and not was_dead:
            # Whoever has connected by now did so over the link as it was.
            self.accept()
        self.link = link
        self.name_until = -math.inf
        self.down.shape(now, link.down, link.delay_down, link.delay_up, link.loss, link.is_dead)
        self.up.shape(now, link.up, link.delay_up, link.delay_down, link.loss, link.is_dead)
        self.log({"at": round(now, 3), "link": link.as_json()})
        if self.listener and was_dead != link.is_dead:
            (self.play_dead if link.is_dead else self.live_again)()
        self.schedule()

    def play_dead(self):
        """Lets new connections hang: while its queue is full the system answers no SYN, and the client sends it again."""
        self.loop.remove_reader(self.listener)
        self.listener.listen(0)
        self.filler = socket.socket()
        self.filler.setblocking(False)
        self.filler.connect_ex(self.listener.getsockname())

    def live_again(self):
        self.listener.listen(512)
        self.accept()
        self.filler.close()
        self.filler = None
        self.loop.add_reader(self.listener, self.accept)
        calls, self.after_death = self.after_death, []
        for delay, call, arguments in calls:
            self.after(delay, call, *arguments)

    def after(self, delay, call, *arguments):
        """Calls when that long has passed on a link that lives."""
        def now_or_later():
            if self.link.is_dead:
                self.after_death.append((delay, call, arguments))
            else:
                call(*arguments)
        self.loop.call_later(delay, now_or_later)

    # The connections

    def listen(self, host, port):
        self.listener = socket.create_server((host, port), backlog=512)
        self.listener.setblocking(False)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, KERNEL_BUFFER)
        # Packets as on a real link: with the loopback's 64 KiB, a small window that opens again is told late.
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, SEGMENT)
        self.loop.add_reader(self.listener, self.accept)
        if self.link.is_dead:
            self.play_dead()
        port = self.listener.getsockname()[1]
        self.names = ["127.0.0.1:%d" % port, "localhost:%d" % port]
        return port

    def accept(self):
        while True:
            try:
                client, address = self.listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionError):
                return
            except OSError:
                # No descriptor is free: later, rather than again and again.
                self.loop.remove_reader(self.listener)
                self.loop.call_later(0.1, self.accept_again)
                return
            if self.filler and self.filler.getsockname() == address:
                client.close()
                continue
            prepare(client)
            self.accepted += 1
            self.after(shaper.handshake(self.link, self.random) + self.look_up(), Connection(self, client).begin)

    def accept_again(self):
        if not self.link.is_dead:
            self.loop.add_reader(self.listener, self.accept)

    def look_up(self):
        """Seconds until the upstream's name is known: none while it is remembered, the rest of a wait that has begun."""
        now, delay = self.now(), self.link.dns_delay / 1000
        if now >= self.name_until:
            self.name_known_at = now + delay
            self.name_until = self.name_known_at + NAME_LIFE
        return max(0, self.name_known_at - now)

    # Time

    def schedule(self):
        """Sees to it that `tick` comes when something is due."""
        at = min(self.down.next_time(), self.up.next_time())
        if self.timer and self.timer[0] == at:
            return
        if self.timer:
            self.timer[1].cancel()
        self.timer = None if at == math.inf else (at, self.loop.call_at(self.started + at, self.tick))

    def tick(self):
        if self.timer:
            self.timer[1].cancel()
            self.timer = None
        for pipe in (self.down, self.up):
            for flow in pipe.advance(self.now()):
                # Another one of these may have ended its connection just now.
                if not flow.is_gone:
                    flow.owner.write()
        for half in [half for half in self.waiting if half.flow.queued < half.pipe.queue_limit / 2]:
            self.waiting.discard(half)
            half.read_on()
        self.schedule()

    def report(self, is_last=False):
        """Logs the seconds that are over, or all of them at the end; the last whole one is kept for `state`."""
        self.tick()
        over = math.inf if is_last else int(self.now()) - 1
        for second in sorted(second for second in self.seconds if second < over):
            down, up = self.seconds.pop(second)
            self.log({"at": second, "down": down, "up": up})

    def state(self):
        """The response to GET /_link."""
        self.tick()
        last = self.seconds.get(int(self.now()) - 1, [0, 0])
        return {**self.link.as_json(), "upstream": "http://%s:%d" % bracketed(self.upstream),
                "listening": "http://%s:%d" % self.listener.getsockname()[:2], "connections": len(self.connections),
                "accepted": self.accepted, "seconds": round(self.now(), 3),
                "bytesDown": self.totals[0], "bytesUp": self.totals[1], "rateDown": last[0] * 8, "rateUp": last[1] * 8}


def window_of(end):
    """The receive window of the reader behind a socket: the last figure of Linux's tcp_info, since 5.4."""
    info = end.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("I", info, SEND_WINDOW)[0] if len(info) >= SEND_WINDOW + 4 else math.inf


def prepare(end):
    end.setblocking(False)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # What a reader does not take stays with its sender, not in this machine's memory.
    end.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, 1)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        end.setsockopt(socket.SOL_SOCKET, option, KERNEL_BUFFER)


def bracketed(address):
    return ("[%s]" % address[0] if ":" in address[0] else address[0]), address[1]
