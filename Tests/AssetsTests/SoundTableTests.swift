import HLS
import Orders
import Testing

@testable import Assets

/// The choice of sound where a film has several groups of it: groups per variant, channels, languages, codecs, names, and groups
/// that lack a member.
///
/// Players and AVFoundation know one option for each member, whatever the number of groups (RFC 8216 §4.3.4.1.1), and take
/// stereo unless more is asked for: hls.js 1.5 starts with the fewest channels, AVAssetDownloadTask keeps stereo in any case.
@Suite struct SoundTableTests {
    /// A line of the table: rule, input, expected.
    struct Row: CustomTestStringConvertible {
        let testDescription: String
        /// See `playlist(of:)`.
        let film: String
        let selection: Selection
        /// URIs with blanks between them, the picture's first; empty for a refusal.
        let chosen: String

        init(_ rule: String, _ film: String, _ options: [Selection.Key: String] = [:], chosen: String) {
            testDescription = rule
            self.film = film
            self.chosen = chosen
            var selection = Selection()
            for (key, text) in options {
                try? key.set([text], in: &selection)
            }
            self.selection = selection
        }
    }

    /// One picture whose English in 5.1 is a group of its own, as the dearer variant lists it.
    static let film = "v 5M two{en2! de2} | v 6M six{en6!}"

    static let byLanguage: [Row] = [
        Row("nothing is asked: stereo", film, chosen: "v two/en2"),
        Row("a language is what is taken unasked", film, [.audio: "en"], chosen: "v two/en2"),
        Row("an added language leaves the first as it was", film, [.audio: "en,de"], chosen: "v two/en2 two/de2"),
        Row("a language that the dearer group lacks", film, [.audio: "de"], chosen: "v two/de2"),
        Row("the order of the request", film, [.audio: "de,en"], chosen: "v two/de2 two/en2"),
        Row("the user's language", film, [.languages: "de"], chosen: "v two/de2"),
        Row("no sound", film, [.audio: "none"], chosen: "v"),
        Row("a language of none", film, [.audio: "fr"], chosen: ""),
        Row("5.1 where there is nothing else", "v 5M six{en6! de6}", [.audio: "en"], chosen: "v six/en6"),
        Row(
            "5.1 in the one language that has only that", "v 5M two{en2!} | v 6M six{en6! de6}", [.audio: "en,de"],
            chosen: "v two/en2 six/de6"),
        Row(
            "each language in a group of its own", "v 5M a{en2!} | v 6M b{de2!}", [.audio: "en,de"],
            chosen: "v a/en2 b/de2"),
        Row(
            "an added language leaves the first where it was", "v 5M both{en2! de2} | v 6M own{en2!}",
            [.audio: "en,de"],
            chosen: "v own/en2 both/de2"),
        Row("and before it was added", "v 5M both{en2! de2} | v 6M own{en2!}", [.audio: "en"], chosen: "v own/en2"),
        Row(
            "another picture if its groups lack the language", "high 6M six{en6!} | low 5M two{en2! de2}",
            [.audio: "de"],
            chosen: "low two/de2"),
        Row(
            "no other picture for stereo", "high 6M six{en6!} | low 5M two{en2! de2}", [.audio: "en"],
            chosen: "high six/en6"),
        Row(
            "groups of other pictures do not count", "high 6M six{en6!} | low 5M two{en2! de2}", [.audio: "all"],
            chosen: "high six/en6"),
    ]

    static let all: [Row] = [
        Row("all: what every group has", film, [.audio: "all"], chosen: "v six/en6 two/en2 two/de2"),
        Row(
            "all: of groups with the same members, each layout", "v 5M two{en2! de2} | v 6M six{en6! de6}",
            [.audio: "all"],
            chosen: "v six/en6 six/de6 two/en2 two/de2"),
        Row(
            "all: not the same again at another rate", "v 5M low{en2! de2} | v 6M high{en2! de2}", [.audio: "all"],
            chosen: "v high/en2 high/de2"),
        Row(
            "all: not the same again in another codec", "v 5M ac=ac-3{en6!} | v 6M ec=ec-3{en6!}", [.audio: "all"],
            chosen: "v ec/en6"),
        Row(
            "all: what one group lacks", "v 5M low{en2! fr2} | v 6M high{en2! de2}", [.audio: "all"],
            chosen: "v high/en2 high/de2 low/fr2"),
        Row(
            "all: another name is another sound", "v 5M low{en2! en2:Talk} | v 6M high{en2!}", [.audio: "all"],
            chosen: "v high/en2 low/en2:Talk"),
        Row(
            "all: two of one name in one group", "v 5M a{en2:E! en6:E de2}", [.audio: "all"],
            chosen: "v a/en2:E a/en6:E a/de2"),
        Row("all: a group that several variants share", "v 5M a{en2!} | v 6M a", [.audio: "all"], chosen: "v a/en2"),
        Row("all: without stereo asked for", film, [.audio: "all", .conditions: "channels>=6"], chosen: "v six/en6"),
        Row("all: fast or not", film, [.audio: "all", .isFast: "true"], chosen: "v two/en2 two/de2 six/en6"),
    ]

