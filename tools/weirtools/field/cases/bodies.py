"""Point 8: content codings, statuses and lengths of bodies."""

from weirtools.field.actions import (
    ages, both, claims, coded, cut_at, ends_early, first, frames, gives, misstates, sometimes, unless_range, weakens)
from weirtools.field.case import Host, case, changed, cut_by_packager, fixture, in_packets_of, media_playlist, vod

TRUTH, SEGMENTS, PLAYLISTS = "ts/90p/media.m3u8", "*.ts", "*.m3u8"
CMAF = "cmaf/master.m3u8"

for coding in ("gzip", "deflate", "raw-deflate", "br", "zstd", "x-gzip"):
    label = "deflate" if coding == "raw-deflate" else coding
    case("coded-segments-" + coding, "segments with Content-Encoding %s that nobody asked for" % label, rules=[(SEGMENTS, coded(coding, label))],
         reference=TRUTH, fast=coding in ("gzip", "br", "zstd"), within=20)  # ffmpeg hangs on bare deflate.
for coding in ("gzip", "deflate", "br", "zstd"):
    case("coded-playlists-" + coding, "playlists with Content-Encoding %s" % coding, rules=[(PLAYLISTS, coded(coding))], reference=TRUTH,
         fast=coding == "br")
for coding in ("none", "utf-8", "identity", "aws-chunked", "binary", "UTF8", ""):
    case("coding-" + (coding.lower() or "empty"), "Content-Encoding “%s” on bodies as they are" % coding, rules=[("*", gives(Content_Encoding=coding))],
         reference=TRUTH, fast=coding in ("none", "aws-chunked"))
case("coded-everything", "gzip on everything: keys too", fixture("aes"), rules=[("*", coded("gzip"))], reference="aes/master.m3u8")
case("coded-fmp4", "gzip on fMP4, its initialization section, and VTT", fixture("cmaf"), rules=[("*", coded("gzip"))], reference=CMAF)
case("coded-chunked", "gzip, chunked", rules=[(SEGMENTS, both(coded("gzip"), frames(framing="chunked")))], reference=TRUTH)
for coding in ("br", "zstd"):
    case("coded-fmp4-" + coding, "%s on fMP4, its initialization section, and VTT" % coding, fixture("cmaf"), rules=[("*", coded(coding))],
         reference=CMAF)
    case("coded-keys-" + coding, "%s on everything: keys too" % coding, fixture("aes"), rules=[("*", coded(coding))], reference="aes/master.m3u8")
case("coded-and-identity", "Content-Encoding “identity, gzip”", rules=[(SEGMENTS, coded("gzip", "identity, gzip"))], reference=TRUTH)
case("coded-length-none", "gzip, and the body ends with the connection", rules=[(SEGMENTS, both(coded("gzip"), frames(framing="close")))],
     reference=TRUTH)
case("coded-label-only", "Content-Encoding gzip on a body that is not compressed", rules=[(SEGMENTS, coded("as-is", "gzip"))], reference=TRUTH, within=20)
case("coded-cut", "gzip segments, each cut once", rules=[(SEGMENTS, both(coded("gzip"), first(1, cut_at(0.5))))], reference=TRUTH, columns=("direct", "offline"))

for status in (201, 203):
    case("status-%d" % status, "%d for the whole" % status, rules=[("*", unless_range(gives(status=status)))], reference=TRUTH, fast=status == 203)
case("status-206-whole", "206 to a request without Range, with the whole's Content-Range", rules=[(SEGMENTS, lambda request, reply: gives(
    status=206, Content_Range="bytes 0-%d/%d" % (len(reply.body) - 1, len(reply.body)))(request, reply))], reference=TRUTH, fast=True)
case("status-206-bare", "206 without Content-Range", rules=[(SEGMENTS, gives(status=206))], reference=TRUTH)
case("status-206-star", "206 with an unknown length in Content-Range", rules=[(SEGMENTS, lambda request, reply: gives(
    status=206, Content_Range="bytes 0-%d/*" % (len(reply.body) - 1))(request, reply))], reference=TRUTH)
case("no-ranges", "a Range is answered with 200 and everything", rules=[("*", frames(has_ranges=False))], fast=True)
# ffmpeg loses most frames; a download asks for the whole file.
case("no-ranges-byterange", "BYTERANGE, and the origin answers each Range with 200 and everything", vod("byterange-ts/90p"),
     rules=[("*", frames(has_ranges=False))], reference="byterange-ts/90p/media.m3u8", columns=("direct", "offline"))
case("byterange-ts", "BYTERANGE with TS", vod("byterange-ts/90p"))
case("byterange-fmp4", "BYTERANGE with fMP4", vod("byterange-fmp4/90p"), fast=True)

