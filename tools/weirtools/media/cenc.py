"""Encrypts the first fragment of an AVC file by the scheme "cenc" (ISO/IEC 23001-7), each slice as a subsample.

    cenc.py KEY ENCRYPTED PLAIN

ENCRYPTED is a file by ffmpeg whose sections (all up to the first moof) say that samples are encrypted; PLAIN has the same
samples in the clear. The sections and the fragment, encrypted and with its senc, go to standard output. AES is openssl's.
"""

import struct
import subprocess
import sys


def boxes(data, start, end):
    """The boxes of a range: type, start, end."""
    while start < end:
        size, kind = struct.unpack(">I4s", data[start:start + 8])
        yield kind, start, start + size
        start += size


def find(data, start, end, *path):
    """The first box of a path of types."""
    kind, *rest = path
    found = next((a, b) for name, a, b in boxes(data, start, end) if name == kind)
    return find(data, found[0] + 8, found[1], *rest) if rest else found


def encrypt(sample, key, number):
    """A sample and its entry of a senc: of each slice, all but its length and first bytes is protected."""
    parts, protected, position, clear = [], b"", 0, 0
    while position < len(sample):
        size = 4 + struct.unpack(">I", sample[position:position + 4])[0]
        secret = max(0, size - 16) if 1 <= sample[position + 4] & 0x1F <= 5 else 0
        clear += size - secret
        if secret:
            parts.append((position + size - secret, secret, clear))
            protected += sample[position + size - secret:position + size]
            clear = 0
        position += size
    vector = struct.pack(">QQ", number, 0)
    cipher = subprocess.run(["openssl", "enc", "-aes-128-ctr", "-nopad", "-K", key, "-iv", vector.hex()],
                            input=protected, stdout=subprocess.PIPE, check=True).stdout
    result = bytearray(sample)
    for start, size, _ in parts:
        result[start:start + size], cipher = cipher[:size], cipher[size:]
    entry = vector[:8] + struct.pack(">H", len(parts))
    return bytes(result), entry + b"".join(struct.pack(">HI", before, size) for _, size, before in parts)


def main():
    key, encrypted, plain = sys.argv[1:]
    with open(encrypted, "rb") as file:
        sections = file.read()
    sections = sections[:find(sections, 0, len(sections), b"moof")[0]]
    with open(plain, "rb") as file:
        data = file.read()
    moof, moof_end = find(data, 0, len(data), b"moof")
    traf, traf_end = find(data, moof + 8, moof_end, b"traf")
    trun, _ = find(data, traf + 8, traf_end, b"trun")
    flags, count, offset = struct.unpack(">III", data[trun + 8:trun + 20])
    stride = 4 * sum(flags >> bit & 1 for bit in (8, 9, 10, 11))
    fields = trun + 20 + 4 * (flags >> 2 & 1)
    position, samples, entries = moof + offset, b"", b""
    for number in range(count):
        place = fields + number * stride + 4 * (flags >> 8 & 1)
        size = struct.unpack(">I", data[place:place + 4])[0]
        sample, entry = encrypt(data[position:position + size], key, number + 1)
        samples, entries, position = samples + sample, entries + entry, position + size
    senc = struct.pack(">I4sII", 16 + len(entries), b"senc", 2, count) + entries
    head = bytearray(data[moof:moof_end])
    for start, value in ((0, moof_end - moof), (traf - moof, traf_end - traf), (trun - moof + 16, offset)):
        head[start:start + 4] = struct.pack(">I", value + len(senc))
    head[traf_end - moof:traf_end - moof] = senc
    sys.stdout.buffer.write(sections + head + struct.pack(">I4s", 8 + len(samples), b"mdat") + samples)


main()
