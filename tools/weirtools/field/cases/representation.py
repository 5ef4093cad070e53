"""Point 0: one URL, one representation; and plain presentations, as they are."""

from weirtools.field.case import case, fixture, vod

case("plain-master", "a master with one variant", fast=True)
case("plain-media", "a media playlist as the entry", opens="http://HOST-A/media.m3u8", fast=True)
case("plain-aes", "AES-128, two variants", fixture("aes"))
case("plain-cmaf-variant", "fMP4, one variant of video alone", vod("cmaf/video-90p"))
case("plain-query", "an entry with a query that has another URL", opens="http://HOST-A/master.m3u8?next=http://HOST-B/x.m3u8&a=%26")
case("plain-fragment-path", "an entry with escapes in its path", opens="http://HOST-A/%6Daster.m3u8")
case("plain-port", "an entry with its port, :80", opens="http://HOST-A:80/master.m3u8")
case("plain-no-extension", "an entry without an extension", {**vod(), "/watch": vod()["/master.m3u8"]}, opens="http://HOST-A/watch",
     rules=[("/watch", lambda request, reply: reply.headers.__setitem__("Content-Type", "application/x-mpegURL"))])
