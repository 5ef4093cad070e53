import Foundation
import Glibc
import TestSupport
import Testing

@Suite("A download over a link that playback needs")
struct YieldingTests {
    /// Maximum buffer of a player, in seconds.
    private static let ahead = 8.0

    @Test("does not affect playback, and completes", .timeLimit(.minutes(5)))
    func yieldsToPlayback() async throws {
        let folder = try TemporaryFolder()
        try await LadderFixture.make(in: folder)
        let direct = Task { try await Self.playDirectly(folder) }
        try await Scene.with(root: folder.path) { scene in
            let link = try await LinkConditioner(
                to: scene.origin.url(""), preset: "3G", state: scene.weir.state)
            let master = link.url("/ladder/master.m3u8")
            let get = try scene.weir.begin(["get", "-q", "best", master])
            // Initial receive windows of its connections are used up then.
            try await waitUntil("the download to have settled", within: .seconds(60)) {
                try await link.traffic().bytesDown > 900_000
            }
            try await expectUndisturbedPlayback(scene, link, comparedTo: direct)
            let during = try await scene.requests(of: "top").count
            #expect(during > 1)
            #expect(during < LadderFixture.segments)

            // Without a player the download continues, here over a faster link to save time.
            try await link.set("LTE")
            #expect(try await get.end(within: .seconds(120)) == .code(0), "\(get.standardError)")
            try await expectEverySegmentOnce(scene)
            let offline = try await FrameHashes.of(scene.best(of: "/offline/ladder.m3u8"))
            let frames = try await FrameHashes.of(scene.origin.url("/ladder/top/media.m3u8"))
            #expect(offline.firstDifference(from: frames) == nil)
        }
    }

    /// Expects no more stalls than without Weir, and no request of the download right after the player's while it has no buffer.
    private func expectUndisturbedPlayback(
        _ scene: Scene, _ link: LinkConditioner, comparedTo direct: Task<RealTimePlayer.Outcome, any Error>
    ) async throws {
        var late: [Int] = []
        let programs = [getpid(), try #require(await scene.weir.pid), link.pid]
        let waited = try ProcessorWait.seconds(of: programs)
        let master = await scene.weir.url("/" + link.url("/ladder/master.m3u8"))
        let played = try await RealTimePlayer.playLowest(master, ahead: Self.ahead) { index, load in
            if load.ahead < 1 {
                late += try await scene.overtakers(of: index)
            }
        }
        let straight = try await direct.value

        // About 0.6 s on an idle machine. On a busy one the programs wait for a processor, which is not the download's fault.
        let wait = try ProcessorWait.seconds(of: programs) - waited
        let isSmooth = wait < 2 ? played.stalls <= straight.stalls : played.stalled <= straight.stalled + wait
        #expect(isSmooth, "\(played), directly \(straight), waited for a processor for \(wait) s")
        #expect(late == [])
    }

    /// Expects one request for each segment, none of them for a segment that the player has passed.
    private func expectEverySegmentOnce(_ scene: Scene) async throws {
        #expect(try await scene.repetitions() == [:])
        for variant in ["top", "low"] {
            // A fetch that was stopped resumes with a range request.
            let paths = try await scene.requests(of: variant).filter { $0.range == nil }.map(\.path)
            #expect(paths.count == LadderFixture.segments && Set(paths).count == paths.count, "\(paths)")
        }
        #expect(try await scene.unexpected() == [])
    }

    /// Playback without Weir, over an equal link.
    private static func playDirectly(_ folder: TemporaryFolder) async throws -> RealTimePlayer.Outcome {
        let origin = try await TestOrigin(root: folder.path)
        let link = try await LinkConditioner(to: origin.url(""), preset: "3G")
        return try await RealTimePlayer.playLowest(link.url("/ladder/master.m3u8"), ahead: ahead)
    }
}

extension Scene {
    /// The origin's requests for a variant's segments.
    fileprivate func requests(of variant: String) async throws -> [TestOrigin.Request] {
        try await mediaRequests().filter { $0.path.contains("/\(variant)/") }
    }

    /// The download's requests for segments before the player's position, made while segments after it were not requested.
    fileprivate func unexpected() async throws -> [String] {
        var playhead = 0
        var asked = Set<Int>()
        var unexpected = [String]()
        for request in try await mediaRequests() where request.range == nil {
            guard let number = request.path.split(separator: "/").last?.split(separator: ".").first.flatMap({ Int($0) })
            else { continue }
            if request.path.contains("/low/") {
                playhead = max(playhead, number + 1)
            } else if asked.insert(number).inserted, number < playhead {
                let isAllAsked = (playhead..<LadderFixture.segments).allSatisfy(asked.contains)
                if !isAllAsked {
                    unexpected.append("\(request.path) while \(playhead) plays")
                }
            }
        }
        return unexpected
    }

    /// The best variant of a multivariant playlist from Weir.
    fileprivate func best(of path: String) async throws -> String {
        let variants = try await PlaylistWalk.segments(weir.url(path))
        guard let best = variants.first(where: { $0.contains("video-\(LadderFixture.variants[2].1 / 4)p") }) else {
            throw TimedOut("the best variant in \(variants)")
        }
        return best
    }

    /// The download's requests right after the player's for a segment; expected empty while the player has no buffer.
    fileprivate func overtakers(of index: Int) async throws -> [Int] {
        guard let own = try await requests(of: "low").first(where: { $0.path.hasSuffix("/\(index).ts") }) else {
            return []
        }
        return try await requests(of: "top").map(\.order).filter { $0 > own.order }
    }
}
