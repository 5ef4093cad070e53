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
            let high = try await scene.origin.requests().map(\.path).filter { $0.hasPrefix("/film/high/") }
                .compactMap { $0.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) } }
            let first = high.first ?? 0
            #expect(high == Array(first..<SubstitutionFixture.count) && (1...4).contains(first), "\(high)")
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
