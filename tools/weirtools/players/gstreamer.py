"""GStreamer for tools/lab/player: gst-launch-1.0 with sinks that print each buffer instead of showing it.

It is playbin3, which gst-play uses by itself from GStreamer 1.24 on. The older playbin of 1.22 comes to a standstill in its
hlsdemux by itself, in up to a third of the plays of muxed fMP4 from a plain origin.
"""

import re
import subprocess

SINK = "fakesink silent=false"
# As in "GstFakeSink:fakesink0: last-message = chain   ******* (fakesink0:sink) (86400 bytes, dts: none, pts: 0:00:01.5, …".
# A buffer of "preroll" comes again as "chain" when it is its turn.
SHOWN = re.compile(r"Sink:(\w+): last-message = chain .*? pts: (\d+):(\d+):([\d.]+), duration: (?:(\d+):(\d+):([\d.]+))?")


def seconds(hours, minutes, rest):
    return int(hours) * 3600 + int(minutes) * 60 + float(rest)


def length(text):
    """Seconds from the first buffer that was shown to the end of the last one; None where there was none."""
    starts, ends = {}, {}
    for found in SHOWN.finditer(text):
        sink, hours, minutes, rest, *duration = found.groups()
        start = seconds(hours, minutes, rest)
        starts.setdefault(sink, start)
        ends[sink] = start + (seconds(*duration) if duration[0] else 0)
    return round(max(ends.values()) - min(starts.values()), 2) if starts else None


def play(run):
    """Plays as fast as it comes: the sinks do not wait for the clock. Seeks are left out: gst-launch has none.

    The position counts from the first buffer, for transport streams do not start at 0.
    """
    output = run.folder / "stdout"
    with open(output, "wb") as file:
        child = run.start(["gst-launch-1.0", "-v", "playbin3", "uri=" + run.url, "video-sink=" + SINK, "audio-sink=" + SINK],
                          stdout=file)
        try:
            child.wait(timeout=run.left())
        except subprocess.TimeoutExpired:
            run.note_problems(["not done in time"])
    text = output.read_text(errors="replace")
    run.report.update(ended=child.poll() == 0 and "Got EOS from element" in text, position=length(text))
    told = re.split(r"[\r\n]+", text + "\n" + run.errors())
    run.note_problems(line for line in told if line.startswith(("ERROR", "WARNING")) or "CRITICAL" in line)
