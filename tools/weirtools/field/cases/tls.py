"""Point 4: TLS."""

from weirtools.field.actions import first, frames, must_not, needs
from weirtools.field.case import Host, case, vod

TRUTH = "ts/90p/media.m3u8"
OPENS = {"opens": "https://HOST-A/master.m3u8"}


def host(kind="good", **options):
    return {"hosts": {"A": Host(tls=kind, tls_options=options)}, **OPENS}


def resumed(site, _):
    full = site.handshakes.count(False)
    return "%d of %d handshakes were whole" % (full, len(site.handshakes)) if 2 * full > len(site.handshakes) else None


case("tls-trusted", "an authority of the system's trust store", fast=True, **host())
case("tls-chain", "a chain with an intermediate", **host("chain"))
case("tls-12", "TLS 1.2 alone", **host(newest="TLSv1_2"))
case("tls-13", "TLS 1.3 alone", fast=True, **host(oldest="TLSv1_3"))
for version in ("TLSv1", "TLSv1_1"):
    case("tls-old-" + version[3:].lower(), "%s alone is refused in words" % version, refused="TLS", columns=("cold", "offline"), **host(newest=version))
for version, kind in (("12", {"newest": "TLSv1_2"}), ("13", {"oldest": "TLSv1_3"})):
    case("tls-resumed-" + version, "a session of TLS 1.%s is resumed by new connections" % version[1], rules=[("*", frames(keep=False))],
         checks=(resumed,), reference=TRUTH, **host(**kind))
for kind, words in (("expired", "expired"), ("wrong-host", "another host"), ("unknown", "authority"), ("self-signed", "authority"),
                    ("no-intermediate", "intermediate")):
    case("tls-" + kind, "the certificate is %s: refused, with the reason" % kind, refused={"wrong-host": "name"}.get(kind, words), columns=("offline",),
         fast=kind in ("expired", "unknown"), **host(kind))
for kind in ("expired", "wrong-host", "unknown"):
    case("tls-insecure-" + kind, "--insecure with a certificate that is %s" % kind, weir=("--insecure",), fast=kind == "unknown", **host(kind))
case("tls-ca-file", "--ca-file of serve", serve=("--ca-file", "UNKNOWN-AUTHORITY"), fast=True, **host("unknown"))
case("tls-ssl-cert-file", "SSL_CERT_FILE", environment={"SSL_CERT_FILE": "UNKNOWN-AUTHORITY"}, **host("unknown"))
case("tls-curl-ca-bundle", "CURL_CA_BUNDLE", environment={"CURL_CA_BUNDLE": "UNKNOWN-AUTHORITY"}, **host("unknown"))
case("tls-intermediate-given", "an intermediate that the origin leaves out, given by --ca-file", serve=("--ca-file", "INTERMEDIATE-AUTHORITY"),
     **host("no-intermediate"))
case("tls-client", "--cert and --key", weir=("--cert", "CLIENT-CERTIFICATE", "--key", "CLIENT-KEY"),
     direct=("-cert_file", "CLIENT-CERTIFICATE", "-key_file", "CLIENT-KEY"), reference=TRUTH, fast=True, **host(needs_client=True))
case("tls-client-missing", "the origin needs a client certificate: the words name --cert", refused="--cert", columns=("offline",),
     **host(needs_client=True))
TWO = {"hosts": {"A": Host(tls="good"), "C": Host(tls="good", tls_options={"needs_client": True})}, **OPENS}
case("tls-client-elsewhere", "--cert does not go to a host that only a playlist names: the words name --cert-for", vod(prefix="https://HOST-C/"),
     weir=("--cert", "CLIENT-CERTIFICATE", "--key", "CLIENT-KEY"), refused="--cert-for", columns=("offline",), fast=True, **TWO)
case("tls-client-for", "--cert-for another host", vod(prefix="https://HOST-C/"), reference=TRUTH, fast=True,
     weir=("--cert", "CLIENT-CERTIFICATE", "--key", "CLIENT-KEY", "--cert-for", "HOST-C"), **TWO)
case("tls-other-port", "https on port 8443", hosts={"A": Host(tls="good", tls_ports=(8443,))}, opens="https://HOST-A:8443/master.m3u8")
case("tls-mixed", "a playlist over https names segments over http", vod(prefix="http://HOST-B/"), **host())
case("tls-cdn", "two hosts over https", vod(prefix="https://HOST-C/"), hosts={"A": Host(tls="good"), "C": Host(tls="good")}, **OPENS)
case("tls-reset", "the first connection for each segment is reset", rules=[("*.ts", first(1, frames(cut=-1)))], reference=TRUTH, **host())
case("tls-close", "each reply ends its connection", rules=[("*", frames(keep=False))], **host())
case("h2", "HTTP/2 by ALPN (nginx)", server="nginx", fast=True, **host())
case("h2-used", "HTTP/2 is used where it is offered", server="nginx", rules=[("*.ts", needs(header="X-Protocol", value="HTTP/2.0"))],
     reference=TRUTH, **host())
case("h2-off", "the key http2 = false: HTTP/1.1", server="nginx", rules=[("*", must_not(header="X-Protocol", contains="HTTP/2"))],
     serve=("--config", "FILE-conf"), inputs={"conf": "http2 = false\n"}, **host())
case("h2-goaway", "HTTP/2 with GOAWAY after each four requests", server="nginx", **host(nginx="keepalive_requests 4;"))
case("h2-streams", "HTTP/2 with two streams at most", server="nginx", **host(nginx="http2_max_concurrent_streams 2;"))
