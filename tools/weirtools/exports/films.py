"""Films that are made of short encodings, whose packets are known before Weir sees them."""

import dataclasses
import os
import pathlib
import subprocess

SECONDS, RATE, SEGMENT = 2, 20, 1

AVC = ("-c:v", "libx264", "-profile:v", "high", "-bf", "0")
SMALL, LARGE = ("-s", "320x180"), ("-s", "480x270")
PICTURES = {
    "avc": (*AVC, *SMALL),
    "avc-again": (*AVC, *SMALL, "-vf", "hue=h=90"),
    "avc-b": ("-c:v", "libx264", "-profile:v", "high", "-bf", "2", *SMALL),
    "avc-main": ("-c:v", "libx264", "-profile:v", "main", "-bf", "0", *SMALL),
    "avc-large": ("-c:v", "libx264", "-profile:v", "baseline", "-bf", "0", *LARGE),
    "hevc": ("-c:v", "libx265", "-x265-params", "log-level=none:bframes=0", "-tag:v", "hvc1", *SMALL),
    "hevc-large": ("-c:v", "libx265", "-x265-params", "log-level=none:bframes=0", "-tag:v", "hvc1", *LARGE),
    "vp9": ("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", *SMALL),
    "av1": ("-c:v", "libsvtav1", "-svtav1-params", "preset=12", *SMALL),
    "": ("-vn",),
}
SOUNDS = {
    "aac": ("-c:a", "aac", "-ac", "1"),
    "aac-stereo": ("-c:a", "aac", "-ac", "2"),
    "aac-44k": ("-c:a", "aac", "-ac", "1", "-ar", "44100"),
    "ac3": ("-c:a", "ac3", "-ac", "2"),
    "eac3": ("-c:a", "eac3", "-ac", "2"),
    "mp3": ("-c:a", "libmp3lame", "-ac", "2"),
    "flac": ("-c:a", "flac", "-ac", "2"),
    "opus": ("-c:a", "libopus", "-ac", "2"),
    "": ("-an",),
}
BOXES = {
    "ts": ("-hls_segment_filename", "%d.ts"),
    "fmp4": ("-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", "init.mp4", "-hls_segment_filename", "%d.m4s"),
    "range-ts": ("-hls_flags", "single_file", "-hls_segment_filename", "all.ts"),
    "range-fmp4": ("-hls_flags", "single_file", "-hls_segment_type", "fmp4", "-hls_segment_filename", "all.mp4"),
    "aes-ts": ("-hls_segment_filename", "%d.ts", "-hls_key_info_file", "../key"),
}
KEY = bytes(range(16))
# The folder of the encodings at the origin.
PARTS = "parts"


@dataclasses.dataclass(frozen=True)
class Part:
    """Two seconds of one encoding: `avc+aac/ts`, pictures with sound in a container; either may be missing."""

    words: str

    @property
    def picture(self):
        return self.words.split("/")[0].partition("+")[0]

    @property
    def sound(self):
        return self.words.split("/")[0].partition("+")[2]

    @property
    def container(self):
        return self.words.split("/")[1]

    @property
    def tone(self):
        """Another language has another tone: the third word."""
        return (self.words.split("/") + ["440"])[2]

    @property
    def folder(self):
        return self.words.replace("/", "-").replace("+", "-")

    def encode(self, root):
        """The encoding as a media playlist below the origin's folder; made once."""
        home = root / PARTS
        place = home / self.folder
        if place.exists():
            return place
        place.mkdir(parents=True)
        (home / "key.bin").write_bytes(KEY)
        (home / "key").write_text("../key.bin\n%s\n" % (home / "key.bin"))
        codec = PICTURES[self.picture]
        if self.picture.startswith(("avc", "hevc")):
            codec = (*codec, "-preset", "ultrafast", "-sc_threshold", "0")
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=480x270:rate=%d:duration=%d" % (RATE, SECONDS),
             "-f", "lavfi", "-i", "sine=frequency=%s:sample_rate=48000:duration=%d" % (self.tone, SECONDS), *codec, "-pix_fmt",
             "yuv420p", "-g", str(RATE), "-keyint_min", str(RATE), *SOUNDS[self.sound], "-strict", "-2", "-f", "hls", "-hls_time",
             str(SEGMENT), "-hls_playlist_type", "vod", *BOXES[self.container], "media.m3u8"],
            cwd=place, check=True, env={**os.environ, "SVT_LOG": "1"})
        return place


