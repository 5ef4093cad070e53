"""Point 16: live streams. They slide with the requests of their media playlist, so that plays are alike, and end after a while."""

from weirtools import MEDIA
from weirtools.field.actions import gives, sometimes
from weirtools.field.case import MASTER, case

PIECES = [(MEDIA / "ts" / "90p" / ("%d.ts" % n)).read_bytes() for n in range(6)]
OPTIONS = {"player": ("-live_start_index", "0"), "columns": ("direct", "cold"), "compare": "share", "reference": "ts/90p/media.m3u8", "within": 60}


def live(window=3, first=0, step=1, pattern="%d.ts", target=1, head="", extra=lambda index: "", shown=lambda count: count, ends=True,
         place=lambda index: ""):
    """Files of a stream of six segments: each request of the media playlist slides it by one, and it ends after the last. `place`
    is what precedes the name of a segment in its URI."""
    def media(request):
        memory = request.server.memory("live")
        count = memory["count"] = memory.get("count", 0) + 1
        last = min(len(PIECES), window + (shown(count) - 1) * step)
        begin = max(0, last - window)
        lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:%d" % target, "#EXT-X-MEDIA-SEQUENCE:%d" % (first + begin)]
        lines += [head] if head else []
        for index in range(begin, last):
            lines += [text for text in [extra(index)] if text] + ["#EXTINF:2.000,", place(index) + pattern % (first + index)]
        # The end comes one request after the last segment.
        if ends and last == len(PIECES) and memory.setdefault("whole", count) < count:
            lines.append("#EXT-X-ENDLIST")
        return "\n".join(lines) + "\n"
    pieces = {"/" + pattern % (first + index): body for index, body in enumerate(PIECES)}
    return {"/master.m3u8": MASTER % "media.m3u8", "/media.m3u8": media, **pieces}


def streamed(name, title, fast=False, share=1, rules=(), **fields):
    case("live-" + name, title, live(**fields), rules=list(rules), share=share, fast=fast, **OPTIONS)


streamed("plain", "a window of three segments that slides", fast=True)
streamed("wide", "a window that keeps all segments", window=6)
streamed("epoch", "sequence numbers of an epoch in milliseconds", first=1700000000000, fast=True)
streamed("large-sequence", "sequence numbers beyond 2^32", first=2 ** 33)
streamed("same", "each list is given twice", shown=lambda count: (count + 1) // 2)
streamed("two", "the window jumps by two", step=2)
streamed("dates", "PROGRAM-DATE-TIME on each segment", extra=lambda index: "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:%02d.000Z" % (2 * index))
streamed("discontinuity", "a DISCONTINUITY in the window, with its sequence", extra=lambda index: "#EXT-X-DISCONTINUITY" if index == 3 else "",
         head="#EXT-X-DISCONTINUITY-SEQUENCE:0")
streamed("start", "EXT-X-START near the end", head="#EXT-X-START:TIME-OFFSET=-4")
streamed("server-control", "EXT-X-SERVER-CONTROL with a hold-back", head="#EXT-X-SERVER-CONTROL:HOLD-BACK=6.0,CAN-BLOCK-RELOAD=NO")
streamed("event", "an EVENT playlist that grows", window=6, head="#EXT-X-PLAYLIST-TYPE:EVENT")
streamed("back", "a list goes back by one now and then", shown=lambda count: count - 1 if count % 3 == 0 else count, fast=True)
streamed("playlist-503", "each third playlist answers 503", rules=[("/media.m3u8", sometimes(3, gives(status=503, body="no")))])
streamed("playlist-404", "each fourth playlist answers 404", rules=[("/media.m3u8", sometimes(4, gives(status=404, body="no")))])
streamed("segment-503", "each third segment request answers 503", rules=[("*.ts", sometimes(3, gives(status=503, body="no", Retry_After="1")))])
streamed("long-target", "a target duration longer than the segments", target=3)
streamed("names", "segments with other names", pattern="s%d.ts")
