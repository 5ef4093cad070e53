import Testing

@testable import Playlist

/// Something evil in one place of a playlist: a new name, the value of a variable, or the origin's own text.
struct Injection: CustomTestStringConvertible, Sendable {
    /// What the evil is put into.
    enum Place: String, CaseIterable {
        case segmentName, mapName, keyName, partName, hintName, reportName, assetName, assetListName
        case variantName, mediaName, iFramesName, sessionKeyName, sessionDataName, imagesName, steeringName
        case queryInURI, queryInQuotes, queryInHexadecimal, importInURI, importInQuotes, queryInVariant
        case textInTitle, textInQuotes, textInURI, textInUnknownTag, textInComment, textInName
    }

    static let payloads = [
        "\"", "\r", "\n", "\r\n", "\u{0}", "\u{2028}", "\u{2029}", "\u{85}", "a\",X-NEW=\"b", "a\n#EXT-X-DISCONTINUITY",
        "a\",METHOD=NONE", "a\r#EXT-X-KEY:METHOD=NONE",
    ]
    static let all = Place.allCases.flatMap { place in payloads.map { Injection(place: place, payload: $0) } }

    let place: Place
    let payload: String

    var testDescription: String { "\(place) \(payload.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())" }

    static let media = """
        #EXTM3U
        #EXT-X-TARGETDURATION:6
        #EXT-X-DATERANGE:ID="d",X-ASSET-URI="u",X-ASSET-LIST="l"
        #EXT-X-KEY:METHOD=AES-128,URI="k",IV=0x1
        #EXT-X-MAP:URI="i"
        #EXT-X-PART:DURATION=1,URI="p"
        #EXTINF:6,t
        s
        #EXT-X-PRELOAD-HINT:TYPE=PART,URI="h"
        #EXT-X-RENDITION-REPORT:URI="r",LAST-MSN=0
        # comment
        #EXT-X-ODD:odd

        """

    static let multivariant = """
        #EXTM3U
        #EXT-X-CONTENT-STEERING:SERVER-URI="c"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="k"
        #EXT-X-SESSION-DATA:DATA-ID="d",URI="j"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="n",URI="m"
        #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
        v
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,URI="f"
        #EXT-X-IMAGE-STREAM-INF:BANDWIDTH=1,URI="t"

        """

    /// A text with a variable in one of its places.
    private func text(_ source: String, _ old: String, _ new: String, in text: String = media) -> String {
        let definition = "#EXTM3U\n#EXT-X-DEFINE:\(source)=\"x\""
        return text.replacing("#EXTM3U", with: definition).replacing(old, with: new)
    }

    /// The text, and what its variables draw on.
    var input: (text: String, sources: VariableSources) {
        let encoded = payload.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let sources = VariableSources(imports: ["x": payload], query: "x=\(encoded)")
        let text: String =
            switch place {
            case .queryInURI: text("QUERYPARAM", "\ns\n", "\ns{$x}\n")
            case .queryInQuotes: text("QUERYPARAM", "\"i\"", "\"i{$x}\"")
            case .queryInHexadecimal: text("QUERYPARAM", "0x1", "0x1{$x}")
            case .importInURI: text("IMPORT", "\ns\n", "\n{$x}\n")
            case .importInQuotes: text("IMPORT", "\"k\"", "\"{$x}\"")
            case .queryInVariant: text("QUERYPARAM", "\"n\"", "\"{$x}\"", in: Self.multivariant)
            case .textInTitle: Self.media.replacing(",t", with: ",\(payload)")
            case .textInQuotes: Self.media.replacing("\"d\"", with: "\"\(payload)\"")
            case .textInURI: Self.media.replacing("\ns\n", with: "\ns\(payload)\n")
            case .textInUnknownTag: Self.media.replacing(":odd", with: ":\(payload)")
            case .textInComment: Self.media.replacing("# comment", with: "# \(payload)")
            case .textInName: Self.multivariant.replacing("\"n\"", with: "\"\(payload)\"")
            default: place.isOfMultivariant ? Self.multivariant : Self.media
            }
        return (text, sources)
    }
}

extension Injection.Place {
    var isOfMultivariant: Bool {
        [.variantName, .mediaName, .iFramesName, .sessionKeyName, .sessionDataName, .imagesName, .steeringName]
            .contains(self)
    }

    static func of(_ reference: MediaPlaylist.Reference) -> Self {
        switch reference {
        case .segment: .segmentName
        case .map: .mapName
        case .key: .keyName
        case .part: .partName
        case .preloadHint: .hintName
        case .renditionReport: .reportName
        case .assetURI: .assetName
        case .assetList: .assetListName
        }
    }

    static func of(_ reference: MultivariantPlaylist.Reference) -> Self {
        switch reference {
        case .variant: .variantName
        case .media: .mediaName
        case .iFrameVariant: .iFramesName
        case .sessionKey: .sessionKeyName
        case .sessionData: .sessionDataName
        case .imageVariant: .imagesName
        case .steering: .steeringName
        }
    }
}

@Suite("Something evil")
struct GeneratedInjectionTests {
    @Test("in a name, a variable or a text never yields another line or attribute", arguments: Injection.all)
    func structure(_ injection: Injection) throws {
        let (text, sources) = injection.input
        let output: [UInt8]
        let source: Playlist
        do throws(PlaylistError) {
            source = try Playlist.parse(Array(text.utf8), variables: sources)
            output = try Self.render(source, injection)
        } catch {
            #expect(error.code != .overLimit)
            return
        }
        // What came through has as many lines as the text, however a reader counts them, and the same attributes.
        #expect(Self.lines(output) == Self.lines(Array(text.utf8)) - (text.contains("-DEFINE") ? 1 : 0))
        let before = source.text.lines.indices.filter { source.text.lines[$0].kind != .tag(.define) }
        let after = try PlaylistText(output)
        #expect(after.lines.map(\.kind) == before.map { source.text.lines[$0].kind })
        for (old, new) in zip(before, after.lines.indices) {
            guard case .tag(let tag) = after.lines[new].kind, tag.hasAttributes else { continue }
            #expect(try after.attributes(new).names == source.text.attributes(old).names)
        }
    }

    @Test("is tried in more than 200 ways, and refused wherever it is not the origin's own")
    func refusals() throws {
        #expect(Injection.all.count >= 200)
        for injection in Injection.all where !injection.place.rawValue.hasPrefix("text") {
            let (text, sources) = injection.input
            let error = try #require(throws: PlaylistError.self) {
                try Self.render(try Playlist.parse(Array(text.utf8), variables: sources), injection)
            }
            #expect([.unsafeName, .badValue].contains(error.code), "\(injection)")
        }
    }

    private static func render(_ playlist: Playlist, _ injection: Injection) throws(PlaylistError) -> [UInt8] {
        switch playlist {
        case .media(let media):
            try media.rendered(.relay) { .of($0) == injection.place ? injection.payload : nil }
        case .multivariant(let multivariant):
            try multivariant.rendered(.relay) { .of($0) == injection.place ? injection.payload : nil }
        }
    }

    /// Every end of a line that any reader knows counts: those of Unicode, too.
    private static func lines(_ bytes: [UInt8]) -> Int {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.count { scalar in
            (0x0A...0x0D).contains(scalar.value) || [0x85, 0x2028, 0x2029].contains(scalar.value)
        }
    }
}
