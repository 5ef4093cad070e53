"""Sample answers of the API: for tools/make/page-shots."""

import functools
import pathlib
import random

# Pictures of one session, as Weir drew them for windows of different widths.
PICTURES = pathlib.Path(__file__).parent / "sample_sessions"

NAMES = ["Sintel", "Tears of Steel", "Big Buck Bunny", "Elephants Dream", "Cosmos Laundromat", "Spring", "Sprite Fright", "Caminandes",
         "Agent 327: Operation Barbershop", "Charge", "Coffee Run", "The Daily Dweebs", "Glass Half", "Hero", "Nasty Old People", "Valkaama"]
LADDER = [(1080, 5_200_000), (720, 2_600_000), (480, 1_300_000), (360, 700_000)]
LANGUAGES = [("en", "English"), ("fr", "Français"), ("de", "Deutsch")]


def slug(title):
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-")


def tracks(best, stored, bytes_, duration):
    """The tracks of a film; its variant `best` and the English sound are stored as `stored` says."""
    other = {"stored": "not-stored", "isComplete": False, "bytes": 0}
    own = {"stored": stored, "isComplete": stored == "saved"}
    variants = [{"id": "video-%dp" % height, "height": height, "width": height * 16 // 9, "bandwidth": rate, "averageBandwidth": rate * 9 // 10,
                 "codecs": "avc1.640028,mp4a.40.2", "frameRate": 24, "estimatedBytes": int(rate * 0.9 / 8 * duration),
                 **(dict(own, bytes=bytes_) if height == best else other)} for height, rate in LADDER]
    audio = [{"id": "audio-" + tag, "group": "sound", "name": name, "language": tag, "isDefault": tag == "en",
              **(dict(own, bytes=0) if tag == "en" else other)} for tag, name in LANGUAGES]
    return {"variants": variants, "audio": audio, "subtitles": [
        {"id": "subtitles-en", "group": "text", "name": "English", "language": "en", "isDefault": False, **other}]}


def part(identifier, kind, duration, loaded, complete=False):
    seconds = sum(end - start for start, end in loaded)
    return {"id": identifier, "kind": kind, "loaded": loaded, "expected": [[0, duration]], "bytes": int(seconds * 2e5),
            "totalBytes": int(duration * 2e5), "fraction": 1 if complete else seconds / duration, "weight": 0.5, "isComplete": complete}


def asset(title, duration, best, stored, size, **more):
    name = slug(title)
    local = {"saved": "yes", "not-stored": "no"}.get(stored, "partial")
    return dict({"name": name, "id": name + "-k3f9", "state": stored, "stored": stored, "title": title, "url": "https://example.com/vod/%s/master.m3u8" % name, "isLive": False,
                 "duration": duration, "bytes": size, "cachedBytes": size if stored == "cached" else 0, "local": local,
                 "storage": {"policy": {"priority": "default", "backup": "include"}, "isExpired": False},
                 "tracks": tracks(best, stored, size, duration)}, **more)


def download(of, state, stretches, **more):
    duration, best = of["duration"], [variant for variant in of["tracks"]["variants"] if variant["stored"] != "not-stored"]
    seconds = sum(end - start for start, end in stretches)
    sound = [[0, min(duration, stretches[-1][1] + 30 if stretches else 0)]] if stretches else []
    return dict({"id": of["id"], "asset": of["name"], "title": of["title"], "state": state, "priority": "default", "loaded": stretches,
                 "expected": [[0, duration]], "fraction": round(seconds / duration, 4), "duration": duration,
                 "parts": [part("video-720p", "video", duration, stretches), part("audio-en", "audio", duration, sound, sound == [[0, duration]])],
                 "bytes": int(seconds * 2.7e5), "totalBytes": int(duration * 2.7e5), "selection": {"variants": best, "audio": [], "subtitles": []}}, **more)


@functools.cache
def few():
    films = [
        (asset("Sintel", 888.1, 720, "partly-saved", 158_334_976, state="downloading"), ("running", [[0, 559.2]], {"rate": 5_347_000, "eta": 17, "stage": "video"})),
        (asset("Tears of Steel", 734.2, 720, "partly-saved", 104_000_000, state="paused"), ("paused", [[0, 210], [260, 420], [500, 530]], {})),
        (asset("Big Buck Bunny", 596.5, 1080, "saved", 348_200_000), None),
        (asset("Elephants Dream", 653.8, 720, "cached", 61_000_000), None),
        (asset("Agent 327: Operation Barbershop", 231.5, 720, "partly-saved", 40_100_000, state="failed"),
         ("failed", [[0, 80]], {"error": {"code": "origin-refused", "message": "the origin of agent-327 refuses the link: it may have expired"}})),
        (asset("Cosmos Laundromat: First Cycle", 730.0, 720, "partly-saved", 90_000_000, state="waiting"), ("waiting", [[0, 300]], {"need": "network"})),
        (asset("Spring", 464.0, 1080, "not-stored", 0), None),
        (asset("Caminandes 3: Llamigos", 150.0, 720, "saved", 38_400_000, state="expired",
               storage={"policy": {"priority": "default", "backup": "include"}, "isExpired": True}), None),
    ]
    films[2][0]["parts"] = [part("video-1080p", "video", 596.5, [[0, 596.5]], True), part("audio-en", "audio", 596.5, [[0, 596.5]], True)]
    films[3][0]["parts"] = [part("video-720p", "video", 653.8, [[12, 96], [240, 381]]), part("audio-en", "audio", 653.8, [[12, 96], [240, 381]])]
    films[7][0]["parts"] = [part("video-720p", "video", 150, [[0, 150]], True)]
    for film, task in films:
        if task:
            film["download"] = film["id"]
    return [film for film, _ in films], [download(film, task[0], task[1], **task[2]) for film, task in films if task]


