"""The parts of the fixtures that ffmpeg's HLS muxer cannot write: see tools/make/fixtures, which calls each command here."""

import argparse
import hashlib
import math
import pathlib
import re
import struct
import subprocess


# Media playlists, as far as ffmpeg and this script write them.

def segments(playlist):
    """(duration in seconds, path, offset, length or None) of each segment of a media playlist."""
    found, duration, byte_range, end = [], 0.0, None, 0
    for line in playlist.read_text().splitlines():
        if line.startswith("#EXTINF:"):
            duration = float(line[8:].split(",")[0])
        elif line.startswith("#EXT-X-BYTERANGE:"):
            length, _, offset = line[17:].partition("@")
            byte_range = (int(offset) if offset else end, int(length))
            end = sum(byte_range)
        elif line and not line.startswith("#"):
            offset, length = byte_range or (0, None)
            found.append((duration, playlist.parent / line, offset, length))
            byte_range = None
    return found


def bit_rates(playlist):
    """(peak, average) bits per second of the segments, as RFC 8216 4.3.4.2 defines BANDWIDTH and AVERAGE-BANDWIDTH."""
    found = [(duration, path.stat().st_size if length is None else length)
             for duration, path, _, length in segments(playlist)]
    target = math.ceil(max(duration for duration, _ in found))
    # A short last segment is no peak: only runs of half a target duration or more count.
    peak = max(size * 8 / duration for duration, size in found if duration >= target / 2)
    total = sum(size for _, size in found) * 8 / sum(duration for duration, _ in found)
    return math.ceil(peak), math.ceil(total)


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


# ISO base media boxes.

def boxes(data, start=0, end=None):
    """(type, offset of the box, offset of its payload, end) of each box in a range of the data."""
    end = len(data) if end is None else end
    while start + 8 <= end:
        size, = struct.unpack_from(">I", data, start)
        payload = start + 8
        if size == 1:
            size, = struct.unpack_from(">Q", data, payload)
            payload += 8
        yield data[start + 4:start + 8].decode("latin-1"), start, payload, start + size
        start += size


def first_sample(data):
    """(offset of the first moof, end of its first sample) in a CMAF segment."""
    moof = next(box for box in boxes(data) if box[0] == "moof")
    traf = next(box for box in boxes(data, moof[2], moof[3]) if box[0] == "traf")
    default_size = None
    for kind, _, payload, _ in boxes(data, traf[2], traf[3]):
        flags = struct.unpack_from(">I", data, payload)[0] & 0xFFFFFF
        if kind == "tfhd":
            at = payload + 8 + 8 * bool(flags & 1) + 4 * bool(flags & 2) + 4 * bool(flags & 8)
            default_size = struct.unpack_from(">I", data, at)[0] if flags & 0x10 else None
        elif kind == "trun":
            at = payload + 8
            data_offset, = struct.unpack_from(">i", data, at)
            at += 4 + 4 * bool(flags & 4) + 4 * bool(flags & 0x100)
            size = struct.unpack_from(">I", data, at)[0] if flags & 0x200 else default_size
            return moof[1], moof[1] + data_offset + size
    raise SystemExit("no sample in the segment")


# Properties of a variant, by ffprobe.

def streams(path):
    """ffprobe's description of the streams: a list of dictionaries."""
    text = subprocess.run(
        ["ffprobe", "-v", "error", "-protocol_whitelist", "file,crypto", "-allowed_extensions", "ALL", "-show_entries",
         "stream=codec_type,profile,level,width,height,r_frame_rate", "-of", "default", str(path)],
        check=True, capture_output=True, text=True).stdout
    blocks = re.findall(r"\[STREAM\]\n(.*?)\[/STREAM\]", text, re.S)
    # A transport stream lists its streams under its programme as well: one of each type is enough.
    described = [dict(line.split("=", 1) for line in block.splitlines()) for block in blocks]
    return {stream["codec_type"]: stream for stream in described}


def codecs(described):
    """The CODECS value (RFC 6381) of ffprobe's streams."""
    profiles = {"Constrained Baseline": "42c0", "Main": "4d40", "High": "6400"}
    names = []
    if "video" in described:
        names.append("avc1.%s%02x" % (profiles[described["video"]["profile"]], int(described["video"]["level"])))
    if "audio" in described:
        names.append("mp4a.40.2")
    return names


