"""Every tool finds what it imports: a tool that runs once a month must not end at its first line."""

import ast
import importlib
import pathlib
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2]


def scripts():
    """The paths of all programs and modules in Python."""
    for path in sorted(TOOLS.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        with path.open("rb") as file:
            first = file.readline()
        if path.suffix == ".py" or (first.startswith(b"#!") and b"python3" in first):
            yield path


def imported(path):
    """(module, name) of each import of our own modules."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "weirtools":
            for alias in node.names:
                yield node.module, alias.name


def exists(module, name):
    """True if a module has the name, or is a package with a module of the name."""
    try:
        found = importlib.import_module(module)
        if not hasattr(found, name):
            importlib.import_module("%s.%s" % (module, name))
    except ModuleNotFoundError as error:
        # A package of the field that this machine lacks is no fault of ours.
        return not (error.name or "").startswith("weirtools")
    return True


class Imports(unittest.TestCase):
    def test_every_tool_finds_what_it_imports(self):
        missing = [
            "%s: %s.%s" % (path.relative_to(TOOLS), module, name)
            for path in scripts() for module, name in imported(path) if not exists(module, name)
        ]
        self.assertEqual(missing, [])

    def test_a_module_that_is_gone_is_seen(self):
        self.assertFalse(exists("weirtools.testing", "gone"))
        self.assertFalse(exists("weirtools.gone", "name"))
