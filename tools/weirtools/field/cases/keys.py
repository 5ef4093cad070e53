"""Point 14: keys."""

import base64

from weirtools import MEDIA
from weirtools.field.actions import coded, frames, gives, redirect
from weirtools.field.case import case, changed, fixture, vod

AES, PLAIN = "aes/master.m3u8", "aes-noiv/90p/media.m3u8"


def with_data_keys(text):
    for number in range(3):
        key = base64.b64encode((MEDIA / "aes-noiv" / "90p" / ("%d.key" % number)).read_bytes()).decode()
        text = text.replace('"%d.key"' % number, '"data:text/plain;base64,%s"' % key)
    return text


case("keys", "AES-128 with IVs, as it is", fixture("aes"), fast=True)
case("keys-no-iv", "AES-128 without IVs", vod("aes-noiv/90p"), fast=True)
case("keys-data", "data: keys", vod("aes-noiv/90p", changed=with_data_keys), reference=PLAIN, fast=True)
case("keys-other-host", "keys on another host", vod("aes-noiv/90p", changed=lambda text: text.replace('URI="', 'URI="http://HOST-C/')))
case("keys-query", "keys with a query and no extension", changed(vod("aes-noiv/90p", changed=lambda text: text.replace('.key"', '?k=1&x=a%2Fb"')),
     also={"/%d" % n: (MEDIA / "aes-noiv" / "90p" / ("%d.key" % n)).read_bytes() for n in range(3)}))
case("keys-html-type", "keys as text/html", vod("aes-noiv/90p"), rules=[("*.key", gives(Content_Type="text/html"))])
case("keys-coded", "keys with Content-Encoding gzip", vod("aes-noiv/90p"), rules=[("*.key", coded("gzip"))], reference=PLAIN, fast=True)
case("keys-chunked", "chunked keys", vod("aes-noiv/90p"), rules=[("*.key", frames(framing="chunked", has_ranges=False))])
case("keys-lower-case", "METHOD=AES-128 with IV in 0X and lower case", fixture("aes"), rules=[("*/media.m3u8", lambda request, reply: setattr(
    reply, "body", reply.body.replace(b"IV=0x", b"IV=0X")))], reference=AES)
case("keys-keyformat", "KEYFORMAT identity and KEYFORMATVERSIONS 1", vod("aes-noiv/90p", changed=lambda text: text.replace(
    "METHOD=AES-128", 'METHOD=AES-128,KEYFORMAT="identity",KEYFORMATVERSIONS="1"')))
case("keys-session", "EXT-X-SESSION-KEY in the master", vod("aes-noiv/90p", master="""#EXTM3U
#EXT-X-SESSION-KEY:METHOD=AES-128,URI="0.key"
#EXT-X-STREAM-INF:BANDWIDTH=94000
media.m3u8
"""))
case("keys-none", "METHOD=NONE for plain segments", vod(head="#EXT-X-KEY:METHOD=NONE"))
case("keys-unknown-method", "an unknown METHOD=NONE-like line after the last segment", vod(changed=lambda text: text.replace(
    "#EXT-X-ENDLIST", "#EXT-X-KEY:METHOD=ODD,URI=\"x\"\n#EXT-X-ENDLIST")))
case("keys-redirected", "keys redirected thrice", vod("aes-noiv/90p"), rules=[
    ("A:*.key", redirect("http://HOST-B/{name}")), ("B:*.key", redirect("http://HOST-C/{name}"))])
