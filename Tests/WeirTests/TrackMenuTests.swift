import Orders
import Testing
import WeirAPI

@testable import weir

/// The menu of `weir get --choose`: answer, selection.
@Suite struct TrackMenuTests {
    private static var presentation: API.Presentation {
        var low = sampleVariant
        low.id = "video-360p"
        low.height = 360
        low.bandwidth = 800_000
        low.estimatedBytes = nil
        var surround = API.Rendition(id: "audio-en-51", group: "ac3", name: "English", language: "en")
        surround.channels = "6"
        var stereo = API.Rendition(id: "audio-en", group: "aac", name: "English", language: "en", isDefault: true)
        stereo.channels = "2"
        let german = API.Rendition(id: "audio-de", group: "aac", name: "Deutsch", language: "de")
        let subtitles = API.Rendition(id: "subtitles-en", group: "s", name: "English", language: "en")
        var presentation = API.Presentation(
            url: "https://h/m.m3u8", duration: 61,
            tracks: API.Tracks(
                variants: [low, sampleVariant], audio: [surround, stereo, german], subtitles: [subtitles]))
        presentation.explanation = sampleExplanation
        return presentation
    }

    @Test func theMenuListsEachTrackOnceAndMarksTheProposal() {
        #expect(
            TrackMenu(Self.presentation).lines == [
                "  1  720p avc1 2.1 Mb/s   about 240 MB  *", "  2  360p avc1 800 kb/s",
                "  3  audio en English 5.1 stereo  *",
                "  4  audio de Deutsch", "  5  subs en English  *", "  6  no subs",
            ])
    }

    static let answers: [(String, Selection?)] = [
        ("", Selection()), ("4", Selection(audio: .languages(["de"]))),
        ("3, 4 5", Selection(audio: .languages(["en", "de"]), subtitles: .languages(["en"]))),
        ("6", Selection(subtitles: .nothing)), ("1 2", nil), ("7", nil), ("0", nil), ("x", nil), ("5 6", nil),
    ]

    @Test(arguments: answers)
    func anAnswerChoosesTracks(_ answer: String, _ selection: Selection?) {
        #expect((try? TrackMenu(Self.presentation).selection(answer: answer)) == selection)
    }

    @Test func aPictureIsNamedByItsHeightAndBitRate() throws {
        let conditions = try TrackMenu(Self.presentation).selection(answer: "2").conditions
        #expect(conditions == [try VariantCondition("height=360"), try VariantCondition("peak=800000")])
    }
}
