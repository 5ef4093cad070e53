import Testing

@testable import HLS

@Suite("Keys of several systems") struct KeyOrderTests {
    private static let drm = #"#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.apple.streamingkeydelivery""#
    private static let other = #"#EXT-X-KEY:METHOD=AES-128,URI="data:;base64,AA==",KEYFORMAT="urn:uuid:edef8ba9""#
    private static let own = #"#EXT-X-KEY:METHOD=AES-128,URI="0.key""#
    private static let named = #"#EXT-X-KEY:METHOD=AES-128,URI="1.key",KEYFORMAT="Identity",IV=0x1"#
    private static let none = "#EXT-X-KEY:METHOD=NONE"

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let input: [String]
        let expected: [String]

        static let all = [
            Case(
                testDescription: "the own key goes behind those of others",
                input: [own, drm, other, "#EXTINF:2,", "0.ts"], expected: [drm, other, own, "#EXTINF:2,", "0.ts"]),
            Case(
                testDescription: "also after the tags of the segment",
                input: ["#EXTINF:2,", own, drm, "0.ts"], expected: ["#EXTINF:2,", drm, own, "0.ts"]),
            Case(
                testDescription: "a format of other letters is the own one",
                input: [named, drm, "#EXTINF:2,", "0.ts"], expected: [drm, named, "#EXTINF:2,", "0.ts"]),
            Case(
                testDescription: "what is last stays",
                input: [drm, own, "#EXTINF:2,", "0.ts"], expected: [drm, own, "#EXTINF:2,", "0.ts"]),
            Case(
                testDescription: "each group by itself",
                input: [own, drm, "#EXTINF:2,", "0.ts", named, other, "#EXTINF:2,", "1.ts"],
                expected: [drm, own, "#EXTINF:2,", "0.ts", other, named, "#EXTINF:2,", "1.ts"]),
            Case(
                testDescription: "the own key again where only another changes",
                input: [own, drm, "#EXTINF:2,", "0.ts", other, "#EXTINF:2,", "1.ts"],
                expected: [drm, own, "#EXTINF:2,", "0.ts", other, own, "#EXTINF:2,", "1.ts"]),
            Case(
                testDescription: "but not after METHOD=NONE",
                input: [own, drm, "#EXTINF:2,", "0.ts", none, drm, "#EXTINF:2,", "1.ts"],
                expected: [drm, own, "#EXTINF:2,", "0.ts", none, drm, "#EXTINF:2,", "1.ts"]),
            Case(
                testDescription: "an initialization section ends a group",
                input: [own, drm, #"#EXT-X-MAP:URI="init.mp4""#, other, "#EXTINF:2,", "0.m4s"],
                expected: [drm, own, #"#EXT-X-MAP:URI="init.mp4""#, other, own, "#EXTINF:2,", "0.m4s"]),
            Case(
                testDescription: "keys of one system stay",
                input: [own, named, "#EXTINF:2,", "0.ts"], expected: [own, named, "#EXTINF:2,", "0.ts"]),
        ]
    }

    private static let head = "#EXTM3U\n#EXT-X-VERSION:5\n#EXT-X-TARGETDURATION:2\n"

    @Test("have the one of identity last", arguments: Case.all)
    func order(example: Case) throws {
        let playlist = try Fixtures.media(Self.head + example.input.joined(separator: "\n") + "\n")
        let text = String(decoding: try playlist.rendered(.plain) { _ in nil }, as: UTF8.self)
        let heads = ["#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION"]
        let lines = text.split(separator: "\n").map(String.init).filter { line in
            !heads.contains { line.hasPrefix($0) }
        }
        #expect(lines == example.expected, "\(text)")
        // Its segments have the same keys.
        let again = try Fixtures.media(text)
        #expect(again.segments.map { Set($0.keys.map(\.uri)) } == playlist.segments.map { Set($0.keys.map(\.uri)) })
    }

    @Test("stay as they are in what is relayed")
    func relay() throws {
        let text = Self.head + [Self.own, Self.drm, "#EXTINF:2,", "0.ts"].joined(separator: "\n") + "\n"
        let playlist = try Fixtures.media(text)
        #expect(String(decoding: try playlist.rendered(.relay) { _ in nil }, as: UTF8.self) == text)
    }
}
