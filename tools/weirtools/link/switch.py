"""A wire between Weir and an origin that tools/check/lost takes away and gives back: TCP connections, in a thread of its own."""

import asyncio
import socket
import struct
import threading

BLOCK = 8192
ABORT = struct.pack("ii", 1, 0)

# Ways in which a network fails.
KINDS = {
    "refused": "connections end, and new ones are refused",
    "reset": "connections are reset, in the midst of what they carry, and so is each new one",
    "silent": "connections stand, new ones too, and nothing comes",
    "dead": "connections stand, nothing comes, and nobody answers new ones",
    "moved": "the same, and what stood carries nothing any more afterwards: another network has taken over",
}


class Wires:
    """The thread in which all switches work; ends with the with statement."""

    def __enter__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()


class Switch:
    """Carries connections to a port of this machine. `rate` bounds what each brings from there, in bytes a second."""

    def __init__(self, wires, upstream):
        self.wires, self.loop, self.upstream, self.rate = wires, wires.loop, upstream, None
        self.kind, self.port, self.listener, self.filler = None, 0, None, None
        self.carriers, self.accepting, self.flowing = set(), None, asyncio.Event()
        self.flowing.set()
        wires.call(self.listen())
        self.url = "http://127.0.0.1:%d" % self.port

    # From any other thread

    def cut(self, kind):
        """Takes the network away, in one of the ways of KINDS."""
        self.wires.call(self.go(kind))

    def mend(self):
        """Gives it back: what stood goes on where it was."""
        self.wires.call(self.come())

    def close(self):
        self.wires.call(self.end())

    # In the thread

    async def listen(self):
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=128)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.accepting = self.loop.create_task(self.accept())

    async def go(self, kind):
        self.kind = kind
        self.flowing.clear()
        if kind == "refused":
            await self.end()
        elif kind == "reset":
            await self.hang_up()
        elif kind in ("dead", "moved"):
            await self.stop(self.accepting)
            # While its queue is full the system answers no SYN.
            self.listener.listen(0)
            self.filler = socket.socket()
            self.filler.setblocking(False)
            self.filler.connect_ex(self.listener.getsockname())

    async def come(self):
        kind, self.kind = self.kind, None
        if kind == "refused":
            await self.listen()
        elif kind in ("dead", "moved"):
            self.filler.close()
            self.listener.listen(128)
            self.accepting = self.loop.create_task(self.accept())
        if kind == "moved":
            # Those that carry wait on at the old one.
            self.flowing = asyncio.Event()
        self.flowing.set()

    async def end(self):
        await self.stop(self.accepting)
        self.listener.close()
        await self.hang_up()

    async def hang_up(self):
        await self.stop(*self.carriers)

    async def stop(self, *tasks):
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def accept(self):
        while True:
            client, _ = await self.loop.sock_accept(self.listener)
            client.setblocking(False)
            if self.kind == "reset":
                self.close_end(client)
                continue
            task = self.loop.create_task(self.carry(client))
            self.carriers.add(task)
            task.add_done_callback(self.carriers.discard)

    async def carry(self, client):
        server = socket.socket()
        server.setblocking(False)
        try:
            await self.loop.sock_connect(server, ("127.0.0.1", self.upstream))
            async with asyncio.TaskGroup() as both:
                both.create_task(self.pump(client, server))
                both.create_task(self.pump(server, client, is_slow=True))
        except* OSError:
            pass  # One of the two is gone.
        finally:
            self.close_end(client)
            server.close()

    async def pump(self, source, target, is_slow=False):
        flowing = self.flowing
        while data := await self.loop.sock_recv(source, BLOCK):
            if is_slow and self.rate:
                await asyncio.sleep(len(data) / self.rate)
            await flowing.wait()
            await self.loop.sock_sendall(target, data)
        target.shutdown(socket.SHUT_WR)

    def close_end(self, client):
        if self.kind == "reset":
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        client.close()
