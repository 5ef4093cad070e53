"""Splices segments of two renditions, and measures the time to plan a splice and to assemble a whole segment.

    tools/bench splice [--rounds 5]

Segments of six seconds, of AVC with sound as ffmpeg muxes them, at three bit rates; each goes behind the initialization section
of another size. Each round is a process of its own, of some repetitions; printed are the medians of the rounds' medians.
"planned": boxes read from the file with pread, and the pieces named. "made": also every byte of the segment read into memory,
which a server spares itself: it sends the media from the file. The last columns say what planning reads, and what is sent from
memory. Wanted: planning in microseconds whatever the size; making at 1 GB/s or more; no media sent from memory.
The compiled program stays in .build-bench.
"""

import subprocess

from weirtools.bench import common
from weirtools.media import films

BUILD = common.ROOT / ".build-bench" / "splice"
SOURCES = (("426x240", 600), ("854x480", 5500), ("1280x720", 20000))  # size, kb/s


def run(*command, **options):
    subprocess.run([str(item) for item in command], check=True, **options)


def rendition(folder, size, kilobits):
    """An initialization section and a segment of six seconds at about this rate; noise is what needs it."""
    home = folder / ("%s-%d" % (size, kilobits))
    films.encode(home, 6, segment=6, kilobits=kilobits, size=size, frames=25, noise=40, tone=440, sound="96k",
                 options=("-hls_segment_type", "fmp4", "-hls_segment_filename", "%d.m4s"))
    return home


PROGRAM = False


def measure(bench, arguments):
    program = common.compile_round("SegmentFormat", common.ROUNDS / "splice.swift", BUILD, arguments.smoke)
    playlist, rows = rendition(bench.folder, "320x180", 300), []
    print("%-12s %12s %12s %12s %12s %14s" % ("segment, KB", "planned, us", "made, us", "made, GB/s", "read, bytes", "from memory"))
    for size, kilobits in SOURCES[:1] if arguments.smoke else SOURCES:
        source = rendition(bench.folder, size, kilobits)
        segment = source / "0.m4s"
        rounds = []
        for _ in range(arguments.rounds):
            command = [program, playlist / "init.mp4", source / "init.mp4", segment, 200]
            text = subprocess.run([str(item) for item in command], check=True, capture_output=True, text=True).stdout
            rounds.append([float(item) for item in text.split()])
        planned, made, read, memory = [common.median(values) for values in zip(*rounds)]
        length = segment.stat().st_size
        print("%-12.0f %12.1f %12.1f %12.2f %12.0f %14.0f" % (length / 1000, planned, made, length / made / 1000, read, memory))
        rows.append((length / 1e6, planned, length / made / 1000))
    megabytes, planned, rates = zip(*rows)
    common.row(arguments, "planning a splice of %s MB, µs" % common.listed("%.1f", megabytes), "", common.listed("%.0f", planned))
    common.row(arguments, "making it in memory, GB/s", "", common.listed("%.1f", rates))
