"""Tests of weirtools/media/transport.py. Run by `swift test`."""

import unittest

from weirtools.media.transport import FRAME, PACKET, SMALLEST, SOUND, Template, checksum


def packets(body):
    return [body[at:at + PACKET] for at in range(0, len(body), PACKET)]


def payload(packet):
    """(program id, whether a unit begins, continuity counter, payload)"""
    start = 5 + packet[4] if packet[3] & 0x20 else 4
    return (packet[1] & 0x1F) << 8 | packet[2], bool(packet[1] & 0x40), packet[3] & 15, packet[start:]


def sounds(body):
    """The elementary stream's packets."""
    units = []
    for pid, begins, _, data in map(payload, packets(body)):
        if pid == SOUND:
            units += [data] if begins else []
            units[-1] += b"" if begins else data
    return units


def time(unit):
    """The presentation time stamp."""
    a, b, c, d, e = unit[9:14]
    return (a >> 1 & 7) << 30 | b << 22 | c >> 1 << 15 | d << 7 | e >> 1


class TransportTest(unittest.TestCase):
    def test_segment_has_the_most_whole_packets_within_its_size(self):
        for size in (SMALLEST, 20_480, 100_000, 1 << 20):
            body = Template(size).segment(0)
            self.assertEqual(len(body), size // PACKET * PACKET)
            self.assertTrue(all(packet[0] == 0x47 for packet in packets(body)))

    def test_smaller_size_is_the_smallest(self):
        self.assertEqual(len(Template(1).body), SMALLEST // PACKET * PACKET)

    def test_tables_pass_their_check(self):
        for packet in packets(Template(20_480).segment(0))[:2]:
            data = payload(packet)[3]
            length = (data[2] & 15) << 8 | data[3]
            self.assertEqual(checksum(data[1:4 + length]), 0)

    def test_sound_is_whole_frames_of_the_announced_length(self):
        template = Template(100_000)
        frames = 0
        for unit in sounds(template.segment(3)):
            self.assertEqual(unit[4] << 8 | unit[5], len(unit) - 6)
            sound = unit[14:]
            self.assertEqual(len(sound) % len(FRAME), 0)
            self.assertTrue(all(sound.startswith(FRAME[:4], at) for at in range(0, len(sound), len(FRAME))))
            frames += len(sound) // len(FRAME)
        self.assertEqual(frames, template.frames)

    def test_counters_go_up_by_one(self):
        counters = [found[2] for found in map(payload, packets(Template(100_000).segment(0))) if found[0] == SOUND]
        self.assertEqual(counters, [number % 16 for number in range(len(counters))])

    def test_segments_follow_each_other_in_time_and_differ(self):
        template = Template(50_000)
        times = [time(unit) for number in range(3) for unit in sounds(template.segment(number))]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(time(sounds(template.segment(2))[0]), round(2 * template.seconds * 90_000))
        self.assertEqual(sounds(template.segment(7))[0][18:30], b"000000000007")
