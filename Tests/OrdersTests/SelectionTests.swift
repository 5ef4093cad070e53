import Foundation
import Orders
import Testing

@Suite struct SelectionTests {
    static let contradictions: [(Selection.Quality?, Int?, String?, Bool, String?)] = [
        (.best, nil, nil, true, "the best quality is not the fastest download: give only one of the two"),
        (.worst, 1, nil, false, "the worst quality has no minimum: give only one of the two"),
        (.worst, nil, "720p", false, "the worst quality has no minimum: give only one of the two"),
        (
            .minimumBandwidth(2_000_000), 1, nil, false,
            "the quality 2M is already a minimum bit rate: give only one of the two"
        ),
        (
            .height(480), nil, "720p", false,
            "no variant of the quality 480p has the minimum size 720p: give only one of the two"
        ),
        (
            .heightAtMost(480), nil, "1x481", false,
            "no variant of the quality <=480p has the minimum size 1x481: give only one of the two"
        ),
        (.best, 1, "720p", false, nil), (.worst, nil, nil, true, nil), (nil, 1, "720p", true, nil),
        (.height(720), 1, "720p", true, nil), (.minimumBandwidth(1), nil, "720p", false, nil),
    ]

    @Test(arguments: contradictions)
    func aContradictionIsDescribed(
        _ quality: Selection.Quality?, _ bitRate: Int?, _ size: String?, _ isFast: Bool, _ sentence: String?
    ) {
        var selection = Selection(quality: quality)
        selection.wishes.minimumBitRate = bitRate
        selection.wishes.minimumSize = size.flatMap { Selection.Size($0) }
        selection.wishes.isFast = isFast
        #expect(selection.contradiction == sentence)
    }

    @Test(arguments: [
        ("1280x720", Selection.Size(width: 1280, height: 720)), ("720p", Selection.Size(width: nil, height: 720)),
        ("", nil), ("p", nil), ("0p", nil), ("720", nil), ("x720", nil), ("1x2x3", nil), ("-1x2", nil), ("1x0", nil),
        ("99999999999999999999p", nil),
    ])
    func sizeFromText(text: String, size: Selection.Size?) {
        #expect(Selection.Size(text) == size)
        if let size {
            #expect(size.description == text)
        }
    }

    @Test(arguments: [
        ("best", Selection.Quality.best), ("worst", .worst), ("720p", .height(720)), ("<=1080p", .heightAtMost(1080)),
        ("2M", .minimumBandwidth(2_000_000)), ("1.5M", .minimumBandwidth(1_500_000)),
        ("800k", .minimumBandwidth(800_000)), ("265000", .minimumBandwidth(265_000)),
        ("720p,best", .firstOf([.height(720), .best])), ("720p,", nil), ("best,,worst", nil), (",", nil),
        ("10000", .minimumBandwidth(10_000)), ("9999", nil), ("5k", nil), ("٢M", nil),
        ("", nil), ("0p", nil), ("p", nil), ("-720p", nil), ("<=2M", nil), ("M", nil), ("1e3M", nil), ("720", nil),
    ])
    func qualityFromText(text: String, quality: Selection.Quality?) {
        #expect(Selection.Quality(text) == quality)
        if let quality {
            #expect(Selection.Quality(quality.description) == quality)
        }
    }

    @Test func aSmallNumberIsProbablyAHeight() {
        #expect(Selection.Quality.meantHeight("720") == 720 && Selection.Quality.meantHeight("265000") == nil)
        #expect(Selection.Quality.meantHeight("720p") == nil && Selection.Quality.meantHeight("0") == nil)
    }

    @Test(arguments: [
        ("default", Selection.Choice.default), ("auto", .auto), ("all", .all), ("none", Selection.Choice.nothing),
        ("en,JA", .languages(["en", "ja"])),
        ("zh-Hans", .languages(["zh-hans"])), ("", nil), ("en,", nil), ("e n", nil),
    ])
    func choiceFromText(text: String, choice: Selection.Choice?) {
        #expect(Selection.Choice(text) == choice)
        if let choice {
            #expect(Selection.Choice(choice.description) == choice)
        }
    }

    @Test func openPreferencesAreLeftOut() throws {
        var selection = Selection()
        selection.wishes.isFast = true
        #expect(
            String(decoding: try JSONEncoder().encode(selection), as: UTF8.self) == #"{"preferences":{"isFast":true}}"#)
        selection.wishes.isFast = nil
        #expect(selection == Selection() && selection.preferences == nil)
        #expect(String(decoding: try JSONEncoder().encode(selection), as: UTF8.self) == "{}")
    }

    @Test func theKeysOfAnotherSelectionReplaceItsOwn() {
        var selection = Selection(quality: .best, audio: .all)
        selection.adopt(Selection(quality: .worst, subtitles: .nothing))
        #expect(selection == Selection(quality: .worst, audio: .all, subtitles: .nothing))
    }

    /// Another language fetches no other picture.
    @Test func whatIsLeftOutIsAsInTheEarlierSelection() {
        var earlier = Selection(quality: .worst, audio: .languages(["en"]), subtitles: .nothing)
        earlier.wishes.locale = "en-GB"
        #expect(Selection().with(earlier: earlier) == earlier)
        let other = Selection(audio: .languages(["de"])).with(earlier: earlier)
        #expect(other.quality == .worst && other.audio == .languages(["de"]) && other.subtitles == .nothing)
        let subtitles = Selection(subtitles: .all).with(earlier: earlier)
        #expect(subtitles.quality == .worst && subtitles.audio == .languages(["en"]) && subtitles.subtitles == .all)
    }

    /// A condition of before would contradict the quality of now.
    @Test func whatDecidesOnThePictureIsReplacedTogether() throws {
        var earlier = Selection(quality: .worst, conditions: [try VariantCondition("height<=360")])
        earlier.wishes.codecs = ["hvc1"]
        let later = Selection(quality: .height(720)).with(earlier: earlier)
        #expect(later == Selection(quality: .height(720)))
        var french = Selection()
        french.wishes.languages = ["fr"]
        let preferring = french.with(earlier: Selection(audio: .languages(["en"])))
        #expect(preferring.audio == nil && preferring.wishes.languages == ["fr"])
    }
}
