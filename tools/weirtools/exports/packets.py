"""The content of files: decoded pictures, packets of sound, and the words of subtitles."""

import collections
import dataclasses
import hashlib
import json
import subprocess

from weirtools.players import frames


@dataclasses.dataclass
class Content:
    """Of one file, or of several one behind the other."""

    # Hashes of the decoded pictures, in order, and their times in seconds.
    pictures: list = dataclasses.field(default_factory=list)
    times: list = dataclasses.field(default_factory=list)
    # How often each packet of sound is in it, without the head that its container gives it.
    sound: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    cues: set = dataclasses.field(default_factory=set)
    complaints: list = dataclasses.field(default_factory=list)

    def add(self, other):
        self.pictures += other.pictures
        self.times += other.times
        self.sound += other.sound
        self.cues |= other.cues
        self.complaints += other.complaints


def run(words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout, done.stderr.decode(errors="replace").strip()


def of_file(path):
    text, _ = run(["ffprobe", "-v", "error", "-show_entries", "stream=codec_type,codec_name", "-of", "json", str(path)])
    streams = json.loads(text or "{}").get("streams", [])
    # A transport stream lists its streams under its programme as well, and ffprobe gives each once here.
    content = Content()
    kinds = [stream["codec_type"] for stream in streams]
    if "video" in kinds:
        add_pictures(path, content)
    sounds = [stream for stream in streams if stream["codec_type"] == "audio"]
    for number, stream in enumerate(sounds):
        content.sound += sound_packets(path, number, stream["codec_name"])
    for number in range(kinds.count("subtitle")):
        text, _ = run(["ffmpeg", "-nostdin", "-v", "error", "-i", str(path), "-map", "0:s:%d" % number, "-f", "srt", "-"])
        content.cues |= {block.splitlines()[2] for block in text.decode().strip().split("\n\n") if len(block.splitlines()) > 2}
    return content


def add_pictures(path, content):
    # One thread: a decoder of several threads may lose pictures where the size changes.
    text, errors = run(["ffmpeg", "-nostdin", "-v", "error", "-threads", "1", "-i", str(path), "-map", "0:v:0", "-autoscale", "0",
                        "-vsync", "passthrough", "-f", "framemd5", "-"])
    for stream in frames.read(text.decode()):
        content.pictures += [name for _, name in stream.frames]
        content.times += [time for time, _ in stream.frames]
    content.complaints += errors.splitlines()


def sound_packets(path, number, codec):
    """AAC in the frames of ADTS, whose heads are left out; of another codec all bytes as they are."""
    muxer = "adts" if codec == "aac" else "data"
    # What an edit list leaves out is in the file all the same.
    whole = ["-ignore_editlist", "1"] if path.suffix in (".mp4", ".m4s") else []
    data, _ = run(["ffmpeg", "-nostdin", "-v", "error", *whole, "-i", str(path), "-map", "0:a:%d" % number, "-c", "copy", "-f", muxer, "-"])
    if codec != "aac":
        return collections.Counter(blocks(data, codec))
    found, position = [], 0
    while position + 7 <= len(data):
        head = data[position:position + 7]
        size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        start = position + (7 if head[1] & 1 else 9)
        found.append(digest(data[start:position + size]))
        position += max(size, 7)
    return collections.Counter(found)


def blocks(data, codec):
    """The packets of another codec cannot be told apart: pieces of bytes, so that a loss shows, and its size."""
    sync = {"ac3": b"\x0b\x77", "eac3": b"\x0b\x77", "mp3": b"\xff\xfb", "flac": b"\xff\xf8"}.get(codec)
    if sync is None:
        return [digest(data)]
    return [digest(piece) for piece in data.split(sync) if piece]


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]
