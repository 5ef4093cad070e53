"""Point 3: proxies."""

from weirtools.field.actions import needs
from weirtools.field.case import Host, case, fixture, vod

TRUTH = "ts/90p/media.m3u8"
HTTP, SOCKS = "HOST-P:3128", "HOST-P:1080"
# The origin answers the proxy alone.
ONLY = [("*", needs(peer="ADDRESS-P"))]
TLS = {"A": Host(tls="good")}
SECURE = {"opens": "https://HOST-A/master.m3u8", "hosts": TLS}


def used(_, proxy):
    return None if proxy.targets else "the proxy is not used"


def unused(_, proxy):
    return "the proxy is used for %s" % proxy.targets if proxy.targets else None


def environment(url, *names):
    """The proxy in variables of the environment, for ffmpeg and for Weir."""
    return {"direct_environment": {"http_proxy": url}, "environment": {name: url for name in names}}


case("proxy-http-env", "http_proxy", rules=ONLY, proxy={}, checks=(used,), fast=True, **environment("http://" + HTTP, "http_proxy"))
case("proxy-https-env", "https_proxy, by CONNECT", rules=ONLY, proxy={}, checks=(used,), **SECURE, **environment("http://" + HTTP, "https_proxy"), fast=True)
case("proxy-all-env", "ALL_PROXY", rules=ONLY, proxy={}, checks=(used,), **environment("http://" + HTTP, "ALL_PROXY"))
case("proxy-no-proxy", "no_proxy lists the host", rules=[("*", needs(peer="ADDRESS-A"))], proxy={}, checks=(unused,), environment={
    "http_proxy": "http://" + HTTP, "no_proxy": "HOST-A"}, fast=True)
case("proxy-no-proxy-domain", "no_proxy lists .domain and * does not matter", rules=[], proxy={}, checks=(unused,), environment={
    "http_proxy": "http://" + HTTP, "no_proxy": "localhost,.HOST-F"})
for scheme, place in (("http", HTTP), ("socks4a", SOCKS), ("socks5", SOCKS), ("socks5h", SOCKS)):
    case("proxy-key-" + scheme, "the key proxy = %s://…" % scheme, rules=ONLY, proxy={}, checks=(used,), reference=TRUTH,
         serve=("--proxy", "%s://%s" % (scheme, place)), fast=scheme in ("http", "socks5h"))
case("proxy-credentials", "a proxy with a name and a password", rules=ONLY, proxy={"user": "anna:p@ss"}, checks=(used,), reference=TRUTH,
     serve=("--proxy", "http://anna:p%40ss@" + HTTP))
case("proxy-socks-credentials", "SOCKS5 with a name and a password", rules=ONLY, proxy={"user": "anna:pass"}, checks=(used,), reference=TRUTH,
     serve=("--proxy", "socks5h://anna:pass@" + SOCKS))
case("proxy-asset", "--proxy of one asset", rules=ONLY, proxy={}, checks=(used,), reference=TRUTH, weir=("--proxy", "http://" + HTTP), fast=True)
case("proxy-asset-tls", "--proxy of one asset, https through SOCKS", rules=ONLY, proxy={}, checks=(used,), reference=TRUTH,
     weir=("--proxy", "socks5h://" + SOCKS), **SECURE)
case("proxy-direct", "--proxy direct for one asset", proxy={}, checks=(unused,), weir=("--proxy", "direct"),
     environment={"http_proxy": "http://" + HTTP})
case("proxy-names", "only the proxy resolves the origin's name", rules=ONLY, proxy={"names": {"HOST-E": "ADDRESS-E"}}, checks=(used,),
     hosts={"E": Host(answers="NXDOMAIN")}, opens="http://HOST-E/master.m3u8", reference=TRUTH, serve=("--proxy", "http://" + HTTP))
case("proxy-private", "the proxy itself has a private address", rules=ONLY, proxy={}, hosts={"P": Host(address="private", ports=())},
     checks=(used,), reference=TRUTH, serve=("--proxy", "http://" + HTTP), direct_environment={"http_proxy": "http://" + HTTP})
case("proxy-loopback-name", "localhost behind a proxy is refused", vod(prefix="http://localhost/"), proxy={}, columns=("cold", "offline"),
     serve=("--proxy", "http://" + HTTP), refused="private", opens="http://HOST-A/master.m3u8")
case("proxy-keys", "keys too go through the proxy", fixture("aes"), rules=ONLY, proxy={}, checks=(used,), reference="aes/master.m3u8",
     environment={"http_proxy": "http://" + HTTP})
case("proxy-dead", "the proxy refuses connections: the words name it", proxy={}, serve=("--proxy", "http://HOST-P:9"), refused="proxy",
     columns=("offline",))
