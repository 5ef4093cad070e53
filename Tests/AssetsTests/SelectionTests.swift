import HLS
import Orders
import Testing

@testable import Assets

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
        (Selection(quality: .firstOf([.height(720), .best])), ["video-270p", "audio-en"]),
        (Selection(quality: .firstOf([.height(720), .height(180), .best])), ["video-180p", "audio-en"]),
        (Selection(quality: .firstOf([.minimumBandwidth(10_000_000), .worst])), ["video-90p", "audio-en"]),
        (Selection(quality: .firstOf([.height(720), .minimumBandwidth(10_000_000)])), ["video-270p", "audio-en"]),
        (Selection(audio: .nothing), ["video-270p"]),
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
            "no variant is 720p; there are 90p (80 kb/s), 180p (116 kb/s), 270p (173 kb/s)"
        ),
        (
            Selection(quality: .heightAtMost(50)),
            "no variant is at most 50p; there are 90p (80 kb/s), 180p (116 kb/s), 270p (173 kb/s)"
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

    static let waysOut: [(Selection.Quality, String?)] = [
        (.height(720), "-q '<=720p', for the best below it, or -q 720p,best"), (.height(50), "-q 50p,best"),
        (.heightAtMost(50), "-q '<=50p,worst'"), (.firstOf([.height(720), .height(50)]), "-q '720p,50p,best'"),
    ]

    @Test(arguments: waysOut)
    func aQualityThatIsNotThereIsAnsweredWithTheNearestOption(_ quality: Selection.Quality, _ option: String?) throws {
        let playlist = try Presentations.cmaf()
        let error = #expect(throws: Selection.NoMatch.self) { try Selection(quality: quality).renditions(of: playlist) }
        #expect(error?.wayOut == option)
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
        #expect(error?.description == "no variant is 720p; there are 1 b/s, 2 b/s")
    }

    @Test func aSharedRenditionIsSelectedOnce() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"A\",URI=\"one\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "one")
        #expect(try uris(Selection(audio: .all), of: playlist) == ["one"])
    }

    // MARK: The user's sound

    /// The user's language, the groups of three variants from the lowest rate up, the chosen URIs. All have one picture.
    static let sounds: [(locale: String?, groups: [String], chosen: [String])] = [
        ("de", ["both", "both", "rich-en"], ["v1", "both-de"]),
        ("de", ["rich-en", "both", "rich-en"], ["v1", "both-de"]),
        ("de", ["rich-en", "rich-en", "rich-en"], ["v2", "rich-en"]),
        ("en", ["both", "both", "rich-en"], ["v2", "rich-en"]),
        (nil, ["both", "both", "rich-en"], ["v2", "rich-en"]),
        ("de", ["both", "both", "both"], ["v2", "both-de"]),
        ("fr", ["both", "both", "rich-en"], ["v2", "rich-en"]),
    ]

    @Test(arguments: sounds)
    func theUsersLanguageCountsMoreThanTheBitRateOfOnePicture(
        _ example: (locale: String?, groups: [String], chosen: [String])
    ) throws {
        var text = ["both", "rich-en"].flatMap { group in
            (group == "both" ? ["en", "de"] : ["en"]).map { language in
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"\(language)\",LANGUAGE=\"\(language)\",AUTOSELECT=YES,"
                    + "CHANNELS=\"\(group == "both" ? 2 : 6)\",URI=\"\(group == "both" ? "both-\(language)" : group)\""
            }
        }
        for (number, group) in example.groups.enumerated() {
            text += [
                "#EXT-X-STREAM-INF:BANDWIDTH=\(number + 1)000000,RESOLUTION=1280x720,AUDIO=\"\(group)\"", "v\(number)",
            ]
        }
        var selection = Selection()
        selection.wishes.locale = example.locale
        #expect(try uris(selection, of: Presentations.of(lines: text)) == example.chosen)
    }

    @Test func moreThanStereoIsForThoseWhoAskForIt() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"s\",NAME=\"E\",CHANNELS=\"2\",URI=\"stereo\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"m\",NAME=\"E\",CHANNELS=\"6\",URI=\"rich\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=1280x720,AUDIO=\"s\"", "v",
            "#EXT-X-STREAM-INF:BANDWIDTH=1300000,RESOLUTION=1280x720,AUDIO=\"m\"", "v")
        #expect(try uris(Selection(), of: playlist) == ["v", "stereo"])
        var selection = Selection()
        selection.wishes.prefersMultichannel = true
        #expect(try uris(selection, of: playlist) == ["v", "rich", "stereo"])
    }

    // MARK: Subtitles that players show unasked

    @Test(arguments: [
        (["de,FORCED=YES,AUTOSELECT=YES", "en,FORCED=YES,AUTOSELECT=YES", "fr,AUTOSELECT=YES"], "de", ["s0"]),
        (["de,FORCED=YES,AUTOSELECT=YES", "en,DEFAULT=YES,AUTOSELECT=YES"], "de", ["s1", "s0"]),
        (["en,DEFAULT=YES,AUTOSELECT=YES"], "de", ["s0"]), (["de,AUTOSELECT=YES"], "de", []),
        (["en,FORCED=YES,AUTOSELECT=YES"], "de-CH", []), (["de,FORCED=YES,AUTOSELECT=YES"], "de-CH", ["s0"]),
    ])
    func subtitlesThatPlayersShowUnasked(_ members: [String], _ locale: String, _ chosen: [String]) throws {
        var text: [String] = []
        for (number, member) in members.enumerated() {
            let language = member.prefix { $0 != "," }
            let rest = member.drop { $0 != "," }
            text.append(
                "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"\(number)\",LANGUAGE=\"\(language)\"\(rest),"
                    + "URI=\"s\(number)\"")
        }
        text += ["#EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=1280x720,SUBTITLES=\"s\"", "v"]
        var selection = Selection(subtitles: .auto)
        selection.wishes.locale = locale
        #expect(try uris(selection, of: Presentations.of(lines: text)) == ["v"] + chosen)
    }

    // MARK: Requirements

    @Test func everyRequirementMustHold() throws {
        let playlist = try Presentations.cinema()
        let selection = try Selection(
            conditions: [
                VariantCondition("height<=1080"), VariantCondition("codec!=avc1"), VariantCondition("range=SDR"),
            ])
        #expect(try selection.explanation(of: playlist).variant == 3)
        let none = try Selection(conditions: [VariantCondition("height<=1080"), VariantCondition("channels>=8")])
        let error = #expect(throws: Selection.NoMatch.self) { try none.renditions(of: playlist) }
        #expect(
            error?.description.hasPrefix("no variant is at most 1080p and at least 8 channels; there are 360p") == true)
    }
}
