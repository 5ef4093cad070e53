"""The sentences of the Swift tests: what each says it holds, as it is written beside the test."""

import re

from weirtools import ROOT

TITLE = re.compile(r'@(Suite|Test)\b(?:\(\s*"((?:[^"\\]|\\.)*)")?')
ATTRIBUTES = re.compile(r'@\w+(?:\((?:"(?:[^"\\]|\\.)*"|[^()"]|\([^()]*\))*\))?\s*')
TYPE = re.compile(r"(?:(?:private|fileprivate|final|public|indirect) )*(?:struct|class|enum|actor|extension) (\w+)")
FUNCTION = re.compile(r"\bfunc (\w+)")
# The number of a row or a clause at the beginning of a name or title: "W10: a file", "s9SelectionsAre".
NUMBER = re.compile(r"^(?:[A-Z]\d+(?:, [A-Z]\d+)*: |[a-z]\d+(?=[A-Z]))")


def sentence(name):
    """The words of a function's name: aSeekMovesTheDownload is "a seek moves the download"."""
    words = re.findall(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z0-9]+|[A-Z]", NUMBER.sub("", name))
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in words)


def read(module, text):
    """{MODULE.SUITE/FUNCTION: sentence} of one file of tests. The sentence begins with that of the suite."""
    found, types, suite, test = {}, [], "", None
    # A title that stands on a line of its own is put behind its attribute.
    for line in re.sub(r'(@(?:Test|Suite)\()\s*\n\s*"', r'\1"', text).splitlines():
        indent = len(line) - len(line.lstrip())
        for kind, title in TITLE.findall("" if line.lstrip().startswith("//") else line):
            suite, test = (title, test) if kind == "Suite" else (suite, title)
        if declared := TYPE.match(ATTRIBUTES.sub("", line.lstrip())):
            types = [each for each in types if each[0] < indent] + [(indent, declared[1], suite)]
            suite = ""
        elif test is not None and (function := FUNCTION.search(line)):
            _, name, outer = [each for each in types if each[0] < indent][-1]
            words = [NUMBER.sub("", each) for each in (outer, test) if each] if test else [sentence(function[1])]
            found["%s.%s/%s" % (module, name, function[1])] = " ".join(words).replace('\\"', '"')
            test = None
    return found


def all_tests():
    """{MODULE.SUITE/FUNCTION: sentence} of all tests."""
    found = {}
    for path in sorted((ROOT / "Tests").rglob("*.swift")):
        found.update(read(path.relative_to(ROOT / "Tests").parts[0], path.read_text(encoding="utf-8")))
    return found
