import Testing

@testable import HLS

@Suite("A playlist's text")
struct PlaylistTextTests {
    @Test("is written back byte for byte", arguments: try Fixtures.files(in: "lossless"))
    func lossless(_ name: String, _ bytes: [UInt8]) throws {
        let text = try PlaylistText(bytes)
        #expect(text.write() == bytes)
        #expect(text.hasByteOrderMark == (name == "byte-order-mark.m3u8"))
        let body = Array(bytes.dropFirst(text.hasByteOrderMark ? 3 : 0))
        #expect(text.lines.indices.flatMap { bytes[text.extent($0)] } == body)
        switch try Playlist.parse(bytes) {
        case .media(let playlist) where !playlist.text.isChanged: #expect(try playlist.rendered { _ in nil } == body)
        case .multivariant(let playlist) where !playlist.text.isChanged:
            #expect(try playlist.rendered(.relay) { _ in nil } == body)
        default: break
        }
    }

    @Test("is split into lines of each kind")
    func kinds() throws {
        let text = try PlaylistText(Array("#EXTM3U\r\n \n# note\n#EXT-X-ODD:1\na.ts\n #EXTINF:1,\r\n#EXTM3U8".utf8))
        #expect(
            text.lines.map(\.kind) == [
                .tag(.m3u), .blank, .comment, .tag(.unknown), .uri, .tag(.inf), .tag(.unknown),
            ])
        #expect(text.string(5) == "1,")
    }

    @Test(
        "may follow its signature with a blank", arguments: ["#EXTM3U", "#EXTM3U \n", "#EXTM3U\tx=1\n", "#EXTM3U\r\n"])
    func signature(_ text: String) throws {
        #expect(try PlaylistText(Array(text.utf8)).lineCount == 1)
    }

    @Test(
        "is rejected without the signature",
        arguments: ["#extm3u\n", "EXTM3U\n", " #EXTM3U\n", "\u{1F}\u{8B}"])
    func otherSignature(_ text: String) {
        #expect(throws: PlaylistError.self) { try PlaylistText(Array(text.utf8)) }
    }

    @Test("says if it ends within a tag's name")
    func truncated() throws {
        for name in ["#EXT", "#EXT-X-", "#EXTIN", "#EXT-X-ENDLIS"] {
            #expect(try PlaylistText(Array("#EXTM3U\n\n\(name)".utf8)).endsInTag)
            #expect(try !PlaylistText(Array("#EXTM3U\n\(name)\n".utf8)).endsInTag)
        }
        for end in ["#EXT-X-ENDLIST", "#EXT-X-CUE-IN", "#EX", "a.t", "#EXTINF:6"] {
            #expect(try !PlaylistText(Array("#EXTM3U\n\(end)".utf8)).endsInTag)
        }
    }

    @Test("may end in CR alone, which is no part of its last line", arguments: ["\n", "\r\n", "\r"], [false, true])
    func loneReturn(_ lineEnd: String, _ hasEnd: Bool) throws {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:6", "#EXTINF:6,", "a.ts"]
        if hasEnd {
            lines.append("#EXT-X-ENDLIST")
        }
        let text = lines.joined(separator: lineEnd) + "\r"
        let playlist = try Fixtures.media(text)
        #expect(playlist.segments.map(\.uri) == ["a.ts"] && playlist.isLive != hasEnd)
        #expect(playlist.text.write() == Array(text.utf8))
        #expect(playlist.text.mends.map(\.code) == (lineEnd == "\r" ? lines.map { _ in .controlCharacter } : []))
        let output = String(decoding: try playlist.rendered(.plain) { _ in "b.ts" }, as: UTF8.self)
        #expect(output.split(whereSeparator: \.isNewline).suffix(hasEnd ? 2 : 1).first == "b.ts", "\(output)")
    }

    /// The last of them is a line's end as well, and the end of the text is no cut: a film without EXT-X-ENDLIST gets it.
    @Test("whose lines all end in CR is complete", arguments: ["\n", "\r\n", "\r"])
    func returnsOnly(_ lineEnd: String) throws {
        let lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:6", "#EXT-X-PLAYLIST-TYPE:VOD", "#EXTINF:6,", "a.ts", ""]
        #expect(try !Fixtures.media(lines.joined(separator: lineEnd)).isLive)
        #expect(try Fixtures.media(lines.dropLast().joined(separator: lineEnd)).isLive)
    }

    @Test("is rejected beyond a limit, at the line that exceeds it")
    func limits() throws {
        var limits = PlaylistLimits()
        limits.bytes = 64
        limits.lineBytes = 16
        limits.lines = 4
        let cases: [(String, Int?)] = [
            ("#EXTM3U\n" + String(repeating: "a", count: 57), nil),
            ("#EXTM3U\n\n" + String(repeating: "a", count: 17), 3),
            ("#EXTM3U\n\n\n\n\n", 5),
        ]
        for (text, line) in cases {
            let error = try #require(throws: PlaylistError.self) { try PlaylistText(Array(text.utf8), limits: limits) }
            #expect(error.code == .overLimit)
            #expect(error.line == line)
        }
        let fits = "#EXTM3U\n\n\n" + String(repeating: "a", count: 16) + "\r\n"
        #expect(try PlaylistText(Array(fits.utf8), limits: limits).lineCount == 4)
    }

    @Test(
        "is mended if it is not UTF-8, and says where",
        arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82]])
    func encoding(_ bytes: [UInt8]) throws {
        let text = try PlaylistText(Array("#EXTM3U\n\n# ".utf8) + bytes)
        #expect(text.mends.map(\.code) == [.notUTF8])
        #expect(text.mends.map(\.line) == [3])
        #expect(String(validating: text.bytes, as: UTF8.self) != nil)
    }

    @Test("can have a million segments, and names the limit beyond it")
    func largest() throws {
        #expect(PlaylistLimits.standard.segments == 1_000_000)
        var limits = PlaylistLimits()
        limits.segments = 20_000
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:5\n"
        for index in 0..<20_000 {
            text += "#EXTINF:6.00600,\nsegment-\(index).ts\n"
        }
        guard case .media(let playlist) = try Playlist.parse(Array((text + "#EXT-X-ENDLIST\n").utf8), limits: limits)
        else {
            throw Fixtures.NotExpected()
        }
        #expect(playlist.segments.count == 20_000)
        #expect(playlist.segments.last?.mediaSequenceNumber == 20_004)
        #expect(abs(playlist.duration.seconds - 120_120) < 0.001)
        #expect(try playlist.rendered { _ in nil } == playlist.text.write())
        let error = try #require(throws: PlaylistError.self) {
            try Playlist.parse(Array((text + "#EXTINF:1,\nb.ts\n").utf8), limits: limits)
        }
        #expect(error.code == .overLimit)
        #expect(error.line == 40_005)
        #expect(error.reason == "more than 20000 segments")
    }
}
