"""N: what nobody has, and users ask for."""

import json
import re
import time
import xml.etree.ElementTree

from weirtools.mission.row import Missing, need, row
from weirtools.mission.rows.seeds import surround, variant_path
from weirtools.players import frames


@row("N1", "An unfinished download plays whole, filled from another quality", "weir play NAME --offline")
def filled(stage):
    stage.run("get", stage.url("ts"), "-q", "180p")
    stage.run("get", "ts", "-q", "270p", "--range", "0-6")
    stage.end_origin()
    found = stage.frames(stage.weir.url + variant_path(stage, "ts", "270p", "/offline"))
    wanted = [hash for _, hash in stage.of_fixture("ts/270p/media.m3u8")[0].frames]
    need(found and len(found[0].frames) == len(wanted), "the mixture has %d of %d frames" % (len(found[0].frames) if found else 0, len(wanted)))
    best = sum(one == other for (_, one), other in zip(found[0].frames, wanted))
    need(60 <= best < 120, "%d of 120 frames are of the best quality" % best)


@row("N2", "A download goes on at a new URL, and fetches nothing again", "weir resume NAME --url NEW")
def new_url(stage):
    stage.rules({"path": "*/4.ts*", "times": 40, "status": 403})
    stage.command("add", stage.url("ts") + "?sig=old", "-q", "worst", "--name", "film")
    stage.wait("pieces", lambda: len(stage.media_requests()) > 4)
    stage.clear_rules()
    before = len(stage.media_requests())
    stage.run("resume", "film", "--url", stage.url("ts") + "?sig=new")
    stage.wait("complete download", lambda: stage.download("film")["state"] == "complete")
    after = [path for path in stage.media_requests()[before:] if "/0.ts" in path]
    need(not after, "the first segment is fetched again")


@row("N3", "Play goes on without a gap from the store to the origin", "weir play NAME")
def continued(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "0-5")
    stage.plays(variant_path(stage, stage.url("ts"), "90p"), "ts/90p/media.m3u8")


