"""Figures of a link: the known presets, and the text form of figures."""

import dataclasses
import math


class BadLink(ValueError):
    """Figures that no link has; the argument is a sentence for the user."""


@dataclasses.dataclass(frozen=True)
class Link:
    """The figures of a link; a preset's name with them, or None for figures of one's own."""

    preset: str | None
    down: float | None = None  # bits a second; None: no limit, 0: nothing passes
    up: float | None = None
    delay_down: float = 0  # milliseconds, one way
    delay_up: float = 0
    loss: float = 0  # per cent of the packets
    dns_delay: float = 0  # milliseconds, for a name that is not remembered

    @property
    def is_dead(self):
        """True if no response can arrive: one direction that carries nothing is enough."""
        return self.down == 0 or self.up == 0 or self.loss >= 100

    @property
    def round_trip(self):
        """Seconds there and back for a packet of no size."""
        return (self.delay_down + self.delay_up) / 1000

    def as_json(self):
        return {name: getattr(self, field) for name, field in FIELDS.items()}


FIELDS = {"preset": "preset", "down": "down", "up": "up", "delayDown": "delay_down", "delayUp": "delay_up", "loss": "loss",
          "dnsDelay": "dns_delay"}
SLOWEST = 1000  # b/s: a packet takes twelve seconds then
LIMITS = {"down": 1e12, "up": 1e12, "delayDown": 60_000, "delayUp": 60_000, "loss": 100, "dnsDelay": 60_000}

OFF = Link("off")
PRESETS = [
    Link("100% Loss", 0, 0, loss=100),
    Link("EDGE", 240_000, 200_000, 400, 440),
    Link("3G", 780_000, 330_000, 100, 100),
    Link("DSL", 2_000_000, 256_000, 5, 5),
    Link("LTE", 50_000_000, 10_000_000, 50, 65),
    Link("Wi-Fi", 40_000_000, 33_000_000, 1, 1),
    Link("Wi-Fi 802.11ac", 250_000_000, 100_000_000, 1, 1),
    Link("High Latency DNS", dns_delay=3000),
    Link("Very Bad Network", 1_000_000, 1_000_000, 500, 500, loss=10),
]


def preset(name):
    """The preset of a name, whatever its case; "off" is one too."""
    for link in [OFF, *PRESETS]:
        if link.preset.casefold() == name.casefold():
            return link
    raise BadLink('there is no preset "%s"; there are: %s, off' % (name, ", ".join(link.preset for link in PRESETS)))


def changed(link, fields):
    """The link with fields as in JSON laid over it: a preset replaces all of it, the others one figure each."""
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise BadLink('there is no field "%s"; there are: %s' % (unknown[0], ", ".join(FIELDS)))
    if fields.get("preset") is not None:
        if not isinstance(fields["preset"], str):
            raise BadLink("preset is to be a name")
        link = preset(fields["preset"])
    figures = {FIELDS[name]: checked(name, value) for name, value in fields.items() if name != "preset"}
    return dataclasses.replace(link, preset=None, **figures) if figures else link


def checked(name, value):
    """A figure within its limits."""
    if value is None and name in ("down", "up"):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LIMITS[name]:
        raise BadLink("%s is to be a number from 0 to %d" % (name, LIMITS[name]))
    if name in ("down", "up") and 0 < value < SLOWEST:
        raise BadLink("%s is to be 0, or %d b/s at least" % (name, SLOWEST))
    return int(value) if value == int(value) else value


RATES = {"b/s": 1, "k": 1e3, "kb/s": 1e3, "m": 1e6, "mb/s": 1e6, "g": 1e9, "gb/s": 1e9}


def rate(text):
    """Bits a second from 780k, 2M, 2.5Mb/s or 64000; None from "unlimited"."""
    if text.strip().lower() == "unlimited":
        return None
    return number(text, RATES, "a rate such as 780k, 2M, 50Mb/s or unlimited")


def delay(text):
    """Milliseconds from 100, 100ms or 1.5s."""
    return number(text, {"ms": 1, "s": 1000}, "a delay such as 100ms or 1.5s")


def share(text):
    """Per cent from 10 or 10%."""
    return number(text, {"%": 1}, "a share such as 10%")


def number(text, units, what):
    text = text.strip().lower()
    unit = max((unit for unit in units if text.endswith(unit)), key=len, default="")
    digits = text.removesuffix(unit).strip()
    try:
        value = float(digits) * units.get(unit, 1)
    except ValueError:
        value = math.nan
    # float() also takes "nan", "inf" and "1_0".
    if not math.isfinite(value) or value < 0 or not set(digits) <= set("0123456789."):
        raise BadLink("%s is not %s" % (text or "nothing", what))
    return value
