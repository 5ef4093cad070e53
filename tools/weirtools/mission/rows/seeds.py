"""S: what the product is modelled on."""

import json
import os
import pathlib
import shutil
import time

from weirtools.mission.row import Missing, need, row
from weirtools.scenes import watching

AUDIO = '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="%s",NAME="%s",LANGUAGE="%s",DEFAULT=%s,AUTOSELECT=%s,CHANNELS="%s",URI="../cmaf/audio-%s/media.m3u8"'
VARIANT = '#EXT-X-STREAM-INF:BANDWIDTH=%d,RESOLUTION=%s,CODECS="avc1.42c00a,mp4a.40.2"%s\n../cmaf/video-%s/media.m3u8'


def chosen(stage, url, *options, environment=None):
    """(variant, sounds, subtitles) that `weir get` would take, by their ids."""
    text = stage.run("show", url, "--json", *options, environment=environment)
    selection = json.loads(text.splitlines()[-1])["explanation"]["selection"]
    return [[track["id"] for track in selection[kind]] for kind in ("variants", "audio", "subtitles")]


def ladder(stage, path="ladder/master.m3u8", extra=("", "", "")):
    sizes = [("160x90", "90p"), ("320x180", "180p"), ("480x270", "270p")]
    rows = [VARIANT % (100_000 * (number + 1), size, extra[number], name) for number, (size, name) in enumerate(sizes)]
    return stage.master(path, *rows)


@row("S1", "A film is downloaded for use without a network", "weir get URL")
def download(stage):
    stage.run("get", stage.url("ts"))
    stage.end_origin()
    stage.plays("/offline/ts.m3u8", "ts/270p/media.m3u8")


@row("S2", "Downloads go on in the background, at times and under conditions that you set", "weir add URL")
def background(stage):
    stage.run("add", stage.url("ts"))
    stage.wait("complete download with no command at work", lambda: (stage.download("ts") or {}).get("state") == "complete")
    need(("sync", "10", "3") in priorities(stage.weir.child.pid), "no thread of downloads has a lower class")
    now = time.localtime()
    hours = "%02d:00-%02d:00" % ((now.tm_hour + 2) % 24, (now.tm_hour + 3) % 24)
    stage.configure('download-hours = ["%s"]\n' % hours)
    stage.restart(kill=False)
    stage.run("add", stage.url("cmaf"), "-q", "worst")
    stage.wait("download that waits for its hours", lambda: stage.download("cmaf")["state"] == "waiting")
    need(stage.download("cmaf")["need"] == "hours" and "waiting for its hours" in stage.run("list"), "weir list does not say why the download waits")
    # A player is not stopped by a rule.
    need(stage.frames(stage.weir.url + "/" + stage.url("cmaf"), "-t", "2"), "a rule for downloads stops a player")
    stage.run("add", "cmaf", "-q", "worst", "--hours", "any")
    stage.wait("complete download", lambda: stage.download("cmaf")["state"] == "complete")


def priorities(process):
    """(name, nice value, scheduling policy) of each thread of a process: proc_pid_stat(5)."""
    found = set()
    for task in pathlib.Path("/proc/%d/task" % process).iterdir():
        fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        found.add(((task / "comm").read_text().strip(), fields[16], fields[38]))
    return found


@row("S3", "Downloads survive the end of the process: they are listed, and go on", "weir list")
def survival(stage):
    stage.rules({"path": "*/4.ts", "hold": True})
    stage.run("add", stage.url("ts"), "-q", "worst")
    stage.wait("pieces", lambda: (stage.download("ts") or {}).get("bytes", 0) > 0)
    stage.restart()
    found = stage.download("ts")
    need(found and found["state"] in ("running", "queued", "waiting"), "after kill -9 the download is not listed")
    stage.clear_rules()
    stage.ask("POST", stage.origin.url + "/_origin/release", b"{}")
    stage.wait("complete download", lambda: stage.download("ts")["state"] == "complete")


