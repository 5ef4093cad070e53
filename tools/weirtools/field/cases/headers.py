"""Point 2: header fields."""

from weirtools.field.actions import both, gives, must_not, needs
from weirtools.field.case import MASTER, Host, case, fixture, vod

TRUTH = "ts/90p/media.m3u8"
PLAYERS = ("Mozilla", "VLC", "Lavf", "mpv", "AppleCoreMedia")


def given(name, value):
    """Options for ffmpeg and for Weir that send a field to the origin."""
    return {"direct": ("-headers", "%s: %s\r\n" % (name, value)), "weir": ("--header", "%s: %s" % (name, value))}


for name, value in (("Referer", "https://site.example.com/"), ("Origin", "https://site.example.com"), ("X-Site", "1"),
                    ("Authorization", "Bearer abc.def"), ("Accept-Language", "fr")):
    case("header-" + name.lower(), "--header %s, needed by all" % name, rules=[("*", needs(header=name, value=value))],
         fast=name in ("Referer", "Authorization"), **given(name, value))
case("header-agent", "--header User-Agent", rules=[("*", needs(agent=["MyTV/1.0"]))], direct=("-user_agent", "MyTV/1.0"),
     weir=("--header", "User-Agent: MyTV/1.0"), fast=True)
for name, value in (("Referer", "https://site.example.com/"), ("Origin", "https://site.example.com"), ("User-Agent", "MyTV/1.0"),
                    ("Accept-Language", "fr"), ("X-Requested-With", "tv.example")):
    case("header-cdn-" + name.lower(), "--header %s reaches a CDN on another host" % name, vod(prefix="http://HOST-C/"), rules=[
        ("*", needs(header=name, value=value))], fast=name == "Referer", **given(name, value))
for name in ("Authorization", "X-Api-Key", "X-Auth-Token", "X-Secret", "X-Site", "X-Session", "X-Playback-Id", "X-Forwarded-For"):
    case("header-kept-" + name.lower(), "--header %s stays on its host" % name, vod(prefix="http://HOST-C/"), rules=[
        ("A:*", needs(header=name)), ("C:*", must_not(header=name))], reference=TRUTH, fast=name == "X-Api-Key", **given(name, "abc"))
case("header-for", "--header-for another host", vod(prefix="http://HOST-C/"), rules=[
    ("A:*", must_not(header="X-Api-Key")), ("C:*", needs(header="X-Api-Key", value="k"))], reference=TRUTH,
    weir=("--header-for", "HOST-C", "X-Api-Key: k"), fast=True)
for name, value in (("Referer", "https://site.example.com/"), ("Origin", "https://site.example.com"), ("Authorization", "Bearer a.b")):
    case("player-" + name.lower(), "the player sends %s on Weir's URL" % name, rules=[("*", needs(header=name, value=value))],
         player=("-headers", "%s: %s\r\n" % (name, value)), columns=("direct", "cold"), fast=name == "Referer")
for name, value in (("Referer", "https://site.example.com/"), ("Origin", "https://site.example.com")):
    case("player-cdn-" + name.lower(), "the player sends %s, which a CDN on another host needs" % name, vod(prefix="http://HOST-C/"), rules=[
        ("*", needs(header=name, value=value))], player=("-headers", "%s: %s\r\n" % (name, value)), columns=("direct", "cold"))
case("player-kept-authorization", "the player's Authorization stays on the host of the entry", vod(prefix="http://HOST-C/"), rules=[
    ("A:*", needs(header="Authorization")), ("C:*", must_not(header="Authorization"))], reference=TRUTH,
    player=("-headers", "Authorization: Bearer a.b\r\n"), columns=("direct", "cold"))
for name, reach in (("all", "*"), ("site", "*.net")):
    case("header-for-" + name, "--header-for %s" % reach, vod(prefix="http://HOST-C/"), rules=[
        ("C:*", needs(header="X-Api-Key", value="k"))], reference=TRUTH, weir=("--header-for", reach, "X-Api-Key: k"))
case("header-for-port", "--header-for a host and its port", vod(prefix="http://HOST-C:8080/"), hosts={"C": Host(ports=(8080,))}, rules=[
    ("A:*", must_not(header="X-Api-Key")), ("C:*", needs(header="X-Api-Key", value="k"))], reference=TRUTH,
    weir=("--header-for", "HOST-C:8080", "X-Api-Key: k"))
case("userinfo-relative", "user:pass in a playlist's URL, and relative URIs in it", vod(master=MASTER % "http://u:p@HOST-C/media.m3u8"),
     rules=[("C:*", needs(user="u:p", status=401, challenge='Basic realm="cdn"')), ("A:*", must_not(header="Authorization"))],
     reference=TRUTH)
case("player-agent", "the player's User-Agent reaches the origin", rules=[("*", needs(agent=["Special/2"]))],
     player=("-user_agent", "Special/2"), columns=("direct", "cold"), fast=True)
case("gate-players", "the origin lets in browsers and known players only", rules=[("*", needs(agent=PLAYERS))], fast=True)
case("gate-mozilla", "the origin lets in browsers only: weir get passes", rules=[("*", needs(agent=["Mozilla/"]))],
     player=("-user_agent", "Mozilla/5.0"), fast=True)
case("gate-no-range", "the origin refuses a Range on playlists, but for bytes=0-", rules=[
    ("*.m3u8", lambda request, reply: reply.refuse(403) if request.headers.get("range", "bytes=0-") != "bytes=0-" else None)])
case("userinfo", "https://user:pass@host is Basic for that host", opens="http://us%20er:p%40ss@HOST-A/master.m3u8", rules=[
    ("*", needs(user="us er:p@ss", status=401, challenge='Basic realm="tv"'))], fast=True)
case("userinfo-cdn", "user:pass is not sent to another host", vod(prefix="http://HOST-C/"), opens="http://user:pass@HOST-A/master.m3u8",
     rules=[("A:*", needs(user="user:pass", status=401, challenge='Basic realm="tv"')), ("C:*", must_not(header="Authorization"))], fast=True)
case("userinfo-playlist", "user:pass in the playlist's URIs", vod(prefix="http://u:p@HOST-C/"), rules=[
    ("C:*", needs(user="u:p", status=401, challenge='Basic realm="cdn"'))])
case("header-keys", "a key's host needs the Referer that is given", fixture("aes"), rules=[("*.key", needs(header="Referer"))],
     **given("Referer", "https://site.example.com/"))
case("accept-any", "406 for a request with a narrow Accept", rules=[
    ("*", lambda request, reply: None if "*/*" in request.headers.get("accept", "*/*") else reply.refuse(406))])
case("html-403", "a page of HTML with 403 suggests --header", rules=[("/master.m3u8", both(
    needs(header="Referer"), gives()))], refused="--header", columns=("offline",))
case("html-200", "a page of HTML with 200 in place of a playlist is called a page", rules=[("/master.m3u8", gives(
    body="<!doctype html><html><body>Sign in</body></html>", Content_Type="text/html"))], refused="this is a web page", columns=("offline",), fast=True)
case("server-fields", "long, repeated and odd fields of a reply", rules=[("*", gives(
    X_Long="v" * 6000, P3P='CP="a"', Alt_Svc='h3=":443"; ma=86400', Strict_Transport_Security="max-age=1", Server="édge"))])