# Commands.

def make_master(arguments):
    """master.m3u8 over the named variants' media.m3u8, with groups for separate audio and subtitles."""
    folder = pathlib.Path(arguments.folder)
    lines, iframe_lines = ["#EXTM3U", "#EXT-X-VERSION:%d" % (7 if arguments.audio else 4), "#EXT-X-INDEPENDENT-SEGMENTS"], []
    names = {"en": "English", "fr": "Français"}
    audio_peak = audio_average = 0
    for kind, option, group in (("AUDIO", arguments.audio, "aac"), ("SUBTITLES", arguments.subtitles, "text")):
        for index, (language, path) in enumerate(item.split("=") for item in option):
            attributes = 'TYPE=%s,GROUP-ID="%s",NAME="%s",LANGUAGE="%s",DEFAULT=%s,AUTOSELECT=YES' % (
                kind, group, names[language], language, "YES" if index == 0 and kind == "AUDIO" else "NO")
            if kind == "AUDIO":
                attributes += ',CHANNELS="1"'
                peak, average = bit_rates(folder / path / "media.m3u8")
                audio_peak, audio_average = max(audio_peak, peak), max(audio_average, average)
            lines.append('#EXT-X-MEDIA:%s,URI="%s/media.m3u8"' % (attributes, path))
    for variant in arguments.variants:
        playlist = folder / variant / "media.m3u8"
        peak, average = bit_rates(playlist)
        described = streams(playlist)
        value = codecs(described) + (["mp4a.40.2"] if arguments.audio else [])
        attributes = 'BANDWIDTH=%d,AVERAGE-BANDWIDTH=%d,CODECS="%s"' % (
            peak + audio_peak, average + audio_average, ",".join(value))
        if "video" in described:
            video = described["video"]
            above, below = map(int, video["r_frame_rate"].split("/"))
            picture = ",RESOLUTION=%sx%s" % (video["width"], video["height"])
            attributes += picture + ",FRAME-RATE=%.3f" % (above / below)
            if (folder / variant / "iframes.m3u8").exists():
                peak, average = bit_rates(folder / variant / "iframes.m3u8")
                iframe_lines.append(
                    '#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=%d,AVERAGE-BANDWIDTH=%d,CODECS="%s"%s,URI="%s/iframes.m3u8"'
                    % (peak, average, value[0], picture, variant))
        if arguments.audio:
            attributes += ',AUDIO="aac"'
        if arguments.subtitles:
            attributes += ',SUBTITLES="text"'
        lines += ["#EXT-X-STREAM-INF:" + attributes, variant + "/media.m3u8"]
    write(folder / "master.m3u8", lines + iframe_lines)


def make_iframes(arguments):
    """iframes.m3u8 beside a CMAF media.m3u8: of each segment the range from its moof to the end of its first sample."""
    folder = pathlib.Path(arguments.folder)
    media = (folder / "media.m3u8").read_text().splitlines()
    lines = ["#EXTM3U", "#EXT-X-VERSION:7", next(line for line in media if line.startswith("#EXT-X-TARGETDURATION")),
             "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXT-X-I-FRAMES-ONLY", '#EXT-X-MAP:URI="init.mp4"']
    for duration, path, _, _ in segments(folder / "media.m3u8"):
        start, end = first_sample(path.read_bytes())
        lines += ["#EXTINF:%.6f," % duration, "#EXT-X-BYTERANGE:%d@%d" % (end - start, start), path.name]
    write(folder / "iframes.m3u8", lines + ["#EXT-X-ENDLIST"])


