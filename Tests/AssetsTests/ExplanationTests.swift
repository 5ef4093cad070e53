import HLS
import Orders
import Testing

@testable import Assets

@Suite struct ExplanationTests {
    private func reasons(_ selection: Selection, of playlist: MultivariantPlaylist) throws -> [Int: String] {
        let explanation = try selection.explanation(of: playlist)
        #expect(Set(explanation.others.map(\.variant) + [explanation.variant]) == Set(playlist.variants.indices))
        #expect(explanation.others.map(\.variant) == explanation.others.map(\.variant).sorted())
        return Dictionary(uniqueKeysWithValues: explanation.others.map { ($0.variant, $0.reason) })
    }

    @Test func eachRejectedVariantHasTheFirstDecidingRule() throws {
        var selection = Selection(quality: .heightAtMost(1080))
        selection.wishes.minimumBitRate = 2_000_000
        selection.wishes.codecs = ["avc1"]
        selection.wishes.prefersMultichannel = true
        #expect(
            try reasons(selection, of: Presentations.cinema()) == [
                0: "is not at least 2.0 Mb/s", 1: "has no multichannel sound, which is preferred",
                3: "is not avc1, which is preferred", 4: "is not at most 1080p",
            ])
    }

    @Test func theBitRateDecidesLast() throws {
        let playlist = try Presentations.cinema()
        var selection = Selection(quality: .height(1080))
        #expect(try selection.explanation(of: playlist).reason == "the highest bit rate of those in stereo")
        #expect(
            try reasons(selection, of: playlist) == [
                0: "is not 1080p", 2: "is the same video with other groups", 3: "has a lower bit rate",
                4: "is not 1080p",
            ])
        selection.wishes.isFast = true
        #expect(try selection.explanation(of: playlist).reason == "the fewest bits to fetch")
        #expect(
            try reasons(selection, of: playlist) == [
                0: "is not 1080p", 1: "has a higher bit rate", 2: "has a higher bit rate", 4: "is not 1080p",
            ])
        #expect(try Selection(quality: .worst).explanation(of: playlist).reason == "the lowest bit rate")
    }

    @Test func anUnmetMinimumIsExplained() throws {
        let selection = Selection(quality: .minimumBandwidth(90_000_000))
        let explanation = try selection.explanation(of: Presentations.cinema())
        #expect(explanation.reason == "the highest bit rate; none is at least 90 Mb/s")
    }

    @Test func aVariantWithoutAPreferredLanguageComesLater() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",LANGUAGE=\"en\",URI=\"en\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"J\",LANGUAGE=\"ja\",URI=\"ja\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=1x1,AUDIO=\"a\"", "high",
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x1,AUDIO=\"b\"", "low")
        let selection = Selection(audio: .languages(["ja"]))
        #expect(try reasons(selection, of: playlist) == [0: "has no sound in \"ja\""])
        #expect(try selection.renditions(of: playlist).map { playlist.renditionURIs[$0] } == ["low", "ja"])
        #expect(throws: Selection.NoMatch.self) {
            try Selection(audio: .languages(["en", "ja"])).renditions(of: playlist)
        }
    }

    @Test func audioOnlyAndEqualVariantsAreExplained() throws {
        let playlist = try Presentations.of(
            "#EXT-X-STREAM-INF:BANDWIDTH=9", "sound", "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x1", "a",
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x1", "b")
        #expect(
            try reasons(Selection(), of: playlist) == [
                0: "has no RESOLUTION, as sound alone", 1: "has no higher bit rate",
            ])
    }

    @Test func aSelectionWithoutAMatchHasNoExplanation() throws {
        let playlist = try Presentations.cinema()
        #expect(throws: Selection.NoMatch.self) { try Selection(quality: .height(7)).explanation(of: playlist) }
        #expect(throws: Selection.NoMatch.self) {
            try Selection(audio: .languages(["ja"])).explanation(of: playlist)
        }
    }
}
