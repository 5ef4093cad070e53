"""Requests that a page of another site can make a browser send. They must change nothing, and read nothing."""

import itertools

from weirtools.attacks.stage import split

SITES = [[], ["Origin: https://evil.example"], ["Origin: null"], ["Origin: http://localhost:1"], ["Origin: http://127.0.0.1"]]
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
    ("POST", "/api/v1/downloads", '{"url": "http://127.0.0.1:1/x.m3u8"}'),
    ("DELETE", "/api/v1/assets/film", ""),
    ("PUT", "/api/v1/mode", '{"mode": "offline"}'),
    ("POST", "/api/v1/keys", '{"action": "revoke"}'),
    ("PATCH", "/api/v1/assets/film", '{"name": "evil"}'),
    ("GET", "/api/v1/page", ""),
    ("GET", "/api/v1/assets", ""),
]
TYPES = ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"]


def request(stage, method, path, host, fields, body=""):
    host = host.replace("{host}", stage.host).replace("{port}", str(stage.weir.port))
    lines = ["%s %s HTTP/1.1" % (method, path), "Host: " + host, "Connection: close", *fields]
    if body:
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
        ["/offline/film.m3u8", stage.stored, "/", "/metrics", "/http://127.0.0.1:1/x.m3u8"], SITES, FETCHES
    ):
        status, head, _ = split(stage.ask(request(stage, "GET", path, "{host}", site + fetch)))
        is_foreign = bool(site) or any("site" in field and "navigate" not in field for field in fetch)
        is_page = path == "/" and not site
        wrong = is_foreign and status < 400 and not is_page or b"access-control-allow-origin" in head.lower()
        stage.case("GET %s, %s" % (path, site + fetch), "status %d" % status if wrong else None)
    names = [asset["name"] for asset in stage.api("GET", "/assets")[1]["assets"]]
    stage.case("the library", None if names == ["film"] else "has become %s" % names)
