import SafeText
import Testing

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("sintel", "sintel"), ("https://h/a.m3u8", "https://h/a.m3u8"), ("https://h/a?b=1&c", "'https://h/a?b=1&c'"),
        ("", "''"), ("a b", "'a b'"), ("$(x)`y`;", "'$(x)`y`;'"), ("it's", "'it'\\''s'"),
        ("'\u{301}", "''\\''\u{301}'"),
        ("ä", "'ä'"),
    ])
    func wordsAreQuoted(word: String, expected: String) {
        #expect(ShellWord.quoted(word) == expected)
    }

    @Test(arguments: [
        ("", [String]()), ("  a  b\t c\n", ["a", "b", "c"]), ("'a b' \"c d\"e f\\ g", ["a b", "c de", "f g"]),
        ("a'b'\"c\"", ["abc"]), ("'' \"\"", ["", ""]), ("'a\\n'", ["a\\n"]), (#""a\"b\\c\d\$e""#, [#"a"b\c\d$e"#]),
        ("curl 'x' \\\n  -H 'a: b' \\\r\n  -k", ["curl", "x", "-H", "a: b", "-k"]),
        (#"$'a\'b\n\x41\u00e9\101\q'"#, ["a'b\nA\u{E9}A\\q"]), (#"$'\xc3\xa9'"#, ["\u{E9}"]), ("$a", ["$a"]),
        ("'it'\\''s'", ["it's"]), ("#a", ["#a"]),
    ])
    func splitsAsBashDoes(line: String, words: [String]) {
        #expect(ShellWord.split(line) == words)
    }

    @Test(arguments: ["'a", "\"a", "$'a", "$'a\\'", "a 'b c"]) func anOpenQuotationMarkIsNoLine(line: String) {
        #expect(ShellWord.split(line) == nil)
    }
}