    static let channels: [Row] = [
        Row("multichannel keeps stereo", film, [.prefersMultichannel: "true"], chosen: "v six/en6 two/en2"),
        Row(
            "multichannel, a language in both", film, [.prefersMultichannel: "true", .audio: "en"],
            chosen: "v six/en6 two/en2"),
        Row(
            "multichannel, and a language without", film, [.prefersMultichannel: "true", .audio: "en,de"],
            chosen: "v six/en6 two/en2 two/de2"),
        Row(
            "multichannel, all", film, [.prefersMultichannel: "true", .audio: "all"],
            chosen: "v six/en6 two/en2 two/de2"),
        Row(
            "multichannel keeps stereo that a condition excludes", film,
            [.prefersMultichannel: "true", .conditions: "channels>=6"], chosen: "v six/en6 two/en2"),
        Row(
            "a condition decides on the variant", film, [.audio: "en", .conditions: "channels>=6"], chosen: "v six/en6"),
        Row("as it does unasked", film, [.conditions: "channels>=6"], chosen: "v six/en6"),
        Row(
            "a least rate decides on the variant", film, [.audio: "en", .minimumBitRate: "5500000"], chosen: "v six/en6"
        ),
        Row("a fast download takes the fewest channels", film, [.audio: "en", .isFast: "true"], chosen: "v two/en2"),
        Row(
            "the fewest of a dearer group", "v 5M six{en6!} | v 6M two{en2!}", [.audio: "en", .isFast: "true"],
            chosen: "v two/en2"),
        Row("stereo in the dearer group", "v 5M six{en6!} | v 6M two{en2!}", [.audio: "en"], chosen: "v two/en2"),
        Row(
            "the most of three", "v 5M two{en2!} | v 6M six{en6!} | v 7M many{en16!}", [.prefersMultichannel: "true"],
            chosen: "v many/en16 two/en2"),
        Row(
            "stereo of three", "v 5M two{en2!} | v 6M six{en6!} | v 7M many{en16!}", [.audio: "en"], chosen: "v two/en2"
        ),
    ]

    static let names: [Row] = [
        Row(
            "stereo of the same name", "v 5M two{en2:Talk en2:Film!} | v 6M six{en6:Film! en6:Talk}", [.audio: "en"],
            chosen: "v two/en2:Film"),
        Row(
            "stereo of another name where no group has that name", "v 5M two{en2:Stereo!} | v 6M six{en6:Surround!}",
            [.audio: "en"], chosen: "v two/en2:Stereo"),
        Row("two layouts of one name in one group", "v 5M a{en6:E! en2:E}", [.audio: "en"], chosen: "v a/en2:E"),
        Row(
            "a name as a language", "v 5M two{2:Film! 2:Talk} | v 6M six{6:Film!}", [.audio: "film"],
            chosen: "v two/2:Film"),
        Row(
            "no language at all: the same name", "v 5M two{2:Talk 2:Film!} | v 6M six{6:Film!}", chosen: "v two/2:Film"),
        Row(
            "what describes the picture is no stereo of the film", "v 5M two{en2:AD*} | v 6M six{en6:Film!}",
            [.audio: "en"], chosen: "v six/en6:Film"),
        Row(
            "the film before what describes it", "v 5M two{en2:Film!} | v 6M ad{en2:AD*}", [.audio: "en"],
            chosen: "v two/en2:Film"),
        Row(
            "what the user chooses alone is no stereo of the film", "v 5M two{en2:Talk-} | v 6M six{en6:Film!}",
            [.audio: "en"], chosen: "v six/en6:Film"),
    ]

    static let codecs: [Row] = [
        Row("AC-3 without CHANNELS comes after AAC", "v 5M aac{en!} | v 6M ac=ac-3{en!}", chosen: "v aac/en"),
        Row("so does it in a language", "v 5M aac{en!} | v 6M ec=ec-3{en!}", [.audio: "en"], chosen: "v aac/en"),
        Row("AC-3 in stereo is stereo", "v 5M aac{en2!} | v 6M ac=ac-3{en2!}", [.audio: "en"], chosen: "v ac/en2"),
        Row("AC-3 where there is nothing else", "v 5M ac=ac-3{en!}", [.audio: "en"], chosen: "v ac/en"),
        Row("stereo that does not say so", "v 5M aac{en!} | v 6M ac=ac-3{en6!}", [.audio: "en"], chosen: "v aac/en"),
        Row(
            "multichannel with stereo that does not say so", "v 5M aac{en!} | v 6M ac=ac-3{en6!}",
            [.prefersMultichannel: "true"], chosen: "v ac/en6 aac/en"),
    ]

