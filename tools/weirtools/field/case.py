"""Cases of the field laboratory, as the files in cases/ declare them."""

import dataclasses
import re

from weirtools import MEDIA

ALL = []
COLUMNS = ("direct", "cold", "offline")
# Each case has its own second level domains; the last number of the address is that of the letter.
NAMES = {"A": "www.field%d.com", "B": "cdn.field%d.com", "C": "media.field%d-cdn.net", "D": "nas.field%d.org", "E": "e.field%d.net",
         "F": "field%d.com", "P": "proxy.field%d.com"}


@dataclasses.dataclass
class Host:
    """One host of a case. `address` may be "private", "loopback", "dead" or a literal; `names` replaces the answer of the DNS.
    `tls` is a kind of certificate (certificates.py); `delay` is half a round trip in seconds."""

    address: str = "public"
    ports: tuple = (80,)
    tls: str | None = None
    tls_ports: tuple = (443,)
    tls_options: dict = dataclasses.field(default_factory=dict)
    delay: float = 0
    name: str | None = None
    answers: object = None
    dns_delay: float = 0
    # The answers of the DNS once `weir get` has kept the beginning; Weir is killed and started again in between.
    later: tuple = ()


@dataclasses.dataclass
class Case:
    """An origin's behaviour and how it is opened. In each text HOST-A is the name of host A, ADDRESS-A its address."""

    name: str
    title: str
    files: dict
    rules: list = dataclasses.field(default_factory=list)
    opens: str = "http://HOST-A/master.m3u8"
    hosts: dict = dataclasses.field(default_factory=dict)
    # Options of ffmpeg for the origin's URL; for Weir's URL; and the environment of the first.
    direct: tuple = ()
    player: tuple = ()
    direct_environment: dict = dataclasses.field(default_factory=dict)
    # Options of `weir get` and `weir url`; of `weir serve`; the environment of the latter.
    weir: tuple = ()
    serve: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    # Files for the options, by name: FILE-NAME in an option is the path.
    inputs: dict = dataclasses.field(default_factory=dict)
    # The fixture with the right frames where ffmpeg fails by design, such as "ts/90p/media.m3u8".
    reference: str | None = None
    # "equal": as the reference; "part": whole streams of it; "run": its frames from some moment on without a hole; "share": so
    # many frames at least, none foreign.
    compare: str = "equal"
    share: float = 1
    # The words that refusals must have; then nothing may play.
    refused: str | None = None
    # The exit of `weir get`: 3 for another quality than asked.
    exit: int = 0
    # The status that a player has to see for the entry.
    answer: int | None = None
    columns: tuple = COLUMNS
    # The view of the cold column, such as "auto"; and players that must come to the end there as well, each with a Weir of its own.
    view: str | None = None
    players: tuple = ()
    proxy: dict | None = None
    # Functions of the site (and its proxy) that return in words what was wrong after a column, or None.
    checks: tuple = ()
    within: int = 60
    fast: bool = False
    topic: str = ""
    server: str | None = None
    number: int = 0

    def text(self, text):
        """Replaces the names of hosts."""
        def found(match):
            return self.host_name(match[2]) if match[1] == "HOST" else self.address(match[2])
        return re.sub(r"\b(HOST|ADDRESS)-([A-Z])\b", found, text)

    def host_name(self, letter):
        host = self.hosts.get(letter)
        return host.name % self.number if host and host.name else NAMES[letter] % self.number

    def address(self, letter):
        host, last = self.hosts.get(letter) or Host(), ord(letter) - ord("A") + 1
        patterns = {"public": "1.%d.%d.%d", "private": "10.%d.%d.%d", "loopback": "127.%d.%d.%d", "dead": "1.%d.%d.%d",
                    "six": "2a0f:2::%x:%x:%x"}
        begin = 48 if host.address == "dead" else 16
        return patterns[host.address] % (begin + self.number // 250, self.number % 250, last) if host.address in patterns else host.address


def case(name, title, files=None, **fields):
    """Declares a case."""
    ALL.append(Case(name, title, vod() if files is None else files, **fields))


def read(path):
    return (MEDIA / path).read_bytes()


def media_playlist(folder="ts/90p", prefix="", query="", head="", changed=lambda text: text):
    """The text of a fixture's media playlist with other URIs and more lines in its head."""
    lines = []
    for line in (MEDIA / folder / "media.m3u8").read_text().splitlines():
        if line and not line.startswith("#"):
            line = prefix + line + query
        elif 'URI="' in line:
            line = line.replace('URI="', 'URI="' + prefix)
        lines.append(line)
        if head and line.startswith("#EXT-X-TARGETDURATION"):
            lines += head.splitlines()
    return changed("\n".join(lines) + "\n")


MASTER = """#EXTM3U
#EXT-X-VERSION:4
#EXT-X-STREAM-INF:BANDWIDTH=94000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90,FRAME-RATE=10.000
%s
"""


def vod(folder="ts/90p", prefix="", query="", media="media.m3u8", head="", changed=lambda text: text, master=None):
    """A multivariant playlist with one variant, its media playlist and its segments, all at the root of each host."""
    files = {"/" + path.name: path.read_bytes() for path in (MEDIA / folder).iterdir() if path.suffix != ".m3u8"}
    files["/media.m3u8"] = media_playlist(folder, prefix, query, head, changed)
    files["/master.m3u8"] = master or MASTER % media
    return files


def cut_by_packager(folder, size):
    """The stream of a fixture in files of `size` bytes, whatever they end with. The playlist has the fixture's mean duration."""
    playlist = (MEDIA / folder / "media.m3u8").read_text()
    seconds = sum(float(line[8:].split(",")[0]) for line in playlist.splitlines() if line.startswith("#EXTINF:"))
    names = [line for line in playlist.splitlines() if line and not line.startswith("#")]
    stream = b"".join((MEDIA / folder / name).read_bytes() for name in names)
    parts = [stream[start:start + size] for start in range(0, len(stream), size)]
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for number in range(len(parts)):
        lines += ["#EXTINF:%.3f," % (seconds / len(parts)), "%d.ts" % number]
    files = {"/%d.ts" % number: part for number, part in enumerate(parts)}
    return {**files, "/media.m3u8": "\n".join(lines + ["#EXT-X-ENDLIST", ""]), "/master.m3u8": MASTER % "media.m3u8"}


def in_packets_of(folder, size):
    """A fixture's packets of 188 bytes with a time before each (192), or parity behind each (204)."""
    def packets(data):
        before, behind = (bytes(4), b"") if size == 192 else (b"", bytes(size - 188))
        return b"".join(before + data[start:start + 188] + behind for start in range(0, len(data), 188))
    return {name: packets(data) if name.endswith(".ts") else data for name, data in vod(folder).items()}


def fixture(name):
    """A fixture with all its files, as it is."""
    folder = MEDIA / name
    return {"/" + str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def changed(files, **texts):
    """Files with others in place of some; names with "/" by the dictionary `texts["also"]`."""
    also = texts.pop("also", {})
    return {**files, **{"/" + name.replace("_", "."): text for name, text in texts.items()}, **also}
