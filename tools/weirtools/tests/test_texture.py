"""tools/check/texture: which lines are too dense."""

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

    def test_parameters_without_labels(self):
        self.assertEqual(kinds("func f(_ a: A, _ b: B, _ c: @escaping (C, D) -> E) {"), ["unlabelled"])
        self.assertEqual(kinds("func f(_ a: A, _ b: B, c: C) {"), [])


if __name__ == "__main__":
    unittest.main()
