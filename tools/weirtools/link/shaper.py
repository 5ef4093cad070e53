"""One direction of a link as arithmetic: which byte of which connection arrives when. No sockets, no clock but the callers'.

The model. A pipe carries the bytes of all its flows (one flow is one direction of one TCP connection) in packets of up to 1,448
bytes (or what takes 10 ms, if that is less: so a second of any rate is exact to a hundredth), one after the other, each for as
long as its bytes take at the rate; the flows that have something to send take turns, packet by packet. What has crossed arrives
after the delay. When it is asked does not matter: a pipe that is asked late does then what it would have done in time, so timers
may be coarse.

Each flow is a simple TCP sender. It may have a window of unacknowledged bytes on their way (RFC 5681: ten packets at first as in
RFC 6928, twice as many after each round trip, and once something was lost one more each round trip), so a long way needs a few
round trips to come up to speed. A packet that is lost has crossed the bottleneck, arrives one round trip later (or after a
timeout, when nothing behind it would tell the sender, or when it is lost again), holds up what is behind it, and halves the
window: at most once a round trip. What the reader does not take closes its own window (RFC 9293 section 3.8.6), at the size that
it has.

Limits of the model. Rates count the bytes of the connections, without headers, acknowledgements or handshakes: 3 to 6 per cent
that a real link would take off. Repetitions of lost packets take their time on the link at once, not when they happen. The window
does not shrink in pauses. Queues do not overflow: the sender waits, as one does for its own modem. Senders other than this one
(CUBIC, BBR) come to other figures where packets are lost.
"""

import collections
import heapq
import math

PACKET = 1448
SMALLEST_PACKET = 64
FIRST_WINDOW = 10 * PACKET
SMALLEST_BOUND = 1 << 20
LARGEST_BOUND = 16 << 20
# Time that Linux adds to the round trip time before it believes that a packet is lost.
PATIENCE = 0.2
LONGEST_TIMEOUT = 60
MOST_REPETITIONS = 15


class Flow:
    """One direction of one connection. `owner` is the caller's."""

    def __init__(self, owner, starts_at):
        self.owner = owner
        self.queued = 0  # bytes that wait for their turn
        self.arrived = 0  # bytes that have arrived and that nobody has taken
        self.outstanding = 0  # bytes sent that nobody has taken: on their way, or arrived
        self.is_ending = self.has_ended = self.is_gone = False
        self.ready_at = starts_at  # not before this it may send
        self.last_arrival = 0.0
        self.flight = collections.deque()  # (when it is acknowledged, bytes) of what is on its way
        self.in_flight = 0
        self.window, self.threshold = float(FIRST_WINDOW), math.inf
        self.reader_window = math.inf  # what the reader takes in without reading
        self.recovered_at = -math.inf

    def acknowledge(self, at, bound):
        """Lets the window grow by what is acknowledged by then."""
        flight = self.flight
        while flight and flight[0][0] <= at:
            size = flight.popleft()[1]
            self.in_flight -= size
            growth = size if self.window < self.threshold else PACKET * size / self.window
            self.window = min(self.window + growth, bound)