for name, label, action in (
        ("end", "each range ends a byte too late", misstates(end=1)),
        ("total-0", "the total of each range is 0", misstates(total=lambda length: 0)),
        ("total-part", "the total of each range is its own length", misstates(total=lambda length: length)),
        ("total-star", "the total of each range is *", misstates(total=lambda length: "*")),
        ("status-200", "ranges come with 200 and a Content-Range", misstates(status=200)),
        ("bare", "ranges come without Content-Range", misstates(is_placed=False)),
        ("length-large", "the length of each range is too large, and the connection ends behind it",
         both(misstates(claims=5000), frames(keep=False)))):
    case("range-" + name, label, vod("byterange-ts/90p"), rules=[(SEGMENTS, action)], reference="byterange-ts/90p/media.m3u8",
         fast=name in ("end", "status-200"))
# Players that have no second try of their own skip the segment.
for name, label, action in (
        ("404", "404", gives(status=404, body="no")), ("400", "400", gives(status=400, body="no")), ("403", "403", gives(status=403, body="no")),
        ("page", "a page", gives(body="<html><body>Busy</body></html>")), ("text", "a word", gives(body="Busy")),
        ("empty", "nothing", gives(body=""))):
    case("passing-" + name, "each fifth answer is %s in place of a segment" % label, rules=[(SEGMENTS, sometimes(5, action))],
         reference=TRUTH, columns=("cold", "offline"), fast=name == "404")

case("length-small", "Content-Length too small by 20 %: the rest follows", rules=[(SEGMENTS, claims(factor=0.8))], reference=TRUTH, fast=True)
case("length-small-packets", "Content-Length too small by whole packets", rules=[(SEGMENTS, claims(difference=-188 * 4))], reference=TRUTH)
case("length-large", "Content-Length too large, then the connection ends", rules=[(SEGMENTS, claims(difference=5000))], reference=TRUTH, fast=True)
case("length-large-held", "Content-Length too large on one segment, and the connection stays open", rules=[
    ("/2.ts", both(claims(difference=5000), frames(hold=40)))], reference=TRUTH, within=100)
case("length-large-once", "Content-Length too large on one segment", rules=[("/2.ts", claims(difference=100))], reference=TRUTH)
case("length-zero-chunked", "Content-Length 0 on a chunked body", rules=[(SEGMENTS, claims(length=0, framing="chunked"))], reference=TRUTH)
case("length-small-close", "Content-Length too small, and the connection ends behind the body", rules=[
    (SEGMENTS, both(claims(factor=0.8), frames(keep=False)))], reference=TRUTH)
case("length-small-fmp4", "Content-Length too small, fMP4", fixture("cmaf"), rules=[("*.m4s", claims(factor=0.9))], reference=CMAF)
SECURE = {"hosts": {"A": Host(tls="good")}, "opens": "https://HOST-A/master.m3u8"}
case("length-small-tls", "Content-Length too small by 20 %, over TLS", rules=[(SEGMENTS, claims(factor=0.8))], reference=TRUTH, fast=True, **SECURE)
case("length-small-tls-fmp4", "Content-Length too small, fMP4 over TLS", fixture("cmaf"), rules=[("*.m4s", claims(factor=0.9))], reference=CMAF,
     **SECURE)
case("length-small-audio", "Content-Length too small by a byte, packed AAC over TLS", fixture("audio"), rules=[("*.aac", claims(difference=-1))],
     reference="audio/master.m3u8", **SECURE)
for name, label, media in (("ts", "TS", "*.ts"), ("fmp4", "fMP4", "*.m4s")):
    case("ends-early-" + name, "%s: each segment ends early at first, with a length to match" % label, fixture("cmaf") if name == "fmp4" else None,
         rules=[(media, first(1, ends_early(5001)))], reference=CMAF if name == "fmp4" else TRUTH)
case("ends-early-always", "each answer ends at another byte, with a length to match", rules=[(SEGMENTS, ends_early(5001, step=37))],
     refused="ends inside its media", columns=("offline",), within=120)
case("packager-cuts", "a packager cut the stream at any byte", cut_by_packager("ts/90p", 10007), reference=TRUTH)
for size in (192, 204):
    case("packets-%d" % size, "packets of %d bytes" % size, in_packets_of("ts/90p", size))
case("cut-weak", "each segment is cut once, and the rest has a weak ETag", rules=[(SEGMENTS, both(first(1, cut_at(0.5)), weakens()))], reference=TRUTH)
case("cut-other", "each segment is cut once, and the rest is of another content, with a weak ETag and without regard to If-Range",
     rules=[(SEGMENTS, both(first(1, cut_at(0.5)), weakens(is_other=True)))], reference=TRUTH)
case("cut-missing", "each segment is cut once, and the rest is of another content, with no ETag and without regard to If-Range",
     rules=[(SEGMENTS, both(first(1, cut_at(0.5)), weakens(is_other=True, rest=None)))], reference=TRUTH)
case("cut-foreign", "each segment is cut once, and the rest is of another content, with another ETag and without regard to If-Range",
     rules=[(SEGMENTS, both(first(1, cut_at(0.5)), weakens(is_other=True, rest='"2"')))], reference=TRUTH)
case("cut-young", "each segment is cut once, and the rest is of another content, changed a second ago and without regard to If-Range",
     rules=[(SEGMENTS, both(first(1, cut_at(0.5)), ages(1, is_other=True)))], reference=TRUTH)