@row("S4", "A download has a title, artwork and a description, which can be changed later", "weir set NAME --title TITLE --description TEXT --artwork FILE")
def title(stage):
    image = stage.folder / "art.png"
    image.write_bytes(bytes.fromhex("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"))
    stage.run("get", stage.url("ts"), "-q", "worst", "--title", "The Film", "--description", "first words", "--artwork", image)
    need("The Film" in stage.run("list"), "weir list does not print the title")
    need("first words" in stage.run("show", "ts"), "weir show does not print the description")
    need(stage.asset("ts").get("artwork"), "the API gives no artwork")
    stage.run("set", "ts", "--title", "Another", "--description", "other words", "--artwork", image)
    found = stage.run("show", "ts")
    need("Another" in found and "other words" in found, "weir set does not change the title and the description")


@row("S5", "Without options: the best picture, and the sound in your language", "LANG=de_DE weir show URL --explain")
def best(stage):
    url = stage.master(
        "s5/master.m3u8",
        AUDIO % ("a", "English", "en", "YES", "YES", 2, "en"), AUDIO % ("a", "Deutsch", "de", "NO", "YES", 2, "fr"),
        VARIANT % (100_000, "160x90", ',AUDIO="a"', "90p"), VARIANT % (300_000, "480x270", ',AUDIO="a"', "270p"))
    variant, sound, _ = chosen(stage, url, environment={"LANG": "de_DE.UTF-8", "LC_ALL": ""})
    need(variant == ["video-270p"], "the picture is %s" % variant)
    need(sound == ["audio-de"], "with LANG=de the sound is %s" % sound)


@row("S6", "The lowest variant of at least a bit rate, else the highest", "weir get URL -q 265000")
def minimum_rate(stage):
    url = ladder(stage)
    for rate, expected in (("150000", "180p"), ("265000", "270p"), ("200k", "180p"), ("2M", "270p")):
        variant = chosen(stage, url, "-q", rate)[0]
        need(variant == ["video-" + expected], "-q %s takes %s" % (rate, variant))
    need("720p" in stage.refused(64, "show", url, "-q", "720"), "-q 720 does not suggest 720p")


@row("S7", "A smallest size, HDR and several channels can be preferred; stereo is kept beside them",
     "weir get URL --min-size 720p --prefer-hdr --prefer-multichannel")
def preferences(stage):
    url = stage.master(
        "s7/master.m3u8",
        AUDIO % ("two", "English", "en", "YES", "YES", 2, "en"), AUDIO % ("six", "English", "en", "YES", "YES", 6, "fr"),
        *[VARIANT % (rate, size, ',AUDIO="%s",VIDEO-RANGE=%s' % (group, kind), name)
          for rate, size, group, kind, name in ((100_000, "160x90", "two", "SDR", "90p"), (200_000, "320x180", "two", "SDR", "180p"),
                                                (210_000, "320x180", "six", "PQ", "270p"), (220_000, "320x180", "six", "SDR", "180p"))])
    need(chosen(stage, url, "--min-size", "320x180")[0][0] != "video-90p", "--min-size 320x180 takes 160x90")
    rows = json.loads(stage.run("show", url, "--json", "--min-size", "180p", "--prefer-hdr").splitlines()[-1])["explanation"]["selection"]
    need(rows["variants"][0].get("videoRange") == "PQ", "--prefer-hdr takes SDR")
    sounds = json.loads(stage.run("show", url, "--json", "--prefer-multichannel").splitlines()[-1])["explanation"]["selection"]["audio"]
    need(sorted(each.get("channels") for each in sounds) == ["2", "6"], "--prefer-multichannel keeps %s" % [each.get("channels") for each in sounds])
    unasked, named = (chosen(stage, surround(stage, "s7b/master.m3u8"), *options) for options in ((), ("--audio", "en")))
    need(named == unasked, "--audio en takes %s where nothing asked for takes %s" % (named, unasked))