@row("N4", "Pieces are verified and repaired, holes listed", "weir verify NAME --repair")
def repaired(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    piece = sorted((stage.folder / "store").rglob("*.ts"))[2]
    piece.write_bytes(piece.read_bytes()[:-188] + b"\0" * 188)
    stage.refused(65, "verify", "ts")
    stage.run("verify", "ts", "--repair")
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")


@row("N5", "An asset is moved to another disk", "weir move NAME FOLDER")
def moved(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.run("move", "ts", stage.folder / "elsewhere")
    need(list((stage.folder / "elsewhere").rglob("*.ts")), "nothing is in the new folder")
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")
    # A move that begins with the download leaves no piece behind, and a removal none anywhere.
    for number in range(8):
        name = "early-%d" % number
        stage.run("add", "%s/_vod/12x%d/media.m3u8" % (stage.origin.url, 3000 + number), "--name", name)
        stage.run("move", name, stage.folder / "elsewhere")
    for number in range(8):
        name = "early-%d" % number
        stage.wait("end of %s" % name, lambda name=name: stage.download(name)["state"] == "complete")
    places = [stage.folder / "store" / "assets", stage.folder / "elsewhere" / "assets"]
    need(not list(places[0].glob("early-*")), "pieces were left behind: %s" % list(places[0].glob("early-*")))
    stage.run("remove", "--yes", *("early-%d" % number for number in range(8)))
    need(not [folder for place in places for folder in place.glob("*early-*")], "a removed film has a folder")


def advance(stage, name, by=1):
    """Adds segments to a broadcast of the origin."""
    stage.ask("POST", stage.origin.url + "/_origin/live/advance", json.dumps({"name": name, "by": by}).encode())


def end_broadcast(stage, name):
    stage.ask("POST", stage.origin.url + "/_origin/live/end", json.dumps({"name": name}).encode())


def has_bytes(stage, name):
    return (stage.download(name) or {}).get("bytes", 0) > 0


@row("N6", "A live stream is recorded until it ends, as often as you like, while it plays live", "weir get URL --record")
def recorded(stage):
    url = stage.origin.url + "/_live/show/media.m3u8"
    for _ in range(2):
        stage.run("add", url, "--record", "--name", "mine")
    for name in ("mine", "mine-2"):
        stage.wait("pieces of %s" % name, lambda name=name: has_bytes(stage, name))
    advance(stage, "show", 2)
    text = stage.text("/" + url)
    need("#EXT-X-ENDLIST" not in text and "EVENT" not in text, "the channel is not live beside its recordings: %s" % text)
    end_broadcast(stage, "show")
    for name in ("mine", "mine-2"):
        stage.wait("end of %s" % name, lambda name=name: stage.download(name)["state"] == "complete", 60)
        need("#EXT-X-ENDLIST" in stage.text("/offline/%s.m3u8" % name), "the recording %s has no end" % name)


@row("N7", "Honest sizes, rates and times left", "weir get URL", quick=False)
def honest(stage):
    url = stage.origin.url + "/_vod/30x100000/media.m3u8"
    stage.rules({"path": "*.ts", "throttle": 10_000})
    with stage.following("get", url, "--name", "slow", "--json") as lines:
        stage.wait("progress", lambda: sum("rate" in line for line in list(lines)) >= 20, 60)
        rates = [line["rate"] for line in lines if "rate" in line][10:]
    # Six transfers of 10 KB/s each.
    wrong = [rate for rate in rates if not 30_000 < rate < 90_000]
    need(not wrong, "the link carries 60 KB/s, told are %s" % wrong[:5])


@row("N8", "Another quality keeps what is stored", "weir get NAME -q 180p")
def changed(stage):
    stage.run("get", stage.url("ts"), "-q", "90p")
    stage.run("get", "ts", "-q", "180p")
    stored = [each["stored"] for each in stage.asset("ts")["tracks"]["variants"]]
    need(stored == ["saved", "saved", "not-stored"], "stored variants: %s" % stored)


@row("N9", "What is stored is preferred to what is not", "weir play NAME --local")
def local(stage):
    stage.run("get", stage.url("ts"), "-q", "180p")
    need(stage.text("/local/ts.m3u8").count("#EXT-X-STREAM-INF") == 1, "the local view lists more than what is stored")


@row("N10", "Plain HLS is exported and imported", "weir export NAME FOLDER; weir import FOLDER")
def exported(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.run("export", "ts", stage.folder / "out")
    if words := frames.all_differences(
            stage.frames(str(stage.folder / "out" / "master.m3u8"), "-allowed_extensions", "ALL"), stage.of_fixture("ts/90p/media.m3u8")):
        raise Missing("the export: %s" % words)
    stage.run("import", stage.folder / "out", "--name", "again")
    stage.plays("/offline/again.m3u8", "ts/90p/media.m3u8")


@row("N11", "Several languages in one download, to switch offline", "weir get URL --audio all")
def languages(stage):
    stage.run("get", stage.url("cmaf"), "-q", "worst", "--audio", "all")
    stage.run("get", surround(stage, "n11/master.m3u8"), "--audio", "all", "--name", "surround")
    stage.end_origin()
    text = stage.text("/offline/cmaf.m3u8")
    need('LANGUAGE="en"' in text and 'LANGUAGE="fr"' in text, "offline not both languages are listed")
    listed = re.findall(r'LANGUAGE="(..)",.*CHANNELS="(.)"', stage.text("/offline/surround.m3u8"))
    need(sorted(listed) == [("de", "2"), ("en", "2"), ("en", "6")], "of a film with two groups of sound, offline are %s" % listed)


@row("N12", "New content at the origin is noticed, and taken over when you say so", "weir list; weir update NAME")
def revised(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--range", "0-5")
    replace(stage, "180p")
    stage.rules({"path": "*/90p/5.ts", "hold": True})
    with stage.following("events", "--json") as events:
        stage.wait("events", lambda: events)
        stage.run("add", "ts", "-q", "90p")
        stage.wait("event", lambda: any(event["t"] == "content-changed" for event in events))
        need("other content at the origin" in stage.run("list"), "weir list does not tell that the content is another")
        stage.clear_rules()
        stage.ask("POST", stage.origin.url + "/_origin/release", b"{}")
        stage.wait("new content", lambda: not stage.asset("ts").get("isRevised") and stage.asset("ts")["state"] == "saved", 40)
    stage.plays("/offline/ts.m3u8", "ts/180p/media.m3u8")
    # A complete film is compared when the user says so, and not before.
    replace(stage, "270p")
    count = len(stage.requests())
    stage.plays("/ts.m3u8", "ts/180p/media.m3u8")
    need(len(stage.requests()) == count, "a complete film asks the origin")
    stage.restart()
    need("other content" in stage.run("update", "ts"), "weir update does not notice new segments")
    stage.wait("new content", lambda: not stage.asset("ts").get("isRevised") and stage.asset("ts")["state"] == "saved", 40)
    stage.plays("/offline/ts.m3u8", "ts/270p/media.m3u8")


def replace(stage, quality):
    """Lays other segments under the URLs of the lowest variant; its playlist stays."""
    for number in range(6):
        (stage.root / ("ts/90p/%d.ts" % number)).write_bytes((stage.root / ("ts/%s/%d.ts" % (quality, number))).read_bytes())


@row("N13", "Why a variant was chosen, and where each piece came from", "weir show NAME --explain")
def explained(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    need("because" in stage.run("show", stage.url("ts"), "--explain"), "no reason is given")
    stage.frames(stage.weir.url + "/ts.m3u8", "-t", "3")
    session = stage.wait("session", lambda: stage.api("GET", "/sessions")[1]["sessions"])[0]
    need(session.get("pieces"), "a session does not tell where its pieces came from")


@row("N14", "The way to the origin as your player has it, for downloads too", "weir get URL --proxy URL --header 'Referer: …'")
def way(stage):
    stage.get("/" + stage.url("ts"), Referer="https://page.example/", User_Agent="mpv 0.40")
    name = stage.api("GET", "/assets")[1]["assets"][0]["name"]
    stage.run("get", name, "-q", "worst")
    found = {entry["headers"].get("referer") for entry in stage.requests("/90p/")}
    need(found == {"https://page.example/"}, "the download sends Referer %s" % found)


@row("N15", "A web page's address plays through a handler that you name", "weir get PAGE-URL")
def web_page(stage):
    page = stage.write("watch.html", "<html><title>Watch</title></html>")
    script = stage.folder / "handler"
    script.write_text('#!/bin/sh\nprintf \'{"url": "%s", "title": "From the page"}\' ' + "'%s'\n" % stage.url("ts"))
    script.chmod(0o755)
    stage.configure('allow-hosts = ["127.0.0.1"]\n[handlers]\n"%s/watch*" = [%s]\n' % (stage.origin.url, json.dumps(str(script))))
    stage.restart()
    stage.run("get", page, "-q", "worst", "--name", "handled")
    stage.plays("/offline/handled.m3u8", "ts/90p/media.m3u8")


@row("N16", "A channel list becomes a list of streams", "weir add -i channels.m3u")
def channels(stage):
    file = stage.folder / "channels.m3u"
    file.write_text("#EXTM3U\n#EXTINF:-1 tvg-name=\"One\" group-title=\"News\",One\n%s\n#EXTINF:-1,Two\n%s\n" % (stage.url("ts"), stage.url("cmaf")))
    stage.run("add", "-i", file)
    need("One" in stage.text("/weir.m3u") and "Two" in stage.text("/weir.m3u"), "the channels are not in /weir.m3u")


@row("N17", "A session as a picture", "weir log NAME --picture FILE", quick=False)
def picture(stage):
    # From the origin, in real time, with a segment that is seven seconds late.
    path = variant_path(stage, stage.url("ts"), "90p")
    stage.rules({"path": "*/90p/3.ts", "delay": 7})
    stage.frames(path if path.startswith("http") else stage.weir.url + path, "-re")
    stage.clear_rules()
    marks, stalls = drawn(stage)
    need(marks == {"origin": 6}, "of six segments from the origin the picture has %s" % marks)
    need(len(stalls) == 1 and 2 < stalls[0] < 9, "of one stall of about five seconds the picture has %s" % stalls)
    # From the store, half of it in another quality, which the hole of a partial download is filled with.
    stage.run("get", "ts", "-q", "180p")
    stage.run("get", "ts", "-q", "270p", "--range", "0-6")
    stage.end_origin()
    stage.frames(stage.weir.url + variant_path(stage, "ts", "270p", "/offline"))
    marks, stalls = drawn(stage)
    need(marks == {"store": 3, "substitute": 3} and not stalls, "of three stored segments and three of another quality the picture has %s, %s" % (marks, stalls))


def drawn(stage):
    """The marks of the last session's picture by source, and the lengths of its stalls in seconds."""
    file = stage.folder / "session.svg"
    stage.run("log", "ts", "--picture", file)
    found = xml.etree.ElementTree.parse(file).getroot().iter()
    kinds, stalls = {}, []
    for element in found:
        words = (element.get("class") or "").split()
        title = element.find("{http://www.w3.org/2000/svg}title")
        if words[:1] == ["mark"]:
            kinds[words[1]] = kinds.get(words[1], 0) + 1
        elif words == ["stall"] and title is not None:
            stalls.append(float(title.text.split(", ")[1].removesuffix(" s")))
    return kinds, stalls


@row("N18", "Commands start the daemon that they need", "weir get URL")
def started(stage):
    stage.weir.kill()
    status, output, errors = stage.command("status")
    need(status == 0 and "does not run" in output, "weir status without a daemon exits with %d: %s" % (status, (output + errors).strip()[:100]))
    need(stage.command("list")[0] == 69, "a command starts a daemon although WEIR_START is false")
    own = {"WEIR_START": "true", "WEIR_IDLE_EXIT": "60s"}
    place = ("--listen", "127.0.0.1:0", "--store", stage.folder / "store")
    try:
        status, _, errors = stage.command("get", stage.url("ts"), "-q", "worst", *place, environment=own)
        need(status == 0 and "started the daemon" in errors, "weir get without a daemon exits with %d: %s" % (status, errors.strip()[:200]))
        need("started" not in stage.command("list", environment=own)[2], "the next command starts another daemon")
        shown = stage.run("status")
        need("runs at http://127.0.0.1:" in shown and "after 1m without work" in shown, "weir status shows: %s" % shown.strip()[:200])
    finally:
        stage.run("stop")
    need("does not run" in stage.run("status"), "the daemon runs after weir stop")


@row("N19", "Recordings at their time, once or each day, before every download; the channel stays live",
     "weir record CHANNEL --at 20:15 --for 45m --every mon,fri", quick=False)
def at_their_time(stage):
    stage.rules({"path": "/_vod/*.ts", "hold": True})
    for number in range(3):
        stage.run("add", "%s/_vod/20x%d/media.m3u8" % (stage.origin.url, 3000 + number), "--name", "film-%d" % number)
    url = stage.origin.url + "/_live/show/media.m3u8"
    # A time has no seconds: the next minute but one, and early enough to begin in three seconds.
    now = time.time()
    begin = (int(now) // 60 + 2) * 60
    at, early = time.strftime("%H:%M", time.localtime(begin)), begin - int(now) - 3
    planned = stage.run("record", url, "--at", at, "--for", "10m", "--every", "day", "--pre", "%ds" % early, "--keep", "5")
    need("every day" in planned and "keeps 5" in planned, "weir record says: %s" % planned)
    stage.restart()

    def recordings():
        return [each["name"] for each in stage.lines("list", "--json") if each.get("recordingOf") and has_bytes(stage, each["name"])]

    stage.wait("planned recording beside three downloads, after a kill", recordings, 40)
    name = recordings()[0]
    need(name.startswith("show-" + time.strftime("%Y-%m-%d")), "the recording is named %s" % name)
    need("#EXT-X-ENDLIST" not in stage.text("/" + url), "the channel is not live while it is recorded")
    need(name in stage.run("show", "show"), "weir show CHANNEL does not list the recording")
    end_broadcast(stage, "show")
    stage.wait("end of the recording", lambda: stage.download(name)["state"] == "complete", 60)
    need("every day" in stage.run("record"), "the next day is no longer planned")


@row("N22", "Channel lists by URL, read again, with their guide ids; a channel is an asset only when it is used", "weir add URL")
def lists(stage):
    text = ("#EXTM3U url-tvg=\"http://guide.example/tv.xml\"\n#EXTINF:-1 tvg-id=\"one.tv\",One\n%s?t=1\n#EXTINF:-1,Two\n%s\n"
            % (stage.url("ts"), stage.url("cmaf")))
    url = stage.write("tv.m3u", text)
    stage.run("add", url, "--name", "tv")
    need(not stage.lines("list", "--json"), "channels that nobody has used are assets")
    listed = stage.text("/weir.m3u")
    need('tvg-id="one.tv"' in listed and "http://guide.example/tv.xml" in listed, "the guide is lost: %s" % listed)
    need(stage.get("/one.m3u8")[0] == 200, "a channel does not play by its name")
    stage.run("remove", "two", "--yes")
    stage.write("tv.m3u", text.replace("?t=1", "?t=2"))
    stage.run("add", url)
    listed = stage.text("/weir.m3u")
    need("/one.m3u8" in listed and "/two.m3u8" not in listed, "after another reading the list is: %s" % listed)
    need(stage.get("/one.m3u8")[0] == 200 and stage.requests("/ts/master.m3u8?t=2"), "a new token is not used")
    stage.run("remove", "tv", "--yes")
    need("/two.m3u8" not in stage.text("/weir.m3u"), "the channels of a removed list are in weir.m3u")
