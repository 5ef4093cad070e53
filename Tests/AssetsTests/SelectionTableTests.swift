import HLS
import Orders
import SafeText
import Testing

@testable import Assets

/// The selection from a presentation, preferences and the locale: a row for each sentence on it in the documents that the
/// product is modelled on, and in the mission (S5 to S8, S40, A1, P16).
@Suite struct SelectionTableTests {
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        let selection: Selection
        /// The variant's URI, then those of its sound and subtitles; empty for a refusal.
        let chosen: [String]

        /// - Parameter chosen: URIs with blanks between them.
        init(_ sentence: String, _ chosen: String, _ change: (inout Selection) -> Void = { _ in }) {
            testDescription = sentence
            // A request selects the subtitles that players show unasked.
            var selection = Selection(subtitles: .auto)
            change(&selection)
            self.selection = selection
            self.chosen = chosen.split(separator: " ").map(String.init)
        }
    }

    private static func media(_ type: String, _ group: String, _ uri: String, _ attributes: String) -> String {
        let language = uri.split(separator: "-")[1]
        return "#EXT-X-MEDIA:TYPE=\(type),GROUP-ID=\"\(group)\",NAME=\"\(uri)\",LANGUAGE=\"\(language)\","
            + "\(attributes),URI=\"\(uri)\""
    }

    private static func variant(
        _ uri: String, _ peak: Int, _ average: Int, _ size: String, _ rest: String, audio: String = "aac"
    ) -> [String] {
        [
            "#EXT-X-STREAM-INF:BANDWIDTH=\(peak)000,AVERAGE-BANDWIDTH=\(average)000,RESOLUTION=\(size),\(rest),"
                + "AUDIO=\"\(audio)\",SUBTITLES=\"s\"", uri,
        ]
    }

    static let film: [String] =
        [
            media("AUDIO", "aac", "aac-de", "AUTOSELECT=YES,CHANNELS=\"2\""),
            media("AUDIO", "aac", "aac-en", "DEFAULT=YES,AUTOSELECT=YES,CHANNELS=\"2\""),
            media("AUDIO", "aac", "aac-fr", "AUTOSELECT=NO,CHANNELS=\"2\""),
            media("AUDIO", "aac", "aac-ja", "AUTOSELECT=YES,CHANNELS=\"2\""),
            media("AUDIO", "ac3", "ac3-de", "AUTOSELECT=YES,CHANNELS=\"6\""),
            media("AUDIO", "ac3", "ac3-en", "DEFAULT=YES,AUTOSELECT=YES,CHANNELS=\"6\""),
            media("SUBTITLES", "s", "forced-en", "FORCED=YES,AUTOSELECT=YES"),
            media("SUBTITLES", "s", "forced-de", "FORCED=YES,AUTOSELECT=YES"),
            media("SUBTITLES", "s", "sub-fr", "DEFAULT=YES,AUTOSELECT=YES"),
            media("SUBTITLES", "s", "sub-en", "AUTOSELECT=YES"),
        ] + variant("360", 1000, 800, "640x360", "CODECS=\"avc1.4d401e,mp4a.40.2\",FRAME-RATE=25")
        + variant("720", 2500, 2000, "1280x720", "CODECS=\"avc1.64001f,mp4a.40.2\",FRAME-RATE=30")
        + variant("1080", 5000, 3000, "1920x1080", "CODECS=\"avc1.640028,mp4a.40.2\",FRAME-RATE=60")
        + variant("1080", 5400, 3400, "1920x1080", "CODECS=\"avc1.640028,ac-3\",FRAME-RATE=60", audio: "ac3")
        + variant("1080h", 3000, 2900, "1920x1080", "CODECS=\"hvc1.1.6.L120,mp4a.40.2\",FRAME-RATE=50")
        + variant("2160", 9000, 7000, "3840x2160", "CODECS=\"hvc1.2.4.L150,mp4a.40.2\",FRAME-RATE=24,VIDEO-RANGE=PQ")

    /// "If no options are specified, the highest quality variants of the user's primary audio and video content."
    static let defaults: [Row] = [
        Row("S5: no options", "2160 aac-en sub-fr"),
        Row("S8: device language", "2160 aac-de sub-fr forced-de") { $0.wishes.locale = "de" },
        Row("S8: device region", "2160 aac-de sub-fr forced-de") { $0.wishes.locale = "de-CH" },
        Row("S8: the default's own language", "2160 aac-en sub-fr forced-en") { $0.wishes.locale = "en-US" },
        Row("S8: AUTOSELECT=NO is not chosen by itself", "2160 aac-en sub-fr") { $0.wishes.locale = "fr" },
        Row("S8: AUTOSELECT=YES is", "2160 aac-ja sub-fr") { $0.wishes.locale = "ja" },
        Row("S8: a language that is not there", "2160 aac-en sub-fr") { $0.wishes.locale = "pt-BR" },
        Row("the best by name", "2160 aac-en sub-fr") { $0.quality = .best },
        Row("the worst", "360 aac-en sub-fr") { $0.quality = .worst },
        Row("a height", "720 aac-en sub-fr") { $0.quality = .height(720) },
        Row("a height of several variants", "1080 aac-en sub-fr") { $0.quality = .height(1080) },
        Row("at most a height", "1080 aac-en sub-fr") { $0.quality = .heightAtMost(1080) },
        Row("at most a height between two", "720 aac-en sub-fr") { $0.quality = .heightAtMost(1079) },
        Row("at most any height", "2160 aac-en sub-fr") { $0.quality = .heightAtMost(9999) },
        Row("a height that is not there", "") { $0.quality = .height(480) },
        Row("below the lowest height", "") { $0.quality = .heightAtMost(100) },
    ]

    /// "The lowest media bitrate greater than or equal to this value will be selected; otherwise the highest."
    static let minimums: [Row] = [
        Row("S6: the sample's 265000", "360 aac-en sub-fr") { $0.wishes.minimumBitRate = 265_000 },
        Row("S6: the talk's 2 Mb/s", "720 aac-en sub-fr") { $0.wishes.minimumBitRate = 2_000_000 },
        Row("S6: met exactly", "720 aac-en sub-fr") { $0.wishes.minimumBitRate = 2_500_000 },
        Row("S6: just missed", "1080h aac-en sub-fr") { $0.wishes.minimumBitRate = 2_500_001 },
        Row("S6: by none", "2160 aac-en sub-fr") { $0.wishes.minimumBitRate = 90_000_000 },
        Row("S6: as a quality", "360 aac-en sub-fr") { $0.quality = .minimumBandwidth(265_000) },
        Row("S6: as a quality in the middle", "1080 aac-en sub-fr") { $0.quality = .minimumBandwidth(4_000_000) },
        Row("S6: as a quality, by none", "2160 aac-en sub-fr") { $0.quality = .minimumBandwidth(90_000_000) },
        Row("S6: with the best", "2160 aac-en sub-fr") {
            ($0.quality, $0.wishes.minimumBitRate) = (.best, 2_000_000)
        },
        Row("S7: a height", "720 aac-en sub-fr") { $0.wishes.minimumSize = .init("720p") },
        Row("S7: a size", "720 aac-en sub-fr") {
            $0.wishes.minimumSize = .init("1280x720")
        },
        Row("S7: just missed", "1080h aac-en sub-fr") { $0.wishes.minimumSize = .init("721p") },
        Row("S7: by the width alone", "2160 aac-en sub-fr") { $0.wishes.minimumSize = .init("2000x1") },
        Row("S7: by none", "2160 aac-en sub-fr") { $0.wishes.minimumSize = .init("4320p") },
        Row("S7: with a rate", "1080 aac-en sub-fr") {
            ($0.wishes.minimumSize, $0.wishes.minimumBitRate) = (.init("720p"), 4_000_000)
        },
        Row("S7: within at most a height", "720 aac-en sub-fr") {
            ($0.quality, $0.wishes.minimumSize) = (.heightAtMost(1080), .init("700p"))
        },
    ]

    /// "prefers HDR", "prefers multichannel": "Why download both? We believe that the stereo better reflects artistic intent."
    static let preferences: [Row] = [
        Row("S7: HDR", "2160 aac-en sub-fr") { ($0.quality, $0.wishes.prefersHDR) = (.worst, true) },
        Row("S7: HDR where there is none", "1080 aac-en sub-fr") {
            ($0.quality, $0.wishes.prefersHDR) = (.height(1080), true)
        },
        Row("S7: multichannel, and stereo beside it", "1080 ac3-en aac-en sub-fr") {
            $0.wishes.prefersMultichannel = true
        },
        Row("S7: multichannel in the user's language", "1080 ac3-de aac-de sub-fr forced-de") {
            ($0.wishes.prefersMultichannel, $0.wishes.locale) = (true, "de")
        },
        Row("S7: multichannel in two languages", "1080 ac3-de aac-de ac3-en aac-en sub-fr") {
            ($0.wishes.prefersMultichannel, $0.audio) = (true, .languages(["de", "en"]))
        },
        Row("S7: all sound in multichannel", "1080 ac3-de aac-de ac3-en aac-en aac-fr aac-ja sub-fr") {
            ($0.wishes.prefersMultichannel, $0.audio) = (true, .all)
        },
        Row("S7: multichannel in a language that has none", "2160 aac-fr sub-fr") {
            ($0.wishes.prefersMultichannel, $0.audio) = (true, .languages(["fr"]))
        },
        Row("S7: multichannel where there is none", "360 aac-en sub-fr") {
            ($0.wishes.prefersMultichannel, $0.quality) = (true, .height(360))
        },
        Row("S7: HDR before multichannel", "2160 aac-en sub-fr") {
            ($0.wishes.prefersMultichannel, $0.wishes.prefersHDR) = (true, true)
        },
        Row("S40: fast", "360 aac-en sub-fr") { $0.wishes.isFast = true },
        Row("S40: fast with a minimum, by the average", "1080h aac-en sub-fr") {
            ($0.wishes.isFast, $0.wishes.minimumSize) = (true, .init("1080p"))
        },
        Row("S40: fast with a height", "1080h aac-en sub-fr") {
            ($0.wishes.isFast, $0.quality) = (true, .height(1080))
        },
        Row("S40: fast with HDR", "2160 aac-en sub-fr") {
            ($0.wishes.isFast, $0.wishes.prefersHDR) = (true, true)
        },
        Row("P16: a codec", "1080 aac-en sub-fr") { $0.wishes.codecs = ["avc1"] },
        Row("P16: the next codec", "2160 aac-en sub-fr") { $0.wishes.codecs = ["av01", "hvc1", "avc1"] },
        Row("P16: another name of a codec", "2160 aac-en sub-fr") { $0.wishes.codecs = ["hev1", "avc1"] },
        Row("P16: a codec that is not there", "2160 aac-en sub-fr") { $0.wishes.codecs = ["av01"] },
        Row("P16: a codec behind a minimum", "2160 aac-en sub-fr") {
            ($0.wishes.codecs, $0.wishes.minimumSize) = (["avc1"], .init("2160p"))
        },
        Row("P16: a language", "2160 aac-fr sub-fr") { $0.wishes.languages = ["fr"] },
        Row("P16: the next language", "2160 aac-fr sub-fr") { $0.wishes.languages = ["pt", "fr"] },
        Row("P16: languages before the locale", "2160 aac-ja sub-fr forced-de") {
            ($0.wishes.languages, $0.wishes.locale) = (["ja"], "de")
        },
        Row("P16: the locale behind languages", "2160 aac-de sub-fr forced-de") {
            ($0.wishes.languages, $0.wishes.locale) = (["pt"], "de")
        },
    ]

    /// "A specific media selection", "supplementary audio or subtitle selections".
    static let media: [Row] = [
        Row("a sound by language", "2160 aac-fr sub-fr") { $0.audio = .languages(["fr"]) },
        Row("sounds in the order of the request", "2160 aac-fr aac-en sub-fr") {
            $0.audio = .languages(["fr", "en"])
        },
        Row("a sound before the user's own", "2160 aac-en sub-fr forced-de") {
            ($0.audio, $0.wishes.locale) = (.languages(["en"]), "de")
        },
        Row("all sounds", "2160 aac-de aac-en aac-fr aac-ja sub-fr") { $0.audio = .all },
        Row("no sound", "2160 sub-fr") { $0.audio = .nothing },
        Row("a sound that is not there", "") { $0.audio = .languages(["pt"]) },
        Row("no subtitles", "2160 aac-en") { $0.subtitles = .nothing },
        Row("all subtitles", "2160 aac-en forced-en forced-de sub-fr sub-en") { $0.subtitles = .all },
        Row("subtitles of a language, not the forced ones", "2160 aac-en sub-en") {
            $0.subtitles = .languages(["en"])
        },
        Row("forced subtitles where the language has no others", "2160 aac-en forced-de") {
            $0.subtitles = .languages(["de"])
        },
        Row("subtitles as players choose them", "2160 aac-en sub-fr") { $0.subtitles = .default },
        Row("subtitles that are not there", "") { $0.subtitles = .languages(["ja"]) },
    ]

    /// The conditions of these texts.
    private static func conditions(_ texts: String...) -> [VariantCondition] {
        texts.compactMap { try? VariantCondition($0) }
    }

    /// Conditions: all must hold.
    static let conditionRows: [Row] = [
        Row("A1: peak rate at most", "1080 aac-en sub-fr") { $0.conditions = conditions("peak<=5M") },
        Row("A1: average rate at most", "720 aac-en sub-fr") {
            $0.conditions = conditions("average<=2M")
        },
        Row("A1: SDR only", "1080 aac-en sub-fr") { $0.conditions = conditions("range=SDR") },
        Row("A1: HDR only", "2160 aac-en sub-fr") { $0.conditions = conditions("range=HLG,PQ") },
        Row("A1: a codec", "2160 aac-en sub-fr") { $0.conditions = conditions("codec=hvc1") },
        Row("A1: not a codec", "1080 aac-en sub-fr") { $0.conditions = conditions("codec!=hvc1") },
        Row("A1: frame rate at most", "2160 aac-en sub-fr") { $0.conditions = conditions("fps<=30") },
        Row("A1: frame rate at least", "1080 aac-en sub-fr") { $0.conditions = conditions("fps>=50") },
        Row("A1: required channels", "1080 ac3-en sub-fr") { $0.conditions = conditions("channels>=6") },
        Row("A1: channels at most", "2160 aac-en sub-fr") { $0.conditions = conditions("channels<=2") },
        Row("A1: a width", "720 aac-en sub-fr") { $0.conditions = conditions("width<=1280") },
        Row("A1: a height", "1080 aac-en sub-fr") { $0.conditions = conditions("height<=1080") },
        Row("A1: several, all of them", "1080h aac-en sub-fr") {
            $0.conditions = conditions("height>=1080", "range=SDR", "codec=hvc1")
        },
        Row("A1: with a minimum", "720 aac-en sub-fr") {
            ($0.conditions, $0.wishes.minimumSize) = (conditions("codec=avc1"), .init("720p"))
        },
        Row("A1: with multichannel preferred", "2160 aac-en sub-fr") {
            ($0.conditions, $0.wishes.prefersMultichannel) = (conditions("codec=hvc1"), true)
        },
        Row("A1: none that meets all", "") { $0.conditions = conditions("codec=avc1", "height>=2160") },
    ]

    static let rows = defaults + minimums + preferences + media + conditionRows

    @Test("the selection of a film's tracks is as each sentence on it says", arguments: rows)
    func theSelectionIs(_ row: Row) throws {
        let playlist = try Presentations.of(lines: Self.film)
        guard !row.chosen.isEmpty else {
            #expect(throws: Selection.NoMatch.self) { try row.selection.renditions(of: playlist) }
            return
        }
        let chosen = try row.selection.renditions(of: playlist).map { playlist.renditionURIs[$0] }
        #expect(chosen == row.chosen)
    }

    @Test func theTableHasARowForEachSentence() {
        #expect(Self.rows.count >= 60)
        #expect(Set(Self.rows.map(\.testDescription)).count == Self.rows.count)
    }

    // MARK: Channels within one group

    /// Mission S7: nobody asked for multichannel.
    @Test(arguments: [
        (["6,DEFAULT=YES", "2"], false, ["e2"]), (["6,DEFAULT=YES", "2"], true, ["e6", "e2"]),
        (["6,DEFAULT=YES"], false, ["e6"]), (["16/JOC", "6", "2,DEFAULT=YES"], true, ["e16", "e2"]),
        (["2,DEFAULT=YES", "6"], false, ["e2"]), (["1", "6,DEFAULT=YES"], true, ["e6", "e1"]),
    ])
    func stereoUnlessMoreIsPreferred(_ channels: [String], _ isPreferred: Bool, _ chosen: [String]) throws {
        let lines = channels.map { text in
            let parts = text.split(separator: ",", maxSplits: 1)
            let rest = parts.count > 1 ? ",\(parts[1])" : ""
            let number = parts[0].prefix { $0 != "/" }
            return "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"\(number)\",LANGUAGE=\"en\",AUTOSELECT=YES,"
                + "CHANNELS=\"\(parts[0])\"\(rest),URI=\"e\(number)\""
        }
        let playlist = try Presentations.of(
            lines: lines + ["#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"a\"", "v"])
        for audio in [Selection.Choice.default, .languages(["en"])] {
            var selection = Selection(audio: audio)
            selection.wishes.prefersMultichannel = isPreferred
            #expect(try selection.renditions(of: playlist).map { playlist.renditionURIs[$0] } == ["v"] + chosen)
        }
    }

    @Test func stereoWithoutCHANNELSIsKeptBesideMultichannel() throws {
        let playlist = try Presentations.of(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"m\",NAME=\"E\",LANGUAGE=\"en\",CHANNELS=\"6\",URI=\"rich\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"s\",NAME=\"E\",LANGUAGE=\"en\",URI=\"plain\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x1,AUDIO=\"m\"", "v",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x1,AUDIO=\"s\"", "v")
        var selection = Selection()
        selection.wishes.prefersMultichannel = true
        #expect(try selection.renditions(of: playlist).map { playlist.renditionURIs[$0] } == ["v", "rich", "plain"])
    }
}