def surround(stage, path):
    """A film whose English in 5.1 is a group of its own, which the dearer variant lists."""
    # The origin lays the fixtures.
    _ = stage.origin
    english, six = stage.root / "cmaf" / "audio-en", stage.root / "cmaf" / "audio-six"
    if not six.exists():
        shutil.copytree(english, six)
    return stage.master(
        path, AUDIO % ("two", "English", "en", "YES", "YES", 2, "en"), AUDIO % ("two", "Deutsch", "de", "NO", "YES", 2, "fr"),
        AUDIO % ("six", "English", "en", "YES", "YES", 6, "six"),
        VARIANT % (300_000, "480x270", ',AUDIO="two"', "270p"), VARIANT % (400_000, "480x270", ',AUDIO="six"', "270p"))


@row("S8", "Sound and subtitles follow locale, DEFAULT, AUTOSELECT and FORCED", "weir show URL --explain")
def media_selection(stage):
    text = '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="t",NAME="%s",LANGUAGE="%s",DEFAULT=NO,AUTOSELECT=YES,FORCED=%s,URI="../cmaf/subtitles-en/media.m3u8"'
    url = stage.master(
        "s8/master.m3u8",
        AUDIO % ("a", "English", "en", "YES", "YES", 2, "en"), AUDIO % ("a", "Kommentar", "de", "NO", "NO", 2, "fr"),
        text % ("Deutsch", "de", "YES"), text % ("English", "en", "NO"),
        VARIANT % (300_000, "480x270", ',AUDIO="a",SUBTITLES="t"', "270p"))
    german = {"LANG": "de_DE.UTF-8", "LC_ALL": ""}
    _, sound, subtitles = chosen(stage, url, environment=german)
    need(sound == ["audio-en"], "sound with AUTOSELECT=NO is chosen by itself: %s" % sound)
    need(subtitles == ["subtitles-de"], "forced subtitles of the user's language are not taken: %s" % subtitles)


@row("S9", "Several selections in one download, one after the other", "weir get URL -q 90p --also '-q 180p'")
def several(stage):
    stage.run("get", stage.url("ts"), "-q", "90p", "--also", "-q 180p")
    order = [path.split("/")[-2] for path in stage.media_requests() if path.endswith(".ts") and "/ts/" in path]
    first_of_second = next(index for index, name in enumerate(order) if name == "180p")
    need("90p" not in order[first_of_second + 1:], "a segment of the first selection comes after the first of the second: %s" % order)


@row("S10", "One download is one set of selections, and names the further ones that exist", "weir get URL --json")
def further(stage):
    found = stage.lines("get", stage.url("cmaf"), "-q", "90p", "--json")
    need(any("further" in json.dumps(line) for line in found), "get --json does not name further selections")


@row("S11", "Variants and languages are added to what is stored", "weir get NAME -q 90p --audio fr")
def added(stage):
    stage.run("get", stage.url("cmaf"), "-q", "270p")
    before = len(stage.media_requests())
    stage.run("get", "cmaf", "-q", "270p", "--audio", "fr")
    paths = stage.media_requests()[before:]
    need(paths and all("audio-fr" in path for path in paths), "an added language fetches %s" % paths[:3])
    stage.run("get", surround(stage, "s11/master.m3u8"), "--audio", "en", "--name", "surround")
    before = len(stage.media_requests())
    stage.run("get", "surround", "--audio", "en,de")
    paths = stage.media_requests()[before:]
    need(paths and all("audio-fr" in path for path in paths), "a language beside English fetches %s" % paths[:3])


