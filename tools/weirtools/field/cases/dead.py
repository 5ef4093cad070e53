"""W11: a host that refuses connections, or has no address, while the others answer."""

from weirtools.field.case import Host, case, changed, fixture, vod

TRUTH = "ts/90p/media.m3u8"
# Two ways to be dead.
REFUSES, NAMELESS = Host(ports=()), Host(answers="NXDOMAIN")


def advertised(*numbers):
    """A film of which these segments are an advertisement on host B."""
    def change(text):
        for number in numbers:
            text = text.replace("\n%d.ts" % number, "\nhttp://HOST-B/%d.ts" % number)
        return text
    return vod(changed=change)


def moved(name, folder):
    """A fixture with one of its folders on host B."""
    text = fixture(name)["/master.m3u8"].decode()
    return changed(fixture(name), also={"/master.m3u8": text.replace(folder + "/", "http://HOST-B/%s/" % folder)})


# Less than a lost network is waited for.
WITHIN = 15
FILM = {"reference": TRUTH, "compare": "share", "within": WITHIN, "columns": ("direct", "cold")}
for what, host in (("refuses", REFUSES), ("no-name", NAMELESS), ("no-answer-of-dns", Host(answers="SERVFAIL"))):
    fast = what == "refuses"
    case("dead-advertisement-" + what, "an advertisement's host: %s" % what, advertised(2, 3), hosts={"B": host}, share=0.6, fast=fast, **FILM)
    case("dead-beginning-" + what, "the host of an advertisement at the beginning: %s" % what, advertised(0, 1), hosts={"B": host},
         share=0.6, **FILM)
    case("dead-variant-" + what, "the best variant's host: %s" % what, moved("ts", "270p"), hosts={"B": host}, reference="ts/master.m3u8",
         compare="part", exit=3, within=WITHIN, fast=fast)
    case("dead-sound-" + what, "the default sound's host: %s" % what, moved("cmaf", "audio-en"), hosts={"B": host},
         reference="cmaf/master.m3u8", compare="part", within=WITHIN, columns=("direct", "cold"))
