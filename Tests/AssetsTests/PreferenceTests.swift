import HLS
import Orders
import Testing

@testable import Assets

/// Preferences, with a presentation whose variants differ in every attribute.
@Suite struct PreferenceTests {
    /// A selection with preferences, and the expected choice.
    struct Case: CustomTestStringConvertible {
        let selection: Selection
        /// The index of the variant, then the URIs of its renditions.
        let variant: Int
        let sounds: [String]
        let testDescription: String

        init(
            _ words: String, _ variant: Int, _ sounds: [String] = ["aac-en"], quality: Selection.Quality? = nil,
            audio: Selection.Choice = .default, _ change: (inout Selection.Preferences) -> Void = { _ in }
        ) {
            var selection = Selection(quality: quality, audio: audio)
            change(&selection.wishes)
            self.selection = selection
            self.variant = variant
            self.sounds = sounds
            testDescription = words
        }
    }

    static let variants: [Case] = [
        Case("nothing", 4),
        Case("minimum rate", 3) { $0.minimumBitRate = 2_000_000 },
        Case("minimum rate met exactly", 3) { $0.minimumBitRate = 3_000_000 },
        Case("minimum rate of none", 4) { $0.minimumBitRate = 90_000_000 },
        Case("minimum rate with the best", 4, quality: .best) { $0.minimumBitRate = 2_000_000 },
        Case("minimum rate with a height", 1, quality: .height(1080)) { $0.minimumBitRate = 4_000_000 },
        Case("minimum rate that the height lacks", 0, quality: .height(360)) { $0.minimumBitRate = 4_000_000 },
        Case("minimum height", 3) { $0.minimumSize = .init("720p") },
        Case("minimum size", 4) { $0.minimumSize = .init("2000x720") },
        Case("minimum height and rate", 1) { ($0.minimumSize, $0.minimumBitRate) = (.init("720p"), 4_000_000) },
        Case("HDR", 4, quality: .worst) { $0.prefersHDR = true },
        Case("HDR where none is", 1, quality: .height(1080)) { $0.prefersHDR = true },
        Case("a codec", 1) { $0.codecs = ["avc1"] },
        Case("a codec that is not there", 4) { $0.codecs = ["av01"] },
        Case("codecs in order", 1) { $0.codecs = ["av01", "avc1", "hvc1"] },
        Case("HDR before codecs", 4) { ($0.prefersHDR, $0.codecs) = (true, ["avc1"]) },
        Case("fast", 0) { $0.isFast = true },
        Case("fast with a height, by the average", 3, quality: .height(1080)) { $0.isFast = true },
        Case("fast with a minimum, by the average", 3) { ($0.isFast, $0.minimumSize) = (true, .init("1080p")) },
        Case("fast with a codec", 0) { ($0.isFast, $0.codecs) = (true, ["avc1"]) },
        Case("fast with a minimum of none", 4) { ($0.isFast, $0.minimumBitRate) = (true, 90_000_000) },
    ]

    static let sounds: [Case] = [
        Case("multichannel keeps stereo", 2, ["ac3-en", "aac-en"]) { $0.prefersMultichannel = true },
        Case("multichannel by language", 2, ["ac3-de", "aac-de", "ac3-en", "aac-en"], audio: .languages(["de", "en"])) {
            $0.prefersMultichannel = true
        },
        Case(
            "all in multichannel", 2, ["ac3-de", "aac-de", "ac3-en", "aac-en", "aac-ad", "aac-fr"], audio: .all
        ) {
            $0.prefersMultichannel = true
        },
        Case("no sound in multichannel", 2, [], audio: .nothing) { $0.prefersMultichannel = true },
        Case("multichannel where none is", 0, quality: .height(360)) { $0.prefersMultichannel = true },
        Case("the locale", 4, ["aac-de"]) { $0.locale = "de-CH" },
        Case("a locale that AUTOSELECT does not allow", 4, ["aac-en"]) { $0.locale = "fr" },
        Case("a locale with what describes the picture", 4, ["aac-en"]) { $0.locale = "en-US" },
        Case("a locale that is not there", 4, ["aac-en"]) { $0.locale = "ja" },
        Case("languages before the locale", 4, ["aac-fr"]) { ($0.languages, $0.locale) = (["ja", "fr"], "de") },
        Case("the locale behind languages", 4, ["aac-de"]) { ($0.languages, $0.locale) = (["ja"], "de") },
        Case("an explicit language before all", 4, ["aac-en"], audio: .languages(["en"])) { $0.languages = ["de"] },
    ]

    @Test(arguments: variants + sounds)
    func preferencesDecideAmongSeveralMatches(_ example: Case) throws {
        let playlist = try Presentations.cinema()
        let explanation = try example.selection.explanation(of: playlist)
        #expect(explanation.variant == example.variant)
        #expect(explanation.media.compactMap { playlist.media[$0].uri } == example.sounds)
        let fetched = try example.selection.renditions(of: playlist).map { playlist.renditionURIs[$0] }
        #expect(fetched == [playlist.variants[example.variant].uri] + example.sounds)
    }

    @Test func fastPrefersTheFewestChannels() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Surround\",LANGUAGE=\"en\",DEFAULT=YES,CHANNELS=\"6\",URI=\"6\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Talk\",LANGUAGE=\"en\",CHANNELS=\"1\",URI=\"1\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Stereo\",LANGUAGE=\"en\",AUTOSELECT=YES,CHANNELS=\"2\",URI=\"2\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"a\"", "v")
        var selection = Selection()
        selection.wishes.isFast = true
        #expect(try selection.renditions(of: playlist).map { playlist.renditionURIs[$0] } == ["v", "2"])
        selection.audio = .all
        #expect(try selection.renditions(of: playlist).count == 4)
    }

    @Test(arguments: [
        ("de", ["de"]), ("zh-Hant-TW", ["zh-Hant-TW", "zh-Hant", "zh"]), ("en-a-bbb", ["en-a-bbb", "en"]), ("", []),
    ])
    func aTagIsLookedUpSubtagBySubtag(_ tag: String, _ ranges: [String]) {
        #expect(LanguageRanges.of(tag) == ranges)
    }
}
