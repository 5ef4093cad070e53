"""Points 12, 13 and 15: imperfect playlists."""

from weirtools.field.case import MASTER, case, changed, fixture, media_playlist, read, vod

TRUTH = "ts/90p/media.m3u8"
BARE = media_playlist()
STREAM = '#EXT-X-STREAM-INF:BANDWIDTH=94000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90,FRAME-RATE=10.000'


def media(name, title, text, fast=False, reference=TRUTH, **fields):
    """A media playlist with a defect."""
    case(name, title, changed(vod(), also={"/media.m3u8": text}), fast=fast, reference=reference, **fields)


def master(name, title, text, fast=False, reference=TRUTH, files=None, **fields):
    """A multivariant playlist with a defect."""
    case(name, title, changed(files or vod(), also={"/master.m3u8": text}), fast=fast, reference=reference, **fields)


def head(line):
    return media_playlist(head=line)


# Tags of media playlists that cannot be read (12).
for name, line in (("daterange-bad", '#EXT-X-DATERANGE:CLASS="x",START-DATE="yesterday",DURATION=-1'),
                   ("daterange-no-id", '#EXT-X-DATERANGE:START-DATE="2026-01-01T00:00:00Z"'),
                   ("server-control-bad", "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=x,HOLD-BACK=,PART-HOLD-BACK=-1"),
                   ("part-inf-bad", "#EXT-X-PART-INF:PART-TARGET=none"), ("start-bad", "#EXT-X-START:TIME-OFFSET=soon,PRECISE=MAYBE"),
                   ("unknown-tag", "#EXT-X-VENDOR-THING:a=b,c"), ("long-line", "#EXT-X-VENDOR:" + "x" * 200000),
                   ("program-date-bad", "#EXT-X-PROGRAM-DATE-TIME:31/12/2026 25:61"), ("allow-cache", "#EXT-X-ALLOW-CACHE:YES"),
                   ("discontinuity-sequence-bad", "#EXT-X-DISCONTINUITY-SEQUENCE:none"), ("bitrate-bad", "#EXT-X-BITRATE:fast"),
                   ("cue-out", "#EXT-X-CUE-OUT:DURATION=30"), ("playlist-type-lower", "#EXT-X-PLAYLIST-TYPE:vod"),
                   ("target-doubled", "#EXT-X-TARGETDURATION:2"), ("version-doubled", "#EXT-X-VERSION:3"), ("sequence-doubled", "#EXT-X-MEDIA-SEQUENCE:0")):
    media("media-" + name, line.replace("\n", " ")[:60], head(line), fast=name in ("daterange-bad", "server-control-bad", "target-doubled"))
for name, line in (("nan", "#EXT-X-VERSION:NaN"), ("none", ""), ("99", "#EXT-X-VERSION:99"), ("float", "#EXT-X-VERSION:3.0")):
    media("version-" + name, line or "no EXT-X-VERSION", BARE.replace("#EXT-X-VERSION:3\n", line + "\n" if line else ""), fast=name == "nan")
for name, value in (("empty", ""), ("negative", "-5"), ("float", "1.0"), ("huge", "18446744073709551615"), ("word", "x"), ("missing", None)):
    media("sequence-" + name, "EXT-X-MEDIA-SEQUENCE:%s" % value, BARE.replace(
        "#EXT-X-MEDIA-SEQUENCE:0\n", "" if value is None else "#EXT-X-MEDIA-SEQUENCE:%s\n" % value), fast=name in ("empty", "huge"))
for name, value in (("missing", None), ("float", "2.5"), ("zero", "0"), ("small", "1"), ("word", "ten")):
    media("target-" + name, "EXT-X-TARGETDURATION:%s" % value, BARE.replace(
        "#EXT-X-TARGETDURATION:2\n", "" if value is None else "#EXT-X-TARGETDURATION:%s\n" % value), fast=name == "missing")
