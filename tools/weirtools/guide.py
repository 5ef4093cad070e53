"""The guide's pages and their links: Sources/weir/Weir.docc has one text, which is read on a forge, as HTML and in DocC.

A link in a page is a relative path with the heading as forges name it: [Keeping](Keeping.md#a-full-disk). A forge follows it as it is,
tools/make/guide-html and tools/check/guide rewrite it for the other two.

    python3 -m weirtools.guide check          names dead links of the pages and of the README, words of DocC, and a guide too long
    python3 -m weirtools.guide docc FOLDER    writes the pages with links as DocC has them
"""

import os
import pathlib
import re
import shutil
import sys

from weirtools import ROOT
from weirtools.pages import GUIDE

# Users read the pages of the top folder. More than this nobody reads.
WORDS = 14_000
OUTER = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")

FENCE = re.compile(r"(?ms)^( *)```.*?^\1```[^\S\n]*$")
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"(?m)^#{1,6} (.+)$")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^()\s]+)\)")


def pages():
    """The text of each page, by its path below the guide."""
    return {str(path.relative_to(GUIDE)): path.read_text(encoding="utf-8") for path in sorted(GUIDE.rglob("*.md"))}


def title(text):
    return HEADING.search(text).group(1)


def headings(text):
    return HEADING.findall(FENCE.sub("", text))


def forge_name(heading):
    """The name of a heading in a link, as GitHub, GitLab and Forgejo form it."""
    return re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-")


def docc_name(heading):
    """The name of a heading in a link, as DocC forms it."""
    return "-".join(re.sub(r"[^\w\s-]", "", heading).split())


def is_outside(target):
    return bool(re.match(r"[a-z][a-z0-9+.-]*:", target))


def links(text):
    """The targets of a page's links to files, without those in code."""
    plain = CODE.sub("", FENCE.sub("", text))
    return [target for _, target in LINK.findall(plain) if not is_outside(target)]


def dead(paths):
    """The links of Markdown files that lead to no file or heading, as a forge reads them, and those that a forge cannot follow."""
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        for target in links(text):
            file, _, heading = target.partition("#")
            other = path.parent / file if file else path
            if not other.exists():
                found.append("%s: %s: no such file" % (path, target))
            elif heading and heading not in map(forge_name, headings(other.read_text(encoding="utf-8"))):
                found.append("%s: %s: no such heading" % (path, target))
        found += ["%s: %s: no link on a forge" % (path, word) for word in re.findall(r"<doc:[^>]*>", FENCE.sub("", text))]
    return found


def rewritten(name, texts, form):
    """The page's text with `form(words, path of the page, its heading)` in place of each link to a page; "" is no heading."""
    def one(match):
        words, target = match.groups()
        if is_outside(target):
            return match[0]
        file, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(name), file)) if file else name
        if path not in texts:
            return match[0]
        found = [heading for heading in headings(texts[path]) if forge_name(heading) == anchor]
        return form(words, path, found[0] if found else "")

    def outside_of_code(text):
        parts, end = [], 0
        for code in CODE.finditer(text):
            parts += [LINK.sub(one, text[end:code.start()]), code[0]]
            end = code.end()
        return "".join(parts) + LINK.sub(one, text[end:])

    text, parts, end = texts[name], [], 0
    for fence in FENCE.finditer(text):
        parts += [outside_of_code(text[end:fence.start()]), fence[0]]
        end = fence.end()
    return "".join(parts) + outside_of_code(text[end:])


def docc_link(words, path, heading):
    page = pathlib.PurePath(path).stem
    return "[%s](doc:%s%s)" % (words, page, heading and "#" + docc_name(heading))


def write_docc(folder):
    """Copies the catalogue, with links as DocC has them."""
    shutil.copytree(GUIDE, folder, dirs_exist_ok=True)
    texts = pages()
    for name in texts:
        (folder / name).write_text(rewritten(name, texts, docc_link), encoding="utf-8")


def words(text):
    return sum(1 for word in text.split() if re.search(r"\w", word))


def faults():
    found = dead([*(ROOT / name for name in OUTER), *sorted(GUIDE.rglob("*.md"))])
    total = sum(words(text) for name, text in pages().items() if "/" not in name)
    if total > WORDS:
        found.append("the users' pages of %s have %d words; nobody reads more than %d" % (GUIDE.name, total, WORDS))
    return found


def main(arguments):
    if arguments == ["check"]:
        found = faults()
        for fault in found:
            print("tools/check/guide: %s" % fault.replace(str(ROOT) + "/", ""), file=sys.stderr)
        return 1 if found else 0
    if len(arguments) == 2 and arguments[0] == "docc":
        write_docc(pathlib.Path(arguments[1]))
        return 0
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