@row("S12", "What is not stored yet is listed, for each group of tracks", "weir show NAME")
def not_stored(stage):
    captions = '#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID="cc",NAME="Captions",LANGUAGE="en",INSTREAM-ID="CC1"'
    url = stage.master("s12/master.m3u8", captions, VARIANT % (100_000, "160x90", ',CLOSED-CAPTIONS="cc"', "90p"),
                       VARIANT % (300_000, "480x270", ',CLOSED-CAPTIONS="cc"', "270p"))
    stage.run("get", url, "-q", "90p", "--name", "captions")
    tracks = stage.asset("captions")["tracks"]
    need([each["stored"] for each in tracks["variants"]] == ["saved", "not-stored"], "the variants are not told apart")
    need("Captions" in stage.run("show", "captions"), "closed captions are not listed")


@row("S13", "Downloads are paused, resumed and cancelled; what is stored stays", "weir pause NAME; weir resume NAME; weir cancel NAME")
def paused(stage):
    stage.rules({"path": "*/4.ts", "hold": True})
    stage.run("add", stage.url("ts"), "-q", "worst")
    stage.wait("pieces", lambda: (stage.download("ts") or {}).get("bytes", 0) > 0)
    stage.run("pause", "ts")
    need(stage.download("ts")["state"] == "paused", "pause does not pause")
    stage.run("resume", "ts")
    need(stage.download("ts")["state"] in ("running", "queued", "waiting"), "resume does not resume")
    stage.run("cancel", "ts")
    need(stage.asset("ts")["bytes"] > 0, "a cancelled download's pieces are gone")


@row("S14", "Passing network errors are tried again", "weir get URL")
def retried(stage):
    stage.rules({"path": "*/3.ts", "times": 2, "status": 503}, {"path": "*/5.ts", "times": 1, "resetAfter": 100})
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")


@row("S15", "Progress in loaded time ranges, out of the range expected", "weir get URL --json")
def ranges(stage):
    result = stage.lines("get", stage.url("cmaf"), "--audio", "all", "--json")[-1]
    need(result["state"] == "complete" and result["loaded"], "the result has no ranges")
    for part in stage.asset("cmaf")["parts"]:
        loaded, expected = (sum(end - begin for begin, end in part[key]) for key in ("loaded", "expected"))
        need(abs(loaded - expected) < 1e-9, "%s: the ranges of a complete track add up to %.2f %%" % (part["id"], 100 * loaded / expected))
    download = stage.download("cmaf")
    need(download["fraction"] == 1, "the fraction of a complete download is %s" % download["fraction"])


@row("S16", "Progress for each selection, weighted 70, 20, 10 for picture, sound and subtitles", "weir get URL --json")
def weights(stage):
    with stage.following("events", "--json") as events:
        stage.run("get", stage.url("cmaf"), "-q", "90p", "--subs", "en", "--also", "-q 180p")
        stage.wait("completion of both selections", lambda: sum(
            "selection-complete" in json.dumps(event) for event in list(events)) >= 2, 10)
    weights = {}
    for part in stage.asset("cmaf")["parts"]:
        weights[part["kind"]] = weights.get(part["kind"], 0) + part["weight"]
    rounded = {kind: round(weight, 3) for kind, weight in weights.items()}
    need(rounded == {"video": 0.7, "audio": 0.2, "subtitles": 0.1}, "the weights are %s" % rounded)


@row("S17", "Completion and errors are events", "weir events --json")
def events(stage):
    stage.rules({"path": "*cmaf*", "status": 404})
    with stage.following("events", "--json") as seen:
        stage.run("get", stage.url("ts"), "-q", "worst")
        stage.command("get", stage.url("cmaf"))
        stage.wait("event of completion", lambda: any("complete" in json.dumps(each) for each in list(seen)), 10)


@row("S18", "The folder of a download is known early, and its id lasts", "weir show NAME --json")
def location(stage):
    stage.rules({"path": "*/4.ts", "hold": True})
    stage.run("add", stage.url("ts"), "-q", "worst")
    stage.wait("asset", lambda: stage.api("GET", "/assets/ts")[0] == 200)
    found = stage.asset("ts")
    need(found.get("path") and pathlib.Path(found["path"]).is_dir(), "the API has no path of the bundle")
    stage.run("rename", "ts", "other")
    need(stage.api("GET", "/assets/" + found["id"])[0] == 200, "after a rename the id is unknown to the API")
    need(stage.get("/%s.m3u8" % found["id"])[0] == 200, "after a rename the id is unknown to players")