@functools.cache
def many(count):
    dice = random.Random(8216)
    films = []
    for number in range(count):
        stored = dice.choice(["saved", "saved", "partly-saved", "not-stored"])
        duration, best = dice.uniform(120, 7000), dice.choice([1080, 720, 480])
        films.append(asset("%s, part %d" % (dice.choice(NAMES), number + 1), duration, best, stored,
                           0 if stored == "not-stored" else int(duration * 3e5 * (1 if stored == "saved" else 0.4))))
    return films, []


@functools.cache
def titles():
    """Titles that a layout may break at: long, without a blank, from right to left, of other scripts, and a name without a title."""
    words = ["Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2, "مرحبا بالعالم: فيلم طويل جدا عن البحر والسماء",
             "שלום עולם (2024) part 2", "銀河鉄道の夜" * 12, "A film whose title has many words, as those of lectures, of parliaments and of broadcasts often have, "
             "with a second clause that nobody reads to its end", "👩‍👩‍👧‍👦 🎬 Émile — l’été", "https://cdn.example.com/vod/0123456789abcdef0123456789abcdef/master.m3u8"]
    stored = ["saved", "partly-saved", "saved", "not-stored", "partly-saved", "saved", "saved"]
    films = [asset(title, 3600.0 + number, 720, state, 0 if state == "not-stored" else 900_000_000) for number, (title, state) in enumerate(zip(words, stored))]
    for number, film in enumerate(films):
        film["name"] = "film-%d" % number
    films.append(dict(films[0], name="n" * 120, id="unnamed-k3f9", title=None, note="A description of " + "many " * 60 + "words."))
    return films, []


def answer(scene, path, query):
    """The status and the JSON of a GET."""
    films, downloads = {"empty": lambda: ([], []), "loading": lambda: ([], []), "three": lambda: (few()[0][:3], few()[1][:2]),
                        "forty": lambda: many(40), "titles": titles, "full": lambda: many(500), "huge": lambda: many(10_000)}.get(scene, few)()
    if scene == "error":
        return 500, {"code": "internal", "status": 500, "title": "a defect", "detail": "the store gives no answer", "next": "weir doctor"}
    if path == "/assets":
        return 200, {"assets": sorted(films, key=lambda film: film["name"]), "playCache": {"bytes": 0}}
    if path.startswith("/assets/"):
        found = [film for film in films if film["name"] == path.split("/")[2]]
        for film in found:
            if scene == "full" and film["stored"] != "not-stored":
                end = film["duration"]
                stored = [[0, end]] if film["stored"] == "saved" else [[0, end / 5], [end / 4, end / 2]]
                film["parts"] = [part(track["id"], kind, end, stored, film["stored"] == "saved")
                                 for kind, tracks in (("video", "variants"), ("audio", "audio")) for track in film["tracks"][tracks] if track["stored"] != "not-stored"]
        return (200, dict(found[0], playable={"answer": "yes", "reason": "720p with its default sound is whole"})) if found else (404, {})
    if path == "/downloads":
        return 200, {"downloads": downloads}
    if path.startswith("/downloads/"):
        return 200, next(each for each in downloads if each["id"] == path.removeprefix("/downloads/"))
    if path == "/store":
        return 200, {"path": "/home/anna/.local/share/weir", "assets": len(films), "bytes": sum(film["bytes"] for film in films), "purge": "expired",
                     "disk": {"totalBytes": 1_000_000_000_000, "freeBytes": 432_000_000_000, "reservedBytes": 20_000_000_000,
                              "availableBytes": 412_000_000_000},
                     "playCache": {"bytes": sum(film["cachedBytes"] for film in films), "limit": 10_000_000_000}}
    if path in ("/lists", "/recordings", "/channels"):
        return 200, channels(path, scene == "channels")
    if path == "/mode":
        return 200, {"mode": "auto"}
    if path == "/limit":
        return 200, {}
    if path in ("/presentation", "/selection"):
        if "missing" in query["url"][0]:
            return 502, {"code": "bad-origin", "status": 502, "title": "the origin answers with an error", "next": "check the URL in a browser",
                         "detail": "https://example.com/missing.m3u8 cannot be read: the origin answers 404"}
        return 200, {"url": query["url"][0], "title": "Sintel", "duration": 888.1, "isLive": False, "tracks": tracks(0, "not-stored", 0, 888.1)}
    if path == "/sessions":
        return 200, {"sessions": [session(number, films) for number in range(4)] if films else []}
    if path == "/log":
        return 200, {"software": "Weir", "events": [event(number) for number in range(24)]}
    if path == "/log/sessions":
        return 200, {"software": "Weir", "events": [timeline(number) for number in range(3)]}
    if path == "/log/errors":
        return 200, {"software": "Weir", "events": [{"time": 1_763_790_000, "status": 502, "domain": "weir.origin", "comment": "the origin answered 500 twice"}]}
    if path == "/kpis":
        return 200, {"sessions": [], "total": {"sessions": 4, "watched": 1711.4, "startup": 0.31, "stalls": 1, "stallTime": 0.8, "switches": 2,
                                               "indicated": 2_600_000, "observed": 38_000_000, "bytes": 700_000_000, "storeShare": 0.73}}
    return 404, {"code": "no-such-route", "detail": "there is no " + path}