@dataclasses.dataclass
class Film:
    """A presentation: parts one behind the other, with the sound of other playlists and subtitles beside them."""

    name: str
    parts: tuple
    # By language, the parts of a playlist of sound alone.
    sounds: dict = dataclasses.field(default_factory=dict)
    texts: tuple = ()
    # What is between two parts.
    joint: str = "#EXT-X-DISCONTINUITY"
    # The number of a segment that is missing: marked by EXT-X-GAP, or answered with 404.
    gap: int | None = None
    lost: int | None = None

    @property
    def is_lone(self):
        return not self.sounds and not self.texts

    @property
    def has_hole(self):
        return self.gap is not None or self.lost is not None

    @property
    def changes_sound(self):
        return any(len({part.sound for part in parts}) > 1 for parts in [self.parts, *self.sounds.values()])

    def lay(self, root):
        """The URL's path, below a folder of its own."""
        home = root / self.name
        home.mkdir(parents=True)
        lines = self.media_lines(root, self.parts, self.joint)
        if self.gap is not None:
            lines.insert(self.positions(lines)[self.gap], "#EXT-X-GAP")
        if self.lost is not None:
            position = self.positions(lines)[self.lost]
            lines[position] = "../nowhere" + pathlib.Path(lines[position]).suffix
        write(home / "media.m3u8", lines)
        if self.is_lone:
            return self.name + "/media.m3u8"
        master, groups = ["#EXTM3U", "#EXT-X-VERSION:7"], ""
        for number, (language, parts) in enumerate(self.sounds.items()):
            write(home / ("sound-%s.m3u8" % language), self.media_lines(root, parts, self.joint))
            master.append('#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="%s",LANGUAGE="%s",DEFAULT=%s,AUTOSELECT=YES,URI="sound-%s.m3u8"'
                          % (language, language, "NO" if number else "YES", language))
            groups = ',AUDIO="sound"'
        for language in self.texts:
            self.lay_text(home, language)
            master.append('#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="text",NAME="%s",LANGUAGE="%s",AUTOSELECT=YES,URI="text-%s.m3u8"'
                          % (language, language, language))
        if self.texts:
            groups += ',SUBTITLES="text"'
        write(home / "master.m3u8", master + ["#EXT-X-STREAM-INF:BANDWIDTH=800000" + groups, "media.m3u8"])
        return self.name + "/master.m3u8"

    def media_lines(self, root, parts, joint):
        lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-TARGETDURATION:2", "#EXT-X-PLAYLIST-TYPE:VOD"]
        for number, part in enumerate(parts):
            place = part.encode(root)
            if number and joint:
                lines.append(joint)
            for line in (place / "media.m3u8").read_text().splitlines():
                if line.startswith("#EXT-X-MAP:"):
                    lines.append(line.replace('URI="', 'URI="../%s/%s/' % (PARTS, part.folder)))
                elif line.startswith(("#EXTINF:", "#EXT-X-BYTERANGE:")):
                    lines.append(line)
                elif line.startswith("#EXT-X-KEY:"):
                    lines.append(line.replace('URI="../', 'URI="../%s/' % PARTS))
                elif line and not line.startswith("#"):
                    lines.append("../%s/%s/%s" % (PARTS, part.folder, line))
        return lines + ["#EXT-X-ENDLIST"]

    @staticmethod
    def positions(lines):
        """The lines that name segments."""
        return [number for number, line in enumerate(lines) if not line.startswith("#")]

    def lay_text(self, home, language):
        lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:2"]
        for number in range(len(self.parts)):
            start = number * SECONDS
            cue = "WEBVTT\n\n00:00:%02d.200 --> 00:00:%02d.900\n%s\n" % (start, start, self.cue(language, number))
            (home / ("text-%s-%d.vtt" % (language, number))).write_text(cue)
            lines += ["#EXTINF:%d," % SECONDS, "text-%s-%d.vtt" % (language, number)]
        write(home / ("text-%s.m3u8" % language), lines + ["#EXT-X-ENDLIST"])

    @staticmethod
    def cue(language, number):
        return "%s %d" % (language, number)

    @property
    def cues(self):
        return {self.cue(language, number) for language in self.texts for number in range(len(self.parts))}


def write(path, lines):
    path.write_text("\n".join(lines) + "\n")


def film(name, *words, sounds=None, **options):
    """A film of parts in words; of a sound too."""
    others = {language: tuple(Part(word) for word in parts) for language, parts in (sounds or {}).items()}
    return Film(name, tuple(map(Part, words)), others, **options)


def alone():
    """Films of one encoding."""
    films = []
    for box in BOXES:
        films += [film("%s-%s" % (picture, box), "%s+aac/%s" % (picture, box)) for picture in ("avc", "avc-b", "hevc")]
    films += [film("sound-%s-ts" % sound, "avc+%s/ts" % sound) for sound in ("aac-stereo", "aac-44k", "ac3", "eac3", "mp3")]
    films += [film("sound-%s-fmp4" % sound, "avc+%s/fmp4" % sound) for sound in ("ac3", "eac3", "mp3", "flac", "opus")]
    films += [film("%s-fmp4" % picture, picture + "+aac/fmp4") for picture in ("vp9", "av1")]
    for box in ("ts", "fmp4"):
        films += [film("silent-" + box, "avc/" + box), film("radio-" + box, "+aac/" + box)]
    return films


