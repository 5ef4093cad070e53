"""tools/check/texture: which lines are too dense."""

import pathlib
import unittest

from weirtools.testing import texture


def kinds(text):
    return [kind for kind, _ in texture.lines_of(texture.without_text(text))[0]]


class Lines(unittest.TestCase):
    def test_a_body_on_the_line_of_its_head(self):
        for text in ("if a { b() }", "for a in b { c(a) }", "while a { b() }", "} else if a { b() }", 'if a == "{" { b("}") }'):
            self.assertEqual(kinds(text), ["body"], text)

    def test_bodies_on_lines_of_their_own(self):
        for text in ("if a {", "} else {", "for a in b.map({ $0 }) {", "guard a else { return }", "let a = if b { c } else { d }",
                     "// if a { b() }", '"if a { b() }"', "if a { b } else {"):
            self.assertEqual(kinds(text), [], text)

    def test_several_values_at_once(self):
        for text in ("(a, b) = (1, 2)", "(self.a, self.b) = (a, c)", "(a.b, c[0]) = (f(), g)"):
            self.assertEqual(kinds(text), ["tuple"], text)

    def test_swaps_and_tuples_that_are_taken_apart(self):
        for text in ("(a, b) = (b, a)", "(a, b) = f()", "let (a, b) = (1, 2)", "f(a, b)"):
            self.assertEqual(kinds(text), [], text)

    def test_a_body_inside_a_body_on_the_line_of_its_head(self):
        for text in ("init(a: A, b: B) { (self.a, self.b) = (a, b) }", "func f() { if a { b() } }", "case a: if b { c() }",
                     "default: for a in b { c(a) }", "defer { if a { b() } }"):
            self.assertEqual(kinds(text), ["inline"], text)
        for text in ("init(a: A) { self.a = a }", "case a: b()", "{ (a, b) in a + b }", "let (a, b) = f { ($0, $1) }"):
            self.assertEqual(kinds(text), [], text)

    def test_choices(self):
        for text in ("let a = b ? c : d", "let a = b ? f(x: 1) : d", "        ? c", 'f(a ? "b" : "c")'):
            self.assertEqual(kinds(text), ["ternary"], text)
        for text in ("let a: B? = c", "a?.b", "a ?? b", "let a = if b { c } else { d }", '"a ? b : c"'):
            self.assertEqual(kinds(text), [], text)

    def test_chains(self):
        for text in ("a.map { $0 } ?? b", "a ?? b ?? c", "a.flatMap { $0.compactMap { $0 } }"):
            self.assertEqual(kinds(text), ["chain"], text)
        self.assertEqual(kinds("a ? b ?? c : d"), ["ternary", "chain"])
        for text in ("a ?? b", "a.map { $0 }", "a.map(f)"):
            self.assertEqual(kinds(text), [], text)

    def test_the_rooms_that_stay_free_of_them(self):
        sources = pathlib.Path("/weir/Sources")
        self.assertTrue(texture.is_of_rooms(sources / "HLS/Text/Tag.swift", sources))
        self.assertFalse(texture.is_of_rooms(sources / "NewRoom/File.swift", sources))
        self.assertFalse(texture.is_of_rooms(pathlib.Path("/weir/Tests/HLS/Tests.swift"), sources))

    def test_each_room_exists(self):
        sources = pathlib.Path(__file__).resolve().parents[3] / "Sources"
        self.assertEqual([room for room in texture.ROOMS if not (sources / room).is_dir()], [])

    def test_parameters_without_labels(self):
        self.assertEqual(kinds("func f(_ a: A, _ b: B, _ c: @escaping (C, D) -> E) {"), ["unlabelled"])
        self.assertEqual(kinds("func f(_ a: A, _ b: B, c: C) {"), [])


if __name__ == "__main__":
    unittest.main()