for name, value in (("seconds", "2.0s,"), ("no-comma", "2.0"), ("integer", "2,"), ("title", "2.0,Title, with = and \""), ("blanks", " 2.0 ,"),
                    ("comma-decimal", "2.000000,0"), ("zero", "0,"), ("leading-dot", ".2e1,"), ("long", "2.00000000000000000000001,")):
    media("extinf-" + name, "#EXTINF:%s" % value, BARE.replace("2.000000,", value), fast=name == "seconds")
media("extinf-minus-one", "one #EXTINF:-1", BARE.replace("2.000000,", "-1,", 1), fast=True)
media("extinf-missing", "one segment has no EXTINF", BARE.replace("#EXTINF:2.000000,\n3.ts", "3.ts"))
media("extinf-dangling", "an EXTINF without a URI at the end", BARE.replace("#EXT-X-ENDLIST", "#EXTINF:2.0,\n#EXT-X-ENDLIST"), fast=True)
media("blank-lines", "blank lines and comments between EXTINF and URI", BARE.replace("000,\n", "000,\n\n# a comment\n\n"), fast=True)
media("blanks", "blanks after URIs and tags, and around attributes", BARE.replace(".ts\n", ".ts  \n").replace("VOD\n", "VOD \t\n"), fast=True)
media("blanks-before", "blanks before URIs", BARE.replace("\n2.ts", "\n  2.ts"))
media("crlf", "CRLF lines", BARE.replace("\n", "\r\n"))
media("cr-only", "CR-only lines", BARE.replace("\n", "\r"), fast=True)
media("bom", "a byte order mark", "\ufeff" + BARE, fast=True)
media("nul-end", "NUL at the end", BARE + "\0")
media("ctrl-z-end", "^Z at the end", BARE + "\x1a")
media("no-final-newline", "no newline at the end", BARE.rstrip("\n"))
media("not-utf8", "one byte that is no UTF-8", BARE.replace("2.000000,", "2.000000,caf~", 1).encode().replace(b"~", b"\xe9"), fast=True)
media("utf16-comment", "odd bytes in a comment", BARE.replace("#EXT-X-VERSION", "# ~\n#EXT-X-VERSION").encode().replace(b"~", b"\xff\xfe\x00x"))
media("endlist-early", "tags and URIs after EXT-X-ENDLIST are of no matter", BARE + "# the end\n\n")
media("endlist-missing-vod", "no ENDLIST, but PLAYLIST-TYPE VOD", BARE.replace("#EXT-X-ENDLIST\n", ""), compare="share", share=0.8, within=40,
      player=("-live_start_index", "0", "-t", "10"), columns=("direct", "cold"))
media("endlist-blank", "#EXT-X-ENDLIST with blanks", BARE.replace("#EXT-X-ENDLIST", "#EXT-X-ENDLIST   "))
media("extm3u-blank", "#EXTM3U with a blank behind", BARE.replace("#EXTM3U", "#EXTM3U "))
media("extm3u-attributes", "#EXTM3U with attributes, as IPTV lists have it", BARE.replace("#EXTM3U", '#EXTM3U x-tvg-url="http://HOST-C/x.xml"'))
media("discontinuities", "a DISCONTINUITY before each segment", BARE.replace("#EXTINF", "#EXT-X-DISCONTINUITY\n#EXTINF"))
media("gap", "EXT-X-GAP on a segment that is not there", BARE.replace("#EXTINF:2.000000,\n2.ts", "#EXT-X-GAP\n#EXTINF:2.000000,\nnone.ts"),
      compare="share", share=0.8)
media("program-date", "PROGRAM-DATE-TIME on each segment, in several spellings", BARE.replace(
    "#EXTINF", "#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000+0000\n#EXTINF"))
media("uri-query", "URIs with queries", BARE.replace(".ts", ".ts?x=a b&y=#frag"))
media("uri-absolute-path", "URIs with an absolute path", media_playlist(prefix="/"))
media("uri-scheme-relative", "URIs //host/path", media_playlist(prefix="//HOST-C/").replace("HOST-C", "HOST-C"))
media("uri-dots", "URIs with . and ..", media_playlist(prefix="./x/../"))
media("uri-upper-scheme", "URIs HTTP://", media_playlist(prefix="HTTP://HOST-A/"))
media("uri-port", "URIs with :80", media_playlist(prefix="http://HOST-C:80/"))
case("byterange-no-offset", "the first BYTERANGE has no offset", vod("byterange-ts/90p", changed=lambda text: text.replace("@0", "", 1)),
     reference="byterange-ts/90p/media.m3u8", fast=True)
