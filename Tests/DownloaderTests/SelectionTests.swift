import Playlist
import Testing

@testable import Downloader

@Suite struct SelectionTests {
    private func uris(_ selection: Selection, of playlist: MultivariantPlaylist) throws -> [String] {
        try selection.renditions(of: playlist).map { playlist.renditionURIs[$0].split(separator: "/").first ?? "" }
            .map(String.init)
    }

    static let choices: [(Selection, [String])] = [
        (Selection(), ["video-270p", "audio-en"]),
        (Selection(quality: .worst), ["video-90p", "audio-en"]),
        (Selection(quality: .height(180)), ["video-180p", "audio-en"]),
        (Selection(quality: .heightAtMost(200)), ["video-180p", "audio-en"]),
        (Selection(quality: .heightAtMost(1080)), ["video-270p", "audio-en"]),
        (Selection(quality: .minimumBandwidth(0)), ["video-90p", "audio-en"]),
        (Selection(quality: .minimumBandwidth(80_313)), ["video-180p", "audio-en"]),
        (Selection(quality: .minimumBandwidth(10_000_000)), ["video-270p", "audio-en"]),
        (Selection(audio: .none), ["video-270p"]),
        (Selection(audio: .all, subtitles: .all), ["video-270p", "audio-en", "audio-fr", "subtitles-en"]),
        (Selection(audio: .languages(["fr"])), ["video-270p", "audio-fr"]),
        (Selection(audio: .languages(["FR", "en"])), ["video-270p", "audio-fr", "audio-en"]),
        (Selection(audio: .languages(["en", "English"])), ["video-270p", "audio-en"]),
        (Selection(subtitles: .default), ["video-270p", "audio-en", "subtitles-en"]),
        (Selection(subtitles: .languages([])), ["video-270p", "audio-en"]),
    ]

    @Test(arguments: choices)
    func aSelectionNamesItsRenditionsTheVariantsOwnFirst(_ selection: Selection, _ expected: [String]) throws {
        #expect(try uris(selection, of: Presentations.cmaf()) == expected)
    }

    static let refusals: [(Selection, String)] = [
        (
            Selection(quality: .height(720)),
            "no variant is 720p; there are 90p (0.08 Mb/s), 180p (0.11 Mb/s), 270p (0.17 Mb/s)"
        ),
        (
            Selection(quality: .heightAtMost(50)),
            "no variant is at most 50p; there are 90p (0.08 Mb/s), 180p (0.11 Mb/s), 270p (0.17 Mb/s)"
        ),
        (Selection(audio: .languages(["en", "ja"])), "no sound in \"ja\"; there is en, fr"),
        (Selection(subtitles: .languages(["fr"])), "no subtitles in \"fr\"; there is en"),
    ]

    @Test(arguments: refusals)
    func aSelectionWithoutAMatchListsTheOptions(_ selection: Selection, _ message: String) throws {
        let playlist = try Presentations.cmaf()
        let error = #expect(throws: Selection.NoMatch.self) { try selection.renditions(of: playlist) }
        #expect(error?.description == message)
    }

    @Test func aLanguageMatchesItsRegions() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"B\",LANGUAGE=\"en-GB\",URI=\"gb\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"E\",LANGUAGE=\"eng\",URI=\"eng\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"a\"", "v")
        #expect(try uris(Selection(audio: .languages(["en"])), of: playlist) == ["v", "gb"])
        #expect(throws: Selection.NoMatch.self) { try uris(Selection(audio: .languages(["en-US"])), of: playlist) }
    }

    @Test func muxedAudioNeedsNoFurtherRendition() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Muxed\",LANGUAGE=\"en\",DEFAULT=YES",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Other\",LANGUAGE=\"de\",URI=\"de\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"a\"", "v")
        #expect(try uris(Selection(), of: playlist) == ["v"])
        #expect(try uris(Selection(audio: .all), of: playlist) == ["v", "de"])
    }

    @Test func withoutADefaultTheFirstOfAGroupIsTaken() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"other\",NAME=\"X\",DEFAULT=YES,URI=\"x\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",URI=\"a\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"B\",URI=\"b\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"a\"", "v")
        #expect(try uris(Selection(), of: playlist) == ["v", "a"])
    }

    @Test func audioOnlyVariantsAreChosenOnlyWithoutVideo() throws {
        let mixed = try Presentations.of(
            "#EXT-X-STREAM-INF:BANDWIDTH=900", "sound", "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x90", "picture")
        #expect(try uris(Selection(), of: mixed) == ["picture"])
        let sound = try Presentations.of(
            "#EXT-X-STREAM-INF:BANDWIDTH=2", "high", "#EXT-X-STREAM-INF:BANDWIDTH=1", "low")
        #expect(try uris(Selection(), of: sound) == ["high"])
        #expect(try uris(Selection(quality: .heightAtMost(720)), of: sound) == ["high"])
        let error = #expect(throws: Selection.NoMatch.self) { try uris(Selection(quality: .height(720)), of: sound) }
        #expect(error?.description == "no variant is 720p; there are 0.0 Mb/s")
    }

    @Test func aSharedRenditionIsSelectedOnce() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",URI=\"one\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "one")
        #expect(try uris(Selection(audio: .all), of: playlist) == ["one"])
    }
}
