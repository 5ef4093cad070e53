"""Mutants of Swift lines, for tools/check/mutants: each is one line with one fault, such as `<=` for `<`.

The faults are found in the text of a line. Some do not compile; the tool then draws another one.
"""

import collections
import random
import re

from weirtools.testing import prose

# A line of a file with a fault: `line` counts from 1, `fault` names its kind.
Mutant = collections.namedtuple("Mutant", "room path line fault before after")

SWAPS = {
    "a sign": [(" + ", " - "), (" - ", " + "), (" += ", " -= "), (" -= ", " += "), ("min(", "max("), ("max(", "min(")],
    "a bound": [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), ("..<", "..."), (".first", ".last"),
                (".last", ".first")],
    "a comparison": [(" == ", " != "), (" != ", " == ")],
    "a connective": [(" && ", " || "), (" || ", " && ")],
    "a constant": [("true", "false"), ("false", "true"), ("0", "1"), ("1", "0"), ("1", "2")],
}
CHECK = re.compile(r"^(?P<head>\s*(?:\} else )?(?P<word>guard|if) )(?P<condition>.+?)(?P<tail> (?:else )?\{.*)$")
# Such conditions have names that later lines use, or ask for the system's version.
BINDS = re.compile(r"\b(?:let|var|case)\b|#available")
CALL = re.compile(r"^\s*(?:_ = )?(?:try[?!]? )?(?P<await>await )?(?P<name>[\w.?!]+)\(.*\)$")
# Words before a parenthesis that are no calls, and calls that other code cannot do without.
NO_CALLS = {"return", "if", "guard", "while", "switch", "for", "throw", "init", "super.init", "self.init", "case", "func", "in"}
# The end of a line after which the next one is a statement.
STATEMENT_BEFORE = re.compile(r"(?:[{};)\w\]\"']|\bin)$")
# Lines that state something and do nothing.
INERT = re.compile(r"^\s*(?:import|public import|package import|@|#|precondition|assert|fatalError|static let|case )")


def masked(source):
    """The source with blanks for comments and underscores for strings; each line keeps its length."""
    def blank(match):
        return re.sub(r"[^\n]", " " if match["comment"] else "_", match[0])
    return prose.SWIFT.sub(blank, source)


def mutants(room, path, source):
    """All mutants of a file, in order."""
    before = ""
    lines = source.split("\n")
    codes = [line.rstrip() for line in masked(source).split("\n")]
    for index, (text, code) in enumerate(zip(lines, codes)):
        if not code.strip():
            continue
        if not INERT.match(code):
            following = next((line.strip() for line in codes[index + 1:] if line.strip()), "")
            is_statement = bool(STATEMENT_BEFORE.search(before)) and not following.startswith((".", "?", ":", "+", "&&", "||"))
            for fault, after in faults(text, code, is_statement):
                yield Mutant(room, path, index + 1, fault, text, after)
        before = code


def faults(text, code, is_statement):
    """(kind, the line with the fault) for one line; `code` is the line without comments and strings."""
    for kind, swaps in SWAPS.items():
        for old, new in swaps:
            for match in re.finditer(r"(?<![\w.])%s(?!\w|\.\w)" % re.escape(old) if old[0].isalnum() else re.escape(old), code):
                rest = code[match.end():match.end() + 1]
                if old.startswith(".") and rest.isalnum() or kind == "a constant" and rest == ":":
                    continue
                yield kind, text[:match.start()] + new + text[match.end():]
    if match := CHECK.match(code):
        start, end = match.span("condition")
        first = first_condition(match["condition"])
        if first and not BINDS.search(first):
            always = "true" if match["word"] == "guard" else "false"
            yield "a dropped check", text[:start] + always + text[start + len(first):]
    match = CALL.match(code)
    if match and is_statement and match["name"] not in NO_CALLS and code.count("(") == code.count(")"):
        indent = re.match(r"\s*", code)[0]
        if match["await"]:
            yield "a lost await", "%sTask { %s }" % (indent, text.strip())
        yield "a dropped call", indent + "// " + text.strip()


def first_condition(conditions):
    """The first of conditions with commas between them; None if its parentheses are not closed on the line."""
    depth = 0
    for index, sign in enumerate(conditions):
        depth += (sign in "([{") - (sign in ")]}")
        if depth < 0:
            return None
        if sign == "," and depth == 0:
            return conditions[:index]
    return None if depth else conditions


def drawn(found, seed):
    """The mutants of one room in the order in which they are to be tried: the kinds of faults in turns, each line once."""
    generator = random.Random(seed)
    kinds = collections.defaultdict(list)
    for mutant in found:
        kinds[mutant.fault].append(mutant)
    for kind in kinds.values():
        generator.shuffle(kind)
    order, seen = [], set()
    while kinds:
        for name in generator.sample(sorted(kinds), len(kinds)):
            mutant = kinds[name].pop()
            if not kinds[name]:
                del kinds[name]
            if (mutant.path, mutant.line) not in seen:
                seen.add((mutant.path, mutant.line))
                order.append(mutant)
    return order
