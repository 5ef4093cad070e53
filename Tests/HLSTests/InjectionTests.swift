import Testing

@testable import HLS

@Suite("An external name")
struct InjectionTests {
    static let unsafe = [
        "a\nb", "a\r", "\u{0}", "a\"b", "\"", "#EXT-X-ENDLIST", "", " a", "a ", "a\u{2028}b", "\u{2029}", "a\u{85}",
        "\t",
        "a\u{1B}", "a\u{7F}", "a\r\nb",
    ]

    @Test("is rejected in every reference if it is unsafe", arguments: unsafe)
    func refused(_ name: String) throws {
        let media = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-KEY:METHOD=AES-128,URI="k"
            #EXT-X-MAP:URI="i"
            #EXT-X-PART:URI="p",DURATION=1
            #EXTINF:1,
            a
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="h"
            #EXT-X-RENDITION-REPORT:URI="r"
            #EXT-X-DATERANGE:ID="i",X-ASSET-URI="u",X-ASSET-LIST="l"
            """)
        for place in 0..<8 {
            let error = try #require(throws: PlaylistError.self) {
                try media.rendered { self.place($0) == place ? name : nil }
            }
            #expect(error.code == .unsafeName)
        }
        let multivariant = try Fixtures.multivariant(
            """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",URI="a"
            #EXT-X-STREAM-INF:BANDWIDTH=1
            v
            #EXT-X-I-FRAME-STREAM-INF:URI="i"
            """)
        for place in 0..<3 {
            let error = try #require(throws: PlaylistError.self) {
                try multivariant.rendered { $0.renditionIndex == place ? name : nil }
            }
            #expect(error.code == .unsafeName)
        }
    }

    @Test(
        "stays one value if it has commas, inner blanks or any letters",
        arguments: ["a,b=c", "a b", "é/日本", "{$x}", "'"])
    func kept(_ name: String) throws {
        let media = try Fixtures.media("#EXTM3U\n#EXT-X-MAP:URI=\"i\",X=1\n#EXTINF:1,\na\n")
        let output = try media.rendered { _ in name }
        let reread = try Fixtures.media(String(decoding: output, as: UTF8.self))
        #expect(reread.segments.map(\.uri) == [name])
        #expect(reread.maps.map(\.uri) == [name])
    }

    @Test("is not requested for segments that a delta update omits")
    func deltaUpdate() throws {
        let playlist = try Fixtures.media(
            "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:10\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:1,\na\n")
        #expect(playlist.isDeltaUpdate)
        #expect(playlist.segments[0].mediaSequenceNumber == 13)
        #expect(try playlist.rendered { _ in nil } == playlist.text.write())
    }

    @Test("keeps the numbers of the segments that a delta update lists", arguments: ["#EXT-X-MEDIA-SEQUENCE:10\n", ""])
    func listed(_ number: String) throws {
        let playlist = try Fixtures.media("#EXTM3U\n\(number)#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n#EXTINF:1,\na\n")
        for view in [MediaPlaylistView.plain, .stored] {
            let text = String(decoding: try playlist.rendered(view) { _ in nil }, as: UTF8.self)
            let reread = try Fixtures.media(text)
            #expect(!reread.isDeltaUpdate && reread.segments.count == 1)
            #expect(reread.firstSequenceNumber == playlist.firstSequenceNumber)
        }
    }

    private func place(_ reference: MediaPlaylist.Reference) -> Int {
        switch reference {
        case .segment: 0
        case .map: 1
        case .key: 2
        case .part: 3
        case .preloadHint: 4
        case .renditionReport: 5
        case .assetURI: 6
        case .assetList: 7
        }
    }
}

/// A hostile string in one position of a playlist: a new name, the value of a variable, or the origin's text.
struct Injection: CustomTestStringConvertible, Sendable {
    /// The position of the hostile string.
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

    /// Returns a text with a variable in one position.
    private func text(_ source: String, _ old: String, _ new: String, in text: String = media) -> String {
        let definition = "#EXTM3U\n#EXT-X-DEFINE:\(source)=\"x\""
        return text.replacing("#EXTM3U", with: definition).replacing(old, with: new)
    }

    /// The text and the sources of its variables.
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

@Suite("A hostile string")
struct GeneratedInjectionTests {
    @Test("never adds a line or an attribute", arguments: Injection.all)
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
        // An accepted text has the same number of lines as its mended form, for any reader, and the same attributes.
        let before = source.text.lines.indices.filter {
            source.text.lines[$0].kind != .tag(.define) && !source.text.extent($0).isEmpty
        }
        let defined = source.text.lines.contains { $0.kind == .tag(.define) }
        #expect(Self.lines(output) == Self.lines(source.text.bytes) - (defined ? 1 : 0))
        let after = try PlaylistText(output)
        #expect(after.lines.map(\.kind) == before.map { source.text.lines[$0].kind })
        for (old, new) in zip(before, after.lines.indices) {
            guard case .tag(let tag) = after.lines[new].kind, tag.hasAttributes else { continue }
            #expect(after.attributes(new).names == source.text.attributes(old).names)
        }
    }

    @Test("is tested in more than 200 combinations, and rejected unless it is in the origin's text")
    func refusals() throws {
        #expect(Injection.all.count >= 200)
        for injection in Injection.all where !injection.place.rawValue.hasPrefix("text") {
            let (text, sources) = injection.input
            do throws(PlaylistError) {
                let playlist = try Playlist.parse(Array(text.utf8), variables: sources)
                let output = String(decoding: try Self.render(playlist, injection), as: UTF8.self)
                // A line with a hostile variable is omitted. References to it stay as they are, which is harmless.
                #expect(
                    playlist.text.mends.contains { [.badValue, .missingVariable].contains($0.code) }, "\(injection)")
                #expect(!output.contains("DEFINE"), "\(injection)")
            } catch {
                #expect([.unsafeName, .badValue, .missingVariable, .missingURI].contains(error.code), "\(injection)")
            }
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

    /// Counts lines by the line ends of all readers, including those of Unicode.
    private static func lines(_ bytes: [UInt8]) -> Int {
        String(decoding: bytes, as: UTF8.self).unicodeScalars.count { scalar in
            (0x0A...0x0D).contains(scalar.value) || [0x85, 0x2028, 0x2029].contains(scalar.value)
        }
    }
}
