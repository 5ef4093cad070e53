"""The rules of tools/check/prose: which words and sentence beginnings the project's text must not have, and how to find them.

Swift is split into comments, string literals and code. A string literal without a blank is a name, such as a key of JSON, and is
not read as prose. Other files (Markdown, Python, shell, TOML, JSON) are read line by line.
"""

import pathlib
import re

SUFFIXES = {".swift", ".md", ".py", ".sh", ".toml", ".json", ".c", ".h", ".js", ".css", ".html", ".lua", ""}
FOLDERS = ("Sources", "Tests", "tools", "conf", "README.md", "CONTRIBUTING.md", "Package.swift")
# These two name the words that they forbid.
OWN = {"tools/weirtools/testing/prose.py", "tools/weirtools/tests/test_prose.py"}

# A doc comment names its thing first. A relative clause names it last or not at all.
BEGINNINGS = re.compile(r"(?:What|Whether|Who|The same|That of)\b")
DOCSTRING = re.compile(r'^\s*"""((?:What|Whether|Who|The same|That of)\b.*)')
FIRST = "the noun or the verb first; for a Boolean “True if”"

# Phrase (a regular expression): what to write instead.
PHRASES = {
    r"merely": "only, or nothing",
    r"flowed": "cached by playback",
    r"lapsed?": "expired",
    r"(?:cannot|make|makes|made|making) (?:make )?way": "evict, evicted",
    r"(?<!there )is (?-i:none)(?! of\b)": "is missing, or invalid",
    r"who(?:ever)? asks": "the client, the caller",
    r"by whom(?: it is asked)?": "by which client",
    r"call(?:ed)? (?:it )?otherwise": "rename, renamed",
    r"such as it is": "as stored",
    r"is there no\b": "there is no",
    r"lies": "is, is stored",
    r"tells": "returns, reports",
    r"wants": "needs, requires",
    r"with no Weir": "without Weir",
    r"least grave": "minimum",
    r"not what had come": "damaged",
    r"on a disk that is not there": "on a disk that is not mounted",
}
# Old word, in lower case: the word of the glossary. As part of an identifier, and in prose with a capital letter.
NAMES = {
    "annex": "volume",
    "attendee": "session, rendition cursor",
    "audience": "session, playhead tracker",
    "bell": "wakeup",
    "convoy": "merged fetch",
    "detour": "alternate source",
    "errand": "segment request",
    "flight": "fetch",
    "guest": "interstitial asset",
    "intake": "import plan",
    "keeper": "sync thread",
    "lookout": "origin prober",
    "parcel": "import source",
    "patience": "retry budget, player timeout",
    "pursuit": "segment request",
    "seat": "rendition cursor",
    "sighting": "playhead",
    "standstill": "timeout",
    "stray": "orphan bundle",
}
# These are old names as whole identifiers only, for their words have other uses.
IDENTIFIERS = {
    "CommonCut": "playable range",
    "Composites": "substitution",
    "Joint": "splice",
    "PiecePlace": "segment request",
    "PieceTrail": "piece history",
    "Stretches": "playable range",
    "Substitutes": "substitution",
    "entitle": "set the title",
}
# "Place" had seven meanings. In prose "in place of" is English; a name of code says which of them it is.
PLACE = re.compile(r"(?<![a-z])places?(?![a-z])|(?<!In)(?<!in)(?<!its)Places?(?![a-z])")
PLACE_ADVICE = "index, volume, offset, slot, folder, location or source"

# In prose these old words are wrong in lower case as well. "Annex B" is a chapter of a standard.
PLAIN = {"attendee", "convoy", "lookout", "stray"}