def grouped():
    """Films whose sound or subtitles are playlists of their own."""
    english, french = ("+aac/%s", "+aac/%s/660")
    films = []
    for box in ("ts", "fmp4"):
        sounds = {"en": [english % box], "fr": [french % box]}
        films += [
            film("languages-" + box, "avc/" + box, sounds=sounds),
            film("subtitles-" + box, "avc+aac/" + box, texts=("en", "de")),
            film("all-" + box, "avc/" + box, sounds=sounds, texts=("en", "de")),
        ]
    return films + [
        film("sound-ts-in-fmp4", "avc/fmp4", sounds={"en": ["+aac/ts"]}),
        film("sound-fmp4-in-ts", "avc/ts", sounds={"en": ["+aac/fmp4"]}),
        film("languages-of-two-codecs", "avc/fmp4", sounds={"en": ["+aac/fmp4"], "fr": ["+eac3/fmp4/660"]}),
        film("hevc-languages", "hevc/fmp4", sounds={"en": ["+aac/fmp4"], "fr": ["+aac/fmp4/660"]}, texts=("en",)),
    ]


def changing():
    """Films whose media changes in the middle."""
    return [
        film("joint-ts", "avc+aac/ts", "avc-again+aac/ts"),
        film("joint-fmp4", "avc+aac/fmp4", "avc-again+aac/fmp4"),
        film("joint-unmarked-ts", "avc+aac/ts", "avc-again+aac/ts", joint=""),
        film("map-profile", "avc+aac/fmp4", "avc-main+aac/fmp4"),
        film("map-size", "avc+aac/fmp4", "avc-large+aac/fmp4"),
        film("map-size-unmarked", "avc+aac/fmp4", "avc-large+aac/fmp4", joint=""),
        film("map-size-and-back", "avc+aac/fmp4", "avc-large+aac/fmp4", "avc+aac/fmp4"),
        film("size-ts", "avc+aac/ts", "avc-large+aac/ts"),
        film("hevc-size-ts", "hevc+aac/ts", "hevc-large+aac/ts"),
        film("ts-then-fmp4", "avc+aac/ts", "avc+aac/fmp4"),
        film("fmp4-then-ts", "avc+aac/fmp4", "avc+aac/ts"),
        film("ts-within-fmp4", "avc+aac/fmp4", "avc+aac/ts", "avc+aac/fmp4"),
        film("avc-then-hevc-fmp4", "avc+aac/fmp4", "hevc+aac/fmp4"),
        film("avc-then-hevc-ts", "avc+aac/ts", "hevc+aac/ts"),
        film("hevc-then-avc-fmp4", "hevc+aac/fmp4", "avc+aac/fmp4"),
        film("stereo-later-ts", "avc+aac/ts", "avc+aac-stereo/ts"),
        film("stereo-later-fmp4", "avc+aac/fmp4", "avc+aac-stereo/fmp4"),
        film("rate-of-sound-ts", "avc+aac/ts", "avc+aac-44k/ts"),
        film("codec-of-sound-ts", "avc+aac/ts", "avc+ac3/ts"),
        film("codec-of-sound-fmp4", "avc+aac/fmp4", "avc+eac3/fmp4"),
        film("sound-ends-ts", "avc+aac/ts", "avc/ts"),
        film("sound-begins-ts", "avc/ts", "avc+aac/ts"),
        film("sound-ends-fmp4", "avc+aac/fmp4", "avc/fmp4"),
        film("sound-begins-fmp4", "avc/fmp4", "avc+aac/fmp4"),
        film("picture-ends-ts", "avc+aac/ts", "+aac/ts"),
        film("clear-then-encrypted", "avc+aac/ts", "avc-again+aac/aes-ts"),
        film("language-changes", "avc/fmp4", "avc-large/fmp4",
             sounds={"en": ["+aac/fmp4", "+aac-stereo/fmp4"], "fr": ["+aac/fmp4/660", "+aac/fmp4/660"]}, texts=("en",)),
        film("language-changes-alone", "avc/fmp4", "avc/fmp4", sounds={"en": ["+aac/fmp4", "+eac3/fmp4"]}),
    ]


def broken():
    """Films with holes."""
    return [
        film("gap-ts", "avc+aac/ts", "avc-again+aac/ts", gap=1), film("gap-fmp4", "avc+aac/fmp4", "avc-again+aac/fmp4", gap=2),
        film("lost-ts", "avc+aac/ts", "avc-again+aac/ts", lost=1), film("lost-fmp4", "avc+aac/fmp4", "avc-again+aac/fmp4", lost=2),
        film("gap-at-the-start", "avc+aac/ts", "avc-again+aac/ts", gap=0),
    ]


def films():
    return alone() + grouped() + changing() + broken()
