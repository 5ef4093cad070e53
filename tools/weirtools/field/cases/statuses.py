"""Point 17: the origin's status for a playlist reaches the player."""

from weirtools.field.actions import gives
from weirtools.field.case import case

for status, words in ((404, "404"), (410, "410"), (403, "403"), (401, "401"), (451, "451")):
    case("playlist-%d" % status, "the master answers %d: the player sees %d" % (status, status), rules=[
        ("/master.m3u8", gives(status=status, body="no"))], refused=words, answer=status, fast=status in (404, 403))
case("media-404", "a media playlist answers 404", rules=[("/media.m3u8", gives(status=404, body="no"))], refused="404")
