"""Point 7: redirects."""

from weirtools.field.actions import first, must_not, needs, redirect
from weirtools.field.case import Host, case, changed, fixture, vod

TLS = {"A": Host(tls="good"), "B": Host(tls="good")}


def chain(count):
    steps = [("/step%d" % n, redirect("/step%d" % (n + 1))) for n in range(1, count)]
    return steps + [("/step%d" % count, redirect("/master.m3u8"))]


case("redirect-master", "the master is redirected to another host; URIs are relative to that", opens="http://HOST-A/go", rules=[
    ("A:/go", redirect("http://HOST-C/master.m3u8")), ("A:/*.*", lambda request, reply: reply.refuse(404))], fast=True)
case("redirect-media", "the media playlist is redirected to another folder", changed(vod(), also={
    "/deep/m.m3u8": vod(prefix="../")["/media.m3u8"]}), rules=[("/media.m3u8", redirect("/deep/m.m3u8"))])
case("redirect-segments", "each segment is redirected to another host", rules=[("A:*.ts", redirect("http://HOST-C/{name}"))], fast=True)
for status in (301, 303, 307, 308):
    case("redirect-%d" % status, "segments redirected with %d" % status, rules=[("A:*.ts", redirect("http://HOST-B/{name}", status))])
case("redirect-eight", "eight redirects in a row", opens="http://HOST-A/step1", rules=chain(8), fast=True)
case("redirect-ten", "ten redirects in a row (ffmpeg stops at eight)", opens="http://HOST-A/step1", rules=chain(10), reference="ts/90p/media.m3u8")
case("redirect-loop", "a loop ends with words", opens="http://HOST-A/loop", rules=[("/loop", redirect("/loop"))], refused="redirect")
case("redirect-relative", "Location without a slash, and with ..", opens="http://HOST-A/a/b/go", rules=[
    ("/a/b/go", redirect("../x/go2")), ("/a/x/go2", redirect("../../master.m3u8"))])
case("redirect-scheme-relative", "Location //host/path", opens="http://HOST-A/go", rules=[("A:/go", redirect("//HOST-B/master.m3u8"))])
case("redirect-query", "Location that is only a query", opens="http://HOST-A/master.m3u8", rules=[
    ("/master.m3u8", lambda request, reply: None if "t" in request.query else redirect("?t=1")(request, reply))])
case("redirect-blanks", "Location with blanks", changed(vod(), also={"/my film.m3u8": vod()["/master.m3u8"]}), opens="http://HOST-A/go",
     rules=[("/go", redirect("/my film.m3u8"))], reference="ts/90p/media.m3u8")
case("redirect-utf8", "Location with UTF-8 in the path", changed(vod(), also={"/fílm.m3u8": vod()["/master.m3u8"]}), opens="http://HOST-A/go",
     rules=[("/go", redirect("/fílm.m3u8"))], reference="ts/90p/media.m3u8", fast=True)
case("redirect-key", "keys are redirected to another host", fixture("aes"), rules=[("A:*.key", redirect("http://HOST-C/keys/{name}"))], fast=True)
case("redirect-key-303", "keys are redirected with 303, to a name with blanks", changed(fixture("aes"), also={
    "/my keys/" + path.rpartition("/")[2]: data for path, data in fixture("aes").items() if path.endswith(".key")}), rules=[
        ("/keys/*.key", redirect("/my keys/{name}", 303))])
case("redirect-map", "an initialization section is redirected", fixture("cmaf"), rules=[
    ("A:/video-90p/init.mp4", redirect("http://HOST-C/video-90p/init.mp4"))])
case("redirect-subtitles", "subtitles are redirected", fixture("cmaf"), rules=[
    ("A:/subtitles-en/*.vtt", redirect("http://HOST-C/subtitles-en/{name}"))], weir=())
case("redirect-ranges", "byte ranges are redirected to a CDN", vod("byterange-ts/90p"), rules=[("A:*.ts", redirect("http://HOST-C/{name}"))])
case("redirect-edges", "each segment goes to one edge; the first cuts, the other has the rest", vod(), rules=[
    ("A:*.ts", lambda request, reply: redirect("http://HOST-%s/{name}" % "BC"[request.server.memory("edge").setdefault(request.path, 0)])(request, reply)),
    ("B:*.ts", lambda request, reply: (reply.__setattr__("cut", len(reply.body) // 2), request.server.memory("edge").__setitem__(request.path, 1)))],
    reference="ts/90p/media.m3u8")
case("redirect-to-https", "http to https", opens="http://HOST-A/go", hosts=TLS, rules=[("A:/go", redirect("https://HOST-B/master.m3u8"))], fast=True)
case("redirect-to-http", "https to http is followed, with a note", opens="https://HOST-A/master.m3u8", hosts=TLS, rules=[
    ("A:*.ts", redirect("http://HOST-B/{name}"))], fast=True)
case("redirect-to-http-credentials", "https to http without the given fields", opens="https://HOST-A/master.m3u8", hosts=TLS, rules=[
    ("A:*", needs(header="X-Token")), ("A:*.ts", redirect("http://HOST-B/{name}")), ("B:*", must_not(header="X-Token"))],
    direct=("-headers", "X-Token: 1\r\n"), reference="ts/90p/media.m3u8", weir=("--header", "X-Token: 1"))
case("redirect-expires", "the redirect's target ends after each use; the entry is asked again", opens="http://HOST-A/master.m3u8", rules=[
    ("A:*.ts", lambda request, reply: (request.server.memory("n").__setitem__("n", request.server.memory("n").get("n", 0) + 1),
                                       redirect("http://HOST-B/{name}?n=%d" % request.server.memory("n")["n"])(request, reply))),
    ("B:*.ts", lambda request, reply: None if request.query.get("n") == str(request.server.memory("n").get("n")) else reply.refuse(410))])
case("redirect-no-location", "one redirect without Location, then it is well", rules=[
    ("/3.ts", first(1, lambda request, reply: reply.refuse(302)))], reference="ts/90p/media.m3u8")
case("redirect-credentials", "a field for the first host is not sent to a redirect's other host", opens="http://HOST-A/master.m3u8", rules=[
    ("A:*", needs(header="X-Token")), ("A:*.ts", redirect("http://HOST-C/{name}")), ("C:*", must_not(header="X-Token"))],
    direct=("-headers", "X-Token: 1\r\n"), reference="ts/90p/media.m3u8", weir=("--header", "X-Token: 1"))
case("redirect-private", "a public origin redirects into the private network: refused", opens="http://HOST-A/go",
     hosts={"D": Host(address="private")}, rules=[("A:/go", redirect("http://HOST-D/master.m3u8"))], refused="private", fast=True)
