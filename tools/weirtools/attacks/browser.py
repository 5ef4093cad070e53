"""Requests that a page of another site can make a browser send. They must change nothing, and read nothing."""

import itertools

from weirtools.attacks.stage import split

SITES = [
    [],
    ["Origin: https://evil.example"],
    ["Origin: null"],
    ["Origin: http://localhost:1"],
    ["Origin: http://127.0.0.1"],
    # Names that begin or end like the daemon's own.
    ["Origin: http://{host}.evil.example"],
    ["Origin: http://{host}@evil.example"],
    ["Origin: https://{host}"],
    ["Origin: http://evil.example/http://{host}"],
]
FETCHES = [
    [],
    ["Sec-Fetch-Site: cross-site"],
    ["Sec-Fetch-Site: same-site"],
    ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"],
]
HOSTS = [
    "{host}",
    "evil.example",
    "evil.example:8216",
    "127.0.0.1.evil.example:{port}",
    "localhost.:{port}",
    "[::ffff:127.0.0.1]:{port}",
    "0.0.0.0:{port}",
]
CHANGES = [
    ("POST", "/api/v1/downloads", '{"source": "{origin}/film/media.m3u8"}'),
    ("DELETE", "/api/v1/assets/film", ""),
    ("PUT", "/api/v1/mode", '{"mode": "offline"}'),
    ("POST", "/api/v1/keys", '{"action": "revoke"}'),
    ("PATCH", "/api/v1/assets/film", '{"title": "evil"}'),
    ("GET", "/api/v1/page", ""),
    ("GET", "/api/v1/assets", ""),
]
TYPES = ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"]


def request(stage, method, path, host, fields, body=""):
    host = host.replace("{host}", stage.host).replace("{port}", str(stage.weir.port))
    fields = [field.replace("{host}", stage.host) for field in fields]
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: " + host, "Connection: close", *fields]
    if body:
        body = body.replace("{origin}", stage.origin.url)
        lines.append("Content-Length: %d" % len(body))
    return ("\r\n".join(lines) + "\r\n\r\n" + body).encode()


def run(stage):
    bearer = "Authorization: Bearer " + stage.token
    for (method, path, body), site, fetch, kind in itertools.product(CHANGES, SITES, FETCHES, TYPES):
        fields = site + fetch + ["Content-Type: " + kind]
        # Without the token nothing; with it nothing for another site's page.
        status, _, _ = split(stage.ask(request(stage, method, path, "{host}", fields, body)))
        stage.case("%s %s without the token, %s" % (method, path, fields), None if 400 <= status < 500 else "status %d" % status)
        if site or fetch:
            status, head, _ = split(stage.ask(request(stage, method, path, "{host}", fields + [bearer], body)))
            allowed = b"access-control-allow-origin" in head.lower()
            stage.case(
                "%s %s with the token, %s" % (method, path, fields),
                None if 400 <= status < 500 and not allowed else "status %d" % status,
            )
    for host, path in itertools.product(HOSTS[1:], ["/", "/api/v1/assets", "/offline/film.m3u8", stage.stored, "/metrics"]):
        status, _, _ = split(stage.ask(request(stage, "GET", path, host, [bearer])))
        stage.case("GET %s for the Host %s" % (path, host), None if status in (400, 421) else "status %d" % status)
    for path, site, fetch in itertools.product(
        ["/offline/film.m3u8", stage.stored, "/", "/metrics", "/%s/evil.m3u8" % stage.origin.url], SITES, FETCHES
    ):
        status, head, _ = split(stage.ask(request(stage, "GET", path, "{host}", site + fetch)))
        is_foreign = bool(site or fetch)
        is_page = path == "/" and not site and "Sec-Fetch-Mode: navigate" in fetch
        wrong = is_foreign and status < 400 and not is_page or b"access-control-allow-origin" in head.lower()
        stage.case("GET %s, %s" % (path, site + fetch), "status %d" % status if wrong else None)
        asked = any(path == "/evil.m3u8" for path, _ in stage.origin.requests)
        stage.origin.requests.clear()
        if is_foreign and asked:
            stage.case("GET %s, %s" % (path, site + fetch), "the origin is asked")
    assets = [(asset["name"], asset.get("title")) for asset in stage.api("GET", "/assets")[1]["assets"]]
    stage.case("the library", None if assets == [("film", None)] else "has become %s" % assets)
    # With the token and without a site each is taken: it is not refused for another reason.
    for method, path, body in sorted(CHANGES, key=lambda change: change[0] == "DELETE"):
        fields = ["Content-Type: application/json", bearer]
        status, _, _ = split(stage.ask(request(stage, method, path, "{host}", fields, body)))
        stage.case("%s %s by the owner" % (method, path), None if 200 <= status < 300 else "status %d" % status)
    stage.api("PUT", "/mode", {"mode": "auto"})
    stage.store_film()
