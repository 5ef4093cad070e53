"""Tests of weirtools/link/shaper.py and weirtools/link/links.py: exact times, on a clock that is a number. Run by `swift test`."""

import math
import random
import unittest

from weirtools.link import links, shaper
from weirtools.link.shaper import PACKET


class Never:
    """Loses nothing."""

    def random(self):
        return 1.0


class Script:
    """Numbers as told, then nothing lost."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0) if self.numbers else 1.0


class Bench:
    """A pipe, a reader that takes everything at once, and the times at which bytes came."""

    def __init__(self, rate, delay=0, back=0, loss=0, numbers=None):
        self.pipe = shaper.Pipe(numbers or Never(), self.note)
        self.pipe.shape(0, rate, delay, back, loss, False)
        self.came, self.flows, self.ends = [], [], {}

    def note(self, at, size):
        self.came.append((at, size))

    def flow(self, starts_at=0):
        self.flows.append(shaper.Flow(len(self.flows), starts_at))
        return self.flows[-1]

    def saturate(self, flows, until, step=0.001):
        """Keeps so much queued in each that the pipe never lacks bytes, and asks only every `step` seconds."""
        for number in range(int(until / step) + 1):
            now = number * step
            for flow in flows:
                self.pipe.send(flow, max(0, 4 * self.pipe.queue_limit - flow.queued), now)
            self.read(now)

    def read(self, now):
        for flow in self.pipe.advance(now):
            if flow.has_ended:
                self.ends[flow] = now
            self.pipe.take(flow, flow.arrived, now)

    def drain(self):
        """Lets everything happen at its own time."""
        while (at := self.pipe.next_time()) < math.inf:
            self.read(at)


class Times(unittest.TestCase):
    def test_a_small_packet_takes_its_bytes_at_the_rate_and_the_delay(self):
        bench = Bench(780_000, 100, 100)
        bench.pipe.send(bench.flow(), 975, 5.0)
        bench.drain()
        self.assertEqual(bench.came, [(5.0 + 975 * 8 / 780_000 + 0.1, 975)])

    def test_packets_follow_each_other_without_a_gap(self):
        bench = Bench(2_000_000, 5, 5)
        bench.pipe.send(bench.flow(), 3 * PACKET + 100, 0)
        bench.drain()
        packet = PACKET * 8 / 2e6
        expected = [(packet + 0.005, PACKET), (2 * packet + 0.005, PACKET), (3 * packet + 0.005, PACKET),
                    (3 * packet + 100 * 8 / 2e6 + 0.005, 100)]
        self.assertEqual([size for _, size in bench.came], [size for _, size in expected])
        for (came, _), (due, _) in zip(bench.came, expected):
            self.assertAlmostEqual(came, due, 9)

    def test_when_it_is_asked_makes_no_difference(self):
        seen = []
        for step in (0.0001, 0.001, 0.02):
            bench = Bench(2_000_000, 50, 50)
            bench.saturate([bench.flow(), bench.flow()], 2, step)
            seen.append([(round(at, 9), size) for at, size in bench.came if at < 1.9])
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(seen[0], seen[2])

    def test_nothing_is_sent_before_the_connection_stands(self):
        bench = Bench(None, 100, 100)
        bench.pipe.send(bench.flow(starts_at=0.2), 10, 0.0)
        bench.drain()
        self.assertEqual(bench.came, [(0.30000000000000004, 10)])

    def test_the_end_comes_after_the_last_byte_and_takes_no_time(self):
        bench = Bench(80_000, 100)
        flow = bench.flow()
        bench.pipe.send(flow, 100, 0)
        bench.pipe.finish(flow, 0)
        bench.drain()
        self.assertEqual((bench.came, bench.ends), ([(0.11, 100)], {flow: 0.11}))

    def test_the_end_alone_takes_the_delay(self):
        bench = Bench(8000, 100)
        flow = bench.flow()
        bench.pipe.finish(flow, 1)
        bench.drain()
        self.assertEqual(bench.ends, {flow: 1.1})


class Rates(unittest.TestCase):
    def worst(self, rate, delay, back, flows):
        """The greatest deviation of any window of one second, at any offset, from the third second on."""
        bench = Bench(rate, delay, back)
        bench.saturate([bench.flow() for _ in range(flows)], 9)
        worst, start, inside = 0, 0, 0
        came = [(at, size) for at, size in bench.came if at >= 3]
        for at, size in came:
            inside += size
            while came[start][0] <= at - 1:
                inside -= came[start][1]
                start += 1
            if at >= 4:
                worst = max(worst, abs(inside * 8 / rate - 1))
        self.assertGreater(came[-1][0], 8.5)
        return worst

    def test_every_preset_keeps_its_rates_in_every_second(self):
        for link in links.PRESETS:
            if link.down and not link.loss:
                for rate, delay, back in ((link.down, link.delay_down, link.delay_up), (link.up, link.delay_up, link.delay_down)):
                    for flows in (1, 3) if rate < 40e6 else (2,):
                        with self.subTest(link.preset, rate=rate, flows=flows):
                            self.assertLess(self.worst(rate, delay, back, flows), 0.0101)

    def test_connections_share_packet_by_packet(self):
        bench = Bench(2_000_000, 5, 5)
        flows = [bench.flow() for _ in range(4)]
        for flow in flows:
            bench.pipe.send(flow, 40 * PACKET, 0)
        while bench.pipe.next_time() < math.inf:
            bench.read(bench.pipe.next_time())
            left = [flow.queued for flow in flows]
            # The first one had a packet on its way before there was another.
            self.assertLessEqual(max(left) - min(left), 2 * PACKET)

    def test_one_who_comes_later_has_its_share_at_once(self):
        bench = Bench(800_000)
        old = [bench.flow() for _ in range(3)]
        for flow in old:
            bench.pipe.send(flow, 1_000_000, 0)
        bench.read(1.0)
        late = bench.flow()
        bench.pipe.send(late, 500, 1.0)
        bench.read(1.0 + 4 * bench.pipe.packet * 8 / 800_000 + 500 * 8 / 800_000)
        self.assertEqual(late.outstanding, 0)
        self.assertEqual(late.queued, 0)

    def test_other_rates_hold_from_then_on(self):
        bench = Bench(8_000_000)
        flow = bench.flow()
        bench.saturate([flow], 1)
        before = sum(size for _, size in bench.came)
        self.assertAlmostEqual(before, 1_000_000, delta=PACKET)
        bench.pipe.shape(1, 800_000, 0, 0, 0, False)
        bench.pipe.send(flow, 1_000_000, 1)
        bench.read(2)
        self.assertAlmostEqual(sum(size for _, size in bench.came) - before, 100_000, delta=2 * PACKET)

    def test_without_a_limit_there_is_only_the_delay(self):
        bench = Bench(None, 20, 20)
        bench.pipe.send(bench.flow(), 10 * PACKET, 0)
        bench.drain()
        self.assertEqual({at for at, _ in bench.came}, {0.02})


class Windows(unittest.TestCase):
    def test_a_long_way_comes_up_to_speed_by_doubling(self):
        bench = Bench(50_000_000, 50, 65)
        bench.pipe.send(bench.flow(), 4_000_000, 0)
        bench.drain()
        # Ten packets, twenty, forty… each a round trip of 115 ms and one packet's time after the one before.
        first = 0.05 + PACKET * 8 / 50e6
        trip = 0.115 + PACKET * 8 / 50e6
        for number in range(5):
            start = first + number * trip
            count = sum(size for at, size in bench.came if start - 1e-6 <= at < start + 0.11)
            self.assertEqual(count, 10 * 2 ** number * PACKET)

    def test_one_connection_fills_every_preset_in_the_end(self):
        for link in links.PRESETS:
            if link.down and not link.loss:
                bench = Bench(link.down, link.delay_down, link.delay_up)
                bench.saturate([bench.flow()], 4, 0.002)
                last = sum(size for at, size in bench.came if 3 < at <= 4)
                self.assertAlmostEqual(last * 8 / link.down, 1, delta=0.0101)

    def test_one_who_does_not_read_holds_up_himself_alone(self):
        bench = Bench(80_000_000, 1, 1)
        deaf, other = bench.flow(), bench.flow()
        for number in range(2000):
            now = number / 1000
            for flow in (deaf, other):
                bench.pipe.send(flow, max(0, 100_000 - flow.queued), now)
            for flow in bench.pipe.advance(now):
                if flow is other:
                    bench.pipe.take(flow, flow.arrived, now)
        self.assertLessEqual(deaf.outstanding, bench.pipe.bound + PACKET)
        self.assertGreater(deaf.arrived, bench.pipe.bound - PACKET)
        self.assertAlmostEqual(sum(size for at, size in bench.came if at >= 1) * 8, 80e6, delta=200_000)
        before = deaf.outstanding
        bench.pipe.take(deaf, 500_000, 2.0)
        bench.pipe.advance(2.1)
        self.assertGreater(deaf.outstanding, before - 500_000)

    def test_what_is_dropped_is_not_sent(self):
        bench = Bench(8_000_000)
        gone, other = bench.flow(), bench.flow()
        bench.pipe.send(gone, 100_000, 0)
        bench.pipe.drop(gone)
        bench.pipe.send(other, 1000, 0)
        bench.drain()
        self.assertEqual(bench.came, [(0.001, 1000)])


class Losses(unittest.TestCase):
    def test_a_lone_packet_that_is_lost_comes_after_a_timeout(self):
        bench = Bench(None, 100, 150, 10, Script(0.05, 0.5))
        bench.pipe.send(bench.flow(), 100, 0)
        bench.drain()
        self.assertAlmostEqual(bench.came[0][0], 0.1 + 0.25 + 0.2)

    def test_one_with_others_behind_it_comes_a_round_trip_later_and_holds_them_up(self):
        bench = Bench(None, 100, 150, 10, Script(0.05, 0.5))
        flow = bench.flow()
        bench.pipe.send(flow, 8 * PACKET, 0)
        bench.drain()
        # Half of the first window, then what its acknowledgement lets go.
        came = [(round(at, 9), size) for at, size in bench.came]
        self.assertEqual(came, 5 * [(0.35, PACKET)] + 3 * [(0.6, PACKET)])
        self.assertEqual(flow.threshold, shaper.FIRST_WINDOW / 2)

    def test_a_repetition_that_is_lost_doubles_the_timeout(self):
        bench = Bench(None, 100, 150, 10, Script(0.05, 0.05, 0.05, 0.5))
        bench.pipe.send(bench.flow(), 100, 0)
        bench.drain()
        self.assertAlmostEqual(bench.came[0][0], 0.1 + 0.45 + 0.45 + 0.9)

    def test_a_very_bad_network_carries_everything_slowly(self):
        bench = Bench(1_000_000, 500, 500, 10, random.Random(1))
        flow = bench.flow()
        bench.pipe.send(flow, 300_000, 0)
        bench.pipe.finish(flow, 0)
        bench.drain()
        self.assertEqual(sum(size for _, size in bench.came), 300_000)
        self.assertEqual(list(bench.ends), [flow])
        # Mathis, Semke, Mahdavi: 1.22 PACKET / (1 s · √0.1) is 45 kb/s; timeouts take more than half of that.
        self.assertTrue(10_000 < 300_000 * 8 / bench.ends[flow] < 60_000, bench.ends[flow])

    def test_nothing_passes_a_dead_link_until_it_lives(self):
        bench = Bench(1_000_000)
        flow = bench.flow()
        bench.pipe.shape(0, 0, 0, 0, 100, True)
        bench.pipe.send(flow, 1000, 1)
        self.assertEqual(bench.pipe.next_time(), math.inf)
        bench.read(1000)
        self.assertEqual(bench.came, [])
        bench.pipe.shape(2000, 1_000_000, 0, 0, 0, False)
        bench.drain()
        self.assertEqual(bench.came, [(2000.008, 1000)])

    def test_a_handshake_takes_a_round_trip_and_its_losses(self):
        link = links.preset("Very Bad Network")
        self.assertEqual(shaper.handshake(link, Script(0.5)), 1)
        self.assertEqual(shaper.handshake(link, Script(0.9, 0.82, 0.5)), 1 + 1 + 2)


class Figures(unittest.TestCase):
    def test_presets_are_found_by_any_case(self):
        self.assertEqual(links.preset("wi-fi 802.11AC").down, 250_000_000)
        self.assertEqual(links.preset("OFF"), links.OFF)
        with self.assertRaisesRegex(links.BadLink, "there is no preset \"4G\"; there are: 100% Loss, EDGE, 3G"):
            links.preset("4G")

    def test_figures_change_one_by_one_and_presets_all(self):
        link = links.changed(links.preset("3G"), {"delayDown": 250})
        self.assertEqual((link.preset, link.down, link.delay_down, link.delay_up), (None, 780_000, 250, 100))
        self.assertEqual(links.changed(link, {"preset": "edge"}), links.preset("EDGE"))
        self.assertIsNone(links.changed(link, {"down": None}).down)

    def test_figures_that_no_link_has_are_refused(self):
        for fields in ({"down": -1}, {"down": 5}, {"loss": 101}, {"delayUp": "x"}, {"up": True}, {"speed": 1}, {"delayUp": None},
                       {"preset": 3}, {"preset": "4G"}, {"down": math.nan}, {"dnsDelay": 1e9}):
            with self.subTest(fields), self.assertRaises(links.BadLink):
                links.changed(links.OFF, fields)

    def test_texts(self):
        self.assertEqual([links.rate(text) for text in ("780k", "2M", "2.5 Mb/s", "64000", "64000b/s", "1gb/s", "0", "unlimited")],
                         [780_000, 2e6, 2.5e6, 64_000, 64_000, 1e9, 0, None])
        self.assertEqual([links.delay(text) for text in ("100", "100ms", "1.5s")], [100, 100, 1500])
        self.assertEqual([links.share(text) for text in ("10", "0.5%")], [10, 0.5])
        for text in ("", "k", "1_0", "nan", "inf", "1e3", "-1", "2MB", "1..2", "٣"):
            with self.subTest(text), self.assertRaises(links.BadLink):
                links.rate(text)


if __name__ == "__main__":
    unittest.main()