case("byterange-no-offsets", "no BYTERANGE has an offset", vod("byterange-ts/90p", changed=lambda text: "\n".join(
    line.partition("@")[0] if line.startswith("#EXT-X-BYTERANGE") else line for line in text.splitlines()) + "\n"),
    reference="byterange-ts/90p/media.m3u8")
case("map-quoted-range", "MAP with a quoted BYTERANGE", vod("byterange-fmp4/90p"))
case("map-unquoted", "MAP with an unquoted URI", vod("cmaf/video-90p", changed=lambda text: text.replace('URI="init.mp4"', "URI=init.mp4")),
     reference="cmaf/video-90p/media.m3u8")
case("uri-unicode", "URIs with blanks and UTF-8", changed(vod(changed=lambda text: text.replace("2.ts", "zwéi ö.ts")), also={
    "/zwéi ö.ts": vod()["/2.ts"]}), reference=TRUTH, fast=True)
case("uri-escaped", "URIs with escapes", changed(vod(changed=lambda text: text.replace("2.ts", "%7e2%20x.ts")), also={"/~2 x.ts": vod()["/2.ts"]}))

# Multivariant playlists (12, 13).
for name, old, new in (("resolution-times", "160x90", "160×90"), ("resolution-star", "160x90", "160*90"), ("resolution-upper", "160x90", "160X90"),
                       ("frame-rate-ratio", "10.000", "30000/1001"), ("bandwidth-800k", "94000", "800k"), ("bandwidth-float", "94000", "94000.5"),
                       ("bandwidth-zero", "94000", "0"), ("bandwidth-missing", "BANDWIDTH=94000,", ""), ("bandwidth-huge", "94000", "99999999999999999999"),
                       ("codecs-unquoted", '"avc1.42c00a,mp4a.40.2"', "avc1.42c00a"), ("codecs-empty", '"avc1.42c00a,mp4a.40.2"', '""'),
                       ("codecs-blank", "avc1.42c00a,mp4a", "avc1.42c00a, mp4a"), ("attributes-doubled", "RESOLUTION", "BANDWIDTH=94000,RESOLUTION"),
                       ("attributes-blanks", ",", " , "), ("attributes-trailing-comma", "FRAME-RATE=10.000", "FRAME-RATE=10.000,"),
                       ("attributes-lower", "RESOLUTION", "resolution"), ("attributes-quote-open", "FRAME-RATE=10.000", 'NAME="open'),
                       ("audio-group-absent", "FRAME-RATE=10.000", 'AUDIO="gone"'), ("subtitles-group-absent", "FRAME-RATE=10.000", 'SUBTITLES="gone"'),
                       ("hdcp-odd", "FRAME-RATE=10.000", "HDCP-LEVEL=TYPE-9,VIDEO-RANGE=XYZ"), ("program-id", "BANDWIDTH", "PROGRAM-ID=1,BANDWIDTH")):
    master("stream-" + name, STREAM.replace(old, new)[:90], (MASTER % "media.m3u8").replace(
        MASTER.splitlines()[2], STREAM.replace(old, new)), fast=name in ("resolution-times", "bandwidth-800k", "codecs-unquoted"))
for name, line in (("type-unknown", '#EXT-X-MEDIA:TYPE=SMELL,GROUP-ID="x",NAME="y",URI="z.m3u8"'), ("no-type", '#EXT-X-MEDIA:GROUP-ID="x",NAME="y"'),
                   ("no-group", '#EXT-X-MEDIA:TYPE=SUBTITLES,NAME="y",URI="z.m3u8"'), ("no-name", '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="x",URI="z.m3u8"'),
                   ("captions-uri", '#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="c",NAME="c",URI="no.m3u8"'),
                   ("yes-odd", '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="s",DEFAULT=TRUE,URI="no.m3u8"'),
                   ("session-data-bad", "#EXT-X-SESSION-DATA:VALUE=x"), ("steering-bad", "#EXT-X-CONTENT-STEERING:PATHWAY-ID=1"),
                   ("iframe-no-uri", "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1"), ("independent-doubled", "#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-INDEPENDENT-SEGMENTS"),
                   ("define-bad", "#EXT-X-DEFINE:NAME=x"), ("vendor", "## CREATED BY x\n#EXT-X-VENDOR")):
    master("master-" + name, line.replace("\n", " ")[:70], (MASTER % "media.m3u8").replace("#EXT-X-STREAM-INF", line + "\n#EXT-X-STREAM-INF"),
           fast=name == "type-unknown")
