import Foundation
import TestSupport
import Testing

/// One variant whose quality follows the link, for players that cannot adapt.
@Suite("A player that cannot adapt")
struct AdaptiveTests {
    /// The first segment is little: it may take some to know that the link has more to give.
    @Test(
        "begins with what comes soonest, and goes on with the best",
        arguments: [CompositeFixture.Recipe(isMuxed: true), CompositeFixture.Recipe(isFragmented: true)])
    func climbs(recipe: CompositeFixture.Recipe) async throws {
        let fixture = try await CompositeFixture(recipe)
        try fixture.tellAverage()
        try await Scene.with(root: fixture.folder.path) { scene in
            let entry = await scene.weir.url("/auto/" + scene.origin.url("/film/master.m3u8"))
            let frames = try await CompositeFixture.frames(entry)
            let high = try await scene.origin.requests().map(\.path).filter { $0.hasPrefix("/film/high/") }
                .compactMap { $0.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) } }
            let first = high.first ?? 0
            #expect(high == Array(first..<CompositeFixture.count) && (1...4).contains(first), "\(high)")
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

    @Test("does not stall where the link falls, as it would with the best quality", .timeLimit(.minutes(3)))
    func followsTheLink() async throws {
        let folder = try TemporaryFolder()
        try await LadderFixture.make(in: folder)
        let rate = LadderFixture.variants[2].1 * 1100
        try Data("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(rate)\ntop/media.m3u8\n".utf8)
            .write(to: URL(fileURLWithPath: folder.path("ladder/top.m3u8")))
        let direct = Task { try await Self.playDirectly(folder) }
        try await Scene.with(root: folder.path) { scene in
            let link = try await LinkConditioner(to: scene.origin.url(""), preset: "Wi-Fi")
            let entry = await scene.weir.url("/auto/" + link.url("/ladder/master.m3u8"))
            let played = try await Self.play(entry, over: link)
            let straight = try await direct.value
            let asked = try await scene.origin.requests().map(\.path)
            #expect(played.stalls == 0, "\(played) \(asked)")
            #expect(straight.stalls > 0, "\(straight)")
            let low = asked.filter { $0.hasPrefix("/ladder/low/") && $0.hasSuffix(".ts") }
            let better = asked.filter { $0.hasSuffix(".ts") && !$0.hasPrefix("/ladder/low/") }
            #expect(low.count > 1 && better.count > 2, "\(asked)")
        }
    }

    /// Plays while the link falls to a third of what the best variant takes, and comes back.
    private static func play(_ master: String, over link: LinkConditioner) async throws -> RealTimePlayer.Outcome {
        var (hasFallen, isBack) = (false, false)
        return try await RealTimePlayer.playLowest(master, ahead: 6) { _, load in
            if !hasFallen, load.got > 3 {
                hasFallen = true
                try await link.set(down: 400_000, up: 400_000)
            } else if !isBack, load.got > 14 {
                isBack = true
                try await link.set("Wi-Fi")
            }
        }
    }

    /// The best variant without Weir, over a link like it.
    private static func playDirectly(_ folder: TemporaryFolder) async throws -> RealTimePlayer.Outcome {
        let origin = try await TestOrigin(root: folder.path)
        let link = try await LinkConditioner(to: origin.url(""), preset: "Wi-Fi")
        return try await play(link.url("/ladder/top.m3u8"), over: link)
    }
}

extension CompositeFixture {
    /// Says in the entry what the better variant takes in truth, which is much less than what it may.
    fileprivate func tellAverage() throws {
        let path = URL(fileURLWithPath: folder.path("film/master.m3u8"))
        let text = try String(contentsOf: path, encoding: .utf8)
            .replacingOccurrences(of: "BANDWIDTH=500000", with: "BANDWIDTH=500000,AVERAGE-BANDWIDTH=150000")
        try Data(text.utf8).write(to: path)
    }
}
