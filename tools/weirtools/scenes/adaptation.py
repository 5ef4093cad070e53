"""Bit rates that adaptive players reach on a link whose rate is known for all time: by hls.js's rule, and at best. Arithmetic alone.

The model. A player asks for one segment after the other; the first byte comes a round trip after that, and the others at the
link's rate. It holds so much media at most, plays from the first segment's arrival on, and stalls where a segment comes after the
one before it is over. A playback is the variants that it chose, and its stalls.
"""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Stretch:
    """A link that stays the same until a moment, in seconds: its rate in bytes a second, and its round trip in seconds."""

    until: float
    rate: float
    round_trip: float


class Trace:
    """A link over time; the last stretch lasts for ever."""

    def __init__(self, stretches):
        *before, last = stretches
        self.stretches = [*before, dataclasses.replace(last, until=math.inf)]

    def answers(self, asked):
        """Time at which the first byte of a response arrives."""
        return asked + next(stretch.round_trip for stretch in self.stretches if asked < stretch.until)

    def end(self, asked, size):
        """Time at which a number of bytes has arrived that were requested at a moment."""
        at, left = self.answers(asked), size
        for stretch in self.stretches:
            if at >= stretch.until:
                continue
            if left <= (stretch.until - at) * stretch.rate:
                return at + left / stretch.rate
            at, left = stretch.until, left - (stretch.until - at) * stretch.rate
        raise AssertionError("the last stretch lasts for ever")

    def come(self, asked, now, size):
        """Number of bytes of a response that have arrived by now."""
        at, sum_ = self.answers(asked), 0.0
        for stretch in self.stretches:
            if at < min(now, stretch.until):
                sum_ += (min(now, stretch.until) - at) * stretch.rate
                at = min(now, stretch.until)
        return min(sum_, size)


@dataclasses.dataclass(frozen=True)
class Film:
    """Segments of one duration, in seconds; for each variant, the lowest first, its bits a second and its segments' bytes."""

    duration: float
    rates: list
    sizes: list

    @property
    def count(self):
        return len(self.sizes[0])

    @property
    def length(self):
        return self.count * self.duration


@dataclasses.dataclass
class Playback:
    """Result of a play: the number of stalls, their seconds, and the variant of each segment."""

    stalls: int = 0
    stalled: float = 0.0
    variants: list = dataclasses.field(default_factory=list)

    def rate(self, film):
        """The bit rate that was seen, weighted by time."""
        return sum(film.rates[variant] for variant in self.variants) / len(self.variants)


def play(trace, film, ahead, rule):
    """A playback by a rule, which has choose(buffer), gave_up(…) and took(…)."""
    played, now, started = Playback(), 0.0, None
    for index in range(film.count):
        front = index * film.duration

        def buffer(at):
            return 0.0 if started is None else max(0.0, front - (at - started - played.stalled))

        now += max(0.0, buffer(now) - ahead)
        variant, asked = rule.choose(buffer(now)), now
        while True:
            size, instead = film.sizes[variant][index], None
            end = trace.end(asked, size)
            for tick in range(1, math.ceil((end - asked) * 10)):
                now = asked + tick / 10
                come = trace.come(asked, now, size)
                instead = rule.instead(variant, now - asked, trace.answers(asked) - asked, come, size, buffer(now))
                if instead is not None:
                    break
            if instead is None:
                break
            variant, asked = instead, now
        rule.took(variant, end - asked, trace.answers(asked) - asked, size)
        now = end
        if started is None:
            started = now
        elif now - started - played.stalled > front + 0.001:
            played.stalls += 1
            played.stalled = now - started - front
        played.variants.append(variant)
    return played


class Average:
    """An exponentially weighted average, corrected for having begun at nothing."""

    def __init__(self, half_life):
        self.half_life, self.sum, self.weight = half_life, 0.0, 0.0

    def add(self, weight, value):
        old = 0.5 ** (weight / self.half_life)
        self.sum, self.weight = value * (1 - old) + old * self.sum, self.weight + weight

    def value(self, default):
        return self.sum / (1 - 0.5 ** (self.weight / self.half_life)) if self.weight else default