master("stream-no-uri", "a STREAM-INF without a URI at the end", MASTER % "media.m3u8" + STREAM + "\n", fast=True)
master("stream-lone-uri", "a URI without STREAM-INF", MASTER % "media.m3u8" + "lone.m3u8\n")
master("stream-blank-lines", "blank lines and comments between STREAM-INF and URI", MASTER % "\n# a comment\n\nmedia.m3u8")
master("master-crlf", "CRLF lines", (MASTER % "media.m3u8").replace("\n", "\r\n"))
master("master-cr-only", "CR-only lines", (MASTER % "media.m3u8").replace("\n", "\r"))
master("master-bom", "a byte order mark", "\ufeff" + MASTER % "media.m3u8")
master("master-not-utf8", "one byte that is no UTF-8 in a NAME", (MASTER % "media.m3u8").replace(
    "FRAME-RATE=10.000", 'NAME="~"').encode().replace(b"~", b"\xe9"))
master("master-endlist", "tags of media playlists in a master", (MASTER % "media.m3u8") + "#EXT-X-ENDLIST\n")
master("master-doubled-line", "one variant listed twice", MASTER % "media.m3u8" + STREAM + "\nmedia.m3u8\n", compare="part")
master("master-many", "2,000 lines for one variant", "#EXTM3U\n" + "".join(
    "%s\nmedia.m3u8\n" % STREAM.replace("94000", str(94000 + n)) for n in range(2000)), compare="part", columns=("offline",))
master("master-define", "EXT-X-DEFINE in the master", (MASTER % "{$name}.m3u8").replace(
    "#EXT-X-STREAM-INF", '#EXT-X-DEFINE:NAME="name",VALUE="media"\n#EXT-X-STREAM-INF'))
case("iframes-ts", "I-frame playlists beside variants", fixture("cmaf"))


def iframes(folder="ts/90p", tables=""):
    """A playlist of the first frame of each segment, as ranges behind PAT and PMT. Players find these tables where
    `tables` says, or before the first range of the resource (RFC 8216 §4.3.3.6), or guess."""
    lines = media_playlist(folder).splitlines()
    found = lines[:lines.index(next(line for line in lines if line.startswith("#EXTINF")))] + ["#EXT-X-I-FRAMES-ONLY"] + tables.splitlines()
    for name in (line for line in lines if line and not line.startswith("#")):
        frames = video_frames(read(folder + "/" + name))
        found += ["#EXTINF:2.000000,", "#EXT-X-BYTERANGE:%d@%d" % (frames[1] - frames[0], frames[0]), name]
    return "\n".join(found + ["#EXT-X-ENDLIST", ""])


def video_frames(data):
    """The offsets of packets of a transport stream with which a frame begins."""
    found = []
    for start in range(0, len(data), 188):
        payload = data[start + 4 + (1 + data[start + 4] if data[start + 3] & 0x20 else 0):start + 188]
        if data[start + 1] & 0x40 and payload[:3] == b"\0\0\1" and payload[3] & 0xF0 == 0xE0:
            found.append(start)
    return found


media("iframes-ranges", "I-frames of TS by ranges without EXT-X-MAP", iframes(), reference=None, fast=True)
media("iframes-ranges-map", "I-frames of TS by ranges with EXT-X-MAP", iframes(tables='#EXT-X-MAP:URI="0.ts",BYTERANGE="564@0"'), reference=None,
      direct=("-an",), player=("-an",))
