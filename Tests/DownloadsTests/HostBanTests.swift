import Assets
import EventLoop
import HTTPMessage
import Orders
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite @LoopActor struct HostBanTests {
    /// Refusals as `host/path at milliseconds`, and the number of the first that shows a ban.
    @Test(
        arguments: [
            (["a/1 0", "a/2 900"], 1), (["a/1 0", "a/1 100", "a/1 200"], nil),
            (["a/1 0", "a/2 1100", "a/3 2300"], nil),
            (["a/1 0", "b/2 10", "b/3 20"], 2), (["a/1 0", "b/2 10", "a/2 20"], 2), (["a/1 0"], nil),
        ] as [([String], Int?)])
    func twoURLsOfAHostWithinASecond(_ refusals: [String], _ first: Int?) throws {
        var ban = HostBan()
        let start = ContinuousClock.now
        let found = try refusals.map { refusal in
            let parts = refusal.split(separator: " ")
            let time = start + .milliseconds(try #require(Int(parts[1])))
            return ban.record(try WebURL("https://\(parts[0])"), at: time)
        }
        #expect(found.firstIndex(of: true) == first)
    }

    @Test func aBanIsWaitedForAMinuteInAll() throws {
        let error = LibraryError(OriginError(.forbidden, url: try WebURL("https://host/1.ts"), status: 403))
        var budget = RetryBudget()
        var pauses: [Int64] = []
        var last = RetryBudget.Verdict.complete
        for _ in 0..<6 {
            last = budget.verdict(on: .banned(error), of: "film", pauses: .seconds(2)...(.seconds(60)))
            if case .wait(.network, _, let pause) = last {
                pauses.append(pause.components.seconds)
            }
        }
        #expect(pauses == [2, 4, 8, 16, 30])
        guard case .fail(let failure) = last else { throw TimedOut("a failure") }
        #expect(failure.code == .library(.originRefused))
        // A piece ends it.
        budget.recordProgress()
        let next = budget.verdict(on: .banned(error), of: "film", pauses: .seconds(2)...(.seconds(60)))
        #expect(next == .wait(.network, failure, pause: .seconds(2)))
    }

    /// Segments and playlists are refused for longer than single refusals are repeated.
    @Test func aDownloadGoesOnAfterABan() async throws {
        let fixture = try await TestHouse(.downloader())
        _ = try await fixture.rendition("video-90p", of: fixture.open("/ts/master.m3u8"))
        try await fixture.origin.add(OriginRule("*") { ($0.status, $0.times) = (403, 60) })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
        #expect(download.banWidth == 1)
    }

    /// The playlist is not refused, so that each URL is.
    @Test func refusedSegmentsAreNoBan() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = 403 })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.failed, "ts")
        #expect(download.failure?.code == .library(.originRefused) && download.banWidth == nil)
    }
}
