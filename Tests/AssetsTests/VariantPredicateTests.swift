import HLS
import SafeText
import Testing

@testable import Assets

@Suite struct VariantPredicateTests {
    static let cases: [(VariantPredicate, [Int])] = [
        (.peakBitRate(.atLeast(5_000_000)), [1, 2, 4]), (.peakBitRate(.atMost(3_000_000)), [0, 3]),
        (.peakBitRate(.exactly(9_000_000)), [4]), (.averageBitRate(.atMost(3_000_000)), [0, 1, 3]),
        (.averageBitRate(.atLeast(3_400_000)), [2, 4]), (.width(.atLeast(1920)), [1, 2, 3, 4]),
        (.height(.exactly(1080)), [1, 2, 3]), (.height(.atMost(1079)), [0]), (.frameRate(.atLeast(25.5)), [3]),
        (.frameRate(.atMost(0)), [4]), (.channels(.atLeast(3)), [2]), (.channels(.exactly(2)), [0, 1, 3, 4]),
        (.videoRange(["SDR"]), [0, 1, 2, 3]), (.highDynamicRange, [4]), (.codec("avc1"), [0, 1, 2]),
        (.codec("AVC3.640028"), [0, 1, 2]), (.codec("hvc1"), [3, 4]), (.codec("hev1"), [3, 4]), (.codec("ac-3"), [2]),
        (.codec("av01"), []), (.codec(""), []),
        (.all([.codec("hvc1"), .height(.atMost(1080))]), [3]), (.all([]), [0, 1, 2, 3, 4]),
        (.any([.multichannel, .highDynamicRange]), [2, 4]), (.any([]), []), (.not(.codec("avc1")), [3, 4]),
    ]

    @Test(arguments: cases)
    func aPredicateAdmitsMatchingVariants(_ predicate: VariantPredicate, _ expected: [Int]) throws {
        let playlist = try Presentations.cinema()
        #expect(playlist.variants.filter { predicate.admits($0, in: playlist) }.map(\.index) == expected)
    }

    @Test func missingAttributesCountAsTheMinimum() throws {
        let playlist = try Presentations.of("#EXT-X-STREAM-INF:BANDWIDTH=7", "v")
        let variant = playlist.variants[0]
        let met: [VariantPredicate] = [
            .averageBitRate(.exactly(7)), .height(.exactly(0)), .width(.atMost(0)), .frameRate(.exactly(0)),
            .channels(.exactly(0)), .videoRange(["SDR"]), .not(.codec("avc1")), .not(.picture),
        ]
        for predicate in met {
            #expect(predicate.admits(variant, in: playlist), "\(predicate)")
        }
    }

    @Test func channelsAreTheNumberBeforeTheSlash() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",CHANNELS=\"16/JOC\",URI=\"a\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"B\",CHANNELS=\"many\",URI=\"b\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "v", "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"b\"", "w")
        #expect(VariantPredicate.channels(.exactly(16)).admits(playlist.variants[0], in: playlist))
        #expect(VariantPredicate.channels(.exactly(0)).admits(playlist.variants[1], in: playlist))
    }

    static let words: [(VariantPredicate, String)] = [
        (.peakBitRate(.atLeast(2_100_000)), "at least 2.1 Mb/s"),
        (.averageBitRate(.atMost(900_000)), "at most 900 kb/s on average"), (.height(.exactly(720)), "720p"),
        (.all([.width(.atLeast(1280)), .height(.atLeast(720))]), "at least 1280 pixels wide and at least 720p"),
        (.highDynamicRange, "HLG or PQ"), (.any([.codec("avc1"), .not(.multichannel)]), "avc1 or not multichannel"),
        (.channels(.atMost(2)), "at most 2 channels"), (.frameRate(.atLeast(50)), "at least 50.0 frames a second"),
    ]

    @Test(arguments: words)
    func aPredicateDescribesItself(_ predicate: VariantPredicate, _ words: String) {
        #expect(predicate.description == words)
    }
}
