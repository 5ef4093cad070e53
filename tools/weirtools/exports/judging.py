"""Exports of a film, compared with the encodings that it was made of."""

import dataclasses
import pathlib

from weirtools.exports import films, packets

# Words by which an export names a loss.
NAMED = ("plays only", "left out", "has no", "is lost", "lacks", "missing", "is not stored")


class Encodings:
    """The content of each part, read once from the files that the origin has."""

    def __init__(self, root):
        self.root, self.known = root, {}

    def content(self, part, without=()):
        """Of a part, but for the segments of these numbers."""
        # What is encrypted was encoded as the same in the clear.
        clear = films.Part(part.words.replace("/aes-", "/"))
        key = (clear, tuple(without))
        if key not in self.known:
            self.known[key] = packets.of_file(self.joined(clear, without))
        return self.known[key]

    def joined(self, part, without):
        place = part.encode(self.root)
        whole = [place / name for name in ("all.ts", "all.mp4") if (place / name).exists()]
        if whole:
            return whole[0]
        segments = sorted((path for path in place.iterdir() if path.stem.isdigit()), key=lambda path: int(path.stem))
        file = place / ("whole-%s%s" % ("-".join(map(str, without)), segments[0].suffix))
        data = [(place / "init.mp4").read_bytes()] if (place / "init.mp4").exists() else []
        data += [path.read_bytes() for path in segments if int(path.stem) not in without]
        file.write_bytes(b"".join(data))
        return file

    def of_film(self, film):
        """All that the film has."""
        whole = packets.Content(cues=set(film.cues))
        hole = film.lost if film.gap is None else film.gap
        for number, part in enumerate(film.parts):
            without = ()
            if hole is not None and hole // 2 == number:
                without = (hole % 2,)
            add(whole, self.content(part, without))
        for parts in film.sounds.values():
            for part in parts:
                whole.sound += self.content(part).sound
        return whole


def add(whole, part):
    whole.pictures += part.pictures
    whole.sound += part.sound


@dataclasses.dataclass
class Verdict:
    """The words about an export, and whether it is right."""

    words: str
    is_right: bool


def losses(found, expected):
    """In words what of the expected content is not in a file; empty where all is."""
    words = []
    if found.pictures != expected.pictures:
        equal = sum(1 for one, other in zip(found.pictures, expected.pictures) if one == other)
        words.append("%d of %d pictures, %d of them as they should be" % (len(found.pictures), len(expected.pictures), equal))
    if missing := sum((expected.sound - found.sound).values()):
        words.append("%d of %d packets of sound missing" % (missing, sum(expected.sound.values())))
    if foreign := sum((found.sound - expected.sound).values()):
        words.append("%d foreign packets of sound" % foreign)
    if absent := expected.cues - found.cues:
        words.append("%d of %d cues missing" % (len(absent), len(expected.cues)))
    return words


def disorder(found):
    """In words what is wrong with the times of the pictures of one file; None where nothing is."""
    steps = [later - earlier for earlier, later in zip(found.times, found.times[1:])]
    if any(step <= 0 for step in steps):
        return "the time of pictures goes back"
    if steps and max(steps) > 0.5:
        return "%.1f s without a picture" % max(steps)
    return None


def judge(stage, film, expected, ending, folder):
    """Exports a stored film to one file; and to several, where the command says so."""
    path = folder / ("%s.%s" % (film.name, ending))
    status, _, errors = stage.command("export", film.name, path)
    said = " ".join(line for line in errors.splitlines() if line.startswith("weir: "))[len("weir: "):]
    if status not in (0, 3):
        # Nothing is written, and what is the matter is said.
        verdict = Verdict("refused with %d: %s" % (status, said), not path.exists() and (film.has_hole or "--split" in errors))
        if verdict.is_right and "--split" in errors:
            split(stage, film, expected, ending, folder, verdict)
        return verdict
    found = packets.of_file(path)
    lost = losses(found, expected)
    if status == 0:
        trouble = lost + [words for words in [disorder(found)] if words]
        return Verdict("all there" if not trouble else "exit 0, but " + "; ".join(trouble), not trouble)
    if not any(words in said for words in NAMED):
        return Verdict("exit 3 without a name for what is lost: " + said, False)
    # A file may hold packets that its head does not fit: they are there, and do not play.
    if not lost and not film.has_hole and not film.changes_sound:
        return Verdict("exit 3, and nothing is lost: " + said, False)
    verdict = Verdict("said: " + said, True)
    if "--split" in errors:
        split(stage, film, expected, ending, folder, verdict)
    return verdict


def split(stage, film, expected, ending, folder, verdict):
    status, _, errors = stage.command("export", film.name, folder / ("%s-parts.%s" % (film.name, ending)), "--split")
    whole, count = packets.Content(), 0
    while (file := pathlib.Path(folder / ("%s-parts-%d.%s" % (film.name, count + 1, ending)))).exists():
        whole.add(packets.of_file(file))
        count += 1
    lost = losses(whole, expected)
    if status == 0 and not lost:
        verdict.words += "; all in %d files" % count
    elif status == 3 and lost:
        verdict.words += "; in %d files: %s" % (count, errors.splitlines()[0])
    else:
        verdict.words += "; --split exits with %d, in %d files %s" % (status, count, "; ".join(lost) or "all")
        verdict.is_right = False
