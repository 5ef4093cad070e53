"""Point 10: redundant variants, and dead best variants."""

from weirtools.field.actions import after, gives
from weirtools.field.case import Host, case, changed, fixture, vod

TRUTH = "ts/90p/media.m3u8"
LINE = '#EXT-X-STREAM-INF:BANDWIDTH=94000,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90\n%s\n'
DEAD = gives(status=404, body="no")


def mirrored(*uris):
    return "#EXTM3U\n#EXT-X-VERSION:4\n" + "".join(LINE % uri for uri in uris)


TWO = mirrored("http://HOST-B/media.m3u8", "http://HOST-C/media.m3u8")
SAME = changed(vod(master=mirrored("media.m3u8", "second/media.m3u8")), also={
    "/second/" + name.strip("/"): body for name, body in vod().items() if "master" not in name})
# ffmpeg plays each line as a stream of its own.
MIRROR = {"reference": TRUTH, "compare": "part"}

case("mirror-whole", "two mirrors, both well", vod(master=TWO), **MIRROR)
case("mirror-first-dead", "the first mirror's playlist answers 404", vod(master=TWO), rules=[("B:*", DEAD)], fast=True, **MIRROR)
case("mirror-second-dead", "the second mirror's playlist answers 404", vod(master=TWO), rules=[("C:*", DEAD)], **MIRROR)
case("mirror-first-503", "the first mirror answers 503 to everything", vod(master=TWO), rules=[("B:*", gives(status=503, body="no"))], **MIRROR)
case("mirror-segments", "the first mirror's segments answer 404", vod(master=TWO), rules=[("B:*.ts", DEAD)], fast=True, **MIRROR)
case("mirror-ends", "the first mirror ends after two segments", vod(master=TWO), rules=[("B:*.ts", after(2, DEAD))], **MIRROR)
case("mirror-one-segment", "one segment is missing on each mirror, another on each", vod(master=TWO), rules=[("B:/1.ts", DEAD), ("C:/4.ts", DEAD)], **MIRROR)
case("mirror-refuses", "the first mirror's host refuses connections", vod(master=TWO), hosts={"B": Host(ports=())}, **MIRROR)
case("mirror-no-name", "the first mirror's name does not exist", vod(master=TWO), hosts={"B": Host(answers="NXDOMAIN")}, **MIRROR)
case("mirror-same-host", "mirrors on one host; the first's segments answer 404", SAME, rules=[("/[0-9].ts", DEAD)], **MIRROR)
case("mirror-same-host-playlist", "mirrors on one host; the first's playlist answers 404", SAME, rules=[("/media.m3u8", DEAD)], **MIRROR)
# The best variant is the third line; only others play.
case("best-404", "the best variant's playlist answers 404", fixture("ts"), rules=[("/270p/*", DEAD)], reference="ts/master.m3u8", compare="part", exit=3, fast=True)
case("best-403", "the best variant's playlist answers 403", fixture("ts"), rules=[("/270p/*.m3u8", gives(status=403, body="no"))],
     reference="ts/master.m3u8", compare="part", exit=3)
case("best-segments-404", "the best variant's segments answer 404", fixture("ts"), rules=[("/270p/*.ts", DEAD)], reference="ts/master.m3u8",
     compare="part", exit=3, columns=("direct", "offline"))
case("best-refuses", "the best variant's host refuses", changed(fixture("ts"), also={"/master.m3u8": fixture("ts")["/master.m3u8"].decode().replace(
    "270p/", "http://HOST-E/270p/")}), hosts={"E": Host(ports=())}, reference="ts/master.m3u8", compare="part", exit=3)
# Three lines with equal attributes and durations, which are three qualities: no piece of one may be in another.
SLOPPY = "#EXTM3U\n" + "".join("#EXT-X-STREAM-INF:BANDWIDTH=1000000\n%s/media.m3u8\n" % folder for folder in ("90p", "180p", "270p"))
case("mirror-sloppy", "qualities that look like mirrors, of which one has lost a segment: none of another takes its place",
     changed(fixture("ts"), also={"/master.m3u8": SLOPPY}), rules=[("/90p/3.ts", DEAD)], reference="ts/master.m3u8", compare="share",
     share=0.5, columns=("direct", "cold"))