def make_subtitles(arguments):
    """A WebVTT rendition in segments of two seconds with one cue a second, on the clock of a presentation that starts at 0."""
    folder = pathlib.Path(arguments.folder)
    lines = ["#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-TARGETDURATION:2", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for index, start in enumerate(range(0, arguments.seconds, 2)):
        text = ["WEBVTT", "X-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000", ""]
        for second in (start, start + 1):
            text += ["00:00:%02d.100 --> 00:00:%02d.900" % (second, second), "Second %d" % second, ""]
        write(folder / ("%d.vtt" % index), text)
        lines += ["#EXTINF:2.000000,", "%d.vtt" % index]
    write(folder / "media.m3u8", lines + ["#EXT-X-ENDLIST"])


def make_encrypted(arguments):
    """An AES-128 copy of a TS rendition whose key changes every second segment.

    With --iv each segment has its own explicit IV; without, the IV is the media sequence number (RFC 8216 5.2), which then
    starts at --first so that nobody can renumber the segments unnoticed.
    """
    source, folder = pathlib.Path(arguments.source), pathlib.Path(arguments.folder)
    keys = (folder / arguments.keys).resolve()
    keys.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    prefix = "" if arguments.keys == "." else arguments.keys + "/"
    found = segments(source / "media.m3u8")
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % math.ceil(max(item[0] for item in found)),
             "#EXT-X-MEDIA-SEQUENCE:%d" % arguments.first, "#EXT-X-PLAYLIST-TYPE:VOD"]
    for index, (duration, path, _, _) in enumerate(found):
        number = index // 2
        name = prefix if arguments.iv else folder.name
        key = hashlib.sha256(("fixture key %s %d" % (name, number)).encode()).digest()[:16]
        (keys / ("%d.key" % number)).write_bytes(key)
        tag = '#EXT-X-KEY:METHOD=AES-128,URI="%s%d.key"' % (prefix, number)
        if arguments.iv:
            iv = hashlib.sha256(("fixture IV %d" % index).encode()).digest()[:16]
            lines.append(tag + ",IV=0x" + iv.hex().upper())
        else:
            iv = (arguments.first + index).to_bytes(16, "big")
            if index % 2 == 0:
                lines.append(tag)
        subprocess.run(["openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", iv.hex(),
                        "-in", str(path), "-out", str(folder / path.name)], check=True)
        lines += ["#EXTINF:%.6f," % duration, path.name]
    write(folder / "media.m3u8", lines + ["#EXT-X-ENDLIST"])


def make_packed_audio(arguments):
    """Cuts an ADTS file into segments of packed audio, each led by the ID3 timestamp that RFC 8216 3.4 asks for."""
    data, folder = pathlib.Path(arguments.source).read_bytes(), pathlib.Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    rates = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350]
    frames, at = [], 0
    while at < len(data):
        length = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        frames.append(data[at:at + length])
        at += length
    rate = rates[data[2] >> 2 & 15]
    per_segment = round(arguments.segment * rate / 1024)
    lines = ["#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:%d" % round(per_segment * 1024 / rate),
             "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD"]
    for index, start in enumerate(range(0, len(frames), per_segment)):
        group = frames[start:start + per_segment]
        private = b"com.apple.streaming.transportStreamTimestamp\0" + struct.pack(">Q", start * 1024 * 90000 // rate)
        frame = b"PRIV" + struct.pack(">I", len(private)) + b"\0\0" + private
        header = b"ID3\4\0\0" + bytes(len(frame) >> shift & 0x7F for shift in (21, 14, 7, 0))
        (folder / ("%d.aac" % index)).write_bytes(header + frame + b"".join(group))
        lines += ["#EXTINF:%.6f," % (len(group) * 1024 / rate), "%d.aac" % index]
    write(folder / "media.m3u8", lines + ["#EXT-X-ENDLIST"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name, action, *options):
        added = commands.add_parser(name, description=action.__doc__)
        for option, settings in options:
            added.add_argument(option, **settings)
        added.set_defaults(action=action)

    command("master", make_master, ("folder", {}), ("variants", {"nargs": "+"}),
            ("--audio", {"action": "append", "default": []}), ("--subtitles", {"action": "append", "default": []}))
    command("iframes", make_iframes, ("folder", {}))
    command("subtitles", make_subtitles, ("folder", {}), ("--seconds", {"type": int, "required": True}))
    command("encrypt", make_encrypted, ("source", {}), ("folder", {}), ("--keys", {"required": True}),
            ("--iv", {"action": "store_true"}), ("--first", {"type": int, "default": 0}))
    command("packed-audio", make_packed_audio, ("source", {}), ("folder", {}), ("--segment", {"type": int, "required": True}))
    arguments = parser.parse_args()
    arguments.action(arguments)


if __name__ == "__main__":
    main()
