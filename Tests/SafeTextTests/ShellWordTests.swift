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
}
