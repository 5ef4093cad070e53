import Foundation
import TestSupport
import Testing

/// Adaptive playback for players without adaptation: one variant whose quality follows the link.
@Suite("A player that cannot adapt")
struct AdaptiveTests {
    /// The first segment is small, so it may take several to measure the link's capacity.
    @Test(
        "starts with the fastest variant and continues with the best",
        arguments: [SubstitutionFixture.Recipe(isMuxed: true), SubstitutionFixture.Recipe(isFragmented: true)])
    func switchesUp(recipe: SubstitutionFixture.Recipe) async throws {
        let fixture = try await SubstitutionFixture(recipe)
        try fixture.tellAverage()
        try await Scene.with(root: fixture.folder.path) { scene in
            let entry = await scene.weir.url("/auto/" + scene.origin.url("/film/master.m3u8"))
            let frames = try await SubstitutionFixture.frames(entry)
            let fetched = try await scene.origin.requests().filter { !$0.isComparison }
            let high = fetched.map(\.path).filter { $0.hasPrefix("/film/high/") }
                .compactMap { $0.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) } }
            // Two requests that are sent at once may arrive in any order.
            let first = high.min() ?? 0
            #expect(high.sorted() == Array(first..<SubstitutionFixture.count) && (1...4).contains(first), "\(high)")
            let (expected, whole) = try await fixture.expected(scene.origin) { $0 >= first }
            let difference = zip(frames.pictures, expected).enumerated().first { $1.0.hash != $1.1.hash }?.offset
            #expect(
                difference == nil && frames.pictures.count == expected.count,
                "\(frames.pictures.count) pictures, the first other one is \(difference ?? -1)")
            #expect(frames.errors == whole.errors)
            let report = try await Player.mpv.play(entry)
            #expect(report.ended && report.position ?? 0 >= 16.5, "\(report)")
        }
    }

    /// libavformat opens a segment before it reads the one before it, and waits for the head.
    @Test("has the head of a segment while another quality of it arrives")
    func theHeadComesFirst() async throws {
        let fixture = try await SubstitutionFixture(.init(isMuxed: true))
        try fixture.tellAverage()
        try await Scene.with(root: fixture.folder.path) { scene in
            let entry = await scene.weir.url("/auto/" + scene.origin.url("/film/master.m3u8"))
            let media = try #require(try await PlaylistWalk.segments(entry).first)
            let segments = try await PlaylistWalk.segments(media)
            let player = ["User-Agent": "Lavf/59.27.100", "Range": "bytes=0-"]
            // These show what the link carries.
            for segment in segments.prefix(6) {
                _ = try await SegmentReader(segment, fields: player).rest()
            }
            try await scene.origin.add(OriginRule("/film/high/*") { $0.pauseAfter = 1000 })
            let reader = try await SegmentReader(segments[6], fields: player)
            let head = try await reader.head()
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.contains("Transfer-Encoding: chunked\r\n"), "\(head)")
            #expect(try await reader.isSilent())
            #expect(try await scene.origin.release() == 1)
            let body = try await reader.rest().bytes
            let whole = try await HTTPProbe.fetch(segments[6]).body
            #expect(body == Data("\(String(whole.count, radix: 16))\r\n".utf8) + whole + Data("\r\n0\r\n\r\n".utf8))
        }
    }
}

extension SubstitutionFixture {
    /// Writes the better variant's real bit rate, which is far below its peak, into the multivariant playlist.
    fileprivate func tellAverage() throws {
        let path = URL(fileURLWithPath: folder.path("film/master.m3u8"))
        let text = try String(contentsOf: path, encoding: .utf8)
            .replacingOccurrences(of: "BANDWIDTH=500000", with: "BANDWIDTH=500000,AVERAGE-BANDWIDTH=150000")
        try Data(text.utf8).write(to: path)
    }
}
