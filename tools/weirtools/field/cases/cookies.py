"""Point 1: cookies."""

from weirtools.field.actions import both, first, must_not, needs, redirect, sets
from weirtools.field.case import case, changed, vod, Host

TRUTH = "ts/90p/media.m3u8"
ENTRY, MEDIA, SEGMENTS, ALL = "/master.m3u8", "/media.m3u8", "*.ts", "*"
JAR = "# Netscape HTTP Cookie File\n%s\n"


def jar(*rows):
    """A cookies file; a row is (domain, path, name, value)."""
    lines = ["\t".join([domain, "TRUE" if domain.startswith(".") else "FALSE", path, "FALSE", "0", name, value])
             for domain, path, name, value in rows]
    return JAR % "\n".join(lines)


case("cookie-master", "the master sets a cookie that segments need", rules=[
    (ENTRY, sets("s=1; Path=/")), (SEGMENTS, needs(cookie="s=1"))], fast=True)
case("cookie-media", "the media playlist sets a cookie that segments need", reference=TRUTH, rules=[
    (MEDIA, sets("s=1; Path=/; HttpOnly")), (SEGMENTS, needs(cookie="s=1"))])
case("cookie-two", "the master sets two cookies, and both are needed", rules=[
    (ENTRY, sets("a=1; Path=/", "b=2; Path=/")), (MEDIA, needs(cookie="a=1")), (SEGMENTS, both(needs(cookie="a=1"), needs(cookie="b=2")))])
case("cookie-hdntl", "Akamai: a signed URL gives a cookie hdntl for /*", opens="http://HOST-A/master.m3u8?hdnts=exp=9~acl=/*~hmac=aa", rules=[
    (ENTRY, both(needs(query="hdnts"), sets("hdntl=exp=9999999999~acl=%2f*~data=hdntl~hmac=6e0b; path=/; domain=HOST-F"))),
    (MEDIA, needs(cookie="hdntl=exp=9999999999~acl=%2f*~data=hdntl~hmac=6e0b")), (SEGMENTS, needs(cookie="hdntl"))], fast=True)
case("cookie-domain", "CloudFront: the cookie of www is for the domain, and the CDN's host needs it", vod(prefix="http://HOST-B/"), rules=[
    (ENTRY, sets("CloudFront-Policy=eyJ_; Domain=HOST-F; Path=/", "CloudFront-Signature=abc~; Domain=HOST-F; Path=/")),
    ("B:*", both(needs(cookie="CloudFront-Policy=eyJ_"), needs(cookie="CloudFront-Signature=abc~")))], fast=True)
case("cookie-redirect", "a cookie set on the way through a redirect", opens="http://HOST-A/enter", rules=[
    ("/enter", redirect("/master.m3u8", cookies=["t=9; Path=/"])), (ENTRY, needs(cookie="t=9")), (SEGMENTS, needs(cookie="t=9"))],
    direct=("-cookies", "t=9; path=/; domain=HOST-A"), fast=True)
case("cookie-login", "a redirect to a login on another host and back; the cookie is set on the second visit", opens="http://HOST-A/master.m3u8", rules=[
    ("A:/master.m3u8", lambda request, reply: None if "in" in request.cookies or "code" in request.query else redirect(
        "http://HOST-C/login")(request, reply)),
    ("C:/login", redirect("http://HOST-A/master.m3u8?code=7")), ("A:/master.m3u8", sets("in=1; Path=/")),
    (SEGMENTS, needs(cookie="in=1"))])
case("cookie-renewed", "each media playlist renews the cookie; the first value alone ends", reference=TRUTH, rules=[
    (ENTRY, sets("v=1; Path=/")), (MEDIA, both(needs(cookie="v=1"), sets("v=2; Path=/"))), (SEGMENTS, needs(cookie="v=2"))])
case("cookie-expires", "a cookie with Expires in an hour", rules=[
    (ENTRY, sets("s=1; Path=/; Expires=SOON")), (SEGMENTS, needs(cookie="s=1"))])
