"""W11: a host that refuses connections, or has no address, while the others answer."""

from weirtools.field.actions import redirect
from weirtools.field.case import Host, case, changed, fixture, vod
from weirtools.field.cases.live import live

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


def twice(*numbers):
    """A film with two variants of equal pictures, so that any mixture has the same frames."""
    files = advertised(*numbers)
    variants = ((94000, "low"), (180000, "high"))
    lines = ["#EXTM3U", "#EXT-X-VERSION:4", "#EXT-X-INDEPENDENT-SEGMENTS"]
    for rate, folder in variants:
        lines += ['#EXT-X-STREAM-INF:BANDWIDTH=%d,CODECS="avc1.42c00a,mp4a.40.2",RESOLUTION=160x90,FRAME-RATE=10.000' % rate,
                  folder + "/media.m3u8"]
    moved_files = {"/%s%s" % (folder, name): data for name, data in files.items() if name != "/master.m3u8" for _, folder in variants}
    return {**moved_files, "/master.m3u8": "\n".join(lines) + "\n"}


def redirected(*numbers):
    """A film of which these segments are an advertisement in a folder of its own, which is redirected."""
    def change(text):
        for number in (numbers[0], numbers[-1] + 1):
            segment = "#EXTINF:2.000000,\n%d.ts" % number
            text = text.replace(segment, "#EXT-X-DISCONTINUITY\n" + segment)
        for number in numbers:
            text = text.replace("\n%d.ts" % number, "\nads/%d.ts" % number)
        return text
    return vod(changed=change)


def broadcast(*numbers):
    """A live stream of which these segments are an advertisement on host B."""
    return live(target=2, head="#EXT-X-DISCONTINUITY-SEQUENCE:0", place=lambda index: "http://HOST-B/" if index in numbers else "",
                extra=lambda index: "#EXT-X-DISCONTINUITY" if index in (numbers[0], numbers[-1] + 1) else "")


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
    case("dead-redirect-" + what, "an advertisement is redirected to a host: %s" % what, redirected(2, 3), hosts={"B": host}, share=0.6,
         rules=[("A:/ads/*", redirect("http://HOST-B/{name}"))], players=("mpv", "vlc") if fast else (), fast=fast, **FILM)
    case("dead-live-" + what, "the host of a broadcast's advertisement: %s" % what, broadcast(2, 3), hosts={"B": host}, share=0.6,
         players=("mpv", "vlc") if fast else (), player=("-live_start_index", "0"), fast=fast, **{**FILM, "within": 40})
    case("dead-auto-" + what, "an advertisement's host, in the view whose quality Weir chooses: %s" % what, twice(2, 3),
         hosts={"B": host}, share=0.6, view="auto", players=("mpv", "vlc") if fast else (), **FILM)