# Plurals count as well.
PHRASE = re.compile(r"\b(?:%s)\b" % "|".join("(?P<p%d>%s)" % item for item in enumerate(PHRASES)), re.IGNORECASE)
CAPITALS = [name.capitalize() for name in NAMES if name != "annex"] + [r"Annex(?! [A-Z]\b)"]
WORD = re.compile(r"\b(%s)(?:e?s)?\b" % "|".join(CAPITALS + sorted(PLAIN) + list(IDENTIFIERS)))
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
ADVICE = list(PHRASES.values())
# A quick look at code: most lines have none of the words.
SUSPICIOUS = re.compile("|".join(["place"] + list(NAMES) + [name.lower() for name in IDENTIFIERS]), re.IGNORECASE)
SWIFT = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>(?P<hashes>#*)(?:"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*")(?P=hashes))', re.DOTALL)


class Finding:
    """One place that breaks a rule."""

    def __init__(self, path, line, said, advice):
        self.path, self.line, self.said, self.advice = path, line, said, advice

    def __str__(self):
        return "%s:%d: “%s”: write %s" % (self.path, self.line, self.said, self.advice)


def in_prose(path, line, text):
    """Findings in one line of a comment, a string or a page."""
    for match in PHRASE.finditer(text):
        yield Finding(path, line, match[0], ADVICE[int(match.lastgroup[1:])])
    for match in WORD.finditer(text):
        yield Finding(path, line, match[0], NAMES.get(match[1].lower()) or IDENTIFIERS[match[1]])


def in_code(path, line, text):
    """Old names in one line of code. An identifier is split at its capital letters."""
    if not SUSPICIOUS.search(text):
        return
    for identifier in IDENTIFIER.findall(text):
        if identifier in IDENTIFIERS:
            yield Finding(path, line, identifier, IDENTIFIERS[identifier])
            continue
        if path.startswith("Sources/") and PLACE.search(identifier):
            yield Finding(path, line, identifier, PLACE_ADVICE)
            continue
        for word in CAMEL.findall(identifier):
            word = word.lower()
            if old := next((each for each in (word, word.removesuffix("s"), word.removesuffix("es")) if each in NAMES), None):
                yield Finding(path, line, identifier, NAMES[old])
                break


def in_swift(path, source):
    """All findings of a Swift file, in order of its lines."""
    end, line, doc = 0, 1, None
    for match in SWIFT.finditer(source):
        for number, text in enumerate(source[end:match.start()].split("\n"), line):
            yield from in_code(path, number, text)
        line += source.count("\n", end, match.start())
        text = match[0]
        if text.startswith("///"):
            words = text[3:].strip()
            # A doc comment begins after a line that is none.
            if doc != line - 1 and BEGINNINGS.match(words):
                yield Finding(path, line, words[:40], FIRST)
            doc = line
        if match["comment"] or re.search(r"\s", text):
            for number, part in enumerate(text.split("\n"), line):
                yield from in_prose(path, number, part)
        line += text.count("\n")
        end = match.end()
    for number, text in enumerate(source[end:].split("\n"), line):
        yield from in_code(path, number, text)


def findings(path, source):
    """All findings of a file."""
    if path.endswith(".swift"):
        yield from in_swift(path, source)
    else:
        for number, text in enumerate(source.split("\n"), 1):
            if found := DOCSTRING.match(text):
                yield Finding(path, number, found[1][:40], FIRST)
            yield from in_prose(path, number, text)


def files(root, paths=FOLDERS):
    """The paths, relative to the root, of all files with text below some paths; hidden ones and caches aside."""
    for path in paths:
        top = root / path
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            name = file.relative_to(root)
            if (file.is_file() and not file.is_symlink() and file.suffix in SUFFIXES and str(name) not in OWN
                    and not any(part.startswith(".") or part == "__pycache__" for part in name.parts)):
                yield str(name)


def check(root, paths=FOLDERS):
    """All findings below some paths of a checkout."""
    for name in files(root, paths):
        try:
            source = pathlib.Path(root / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        yield from findings(name, source)


def is_below(name, prefixes):
    """True if a path is one of the prefixes, or below one of them."""
    return any(name == prefix or name.startswith(prefix.rstrip("/") + "/") for prefix in prefixes)
