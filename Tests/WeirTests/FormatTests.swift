import Testing

@testable import weir

@Suite struct FormatTests {
    @Test(arguments: [
        ([:], false), (["LANG": "C"], false), (["LANG": "de_DE.UTF-8"], true), (["LANG": "de_DE"], false),
        (["LANG": "de_DE.UTF-8", "LC_CTYPE": "C"], false), (["LANG": "C", "LC_ALL": "C.utf8"], true),
        (["LANG": "C.UTF-8", "LC_ALL": ""], true), (["LANG": "en_US.UTF-8", "LC_ALL": "POSIX"], false),
    ])
    func theLocaleDecidesAboutCharactersOutsideASCII(environment: [String: String], isUTF8: Bool) {
        let characters = LocaleCharacters(environment: environment)
        let bar = ProgressBar.text(0.63, width: 14)
        #expect(characters.columns(bar) == (isUTF8 ? "████████▊·····" : "########-....."))
        let cut = "a – \u{E9}b".cut(to: 5)
        #expect(characters.columns(cut) == (isUTF8 ? "a – …" : "a - ~"))
        #expect(
            characters.prose("--header 'Referer: …' é")
                == (isUTF8 ? "--header 'Referer: …' é" : "--header 'Referer: ...' é"))
    }

    @Test(arguments: [
        (-1, "0 B"), (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KB"), (10_188, "9.9 KB"), (10_189, "10 KB"),
        (1_047_552, "1023 KB"), (1_048_064, "1.0 MB"), (5_347_000, "5.1 MB"), (158_334_976, "151 MB"),
        (1_073_741_824, "1.0 GB"), (2_199_023_255_552, "2.0 TB"), (Int.max, "8388608 TB"),
    ])
    func bytes(count: Int, text: String) { #expect(Format.bytes(count) == text) }

    @Test(arguments: [
        (0, "0 b/s"), (999, "999 b/s"), (64_000, "64 kb/s"), (999_499, "999 kb/s"), (999_500, "1.0 Mb/s"),
        (2_100_000, "2.1 Mb/s"), (9_949_999, "9.9 Mb/s"), (9_950_000, "10 Mb/s"), (25_000_000, "25 Mb/s"),
    ])
    func bandwidth(bits: Int, text: String) { #expect(Format.bandwidth(bits) == text) }

    @Test(arguments: [
        (0.0, "0:00"), (17, "0:17"), (59.9, "0:59"), (59.9999, "1:00"), (559.2, "9:19"), (888.1, "14:48"),
        (3600, "1:00:00"), (36_061, "10:01:01"), (-5, "0:00"), (.infinity, "0:00"), (.nan, "0:00"),
    ])
    func clock(seconds: Double, text: String) { #expect(Format.clock(seconds) == text) }

    @Test(arguments: [(0.0, "0%"), (0.629, "63%"), (0.9999, "99%"), (1, "100%"), (1.2, "100%"), (-0.1, "0%")])
    func percent(fraction: Double, text: String) { #expect(Format.percent(fraction) == text) }

    @Test(
        arguments: [
            (0.63, 14, "████████▊·····"), (0, 3, "···"), (1, 3, "███"), (0.999, 3, "██▉"), (0.125, 1, "▏"),
            (0.5, 4, "██··"), (-1, 2, "··"), (.nan, 2, "··"), (2, 2, "██"), (0.5, 0, ""),
        ] as [(Double, Int, String)])
    func bar(fraction: Double, width: Int, text: String) { #expect(ProgressBar.text(fraction, width: width) == text) }

    @Test func tableColumnsFitTheirWidestCell() {
        let table = TextTable(rows: [["NAME", "TIME", "STATE"], ["sintel", "14:48", ""], ["ü", "–", "partial"]])
        #expect(table.lines == ["NAME    TIME   STATE", "sintel  14:48", "ü       –      partial"])
        #expect(TextTable(rows: []).lines.isEmpty)
    }

    @Test(arguments: [
        ("plain-1.0/x", "plain-1.0/x"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$(x)", "'$(x)'"),
    ])
    func quotesShellWords(word: String, quoted: String) { #expect(CommandFailure.quoted(word) == quoted) }
}
