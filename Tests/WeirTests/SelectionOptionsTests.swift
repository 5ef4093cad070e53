import API
import ArgumentParser
import Control
import Testing

@testable import weir

@Suite struct SelectionOptionsTests {
    private func request(_ arguments: [String], _ environment: [String: String] = [:]) throws -> API.DownloadRequest {
        try SelectionOptions.parse(arguments).request(for: "x", environment: environment)
    }

    @Test func noOptionsGiveAnEmptyRequest() throws {
        #expect(try request([]) == API.DownloadRequest(source: "x"))
        #expect(try !SelectionOptions.parse([]).areGiven)
        #expect(try SelectionOptions.parse(["--subs", "all"]).areGiven)
        #expect(try SelectionOptions.parse(["--fast"]).areGiven)
    }

    @Test func eachOptionIsInTheRequest() throws {
        let request = try request(
            [
                "-q", "<=1080p", "--audio", "en,ja", "--subs", "all", "--min-bitrate", "1.5M", "--min-size", "640x360",
                "--prefer-hdr", "--prefer-multichannel", "--codecs", "avc1,hvc1", "--languages", "JA,en", "--fast",
            ], ["LANG": "en_GB.UTF-8"])
        var expected = API.DownloadRequest(
            source: "x", quality: .heightAtMost(1080), audio: .languages(["en", "ja"]), subtitles: .all)
        var preferences = API.Preferences()
        preferences.minimumBitRate = 1_500_000
        preferences.minimumSize = API.Size(width: 640, height: 360)
        (preferences.prefersHDR, preferences.prefersMultichannel, preferences.isFast) = (true, true, true)
        (preferences.codecs, preferences.languages, preferences.locale) = (["avc1", "hvc1"], ["ja", "en"], "en-GB")
        expected.preferences = preferences
        #expect(request == expected)
    }

    /// Issue row: the configuration, the options and the API have one set of keys.
    @Test func anOptionExistsForEachKeyOfASelection() throws {
        let help = SelectionOptions.helpMessage(columns: 300)
        for key in API.SelectionKey.allCases { #expect(help.contains("--\(key.rawValue)"), "\(key)") }
        #expect(try request(["--no-prefer-hdr", "--no-fast"]).preferences?.prefersHDR == false)
        #expect(try request(["--audio", "default"]).audio == .default)
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
