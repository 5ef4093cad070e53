#!/usr/bin/env python3
"""A TCP relay that delays all bytes by the same time, for whatever protocol: tools/link reads HTTP.

    tools/weirtools/bench/delay.py PORT MILLISECONDS

relays 127.0.0.1 on a free port, which it prints, to PORT of this machine, each byte for so long in each direction. A client's
connect() succeeds at once. Ends with its standard input.
"""

import asyncio
import contextlib
import sys


async def pump(reader, writer, delay):
    """Passes bytes on when their time has come, in order."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue(4096)

    async def send():
        while True:
            due, data = await queue.get()
            if due > loop.time():
                await asyncio.sleep(due - loop.time())
            if not data:
                return
            writer.write(data)
            await writer.drain()

    sender = asyncio.ensure_future(send())
    with contextlib.suppress(ConnectionError):
        while True:
            data = await reader.read(1 << 18)
            await queue.put((loop.time() + delay, data))
            if not data:
                break
        await sender
    sender.cancel()
    with contextlib.suppress(ConnectionError, OSError):
        writer.close()


async def serve(port, delay):
    async def connect(reader, writer):
        with contextlib.suppress(OSError):
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", port)
            await asyncio.gather(pump(reader, up_writer, delay), pump(up_reader, writer, delay))

    server = await asyncio.start_server(connect, "127.0.0.1", 0, backlog=511)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2]) / 1000))
