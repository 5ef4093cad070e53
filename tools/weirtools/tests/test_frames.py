"""Tests of weirtools/players/frames.py. Run by `swift test`."""

import unittest

from weirtools.players import frames

HEAD = ("#format: frame checksums\n#tb 0: 1/10\n#media_type 0: video\n#dimensions 0: 160x90\n"
        "#tb 1: 1/48000\n#media_type 1: audio\n")


def digest(text):
    return text.rjust(32, "0")


def stream(letters, start=0.0, kind="video", size="160x90"):
    return frames.Stream(kind, size, (1, 10), [(start + index / 10, digest(letter)) for index, letter in enumerate(letters)])


class Reading(unittest.TestCase):
    def test_times_are_seconds_and_half_a_line_does_not_count(self):
        lines = "0, 14, 15, 1, 21600, %s\n1, 4800, 4800, 1024, 2048, %s\n0, 15, 16, 1, 21600, 00ab"
        text = HEAD + lines % (digest("a"), digest("b"))
        video, audio = frames.read(text)
        self.assertEqual((video.name, video.frames), ("video 160x90", [(1.5, digest("a"))]))
        self.assertEqual((audio.name, audio.frames), ("audio", [(0.1, digest("b"))]))


class Differences(unittest.TestCase):
    def test_order_of_streams_is_free_but_each_counts_once(self):
        one, other = stream("abc"), stream("xyz")
        self.assertIsNone(frames.all_differences([other, one], [one, other]))
        self.assertIsNotNone(frames.all_differences([one, one], [one, other]))
        self.assertIsNotNone(frames.all_differences([one], [one, other]))

    def test_another_picture_another_time_and_a_missing_end_are_told(self):
        wanted = stream("abc")
        self.assertEqual(frames.all_differences([stream("axc")], [wanted]), "video 160x90: frame 1 is another")
        self.assertEqual(frames.all_differences([stream("ab")], [wanted]), "video 160x90: 2 frames instead of 3")
        self.assertIn("comes at 1.000 s", frames.all_differences([stream("abc", 1.0)], [wanted]))
        self.assertIn("not expected", frames.all_differences([stream("abc", size="32x18")], [stream("xyz")]))

    def test_what_is_lost_is_counted_apart_from_what_is_wrong(self):
        self.assertEqual(frames.lost([stream("abx")], [stream("abcd")]), (2, 1))
        self.assertEqual(frames.lost([], [stream("abcd")]), (4, 0))


class MixedRenditions(unittest.TestCase):
    def check(self, found, kind="video", share=0.5):
        best, other = stream("abcdefgh", kind=kind), stream("ABCDEFGH", 0.2, kind=kind)
        return frames.composite(best, other, share)(found, None)

    def test_each_frame_must_be_that_of_the_piece_that_was_stored(self):
        self.assertIsNone(self.check(stream("abcdEFGH")))
        self.assertEqual(self.check(stream("abcDEFGH")), "video 160x90: frame 3 is not that of video 160x90")
        self.assertIn("frame 4 ", self.check(stream("abcdeFGH")))
        self.assertIn("7 frames instead of 8", self.check(stream("abcdEFG")))
        self.assertIn("audio instead of video", self.check(stream("abcdEFGH", kind="audio")))

    def test_time_must_go_on(self):
        found = stream("abcdEFGH")
        found.frames[4] = (0.3, found.frames[4][1])
        self.assertIn("time does not go on", self.check(found))

    def test_sound_may_overlap_at_the_joint_alone(self):
        self.assertIsNone(self.check(stream("abcxyFGH", kind="audio"), kind="audio"))
        self.assertIn("frame 7 ", self.check(stream("abcdEFGx", kind="audio"), kind="audio"))


if __name__ == "__main__":
    unittest.main()
