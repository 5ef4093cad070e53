"""Point 5: private hosts; and international names."""

from weirtools.field.actions import redirect
from weirtools.field.case import Host, case, vod

PRIVATE, LOOPBACK = {"D": Host(address="private")}, {"D": Host(address="loopback")}
HOME = {"opens": "http://HOST-D/master.m3u8"}

case("private-named", "the user's URL names a private host", hosts=PRIVATE, fast=True, **HOME)
case("private-address", "the user's URL has a private address", hosts=PRIVATE, opens="http://ADDRESS-D/master.m3u8")
case("private-port", "a private host on a port", hosts={"D": Host(address="private", ports=(8096,))}, opens="http://HOST-D:8096/master.m3u8")
case("private-port-80", "a private host on 8096 names segments on its port 80", vod(prefix="http://HOST-D/"),
     hosts={"D": Host(address="private", ports=(80, 8096))}, opens="http://HOST-D:8096/master.m3u8")
case("private-other-port", "a private host names segments on another port, which is not allowed", vod(prefix="http://HOST-D:9000/"),
     hosts={"D": Host(address="private", ports=(80, 9000))}, refused="--allow-host", columns=("offline",), **HOME)
case("private-allowed-port", "--allow-host HOST:PORT", vod(prefix="http://HOST-D:9000/"), hosts={"D": Host(address="private", ports=(80, 9000))},
     weir=("--allow-host", "HOST-D:9000"), **HOME)
case("private-playlist", "a public origin names segments on a private host: refused with the option's name", vod(prefix="http://HOST-D/"),
     hosts=PRIVATE, refused="--allow-host", columns=("offline",), fast=True)
for what, value in (("name", "HOST-D"), ("address", "ADDRESS-D"), ("cidr", "10.16.0.0/14")):
    case("private-allow-" + what, "--allow-host with a %s" % what, vod(prefix="http://HOST-D/"), hosts=PRIVATE, weir=("--allow-host", value),
         fast=what == "cidr")
case("private-key", "the key allow-hosts of serve", vod(prefix="http://HOST-D/"), hosts=PRIVATE, serve=("--config", "FILE-conf"),
     inputs={"conf": 'allow-hosts = ["HOST-D"]\n'})
case("private-redirect-allowed", "a redirect to a private host that is allowed", hosts=PRIVATE, opens="http://HOST-A/go", rules=[
    ("A:/go", lambda request, reply: reply.refuse(302, Location=request.server.text("http://HOST-D/master.m3u8")))],
    weir=("--allow-host", "HOST-D"))
case("loopback-named", "the user's URL names a loopback host", hosts=LOOPBACK, **HOME)
case("split-horizon", "a private entry with a public CDN", vod(prefix="http://HOST-C/"), hosts=PRIVATE, **HOME)
case("two-answers", "a public and a private answer for one name: the public one is taken", hosts={
    "A": Host(answers=["ADDRESS-D", "ADDRESS-A"]), "D": Host(address="private", ports=(81,))}, fast=True)
# DNS rebinding: the name of a public host leads into the user's network later.
REBOUND = {"hosts": {"A": Host(later=("ADDRESS-D",)), "D": Host(address="private")}, "columns": ("direct", "offline")}
case("rebound", "a public host is private later: refused with the option's name", refused="was public at first", fast=True, **REBOUND)
case("rebound-allowed", "a public host is private later, which --allow-host allows", weir=("--allow-host", "HOST-A"), **REBOUND)
case("rebound-key", "a public host is private later, which the key allow-hosts allows", serve=("--config", "FILE-conf"),
     inputs={"conf": 'allow-hosts = ["HOST-A"]\n'}, **REBOUND)
case("ipv6", "an IPv6 address alone", hosts={"A": Host(address="six")}, fast=True)
case("ipv6-literal", "an IPv6 literal in the URL", hosts={"A": Host(address="six")}, opens="http://[ADDRESS-A]/master.m3u8")
case("idn", "an international host name", hosts={"A": Host(name="xn--bcher-kva%d.com")}, opens="http://HOST-A/master.m3u8")
# ffmpeg does not encode names.
TYPED = {"reference": "ts/90p/media.m3u8", "hosts": {"B": Host(name="xn--bcher-kva.field%d.com")}}
case("idn-typed", "an international host name as a user types it", opens="http://Bücher.HOST-F/master.m3u8", fast=True, **TYPED)
case("idn-playlist", "a playlist with an international host name", vod(prefix="http://bücher.HOST-F/"), **TYPED)
case("idn-redirect", "a redirect to an international host name", rules=[("A:*", redirect("http://bücher.HOST-F/{name}"))], **TYPED)
