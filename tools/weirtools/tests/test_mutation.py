"""Tests of weirtools/testing/mutation.py. Run by `swift test`."""

import unittest

from weirtools.testing import mutation

SOURCE = '''\
/// Adds a + b, unless a < b.
func sum(_ a: Int, _ b: Int) async throws -> Int {
    guard a <= b, let text = names["a < b"] else { return 0 }
    if isOpen(text, a) && a > 0 {
        log("a + b")
    }
    await wait(for: a)
    let total = a + b  // never a - b
    return total
}
'''


def found(source=SOURCE):
    return {(mutant.line, mutant.fault, mutant.after.strip()) for mutant in mutation.mutants("Room", "a.swift", source)}


class MutantTests(unittest.TestCase):
    def test_each_kind_of_fault_is_found(self):
        for expected in [
            (3, "a bound", 'guard a < b, let text = names["a < b"] else { return 0 }'),
            (3, "a dropped check", 'guard true, let text = names["a < b"] else { return 0 }'),
            (3, "a constant", 'guard a <= b, let text = names["a < b"] else { return 1 }'),
            (4, "a connective", "if isOpen(text, a) || a > 0 {"),
            (4, "a dropped check", "if false {"),
            (5, "a dropped call", '// log("a + b")'),
            (7, "a lost await", "Task { await wait(for: a) }"),
            (7, "a dropped call", "// await wait(for: a)"),
            (8, "a sign", "let total = a - b  // never a - b"),
        ]:
            with self.subTest(expected):
                self.assertIn(expected, found())

    def test_comments_and_strings_stay(self):
        self.assertFalse([mutant for mutant in found() if mutant[0] in (1, 2)])
        self.assertNotIn((8, "a sign", "let total = a + b  // never a + b"), found())
        self.assertNotIn((5, "a sign", 'log("a - b")'), found())

    def test_a_condition_with_a_name_stays(self):
        self.assertFalse([mutant for mutant in found("if let a = b {\n") if mutant[1] == "a dropped check"])

    def test_a_part_of_a_statement_is_no_call(self):
        for source in ["let a =\n    sum(b)\n", "sum(a)\n    .last\n", "    return (a)\n"]:
            with self.subTest(source):
                self.assertFalse([mutant for mutant in found(source) if mutant[1] == "a dropped call"])

    def test_a_seed_draws_the_same_lines(self):
        def draw(seed):
            return mutation.drawn(mutation.mutants("Room", "a.swift", SOURCE), seed)

        self.assertEqual(draw("1 Room"), draw("1 Room"))
        self.assertNotEqual([draw(str(seed)) for seed in range(9)], [draw("0")] * 9)
        lines = [mutant.line for mutant in draw("1 Room")]
        self.assertEqual(sorted(lines), sorted(set(lines)))


if __name__ == "__main__":
    unittest.main()
