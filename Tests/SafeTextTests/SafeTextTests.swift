import SafeText
import Testing

@Suite struct SafeTextTests {
    @Test(arguments: [
        ("Sintel – Überblick 日本語 👩‍👩‍👧 naïve", "Sintel – Überblick 日本語 👩‍👩‍👧 naïve"), ("", ""),
        ("a\u{1B}]0;title\u{07}b", "a\\u{1B}]0;title\\u{7}b"), ("a\u{9B}2Jb", "a\\u{9B}2Jb"),
        ("a\r\nb\tc\0\u{7F}", "a\\u{D}\\u{A}b\\u{9}c\\u{0}\\u{7F}"),
        ("a\u{85}\u{2028}\u{2029}", "a\\u{85}\\u{2028}\\u{2029}"),
        ("\u{202E}gpm.exe\u{202C}", "\\u{202E}gpm.exe\\u{202C}"),
        ("\u{61C}\u{200E}\u{200F}\u{2066}\u{2069}", "\\u{61C}\\u{200E}\\u{200F}\\u{2066}\\u{2069}"),
        ("\u{FEFF}\u{FFF9}\u{E0041}", "\\u{FEFF}\\u{FFF9}\\u{E0041}"), ("a\u{300}", "a\u{300}"),
    ])
    func unsafeCharactersAreEscaped(text: String, safe: String) {
        #expect(Printable.line(text) == safe)
        // A text that was escaped before stays as it is.
        #expect(Printable.line(safe) == safe)
    }

    @Test func longLinesAreCut() {
        #expect(Printable.line(String(repeating: "é", count: 20), limit: 20) == String(repeating: "é", count: 20))
        #expect(Printable.line("0123456789\u{1B}", limit: 4) == "0123… (7 more)")
        #expect(Printable.line(String(repeating: "a", count: 100_000)).count < 8_300)
    }

    @Test func linesStayApart() {
        #expect(Printable.lines("a\u{1B}\nb\r\n\n") == "a\\u{1B}\nb\\u{D}\n\n")
    }

    @Test(arguments: [
        (#"{"a":"b"}"#, #"{"a":"b"}"#), ("{\"a\":\"\u{9B}é\u{202E}\"}", #"{"a":"\u009bé\u202e"}"#),
        ("{\"\u{7F}\":\"\u{E0041}\"}", #"{"\u007f":"\udb40\udc41"}"#),
    ])
    func jsonKeepsItsMeaning(text: String, safe: String) {
        #expect(String(decoding: Printable.json(Array(text.utf8)), as: UTF8.self) == safe)
    }

    @Test func everyUnsafeCharacterIsFound() throws {
        for value in (0...0xFFFF).lazy.filter({ !(0xD800...0xDFFF).contains($0) }) {
            let scalar = try #require(Unicode.Scalar(UInt32(value)))
            #expect((Printable.line(String(scalar)) != String(scalar)) == Printable.isUnsafe(scalar))
        }
    }
}
