"""Parses playlists and writes them again with Weir's own parser, libavformat's (ffmpeg, mpv) and PyPI's m3u8, in turns.

    tools/bench playlist [--rounds 5] [--segments 10000]

A media playlist of 10,000 segments and a multivariant playlist of 200 variants. Weir writes every URI anew, as for a player; m3u8
writes what it read; libavformat, in C, can only parse. Each round is a process of its own, of some repetitions; printed are the
medians of the rounds' medians, and how many times as long as Weir the others take. Then the most memory that Weir takes, the text
itself included, in lengths of the text, and its time for each segment of playlists of three lengths.
Wanted: Weir the faster, also where it renders and libavformat does not; memory at most 8; the same time for a segment at any length.
Compiled programs stay in .build-bench, packages from PyPI in .build/python.
"""

import os
import subprocess
import sys

from weirtools.bench import common

BUILD = common.ROOT / ".build-bench" / "playlist"
M3U8 = "m3u8==6.0.0"


def media(count):
    """Fragmented MP4 as packagers write it: names with tokens, a date now and then, keys that change."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:6", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-PLAYLIST-TYPE:VOD",
             '#EXT-X-MAP:URI="init.mp4"']
    for number in range(count):
        if number % 1000 == 0:
            lines.append('#EXT-X-KEY:METHOD=AES-128,URI="keys/%d.key",IV=0x%032X' % (number // 1000, number))
        if number % 100 == 0:
            seconds = number * 6
            lines.append("#EXT-X-PROGRAM-DATE-TIME:2026-01-%02dT%02d:%02d:%02d.000Z" % (
                1 + seconds // 86400 % 28, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60))
        lines += ["#EXTINF:6.00600,", "segment-%06d.m4s?token=0123456789abcdef" % number]
    return "\n".join(lines + ["#EXT-X-ENDLIST", ""])


def multivariant(count):
    """Variants with the attributes that Apple asks for, and twenty languages."""
    lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-INDEPENDENT-SEGMENTS"]
    for number in range(20):
        lines.append('#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Language %d",LANGUAGE="l%d",DEFAULT=%s,AUTOSELECT=YES,'
                     'CHANNELS="2",URI="audio-%d/media.m3u8?token=0123456789abcdef"'
                     % (number, number, "NO" if number else "YES", number))
    for number in range(count):
        lines += ['#EXT-X-STREAM-INF:BANDWIDTH=%d,AVERAGE-BANDWIDTH=%d,CODECS="avc1.640028,mp4a.40.2",RESOLUTION=1920x1080,'
                  'FRAME-RATE=25.000,AUDIO="a"' % (1100000 + 1000 * number, 1000000 + 1000 * number),
                  "video-%d/media.m3u8?token=0123456789abcdef" % number]
    return "\n".join(lines + [""])


def build(is_smoke):
    """The programs, as commands that take a file and a number. A smoke run does without PyPI."""
    programs = {"Weir": [common.compile_round("HLS", common.ROUNDS / "playlist.swift", BUILD, is_smoke)],
                "libavformat": [common.compile_c(common.ROUNDS / "libavformat.c", BUILD, "libavformat", "libavutil")]}
    return programs if is_smoke else programs | {"m3u8": install_m3u8()}


def install_m3u8():
    folder = common.python_package(M3U8)
    return ["env", "PYTHONPATH=%s" % folder, "PYTHONDONTWRITEBYTECODE=1", sys.executable, common.ROUNDS / "m3u8_round.py"]


def figures(command, file, count):
    """The figures that one round prints."""
    text = subprocess.run([str(item) for item in command + [file, count]], check=True, capture_output=True, text=True).stdout
    return [float(item) for item in text.split()]


def middles(rounds):
    return [common.median(values) for values in zip(*rounds)]


def compare(programs, name, file, repetitions, rounds):
    """Prints the rows of one playlist; returns the medians of each program."""
    found = {program: [] for program in programs}
    for _ in range(rounds):
        for program, command in programs.items():
            found[program].append(figures(command, file, repetitions[program]))
    times = {program: middles(values) for program, values in found.items()}
    parsing, whole = times["Weir"][:2]
    print("%-28s %12s %12s   %s" % (name, "parsed, us", "and written", "as long as Weir: parsed, and written"))
    for program, values in times.items():
        written = "%12.0f" % values[1] if len(values) > 1 else "%12s" % "-"
        if len(values) > 1:
            against = "%.1f" % (values[1] / whole)
        else:
            against = "%.1f where Weir writes as well" % (values[0] / whole)
        print("  %-26s %12.0f %s   %.1f, %s" % (program, values[0], written, values[0] / parsing, against))
    return times


PROGRAM, SMOKE = False, {"segments": 200}


def add_options(parser):
    parser.add_argument("--segments", type=int, default=10_000)


def measure(bench, arguments):
    programs = build(arguments.smoke)
    def write(name, text):
        file = bench.folder / name
        file.write_text(text)
        return file

    count = arguments.segments
    files = {number: write("%d.m3u8" % number, media(number)) for number in (count // 10, count, count * 10)}
    master = write("master.m3u8", multivariant(200))
    # Repetitions in a round: a tenth of a second or more.
    times = compare(programs, "%d segments" % count, files[count],
                    {"Weir": 50, "libavformat": 20, "m3u8": 1}, arguments.rounds)
    weir = times["Weir"]
    add_rows(arguments, "a playlist of %d segments" % count, times)
    add_rows(arguments, "a multivariant playlist of 200 variants", compare(
        programs, "200 variants", master, {"Weir": 5 if arguments.smoke else 500, "libavformat": 500, "m3u8": 10},
        arguments.rounds))
    print("%-28s %12s %12s %12s" % ("Weir, segments", "us each", "memory, MB", "of the text"))
    for number, file in files.items():
        values = weir if number == count else middles(
            [figures(programs["Weir"], file, 3 if arguments.smoke else max(3, 500_000 // number))
             for _ in range(arguments.rounds)])
        size = os.stat(file).st_size
        print("  %-26d %12.3f %12.1f %12.1f" % (number, values[1] / number, values[2] / (1 << 20), values[2] / size))


def add_rows(arguments, name, times):
    parsing, whole = times["Weir"][:2]
    parser = times["libavformat"][0]
    common.row(arguments, "parsing %s" % name, "libavformat (ffmpeg, mpv), in C", "%.1f" % (parser / parsing))
    common.row(arguments, "parsing it and writing it with other names", "libavformat, which parses alone", "%.1f" % (parser / whole))
    if "m3u8" in times:
        common.row(arguments, "parsing it and writing it", "PyPI's m3u8", "%.0f" % (times["m3u8"][1] / whole))
