"""The Python that the tools share, one package for each kind of tool. A tool finds it by these lines at its head:

    sys.dont_write_bytecode = True
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))    # the folder tools/
    from weirtools.scenes import scene

The tests are in tests/: python3 -B -m unittest discover --start-directory tools/weirtools/tests --top-level-directory tools
"""

import pathlib

TOOLS = pathlib.Path(__file__).resolve().parents[1]
ROOT = TOOLS.parent
MEDIA = ROOT / "fixtures" / "media"


def built_weir(parser, given=None):
    """The binary that the user names, else the release build, else the debug build; without one the tool ends with 69."""
    builds = [given] if given else [ROOT / ".build" / name / "weir" for name in ("release", "debug")]
    found = [path for path in map(pathlib.Path, builds) if path.is_file()]
    if not found:
        parser.exit(69, "%s: no weir at %s: swift build --product weir\n" % (parser.prog, builds[-1]))
    return found[0].resolve()
