"""Segments that demuxers read: MPEG transport streams (ISO/IEC 13818-1) of one sound, of a size to the packet.

The sound is MPEG audio, layer II, at 384 kb/s and 48 kHz, whose frames carry text instead of sound: enough for whoever copies
without decoding. They differ in their time stamps, and in their numbers, which stand in the text.
"""

import struct

PACKET = 188
FRAME_SECONDS = 0.024
CLOCK = 90_000
FRAME = b"\xff\xfd\xe4\x00" + b"weir " * 229 + b"\n\n\n"  # 1152 bytes: 144 * 384,000 / 48,000
FRAMES = 16  # in a packet of the elementary stream
PROGRAMS, MAP, SOUND, NOTHING = 0x0000, 0x1000, 0x0100, 0x1FFF
START = b"\0\0\1\xc0"  # of a packet of the elementary stream
MARK = b"%012d"
SMALLEST = 4096


class Template:
    """Segments of `size` bytes, or what of that is in whole packets; at least SMALLEST."""

    def __init__(self, size):
        packets = max(size, SMALLEST) // PACKET
        parts = [packet(PROGRAMS, 0, section(0x00, struct.pack(">HH", 1, 0xE000 | MAP))),
                 packet(MAP, 0, section(0x02, struct.pack(">HHBHH", 0xE000 | NOTHING, 0xF000, 0x03, 0xE000 | SOUND, 0xF000)))]
        self.frames, self.stamps, counter = 0, [], 0  # where the time stamps stand, each with the frame that it is of
        while count := max(0, min(FRAMES, (184 * (packets - len(parts)) - 16) // len(FRAME))):
            self.stamps.append((len(parts) * PACKET, self.frames))
            # Where a segment begins, the packets' counters do not go on from the one before it.
            for chunk, adaptation in split(elementary(count), b"\x80" if not counter else None):
                parts.append(packet(SOUND, counter, chunk, adaptation))
                counter += 1
            self.frames += count
        parts += [packet(NOTHING, 0, b"\xff" * 184)] * (packets - len(parts))
        self.body = b"".join(parts)
        self.stamps = [(self.body.index(START, place) + 9, frame) for place, frame in self.stamps]

    @property
    def seconds(self):
        """Duration of one segment in seconds."""
        return self.frames * FRAME_SECONDS

    def segment(self, number):
        """The bytes of the segment with this number, from 0 on, which begins where the one before it ends."""
        body = bytearray(self.body)
        for place, frame in self.stamps:
            body[place:place + 5] = stamp(round((number * self.frames + frame) * FRAME_SECONDS * CLOCK))
            mark = MARK % number
            body[place + 9:place + 9 + len(mark)] = mark  # behind the header of the first frame
        return bytes(body)


def stamp(ticks):
    """A presentation time stamp, by itself."""
    ticks %= 1 << 33
    return bytes([0x21 | ticks >> 29 & 0x0E, ticks >> 22 & 0xFF, 1 | ticks >> 14 & 0xFE, ticks >> 7 & 0xFF, 1 | ticks << 1 & 0xFE])


def elementary(frames):
    """A packet of the elementary stream."""
    body = b"\x80\x80\x05" + stamp(0) + FRAME * frames
    return START + struct.pack(">H", len(body)) + body


def split(data, flags):
    """(payload, adaptation field or None) of the packets that data takes; the first one has flags, the last is filled up."""
    chunks = []
    while data or not chunks:
        adaptation = flags if not chunks else None
        room = 184 - (1 + len(adaptation) if adaptation else 0)
        chunk, data = data[:room], data[room:]
        missing = room - len(chunk)
        if missing and adaptation is None:
            adaptation = b"\0"[:missing - 1]
            missing -= 1 + len(adaptation)
        chunks.append((chunk, adaptation + b"\xff" * missing if adaptation is not None else None))
    return chunks


def packet(pid, counter, payload, adaptation=None):
    """A packet; its payload must fill it. With a table or the beginning of sound it says that a unit begins."""
    begins = 0x40 if payload.startswith(START) or pid in (PROGRAMS, MAP) else 0
    control = 0x10 if adaptation is None else 0x30
    head = bytes([0x47, begins | pid >> 8, pid & 0xFF, control | counter & 15])
    if adaptation is not None:
        head += bytes([len(adaptation)]) + adaptation
    return (head + payload).ljust(PACKET, b"\xff")


def section(table, body):
    """A table, with its pointer before it and its check behind it."""
    head = struct.pack(">BHHBBB", table, 0xB000 | len(body) + 9, 1, 0xC1, 0, 0)
    return b"\0" + head + body + struct.pack(">I", checksum(head + body))


def checksum(data):
    """CRC-32 as in annex A."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = value << 1 ^ (0x04C11DB7 if value & 0x80000000 else 0)
        value &= 0xFFFFFFFF
    return value
