import Foundation
import TestSupport
import Testing

/// One presentation in two spellings: plain names, and unusual references that RFC 3986 §5 allows.
@Suite("A presentation with unusual URIs")
struct OddURITests {
    /// A URI in a playlist, the expected request target, and the file at that target.
    struct Row: Sendable {
        let uri: String
        let asked: String
        let file: String
    }

    /// The URIs of a playlist at `/deep/else/list.m3u8?sig=3`, reached by redirects. `HOST` stands for the origin's host
    /// and port.
    static let segments = [
        Row(uri: "0.ts", asked: "/deep/else/0.ts", file: "deep/else/0.ts"),
        Row(uri: "../up/1.ts?a=b", asked: "/deep/up/1.ts?a=b", file: "deep/up/1.ts"),
        Row(uri: "./a/../b//./2.ts", asked: "/deep/else/b//2.ts", file: "deep/else/b/2.ts"),
        Row(uri: "/abs/3.ts", asked: "/abs/3.ts", file: "abs/3.ts"),
        Row(uri: "http://HOST/abs/4.ts", asked: "/abs/4.ts", file: "abs/4.ts"),
        Row(uri: "//HOST/abs/5.ts", asked: "/abs/5.ts", file: "abs/5.ts"),
        Row(uri: "a%20b/%41%2fc.ts", asked: "/deep/else/a%20b/%41%2fc.ts", file: "deep/else/a b/A/c.ts"),
        Row(
            uri: "ünï/日 7.ts", asked: "/deep/else/%C3%BCn%C3%AF/%E6%97%A5%207.ts", file: "deep/else/ünï/日 7.ts"),
        Row(uri: "?part=8", asked: "/deep/else/list.m3u8?part=8", file: "q/8.ts"),
        Row(uri: "HTTP://HOST/x/../abs/./9.ts#t=1", asked: "/abs/9.ts", file: "abs/9.ts"),
        Row(uri: "../../../../root.ts", asked: "/root.ts", file: "root.ts"),
        Row(
            uri: "./with:colon;and,more.ts  ", asked: "/deep/else/with:colon;and,more.ts",
            file: "deep/else/with:colon;and,more.ts"),
    ]

    static let keys = [
        Row(uri: "../../keys/0.key?t=é", asked: "/keys/0.key?t=%C3%A9", file: "keys/0.key"),
        Row(uri: "//HOST/keys/1.key", asked: "/keys/1.key", file: "keys/1.key"),
        Row(uri: "?key=2", asked: "/deep/else/list.m3u8?key=2", file: "q/2.key"),
    ]

    private static let fixture = "/aes/90p/"

    /// The fixture's segments twice, with their original keys and vectors.
    private func media(_ segments: [String], _ keys: [String]) throws -> String {
        let lines = String(decoding: try Repository.fixture(Self.fixture + "media.m3u8"), as: UTF8.self)
            .split(separator: "\n").filter { $0.hasPrefix("#EXT-X-KEY") }
        let body = segments.enumerated().map { place, uri in
            let key = lines[place % 6].replacing("../keys/\(place % 6 / 2).key", with: keys[place % 6 / 2])
            return (place == 6 ? "#EXT-X-DISCONTINUITY\n" : "") + "\(key)\n#EXTINF:2,\n\(uri)\n"
        }
        return "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n" + body.joined() + "#EXT-X-ENDLIST\n"
    }

    private func master(_ uri: String) -> String {
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=94016,RESOLUTION=160x90\n\(uri)\n"
    }

    private func fill(_ folder: TemporaryFolder) throws {
        for place in Self.segments.indices {
            let bytes = try Repository.fixture(Self.fixture + "\(place % 6).ts")
            try folder.write(bytes, to: Self.segments[place].file)
            try folder.write(bytes, to: "plain/\(place).ts")
        }
        for place in Self.keys.indices {
            let bytes = try Repository.fixture("/aes/keys/\(place).key")
            try folder.write(bytes, to: Self.keys[place].file)
            try folder.write(bytes, to: "plain/\(place).key")
        }
        let plain = try media(Self.segments.indices.map { "\($0).ts" }, Self.keys.indices.map { "\($0).key" })
        try folder.write(Data(plain.utf8), to: "plain/media.m3u8")
        try folder.write(Data(master("media.m3u8").utf8), to: "plain/master.m3u8")
        try folder.write(Data(master("../élse/m%65dia.m3u8").utf8), to: "deep/er/master.m3u8")
    }

    private func addRedirects(_ origin: TestOrigin) async throws {
        let redirects = [
            ("/start.m3u8?token=1", "/deep/er/master.m3u8?sig=2"),
            ("/deep/*lse/m%65dia.m3u8", "../else/list.m3u8?sig=3"),
            ("*?part=8", "/q/8.ts"), ("*?key=2", "../../q/2.key"),
        ]
        for (path, target) in redirects {
            try await origin.add(OriginRule(path) { $0.redirect = target })
        }
    }

    @Test("plays the same frames as with plain URIs, and each URI resolves by RFC 3986")
    func resolvesURIs() async throws {
        let folder = try TemporaryFolder()
        try fill(folder)
        try await Scene.with(root: folder.path) { scene in
            try await addRedirects(scene.origin)
            let host = "127.0.0.1:\(scene.origin.port)"
            let odd = try media(Self.segments.map(\.uri), Self.keys.map(\.uri)).replacing("HOST", with: host)
            try folder.write(Data(odd.utf8), to: "deep/else/list.m3u8")
            let expected = try await FrameHashes.of(scene.origin.url("/plain/master.m3u8"))
            #expect(expected.errors == "" && expected.streams.allSatisfy { $0.frames.count > 100 })

            try await scene.origin.clearRequests()
            let frames = try await FrameHashes.of(scene.url("/start.m3u8?token=1"))
            #expect(frames.firstDifference(from: expected) == nil && frames.complaints == [])
            let asked = try await scene.origin.requests().filter { !$0.isComparison }.map(\.path)
            #expect(asked.contains("/deep/%C3%A9lse/m%65dia.m3u8") && asked.contains("/deep/else/list.m3u8?sig=3"))
            for row in Self.segments + Self.keys {
                #expect(asked.count { $0 == row.asked } == 1, "\(row.uri)")
            }

            try await scene.origin.stop()
            let stored = try await FrameHashes.of(scene.url("/start.m3u8?token=1"))
            #expect(stored.firstDifference(from: expected) == nil && stored.complaints == [])
        }
    }
}