case("chunks-no-last", "chunks without the last one, each time at the same byte", rules=[
    (SEGMENTS, frames(framing="chunked", cut=5001, has_ranges=False))], refused="ended before it was complete", columns=("offline",), within=120)
case("chunks-no-last-tls", "chunks without the last one, over TLS", rules=[
    (SEGMENTS, frames(framing="chunked", cut=5001, has_ranges=False))], refused="ended before it was complete", columns=("offline",), within=120,
     **SECURE)
case("length-none", "no length: the body ends with the connection", rules=[("*", frames(framing="close", has_ranges=False))], fast=True)
case("length-large-fmp4", "Content-Length too large, fMP4", fixture("cmaf"), rules=[("*.m4s", claims(difference=300))], reference=CMAF)
case("length-playlist", "a playlist's Content-Length is too large", rules=[("/media.m3u8", claims(difference=10))], reference=TRUTH)
case("chunked", "chunked bodies", rules=[("*", frames(framing="chunked", has_ranges=False))], fast=True)
case("chunked-playlists", "chunked playlists", rules=[(PLAYLISTS, frames(framing="chunked", has_ranges=False))])
case("close-each", "Connection: close on each reply", rules=[("*", frames(keep=False))])
case("cut-once", "each segment is cut once in its middle", rules=[(SEGMENTS, first(1, cut_at(0.5)))], reference=TRUTH, fast=True)
case("reset-once", "each segment is reset once in its middle", rules=[(SEGMENTS, first(1, cut_at(0.5, True)))], reference=TRUTH)
case("cut-before-head", "the connection ends before the head, once for each segment", rules=[(SEGMENTS, first(1, frames(cut=-1)))], reference=TRUTH)
case("cut-no-ranges", "cut once, and the origin knows no ranges", rules=[(SEGMENTS, both(frames(has_ranges=False), first(1, cut_at(0.6))))], reference=TRUTH)
case("empty-last", "the last segment is empty", changed(vod(), also={"/5.ts": b""}), fast=True)
case("empty-subtitles", "a segment of subtitles is empty", changed(fixture("cmaf"), also={"/subtitles-en/2.vtt": b""}), weir=("--subs", "en"))
for status in (404, 500):
    case("missing-subtitles-%d" % status, "%d for a segment of subtitles" % status, fixture("cmaf"),
         rules=[("/subtitles-en/2.vtt", gives(status=status, body="no"))], weir=("--subs", "en"), reference=CMAF, exit=3, fast=status == 404)
case("octet-stream", "all is application/octet-stream", rules=[("*", gives(Content_Type="application/octet-stream"))], fast=True)
case("no-type", "no Content-Type", rules=[("*", gives(Content_Type=None))])
case("text-html", "segments with Content-Type text/html", rules=[(SEGMENTS, gives(Content_Type="text/html"))], fast=True)
case("image-segments", "segments with Content-Type image/png and the name .png", changed(
    vod(), also={"/media.m3u8": media_playlist(changed=lambda text: text.replace(".ts", ".png")), **{
        "/%d.png" % n: vod()["/%d.ts" % n] for n in range(6)}}), rules=[("*.png", gives(Content_Type="image/png"))], reference=TRUTH)
case("fmp4", "CMAF with two sounds and subtitles, as it is", fixture("cmaf"))
case("audio", "packed AAC, as it is", fixture("audio"))
case("ts", "three variants, as they are", fixture("ts"), fast=True)
case("etag-changes", "each reply has another ETag", rules=[("*", lambda request, reply: reply.headers.__setitem__(
    "ETag", '"%d"' % len(request.server.log)))])
case("etag-changes-cut", "segments are cut once, and each reply has another ETag", rules=[("*", lambda request, reply: reply.headers.__setitem__(
    "ETag", '"%d"' % len(request.server.log))), (SEGMENTS, first(1, cut_at(0.5)))], reference=TRUTH)
case("head-refused", "405 for HEAD", rules=[("*", lambda request, reply: reply.refuse(405) if request.method == "HEAD" else None)])
case("slow-body", "bodies at 60 kB a second", rules=[(SEGMENTS, frames(rate=60000))])

case("coded-ranges", "BYTERANGE, and gzip on what is asked for whole", vod("byterange-ts/90p"), rules=[
    ("*.ts", lambda request, reply: None if "range" in request.headers else coded("gzip")(request, reply))],
    reference="byterange-ts/90p/media.m3u8")

case("fifth-503-variants", "503 on each fifth segment request, CMAF in several variants", fixture("cmaf"), rules=[("*.m4s", sometimes(5, gives(
    status=503, body="no", reason="Busy", Retry_After="1")))], reference=CMAF)
for status in (401, 403, 410, 429, 503):
    fields = {"Retry_After": "1"} if status in (429, 503) else {}
    case("fifth-%d" % status, "%d on each fifth segment request" % status, rules=[(SEGMENTS, sometimes(5, gives(
        status=status, body="no", reason="Refused", **fields)))], reference=TRUTH, fast=status in (403, 503))
