"""Point 9: plays that are bound to tokens."""

import re
import time

from weirtools.field.actions import needs
from weirtools.field.case import MASTER, case, changed, media_playlist, vod

TRUTH = "ts/90p/media.m3u8"
BARE = vod()


def issue(request, uses=None, seconds=None):
    """A new token that is good for so many requests or so long."""
    memory = request.server.memory("tokens")
    token = "t%d" % (len(memory) + 1)
    memory[token] = [uses, seconds and time.monotonic() + seconds]
    return token


def good(request, token):
    """True if a token is known and not used up; counts the use."""
    state = request.server.memory("tokens").get(token)
    if state is None or (state[0] is not None and state[0] <= 0) or (state[1] and time.monotonic() > state[1]):
        return False
    if state[0] is not None:
        state[0] -= 1
    return True


def query_files(uses=None, seconds=None, at_media=False):
    """Each master (or each media playlist) has a new token in the query of all that it names."""
    def master(request):
        return MASTER % ("media.m3u8" if at_media else "media.m3u8?token=" + issue(request, uses, seconds))

    def media(request):
        token = issue(request, uses, seconds) if at_media else request.query.get("token", "")
        return media_playlist(query="?token=" + token)
    return changed(BARE, master_m3u8=master, media_m3u8=media)


def query_guard(request, reply):
    if not good(request, request.query.get("token")):
        reply.refuse(403)


def guard(status, body):
    """Refuses a token that is used up in another way than with 403."""
    def action(request, reply):
        if not good(request, request.query.get("token")):
            reply.refuse(status, body)
    return action


def path_files(**bounds):
    """Each master has a new token in the path of all that it names."""
    def master(request):
        return MASTER % ("/%s/media.m3u8" % issue(request, **bounds))
    return changed(BARE, master_m3u8=master)


def path_rule(request, reply):
    found = re.fullmatch(r"/([\w.-]+)/([\w.]+)", request.path)
    if not found:
        return
    if not good(request, found[1]):
        reply.refuse(403)
        return
    body = request.server.files["/" + found[2]]
    reply.status, reply.reason, reply.body = 200, "OK", body.encode() if isinstance(body, str) else body
    reply.headers["Content-Type"] = "application/vnd.apple.mpegurl" if found[2].endswith("m3u8") else "video/mp2t"


def jwt_files(request):
    head, body = "eyJhbGciOiJIUzI1NiJ9", "eyJleHAiOjE%d" % len(request.server.memory("tokens"))
    request.server.memory("tokens")[token := "%s.%s.sIg-_" % (head, body)] = [None, None]
    return MASTER % ("/%s/media.m3u8" % token)


case("token-query", "a token in each query, new with each master", query_files(), rules=[("*.ts", query_guard), ("/media.m3u8", query_guard)], fast=True)
case("token-query-media", "a token in each query, new with each media playlist", query_files(at_media=True), rules=[("*.ts", query_guard)])
case("token-uses", "a token ends after four requests", query_files(uses=4), rules=[("*.ts", query_guard), ("/media.m3u8", query_guard)],
     reference=TRUTH)
case("token-uses-media", "a media playlist's token ends after three segments", query_files(uses=3, at_media=True), rules=[("*.ts", query_guard)],
     reference=TRUTH, fast=True)
case("token-seconds", "a token ends after 2 s, and bodies are slow", query_files(seconds=2), rules=[
    ("*.ts", query_guard), ("/media.m3u8", query_guard), ("*.ts", lambda request, reply: setattr(reply, "rate", 30000))],
    reference=TRUTH, within=90)
for name, status, body in (("404", 404, b"no"), ("400", 400, b"no"), ("page", 200, b"<html><body>Log in</body></html>")):
    case("token-uses-" + name, "a token ends after four requests, and then comes " + name, query_files(uses=4), rules=[
        ("*.ts", guard(status, body)), ("/media.m3u8", query_guard)], reference=TRUTH, columns=("cold", "offline"), fast=name == "page")
case("token-path", "a token in the path, new with each master", path_files(), rules=[("*", path_rule)], fast=True)
case("token-path-uses", "a token in the path ends after four requests", path_files(uses=4), rules=[("*", path_rule)], reference=TRUTH)
case("token-jwt", "a JWT in the path, new with each master", changed(BARE, master_m3u8=jwt_files), rules=[("*", path_rule)])
case("token-entry", "the entry's token is needed on everything", vod(query="?hash=1~/=", media="media.m3u8?hash=1~/="),
     opens="http://HOST-A/master.m3u8?hash=1~/=", rules=[("*", needs(query="hash=1~/="))], fast=True)
case("token-once", "the entry's token is good once: what it names is not bound", opens="http://HOST-A/master.m3u8?once=1",
     rules=[("/master.m3u8", lambda request, reply: reply.refuse(403) if request.server.memory("once").setdefault("n", 0) else
             request.server.memory("once").__setitem__("n", 1))], columns=("direct", "cold"))
case("session-wowza", "Wowza: chunklist_w<session>.m3u8, and media_w<session>_n.ts", {
    "/playlist.m3u8": lambda request: MASTER % ("chunklist_w%s.m3u8" % issue(request)),
    **{"/%d.ts" % n: BARE["/%d.ts" % n] for n in range(6)}}, opens="http://HOST-A/playlist.m3u8?wowzatokenhash=aZ-_%3D", rules=[
    ("/playlist.m3u8", needs(query="wowzatokenhash")),
    ("/chunklist_w*.m3u8", lambda request, reply: wowza(request, reply)), ("/media_w*.ts", lambda request, reply: wowza(request, reply))])
case("session-cookie-and-token", "a token in the query and a cookie of the same session", query_files(), rules=[
    ("/master.m3u8", lambda request, reply: reply.cookies.append("sid=%s; Path=/" % ("t%d" % len(request.server.memory("tokens"))))),
    ("*.ts", query_guard), ("*.ts", needs(cookie="sid"))])


def wowza(request, reply):
    found = re.fullmatch(r"/(?:chunklist|media)_w(t\d+)(?:_(\d))?\.\w+", request.path)
    if not good(request, found[1]):
        reply.refuse(403)
        return
    reply.status, reply.reason = 200, "OK"
    if found[2]:
        reply.body, reply.headers["Content-Type"] = BARE["/%s.ts" % found[2]], "video/mp2t"
    else:
        reply.body = re.sub(r"(?m)^(\d)\.ts$", r"media_w%s_\1.ts" % found[1], BARE["/media.m3u8"]).encode()
        reply.headers["Content-Type"] = "application/vnd.apple.mpegurl"