class HLSJS:
    """The rule of hls.js 1.6 with its defaults (AbrController, EwmaBandWidthEstimator), for what is no live stream.

    The best variant whose segment comes before the buffer is over, by 95 % of the estimate for the one there is and lower ones
    and by 70 % for higher ones; where there is none, what up to 4 s of starvation allow. Half a segment's time after it was asked
    for, with less than two segments ahead, a segment that comes too late is given up for a variant that does not.
    """

    FACTOR, FACTOR_UP, STARVATION = 0.95, 0.7, 4.0
    DEFAULT_RATE, DEFAULT_ANSWER = 500_000 / 8, 0.1

    def __init__(self, film):
        self.duration, self.rates = film.duration, [rate / 8 for rate in film.rates]
        self.fast, self.slow, self.answer = Average(3), Average(9), Average(9)
        self.last = 0

    @property
    def rate(self):
        return min(self.fast.value(self.DEFAULT_RATE), self.slow.value(self.DEFAULT_RATE))

    @property
    def expected_answer(self):
        return self.answer.value(self.DEFAULT_ANSWER)

    def sample(self, seconds, size):
        seconds = max(seconds, 0.05)
        for average in (self.fast, self.slow):
            average.add(seconds, size / seconds)

    def choose(self, buffer):
        if not self.fast.weight:
            return 0  # the first one is there to measure by
        best = self.best(buffer, self.FACTOR, self.FACTOR_UP)
        if best is None:
            best = self.best(buffer + min(self.duration, self.STARVATION), self.FACTOR, self.FACTOR_UP)
        return best or 0

    def best(self, limit, factor, factor_up):
        for variant in reversed(range(len(self.rates))):
            rate = self.rate * (factor if variant <= self.last else factor_up)
            if rate >= self.rates[variant] and self.expected_answer + self.rates[variant] * self.duration / rate < limit:
                return variant
        return None

    def instead(self, variant, elapsed, answer, come, size, buffer):
        """The variant to give up another for, so long after it was asked for; None to go on."""
        if not variant or elapsed <= max(self.expected_answer, self.duration / 2) or buffer >= 2 * self.duration:
            return None
        streaming = elapsed - answer
        if come and streaming < 1:
            streaming = min(elapsed, come / self.rate)
        rate = come / streaming if come else 0
        left = (size - come) / rate if rate else size / self.rate + self.expected_answer
        if left <= buffer:
            return None
        for other in reversed(range(variant)):
            instead = self.expected_answer + self.rates[other] * self.duration / (rate or self.rate)
            if instead < min(buffer, self.duration + self.expected_answer):
                break
        if instead >= left or instead > 10 * self.duration:
            return None
        if come:
            self.sample(elapsed - min(self.expected_answer, answer), come)
        else:
            self.answered(elapsed)
        self.last = other
        return other

    def took(self, variant, elapsed, answer, size):
        self.answered(answer)
        self.sample(elapsed - min(answer, self.expected_answer), size)
        self.last = variant

    def answered(self, seconds):
        self.answer.add(math.sqrt(2) * math.exp(-seconds ** 2 / 2), max(seconds, 0.005))


def best(trace, film, ahead):
    """The playback of the highest rate among those without a stall, for one who knows the link for all time."""
    played = [playback for first in range(len(film.rates)) if (playback := best_after(trace, film, ahead, first))]
    if not played:
        raise ValueError("on this link nothing plays without a stall")
    return max(played, key=lambda playback: playback.rate(film))


def best_after(trace, film, ahead, first):
    """The best play that begins with a variant; None where all would stall."""
    started = trace.end(0, film.sizes[first][0])
    # The sum of the rates so far, and for it the earliest end and who got there: whoever is later and worse is left out.
    ways = [(started, film.rates[first], (first, None))]
    for index in range(1, film.count):
        due, found = started + index * film.duration, []
        for now, value, way in ways:
            asked = max(now, due - ahead)
            for variant, rate in enumerate(film.rates):
                end = trace.end(asked, film.sizes[variant][index])
                if end <= due:
                    found.append((end, value + rate, (variant, way)))
        ways, most = [], -1
        for way in sorted(found, key=lambda way: (way[0], -way[1])):
            if way[1] > most:
                ways.append(way)
                most = way[1]
    if not ways:
        return None
    way, variants = ways[-1][2], []
    while way:
        variants.append(way[0])
        way = way[1]
    return Playback(0, 0.0, variants[::-1])