case("cookie-path", "a cookie for /seg/ is sent there and nowhere else", changed(vod(prefix="seg/"), also={
    "/seg/%d.ts" % n: vod()["/%d.ts" % n] for n in range(6)}), rules=[
    (ENTRY, sets("p=1; Path=/seg/")), (MEDIA, must_not(cookie="p")), ("/seg/*", needs(cookie="p=1"))])
# ffmpeg sends the cookies of the first host to all.
case("cookie-foreign", "a cookie of one site is not sent to another", vod(prefix="http://HOST-C/"), reference=TRUTH, rules=[
    (ENTRY, sets("secret=1; Path=/")), (MEDIA, needs(cookie="secret")), ("C:*", must_not(header="Cookie"))], fast=True)
case("cookie-host-only", "a cookie without Domain stays on its host", vod(prefix="http://HOST-B/"), reference=TRUTH, rules=[
    (ENTRY, sets("own=1; Path=/")), (MEDIA, needs(cookie="own")), ("B:*", must_not(header="Cookie"))])
case("cookie-suffix", "a cookie for Domain=com is no cookie", rules=[
    (ENTRY, sets("all=1; Domain=com; Path=/", "good=1; Path=/")), (SEGMENTS, needs(cookie="good=1"))])
case("cookie-file", "--cookies with a file as yt-dlp writes it", rules=[(ALL, needs(cookie="id=42"))],
     direct=("-cookies", "id=42; path=/; domain=HOST-A"), weir=("--cookies", "FILE-jar"),
     inputs={"jar": jar(("HOST-A", "/", "id", "42"))}, fast=True)
case("cookie-file-domain", "--cookies with a cookie of the domain, for the CDN's host too", vod(prefix="http://HOST-B/"), rules=[
    (ALL, needs(cookie="id=42"))], direct=("-cookies", "id=42; path=/; domain=HOST-F"), weir=("--cookies", "FILE-jar"),
    inputs={"jar": jar((".HOST-F", "/", "id", "42"), (".elsewhere.org", "/", "id", "no"))})
case("cookie-file-foreign", "--cookies: cookies of other sites reach nobody", vod(prefix="http://HOST-C/"), rules=[
    ("A:*", needs(cookie="id=42")), ("C:*", must_not(header="Cookie"))],
    direct=("-cookies", "id=42; path=/; domain=HOST-A"), weir=("--cookies", "FILE-jar"),
    inputs={"jar": jar(("HOST-A", "/", "id", "42"), (".elsewhere.org", "/", "z", "1"))})
case("cookie-player", "the player sends its cookie on Weir's URL", rules=[(ALL, needs(cookie="id=7"))],
     direct=("-cookies", "id=7; path=/; domain=HOST-A"), player=("-headers", "Cookie: id=7\r\n"), weir=(), columns=("direct", "cold"), fast=True)
case("cookie-header", "--header Cookie", rules=[(ALL, needs(cookie="id=8"))],
     direct=("-headers", "Cookie: id=8\r\n"), weir=("--header", "Cookie: id=8"))
case("cookie-key", "a key's reply sets the cookie that segments need", vod("aes-noiv/90p"), rules=[
    ("*.key", sets("k=1; Path=/")), ("/[1-5].ts", needs(cookie="k=1"))])
case("cookie-secure", "a Secure cookie over https, with segments on https", vod(), opens="https://HOST-A/master.m3u8",
     hosts={"A": Host(tls="good")}, rules=[(ENTRY, sets("s=1; Path=/; Secure; HttpOnly; SameSite=None")), (SEGMENTS, needs(cookie="s=1"))])
case("cookie-first-only", "only the first reply sets the cookie, and playlists need it from then on", rules=[
    (ENTRY, first(1, sets("s=1; Path=/"))), (MEDIA, needs(cookie="s=1")), (SEGMENTS, needs(cookie="s=1"))])
