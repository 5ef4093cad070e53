"""Counts lines of Swift code that press several steps together. See tools/check/texture."""

import re

KINDS = ("body", "tuple", "inline", "ternary", "chain", "unlabelled")

# The rooms whose code has room to breathe: none of these kinds may come back into them.
ROOMS = (
    "WeirAPI", "AccessLog", "Assets", "Control", "Daemon", "EventLoop", "Extras", "HLS", "HTTPMessage",
    "Downloads", "Fetching", "HTTPServer", "Integrity", "Orders", "Origin", "Playback", "Playheads", "PlaylistCheck", "Recordings", "Retention",
    "SafeText", "SegmentFormat", "Sessions", "Sharing", "Store", "Subprocess", "Substitution", "weir",
)
REFUSED_IN_ROOMS = ("inline", "chain", "unlabelled")

# What is no code: comments, and strings with what is interpolated in them.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|(?P<hashes>#+)"""(?:.*?)"""(?P=hashes)|"""(?:\\.|.)*?"""|(?P<marks>#+)".*?"(?P=marks)'
    r'|"(?:\\\((?:[^()]|\([^()]*\))*\)|\\.|[^"\\\n])*"', re.DOTALL)
BODY = re.compile(r"(?:\}\s*else\s+)?(?:if|for|while)\b.*\{.*\S.*\}$")
ENDS_WITH_ELSE = re.compile(r"\}\s*else\s*\{$")
TUPLE = re.compile(r"\(\s*([\w.\[\]]+\s*(?:,\s*[\w.\[\]]+\s*)+)\)\s*=\s*\((.*)$")
# In a body on the line of its own head: an assignment of several values, or an if, a for or a while with its body.
INLINE = re.compile(
    r"\{\s\([\w.]+(?:,\s[\w.]+)+\)\s=\s\(|(?:\{|\bcase\b.*:|\bdefault:)\s(?:if|for|while)\b.*\{.*\S.*\}$")
# The two signs may stand on lines of their own, and a label's colon between them.
TERNARY = re.compile(r"\s\?\s")
CHAIN = re.compile(r"\b(?:map|flatMap|compactMap)\s*\{|\?\?|\s\?\s")
HEAD = re.compile(r"\b(?:func\s+(?:\w+|[-+*/=<>!&|^~%]+)|(?<!\.)init[?!]?)\s*(?:<[^>()]*>)?\s*\(")
UNLABELLED = re.compile(r"\s*(?:@\w+\s+)*_\s+\w+\s*:")


def without_text(source):
    """The source with blanks in place of comments and strings; a string keeps its quotation marks."""
    def blank(match):
        text = match[0]
        if text.startswith("/"):
            return re.sub(r"[^\n]", " ", text)
        return '"' + re.sub(r"[^\n]", " ", text[1:-1]) + '"'
    return NO_CODE.sub(blank, source)


def is_swap(targets, values):
    """True if a tuple takes a value from one of its own places, so that the order of single assignments would matter."""
    names = [target.strip() for target in targets.split(",")]
    return any(re.search(r"(?<![\w.])%s(?!\w)" % re.escape(name), values) for name in names)


def parameters(text, start):
    """The parameters of the list that opens at `start`."""
    depth, parts, last = 0, [], start + 1
    for index in range(start, len(text)):
        character = text[index]
        if character in "([{<":
            depth += 1
        elif character in ")]}" or character == ">" and text[index - 1] != "-":
            depth -= 1
            if depth == 0:
                return parts + [text[last:index]]
        elif character == "," and depth == 1:
            parts.append(text[last:index])
            last = index + 1
    return []


def lines_of(text):
    """(kind, line number) of each finding in the text of a file, and the number of its lines of code."""
    findings, count = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        code = line.strip()
        if not code:
            continue
        count += 1
        if BODY.match(code) and not ENDS_WITH_ELSE.search(code):
            findings.append(("body", number))
        match = TUPLE.match(code)
        if match and not is_swap(match[1], match[2]):
            findings.append(("tuple", number))
        if INLINE.search(code):
            findings.append(("inline", number))
        if TERNARY.search(line):
            findings.append(("ternary", number))
        if len(CHAIN.findall(line)) > 1:
            findings.append(("chain", number))
    for match in HEAD.finditer(text):
        if sum(bool(UNLABELLED.match(one)) for one in parameters(text, match.end() - 1)) >= 3:
            findings.append(("unlabelled", text.count("\n", 0, match.start()) + 1))
    return findings, count


def is_of_rooms(path, sources):
    """True for a file of one of the rooms."""
    parts = path.relative_to(sources).parts if path.is_relative_to(sources) else ()
    return bool(parts) and parts[0] in ROOMS


def measure(folders):
    """({kind: [(path, line number)]}, lines of code) of all Swift files below the folders."""
    found, lines = {kind: [] for kind in KINDS}, 0
    for folder in folders:
        for path in sorted(folder.rglob("*.swift")):
            findings, count = lines_of(without_text(path.read_text(encoding="utf-8")))
            lines += count
            for kind, number in findings:
                found[kind].append((path, number))
    return found, lines
