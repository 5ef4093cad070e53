import ArgumentParser
import Control
import Orders
import Testing

@testable import weir

@Suite struct SelectionOptionsTests {
    private func selection(_ arguments: [String], _ environment: [String: String] = [:]) throws -> Selection {
        try SelectionOptions.parse(arguments).selection(environment: environment)
    }

    @Test func noOptionsGiveAnEmptySelection() throws {
        #expect(try selection([]) == Selection())
        #expect(try !SelectionOptions.parse([]).areGiven)
        #expect(try SelectionOptions.parse(["--subs", "all"]).areGiven)
        #expect(try SelectionOptions.parse(["--fast"]).areGiven)
    }

    @Test func eachOptionIsInTheSelection() throws {
        let selection = try selection(
            [
                "-q", "<=1080p", "--audio", "en,ja", "--subs", "all", "--min-bitrate", "1.5M", "--min-size", "640x360",
                "--prefer-hdr", "--prefer-multichannel", "--codecs", "avc1,hvc1", "--languages", "JA,en", "--fast",
            ], ["LANG": "en_GB.UTF-8"])
        var expected = Selection(
            quality: .heightAtMost(1080), audio: .languages(["en", "ja"]), subtitles: .all)
        var preferences = Selection.Preferences()
        preferences.minimumBitRate = 1_500_000
        preferences.minimumSize = Selection.Size(width: 640, height: 360)
        preferences.prefersHDR = true
        preferences.prefersMultichannel = true
        preferences.isFast = true
        preferences.codecs = ["avc1", "hvc1"]
        preferences.languages = ["ja", "en"]
        preferences.locale = "en-GB"
        expected.preferences = preferences
        #expect(selection == expected)
    }

    /// Issue row: the configuration, the options and the API have one set of keys.
    @Test func anOptionExistsForEachKeyOfASelection() throws {
        let help = FurtherOptions.helpMessage(columns: 300)
        for key in Selection.Key.allCases {
            #expect(help.contains("--\(key.rawValue)"), "\(key)")
        }
        #expect(try selection(["--no-prefer-hdr", "--no-fast"]).preferences?.prefersHDR == false)
        #expect(try selection(["--audio", "default"]).audio == .default)
        for wrong in [
            ["-q", "720"], ["--audio", "e n"], ["--codecs", "a,,b"], ["--min-size", "x"], ["--subs", ""],
        ] {
            #expect(throws: (any Error).self) { try SelectionOptions.parse(wrong) }
        }
    }

    static let locales: [([String: String], String?)] = [
        (["LANG": "de_DE.UTF-8"], "de-DE"), (["LANG": "de", "LC_MESSAGES": "fr_CA"], "fr-CA"),
        (["LANG": "de", "LC_MESSAGES": "fr", "LC_ALL": "ja_JP.eucJP"], "ja-JP"),
        (["LANG": "de", "LC_ALL": ""], "de"), (["LANG": "de", "LC_ALL": "C"], nil), (["LANG": "C.UTF-8"], nil),
        (["LANG": "POSIX"], nil), ([:], nil), (["LANG": "ca_ES@valencia"], "ca-ES"), (["LANG": "/usr/x"], nil),
        (["LANG": "en_<script>"], nil), (["LC_NUMERIC": "de"], nil),
    ]

    @Test(arguments: locales)
    func theMessageLocaleBecomesALanguageTag(_ environment: [String: String], _ tag: String?) {
        #expect(UserLanguage.tag(environment: environment) == tag)
    }
}