    static let muxed: [Row] = [
        Row("sound inside the variant is enough", "v 5M fr{fr2!} | w 6M", chosen: "w"),
        Row("a language beside sound inside", "v 5M fr{fr2!} | v 6M", [.audio: "fr"], chosen: "v fr/fr2"),
        Row("a variant without a group has its sound inside", "v 5M fr{fr2!} | v 6M", chosen: "v"),
        Row(
            "all: what other variants add to the sound inside", "v 5M fr{fr2!} | v 6M", [.audio: "all"],
            chosen: "v fr/fr2"),
    ]

    static let rows = byLanguage + all + channels + names + codecs + muxed

    @Test(arguments: rows)
    func theSoundIs(_ row: Row) throws {
        let playlist = try Self.playlist(of: row.film)
        guard !row.chosen.isEmpty else {
            #expect(throws: Selection.NoMatch.self) { try row.selection.renditions(of: playlist) }
            return
        }
        let places = try row.selection.renditions(of: playlist)
        let chosen = places.map { playlist.renditionURIs[$0] }.joined(separator: " ")
        #expect(chosen == row.chosen)

        // The explanation names the same, and its variant lists the first sound.
        let explanation = try row.selection.explanation(of: playlist)
        #expect(explanation.media.compactMap { playlist.media[$0].renditionIndex } == Array(places.dropFirst()))
        if let first = explanation.media.first, row.selection.audio != Selection.Choice.nothing {
            #expect(playlist.variants[explanation.variant].audio == playlist.media[first].groupID)
        }

        // A player that plays by the same choice may load all of it.
        #expect(try row.selection.playable(in: playlist).isSuperset(of: places))

        // Without the origin, every chosen sound is listed by a variant.
        let listed = playlist.completeVariants(renditions: Set(places)).compactMap(\.audio)
        #expect(explanation.media.allSatisfy { listed.contains(playlist.media[$0].groupID) })
    }

    @Test func everyRuleHasAName() {
        #expect(Set(Self.rows.map(\.testDescription)).count == Self.rows.count)
    }

    /// `v 5M two{en2! de2} | v 6M two` is a film with the picture `v` and a group `two` of English, the default, and German, both
    /// in stereo. A sound is a language, the number of channels, a name behind `:`, then `!` for DEFAULT, `-` for AUTOSELECT=NO and
    /// `*` for one that describes the picture. `six=ac-3{…}` names the codec of a group.
    private static func playlist(of film: String) throws -> MultivariantPlaylist {
        var lines: [String] = []
        for part in film.split(separator: "|") {
            let words = part.split(separator: " ", maxSplits: 2).map(String.init)
            let rate = words[1].dropLast() + "000000"
            let sound = words.count > 2 ? words[2].trimmingPrefix(" ") : ""
            let head = sound.prefix { $0 != "{" }.split(separator: " ").first ?? ""
            let names = head.split(separator: "=")
            let codec = names.count > 1 ? names[1] : "mp4a.40.2"
            let members = sound.split(separator: "{").dropFirst().joined().prefix { $0 != "}" }
            for member in members.split(separator: " ") {
                lines.append(line(of: member, in: names[0]))
            }
            let group = names.first.map { ",AUDIO=\"\($0)\"" } ?? ""
            lines.append(
                "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),RESOLUTION=1280x720,CODECS=\"avc1.64001f,\(codec)\"\(group)")
            lines.append(words[0])
        }
        return try Presentations.of(lines: lines)
    }

    private static func line(of member: Substring, in group: Substring) -> String {
        let marks = member.filter { "!-*".contains($0) }
        let text = member.filter { !"!-*".contains($0) }
        let parts = text.split(separator: ":")
        let language = parts[0].prefix { $0.isLetter }
        let channels = parts[0].dropFirst(language.count)
        let name = parts.count > 1 ? parts[1] : language
        var line = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"\(name)\",URI=\"\(group)/\(text)\""
        line += language.isEmpty ? "" : ",LANGUAGE=\"\(language)\""
        line += channels.isEmpty ? "" : ",CHANNELS=\"\(channels)\""
        line += marks.contains("!") ? ",DEFAULT=YES" : ""
        line += marks.contains("-") ? ",AUTOSELECT=NO" : ",AUTOSELECT=YES"
        line += marks.contains("*") ? ",CHARACTERISTICS=\"public.accessibility.describes-video\"" : ""
        return line
    }
}
