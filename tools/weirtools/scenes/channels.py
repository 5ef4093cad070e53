"""Opens very many playlists in one daemon, each once, and measures what memory they cost it: for tools/soak --urls."""

import asyncio
import sys

# Bytes of memory for each URL, besides what caches hold: 200 MB for 100,000 URLs.
MOST, SPARE = 1800, 20_000_000
# As many clients at a time, and so many requests on a connection.
CLIENTS, REQUESTS = 4, 400
BODY = b"#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n#EXT-X-ENDLIST\n"
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.apple.mpegurl\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
REQUEST = "GET /http://127.0.0.1:%d/channels/%07d/media.m3u8 HTTP/1.1\r\nHost: localhost:%d\r\n\r\n"


class Origin(asyncio.Protocol):
    """Answers each request with the same playlist."""

    def connection_made(self, transport):
        self.transport, self.input = transport, b""

    def data_received(self, data):
        *heads, self.input = (self.input + data).split(b"\r\n\r\n")
        self.transport.write(REPLY * len(heads))


async def open_some(port, origin, numbers):
    """One client's share."""
    for begin in range(0, len(numbers), REQUESTS):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for number in numbers[begin:begin + REQUESTS]:
            writer.write((REQUEST % (origin, number, port)).encode())
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            if " 200 " not in head.partition("\r\n")[0]:
                sys.exit("tools/soak: playlist %d: %s" % (number, head))
            await reader.readexactly(int(head.partition("content-length:")[2].split()[0]))
        writer.close()


async def measure(weir, count):
    """Opens so many playlists; returns the memory that they cost, in bytes."""
    server = await asyncio.get_running_loop().create_server(Origin, "127.0.0.1", 0)
    origin = server.sockets[0].getsockname()[1]
    before, bounds = weir.memory("RssAnon"), [count * tenth // 10 for tenth in range(11)]
    for begin, end in zip(bounds, bounds[1:]):
        await asyncio.gather(*(open_some(weir.port, origin, range(begin + client, end, CLIENTS)) for client in range(CLIENTS)))
        print("%7d playlists  %6.1f MB more than before" % (end, (weir.memory("RssAnon") - before) / (1 << 20)), flush=True)
    return weir.memory("RssAnon") - before


def open_all(weir, count):
    """The check. Ends the process with status 1 if the playlists cost too much."""
    each = asyncio.run(measure(weir, count)) / count
    print("%.0f bytes for each" % each)
    if each * count > SPARE + MOST * count:
        sys.exit("tools/soak: that is more than %d MB and %d bytes for each" % (SPARE // 1_000_000, MOST))
