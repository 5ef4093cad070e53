"""Tests of the field laboratory's own parts: codings against real decoders, and its comparison of frames."""

import subprocess
import unittest

from weirtools.field import actions, names, playing
from weirtools.players import frames


def stream(hashes, kind="video"):
    return frames.Stream(kind=kind, frames=[(index / 10, hash) for index, hash in enumerate(hashes)])


class Codings(unittest.TestCase):
    def test_zstandard_is_read_by_zstd(self):
        for data in (b"", b"a", bytes(range(256)) * 900):
            done = subprocess.run(["zstd", "-dc"], input=actions.zstandard(data), capture_output=True, check=True)
            self.assertEqual(done.stdout, data)

    def test_brotli_is_one_stored_block_after_another(self):
        packed = actions.brotli(b"abc")
        # A window of 16 bits, no last block, four nibbles of length 3 - 1, stored; then the bytes; then the last, empty block.
        self.assertEqual(packed, bytes([2 << 4, 0, 1 << 4]) + b"abc" + b"\x03")


class Names(unittest.TestCase):
    def test_a_query_is_parsed(self):
        query = b"ab\1\0\0\1\0\0\0\0\0\0\3WWW\4test\0\0\x1c\0\1"
        self.assertEqual(names.parsed(query), ("www.test", names.AAAA, query[12:]))


class Comparison(unittest.TestCase):
    def test_a_share_has_no_foreign_frames(self):
        compare = playing.share_difference(0.5)
        self.assertIsNone(compare(stream("abc"), stream("abcd")))
        self.assertEqual(compare(stream("a"), stream("abcd")), "video: 1 of 4 frames")
        self.assertEqual(compare(stream("abx"), stream("abcd")), "video: 1 frames are foreign")

    def test_a_run_has_no_hole(self):
        self.assertIsNone(playing.run_difference(stream("bc"), stream("abcd")))
        self.assertIsNotNone(playing.run_difference(stream("ac"), stream("abcd")))


if __name__ == "__main__":
    unittest.main()