def channels(path, are_there):
    """The answer about channel lists, planned recordings, or channels that were searched for."""
    if path == "/lists":
        lists = [{"name": "world", "url": "https://tv.example/…/world.m3u", "interval": 43_200, "channels": 12_408, "hidden": 3, "leftOut": 211,
                  "fetched": 1_763_780_000},
                 {"name": "antenna", "url": "http://192.168.1.9/lineup.m3u", "interval": 3600, "channels": 38, "fetched": 1_763_700_000,
                  "problem": "the origin 192.168.1.9 does not answer"}]
        return {"lists": lists if are_there else []}
    if path == "/recordings":
        plans = [{"name": "news-2000", "channel": "world-news", "title": "The news at eight", "begin": 1_763_838_000, "recordings": ["news-2026-11-27-2000"],
                  "times": {"at": "20:00", "every": ["mon", "tue", "wed", "thu", "fri"], "seconds": 900, "early": 120, "late": 600, "keep": "5"}},
                 {"name": "film-2015", "channel": "film-4-hd", "times": {"at": "2026-12-24 20:15", "until": "22:30"},
                  "problem": "the recording of 2026-12-24 was missed: Weir did not run"}]
        return {"recordings": plans if are_there else []}
    names = [("world-news", "World News HD"), ("news-24", "News 24"), ("qnn", "أخبار اليوم"), ("local-news", "Local News with a name that is much longer than any line of a phone has room for")]
    return {"channels": [{"name": name, "title": title, "group": "News", "list": "world"} for name, title in names], "count": 164}


def picture(width):
    """The SVG text of a session's picture."""
    return (PICTURES / ("%d.svg" % (900 if width >= 420 else 290))).read_bytes()


def timeline(number):
    segments = [{"time": 3.5 * place, "count": 1, "rendition": 0, "number": place, "source": "store" if place < 4 else "origin", "bytes": 1_300_000}
                for place in range(14)]
    return {"session": "s%d" % number, "guid": "g%d" % number, "asset": "tears-of-steel", "client": "mpv 0.40", "began": 1_763_780_000 + 4000 * number,
            "ended": 1_763_780_050 + 4000 * number, "length": 50.1, "omitted": 0, "segments": segments, "stalls": [],
            "renditions": [{"id": "video-720p", "isAudio": False, "height": 720, "bandwidth": 2_800_000}]}


def session(number, films):
    name = "big-buck-bunny" if number else films[0]["name"]
    split = [(0, 90e6, 12e6), (60e6, 30e6, 0), (110e6, 0, 4e6), (120e6, 0, 0)][number]
    return dict({"id": "s%d" % number, "guid": "g", "asset": name, "client": ["mpv 0.40", "VLC/3.0.24", "Lavf/61", "Mozilla/5.0"][number],
                 "began": 1_763_780_000 + 4000 * number, "playhead": 412.0, "stalls": 0, "stallTime": 0, "switches": 0, "watched": 300.0,
                 "bytes": {"store": split[0], "origin": split[1], "joined": split[2]}, "inferred": [],
                 "pieces": [{"rendition": "video-1080p", "first": 0, "last": 41, "source": "store"},
                            {"rendition": "video-1080p", "first": 42, "last": 60, "source": "origin"}]},
                **({"quality": "1080p", "bandwidth": 5_200_000} if number == 0 else {"ended": 1_763_790_000}))


def event(number):
    dice = random.Random(number)
    seconds = dice.uniform(1, 4)
    return {"session": "s1", "guid": "g", "number": number, "asset": "big-buck-bunny", "client": "mpv/0.40", "began": 1_763_780_000 + 60 * number,
            "watched": dice.uniform(20, 90), "bytes": {"store": 0, "origin": int(seconds * 4e6), "joined": 0}, "indicated": 5_200_000,
            "observed": {"count": 4, "bits": seconds * dice.uniform(6e6, 42e6), "seconds": seconds}, "inferred": [], "stalls": int(number == 7), "stallTime": 0.8,
            "playbackType": "VOD", "requests": 4}