class Pipe:
    """One direction of a link, for all connections together. Times are seconds of any clock that does not go back."""

    def __init__(self, random, meter=None):
        self.random, self.meter = random, meter
        self.rate, self.delay, self.back, self.loss = math.inf, 0.0, 0.0, 0.0  # bytes a second, seconds, seconds, share
        self.is_dead = False
        self.packet = PACKET
        self.bound = SMALLEST_BOUND  # of a flow's window, and of what may wait for its reader
        self.free_at = 0.0
        self.ring = collections.deque()  # the flows that have something to send; the first is next
        self.arrivals = []  # a heap of (when, count, flow, bytes); no bytes: the end
        self.count = 0

    def shape(self, now, rate, delay, back, loss, is_dead):
        """Goes on with other figures: bits a second or None, milliseconds here and back, per cent."""
        self.transmit_until(now)
        self.rate = math.inf if rate is None else rate / 8
        self.delay, self.back, self.loss, self.is_dead = delay / 1000, back / 1000, loss / 100, is_dead
        self.packet = int(min(max(SMALLEST_PACKET, self.rate / 100), PACKET))
        needed = 0 if self.rate == math.inf else 2 * self.rate * (self.delay + self.back)
        self.bound = int(min(max(SMALLEST_BOUND, needed), LARGEST_BOUND))
        self.free_at = max(self.free_at, now)

    @property
    def queue_limit(self):
        """Bytes of one flow that may wait to be sent: enough that the pipe does not run dry before its owner is asked for more."""
        return int(min(max(65536, self.rate / 50), SMALLEST_BOUND))

    # What the owner of a flow does

    def send(self, flow, count, now):
        """Queues `count` bytes to be sent."""
        self.transmit_until(now)
        self.line_up(flow, now)
        flow.queued += count

    def finish(self, flow, now):
        """Nothing comes any more: the end follows the last byte."""
        self.transmit_until(now)
        self.line_up(flow, now)
        flow.is_ending = True

    def take(self, flow, count, now):
        """The receiver has read `count` of the arrived bytes."""
        self.transmit_until(now)
        flow.arrived -= count
        flow.outstanding -= count
        if flow.ready_at == math.inf:
            flow.ready_at = now

    def drop(self, flow):
        """The connection is gone: what waits is not sent, what is on its way arrives nowhere."""
        flow.is_gone = True
        flow.queued = 0
        if flow in self.ring:
            self.ring.remove(flow)

    def advance(self, now):
        """Everything up to now happens; gives the flows of which something has arrived."""
        self.transmit_until(now)
        touched = {}
        while self.arrivals and self.arrivals[0][0] <= now:
            at, _, flow, size = heapq.heappop(self.arrivals)
            if size and self.meter:
                self.meter(at, size)
            if flow.is_gone:
                continue
            flow.arrived += size
            flow.has_ended = flow.has_ended or not size
            touched[flow] = None
        return touched

    def next_time(self):
        """Time of the next useful call of `advance`; infinite when nothing is under way."""
        arrival = self.arrivals[0][0] if self.arrivals else math.inf
        if self.is_dead or not self.ring:
            return arrival
        return min(arrival, max(self.free_at, min(flow.ready_at for flow in self.ring)))

    # The sending

    def line_up(self, flow, now):
        if not flow.queued and not flow.is_ending:
            flow.ready_at = max(flow.ready_at, now)
            self.ring.append(flow)

    def transmit_until(self, now):
        while flow := self.choose(now):
            self.transmit(flow)

    def choose(self, now):
        """The flow whose packet goes next, if that can begin by now; the pipe is then free at the moment when it begins."""
        ring = self.ring
        while ring and not self.is_dead and self.free_at <= now:
            for _ in range(len(ring)):
                flow = ring[0]
                if flow.ready_at <= self.free_at and self.may_send(flow):
                    return flow
                ring.rotate(-1)
            earliest = min(flow.ready_at for flow in ring)
            if earliest > now:
                return None
            self.free_at = max(self.free_at, earliest)
        return None

    def may_send(self, flow):
        """True if the windows of a flow let it send now; if not, `ready_at` says when to ask again."""
        flow.acknowledge(self.free_at, self.bound)
        size = min(self.packet, flow.queued)
        if flow.outstanding + size > min(self.bound, max(flow.reader_window, PACKET)) + PACKET:
            flow.ready_at = math.inf
        elif flow.flight and flow.in_flight + size > flow.window:
            flow.ready_at = flow.flight[0][0]
        else:
            return True
        return False

    def transmit(self, flow):
        size = min(self.packet, flow.queued)
        flow.queued -= size
        began = self.free_at
        self.free_at += size / self.rate
        arrival = self.free_at + self.delay
        if size and self.loss and self.random.random() < self.loss:
            arrival += self.lose(flow, size, began)
        flow.last_arrival = max(flow.last_arrival, arrival)
        self.count += 1
        heapq.heappush(self.arrivals, (flow.last_arrival, self.count, flow, size))
        if size:
            flow.flight.append((flow.last_arrival + self.back, size))
            flow.in_flight += size
            flow.outstanding += size
        self.ring.popleft()
        if flow.queued or (size and flow.is_ending):
            self.ring.append(flow)

    def lose(self, flow, size, began):
        """A packet is lost, and perhaps its repetitions: how much later it arrives."""
        round_trip = self.delay + self.back
        timeout = round_trip + PATIENCE
        is_fast = min(flow.queued, flow.window - flow.in_flight - size) >= 3 * PACKET
        late = round_trip if is_fast else timeout
        repetitions = 1
        while self.random.random() < self.loss and repetitions < MOST_REPETITIONS:
            is_fast = False
            late += timeout
            timeout = min(2 * timeout, LONGEST_TIMEOUT)
            repetitions += 1
        self.free_at += repetitions * size / self.rate
        if began >= flow.recovered_at:
            flow.threshold = max(2.0 * PACKET, flow.window / 2)
            flow.window = flow.threshold if is_fast else float(PACKET)
            flow.recovered_at = self.free_at + self.delay + late
        return late


def handshake(link, random):
    """Seconds until a connection stands: a round trip, and 1, 2, 4… seconds more while its packets are lost (RFC 6298)."""
    seconds, wait = link.round_trip, 1
    through = (1 - link.loss / 100) ** 2
    while random.random() >= through and wait <= 64:
        seconds += wait
        wait *= 2
    return seconds
