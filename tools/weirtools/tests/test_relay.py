"""Tests of weirtools/link/relay.py in one process, where the order of events is exact. Run by `swift test`."""

import asyncio
import socket
import unittest

from weirtools.link import links, relay


class Deaths(unittest.IsolatedAsyncioTestCase):
    async def test_who_connected_just_before_the_link_died_is_served_when_it_lives(self):
        upstream = await asyncio.start_server(self.echo, "127.0.0.1", 0)
        conditioner = relay.Relay(upstream.sockets[0].getsockname(), links.OFF, None, lambda line: None)
        port = conditioner.listen("127.0.0.1", 0)
        # The system has the connection, the relay has not seen it.
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setblocking(False)
            conditioner.set_link(links.preset("100% Loss"))
            self.assertEqual(len(conditioner.connections), 1)
            conditioner.set_link(links.OFF)
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(client, b"abc\n")
            self.assertEqual(await asyncio.wait_for(loop.sock_recv(client, 4), 10), b"abc\n")
        while conditioner.connections:
            await asyncio.sleep(0)
        conditioner.listener.close()
        upstream.close()

    async def echo(self, reader, writer):
        while data := await reader.read(100):
            writer.write(data)
        writer.close()


if __name__ == "__main__":
    unittest.main()