@row("S19", "A bundle on disk has a version, and is read again without the catalogue", "weir list")
def bundle(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    files = list((stage.folder / "store").rglob("asset.json"))
    need(files and "format" in json.loads(files[0].read_text()), "the bundle has no version")
    stage.restart(kill=False)
    stage.weir.child.terminate()
    stage.weir.child.wait(timeout=30)
    for file in [*(stage.folder / "store").glob("*.sqlite*"), *(stage.folder / "store").glob("catalogue*")]:
        file.unlink(missing_ok=True)
    stage.weir.start()
    stage.end_origin()
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")


@row("S20", "Stored media is kept out of backups where you say so", "weir policy NAME --backup exclude")
def backup(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.run("policy", "ts", "--backup", "exclude")
    need(list((stage.folder / "store").rglob("CACHEDIR.TAG")), "there is no CACHEDIR.TAG")


@row("S21", "A film plays while it is downloaded, and a recording from its beginning while it grows", "weir get URL --play")
def play_while_downloading(stage):
    stage.rules({"path": "*.ts", "throttle": 60_000})
    stage.run("add", stage.url("ts"), "-q", "270p")
    stage.plays(variant_path(stage, stage.url("ts"), "270p"), "ts/270p/media.m3u8")
    stage.clear_rules()
    stage.run("add", stage.origin.url + "/_live/show/media.m3u8", "--record", "--name", "growing")
    for count in (4, 6, 8):
        def listed():
            status, _, body = stage.get("/growing.m3u8")
            return status == 200 and body.decode().count("#EXTINF") == count
        stage.wait("recording of %d segments" % count, listed)
        text = stage.text("/growing.m3u8")
        need("EVENT" in text and "#EXT-X-ENDLIST" not in text, "a recording that grows is listed as: %s" % text)
        stage.ask("POST", stage.origin.url + "/_origin/live/advance", json.dumps({"name": "show", "by": 2}).encode())
    paths = [line for line in stage.text("/growing.m3u8").splitlines() if line and not line.startswith("#")]
    for number, path in enumerate(paths):
        _, _, body = stage.get(path)
        need(body == (stage.root / ("ts/90p/%d.ts" % (number % 6))).read_bytes(), "segment %d of the recording is another" % number)


def variant_path(stage, name, height, way=""):
    """The path of a variant's playlist in a view of an asset: of its name, or of its URL."""
    view = "%s/%s" % (way, name if "://" in name else name + ".m3u8")
    lines = stage.text(view).splitlines()
    for attributes, uri in zip(lines, lines[1:]):
        if attributes.startswith("#EXT-X-STREAM-INF") and "x%s," % height[:-1] in attributes + ",":
            return uri if uri.startswith("/") else "%s/%s" % (way, uri)
    raise Missing("no variant %s in %s" % (height, view))


@row("S22", "A player and a download share every byte", "weir get URL --play")
def shared(stage):
    stage.rules({"path": "*.ts", "throttle": 60_000})
    stage.run("add", stage.url("ts"), "-q", "270p")
    stage.frames(stage.weir.url + variant_path(stage, stage.url("ts"), "270p"))
    stage.wait("complete download", lambda: stage.download("ts")["state"] == "complete")
    paths = [path for path in stage.media_requests() if "/270p/" in path]
    need(len(paths) == len(set(paths)), "%d of %d requests ask again" % (len(paths) - len(set(paths)), len(paths)))


@row("S23", "What was played in a lower quality is filled later in the quality asked for", "weir get URL -q 270p")
def filled(stage):
    stage.frames(stage.weir.url + "/" + stage.url("ts"), "-t", "4")
    name = stage.api("GET", "/assets")[1]["assets"][0]["name"]
    stage.run("get", name, "-q", "270p")
    stage.end_origin()
    stage.plays("/offline/%s.m3u8" % name, "ts/270p/media.m3u8")


@row("S24", "A film plays from the store later, with no download at work", "weir play NAME")
def from_store(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.restart()
    before = len(stage.media_requests())
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")
    need(len(stage.media_requests()) == before, "playing a stored film asks the origin")


@row("S25", "Whether a film plays without a network is known", "weir show NAME")
def playable(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    need("playable offline: yes" in stage.run("show", "ts"), "weir show does not say that it plays offline")
    need(stage.asset("ts")["playable"]["answer"] == "yes", "the API does not say that it plays offline")


@row("S26", "Without a network only stored tracks are listed", "weir play NAME --offline")
def offline_only(stage):
    stage.run("get", stage.url("cmaf"), "-q", "180p")
    text = stage.text("/offline/cmaf.m3u8")
    need(text.count("#EXT-X-STREAM-INF") == 1 and "audio-fr" not in text, "offline lists tracks that are not stored:\n" + text)


@row("S27", "With a network a missing variant streams from the origin, mixed with stored pieces", "weir play NAME")
def mixed(stage):
    stage.run("get", stage.url("ts"), "-q", "90p")
    need(stage.text("/" + stage.url("ts")).count("#EXT-X-STREAM-INF") == 3, "online not all variants are listed")
    before = len(stage.media_requests())
    stage.plays(variant_path(stage, stage.url("ts"), "180p"), "ts/180p/media.m3u8")
    need(len(stage.media_requests()) > before, "nothing came from the origin")


@row("S28", "All films with their sizes, and what of each is stored", "weir list")
def listed(stage):
    stage.run("get", stage.url("ts"), "-q", "90p")
    stage.get("/" + stage.url("cmaf"))
    found = {each["name"]: each for each in stage.lines("list", "--json")}
    need(found["ts"]["bytes"] > 0 and found["ts"]["local"] in ("yes", "partial"), "the stored film has no size: %s" % found["ts"])


@row("S29", "Removing deletes everything", "weir remove NAME")
def removed(stage):
    secret, words = "geheim8431", "Titel8431"
    stage.run("get", stage.url("ts") + "?token=" + secret, "-q", "worst", "--title", words)
    identity = stage.asset("ts")["id"]
    stage.run("remove", "ts", "--yes")

    def left():
        for folder in ("store", "state"):
            for file in (stage.folder / folder).rglob("*"):
                try:
                    data = file.read_bytes() if file.is_file() else b""
                except FileNotFoundError:
                    continue
                yield from ("%s is still in %s" % (mark, file.name) for mark in (secret, words, identity) if mark.encode() in data)

    # The files are deleted behind the answer, by a thread of low priority.
    stage.wait("deletion of everything", lambda: not any(left()))


@row("S30", "An asset expires, and has a priority", "weir policy NAME --expires 30d --priority important")
def policy(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    need("important" in stage.run("policy", "ts", "--expires", "30d", "--priority", "important"), "the policy is not told")
    stage.run("policy", "ts", "--expires", "1s")
    stage.wait("end of an expired film", lambda: stage.get("/offline/ts.m3u8")[0] != 200)


@row("S31", "What is stored is verified before it is offered", "weir play NAME")
def verified(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.settle()
    stage.weir.kill()
    pieces = sorted((stage.folder / "store").rglob("*.ts"))
    change(pieces[3])
    stage.restart()
    stage.plays(variant_path(stage, "ts", "90p"), "ts/90p/media.m3u8")

    # While Weir runs, as a tag editor does it: in place, and with the times of before.
    whole, times = pieces[2].read_bytes(), pieces[2].stat()
    change(pieces[2])
    os.utime(pieces[2], ns=(times.st_atime_ns, times.st_mtime_ns))
    stage.plays(variant_path(stage, "ts", "90p"), "ts/90p/media.m3u8")
    stage.wait("the changed piece as it was", lambda: pieces[2].read_bytes() == whole)

    # Exports have files of their own; those that Weir's own programs read cost no verification, and nothing is fetched.
    stage.run("export", "ts", stage.folder / "exported")
    stage.run("publish", "ts", stage.folder / "published")
    stage.run("export", "ts", stage.folder / "film.mkv")
    copies = [file for name in ("exported", "published") for file in (stage.folder / name).rglob("*.ts")]
    need(len(copies) == 2 * len(pieces), "%d files are exported" % len(copies))
    need(all(file.stat().st_nlink == 1 for file in [*copies, *pieces]), "an export shares files with the store")
    for copy in copies:
        change(copy)
    before = len(stage.media_requests())
    stage.plays("/offline/ts.m3u8", "ts/90p/media.m3u8")
    need(len(stage.media_requests()) == before, "after an export pieces are fetched again")

    # A large piece that was only touched: its first byte comes before its end is read.
    stage.run("get", stage.origin.url + "/_vod/1x400000000/media.m3u8", "--name", "large")
    piece = max((stage.folder / "store").rglob("*.ts"), key=lambda file: file.stat().st_size)
    path = next(line for line in stage.text("/offline/large.m3u8").splitlines() if line and not line.startswith("#"))
    path = path if path.startswith("/") else "/offline/" + path
    if path.endswith(".m3u8"):
        inner = next(line for line in stage.text(path).splitlines() if line and not line.startswith("#"))
        path = inner if inner.startswith("/") else path.rsplit("/", 1)[0] + "/" + inner
    stage.wait("sum of the large piece", lambda: piece.name in (piece.parent / "SHA256SUMS").read_text(), 90)
    for _ in range(2):
        os.utime(piece)
        begin = time.monotonic()
        with stage.unread(path) as answer:
            need(answer.status == 200 and answer.read(1) == b"G", "a large piece that was touched is answered with %d" % answer.status)
            need(time.monotonic() - begin < 1, "the first byte takes %.1f s" % (time.monotonic() - begin))


def change(file):
    """Flips a bit of a file, in place."""
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        byte = opened.read(1)[0]
        opened.seek(-1, os.SEEK_CUR)
        opened.write(bytes([byte ^ 16]))


@row("S32", "A live stream is not downloaded, with a clear reason and the way to record it; it still plays", "weir get URL")
def live(stage):
    url = stage.origin.url + "/_live/show/media.m3u8"
    # Before it was recorded, and after.
    for _ in range(2):
        words = stage.refused(65, "get", url)
        need("live" in words and "weir get --record" in words, "the refusal says: %s" % words)
        text = stage.text("/" + url)
        need("#EXT-X-ENDLIST" not in text and "#EXTINF" in text, "a live stream does not play: %s" % text)
        stage.run("get", url, "--record", "--for", "1s")


@row("S33", "Keys are stored, expire, are renewed and revoked; you hear of it before", "weir keys")
def keys(stage):
    stage.run("get", stage.url("aes"), "-q", "worst")
    need("aes" in stage.run("keys"), "weir keys does not list the keys of all assets")
    stage.run("keys", "aes", "--revoke")
    need(not any(stream.frames for stream in stage.frames(stage.weir.url + "/offline/aes.m3u8")), "plays with revoked keys")
    stage.run("keys", "aes", "--renew")
    stage.plays("/offline/aes.m3u8", "aes/90p/media.m3u8")
    with stage.following("events", "--json") as events:
        stage.run("keys", "aes", "--expires", "30m")
        stage.wait("notice that keys expire", lambda: any("expiring" in json.dumps(each) for each in list(events)))


@row("S34", "A scheme of your own is answered by a handler that you name", "weir get myscheme://playlist")
def handler(stage):
    script = stage.folder / "handler"
    script.write_text('#!/bin/sh\nprintf \'{"url": "%s"}\' ' + "'%s'\n" % stage.url("ts"))
    script.chmod(0o755)
    stage.configure("allow-hosts = [\"127.0.0.1\"]\n[handlers]\nmyscheme = [%s]\n" % json.dumps(str(script)))
    stage.restart()
    stage.run("get", "myscheme://playlist", "-q", "worst", "--name", "handled")
    stage.plays("/offline/handled.m3u8", "ts/90p/media.m3u8")


@row("S35", "An access log and an error log in the W3C's format", "weir log; weir log --errors")
def logs(stage):
    stage.run("get", stage.url("ts"), "-q", "worst")
    stage.frames(stage.weir.url + "/ts.m3u8")
    text = stage.wait("line of the access log", lambda: [
        line for line in stage.run("log").splitlines() if not line.startswith("#")], 20)
    fields = next(line for line in stage.run("log").splitlines() if line.startswith("#Fields")).split()[1:]
    need(len(text[0].split()) == len(fields), "a line has %d of %d fields" % (len(text[0].split()), len(fields)))
    stage.wait("end of the session", lambda: all("ended" in each for each in watching.sessions(stage)), watching.GONE)
    stage.rules({"path": "*/180p/3.ts", "status": 404})
    path = variant_path(stage, stage.url("ts"), "180p")
    segments = [line for line in stage.text(path).splitlines() if line and not line.startswith("#")]
    stage.get(segments[3] if segments[3].startswith("/") else path.rsplit("/", 1)[0] + "/" + segments[3])
    stage.wait("line of the error log", lambda: [line for line in stage.run("log", "--errors").splitlines() if "404" in line], 20)


@row("S36", "Watched time, stalls, bit rates and start-up time of each play", "weir log --kpi", quick=False)
def indicators(stage):
    film = stage.folder / "film"
    watching.make_film(film)
    for play in watching.PLAYS:
        if play.is_quick:
            with type(stage)(stage.binary) as own:
                words, wrong = watching.compare(own, play, film)
            need(wrong is None, "%s: %s is wrong: %s" % (play.name, wrong, words))


@row("S37", "A link conditioner with the known presets", "weir link set 3G")
def conditioner(stage):
    presets = stage.run("link", "list")
    for name in ("100% Loss", "EDGE", "3G", "DSL", "LTE", "Wi-Fi", "High Latency DNS", "Very Bad Network"):
        need(name.lower() in presets.lower(), "there is no preset %s" % name)


@row("S38", "A list of streams to play, download, cancel and delete", "weir page")
def catalogue(stage):
    stage.run("get", stage.url("ts"), "-q", "worst", "--title", "The Film")
    link = stage.run("page").strip()
    status, _, body = stage.ask("GET", link)
    need(status == 200 and b"page/main.js" in body, "the page is answered with %d and has no script" % status)
    # The script draws the list, with the key of the link.
    key = link.rstrip("/").rsplit("/", 1)[-1]
    status, _, body = stage.ask("GET", stage.weir.url + "/api/v1/assets", fields={"Authorization": "Bearer " + key})
    need(status == 200 and b"The Film" in body, "the list is answered to the page with %d, without the film" % status)


@row("S39", "A check before playing, with one verdict everywhere", "weir check URL")
def readiness(stage):
    stage.run("check", stage.url("ts"))
    drm = stage.write("drm/media.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\","
                      "KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\"\n#EXTINF:2,\n../ts/90p/0.ts\n#EXT-X-ENDLIST\n")
    for url, name in ((drm, "DRM"), (stage.url("absent"), "404")):
        found = {word: stage.command(word, url)[0] for word in ("check", "show", "get")}
        need(len(set(found.values())) == 1 and 0 not in found.values(), "for %s the commands exit with %s" % (name, found))


@row("S40", "A fast download instead of the best quality", "weir get URL --fast")
def fast(stage):
    url = ladder(stage)
    need(chosen(stage, url, "--fast")[0] == ["video-90p"], "--fast takes %s" % chosen(stage, url, "--fast")[0])
