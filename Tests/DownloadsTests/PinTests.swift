import Assets
import EventLoop
import Fetching
import HLS
import HTTPMessage
import Orders
import Retention
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Pieces that a download protects from eviction.
@Suite @LoopActor struct PinTests {
    @Test func piecesOfADownloadArePinnedUntilItIsCancelled() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await fixture.start("/cmaf/master.m3u8", Selection(quality: .worst))
        try await fixture.reaches(.complete, "cmaf")
        #expect(download.asset.cachedBytes == 0 && download.asset.bytes > 0 && fixture.retention.cachedBytes == 0)
        #expect(download.pins == .renditions(["video-90p": .all, "audio-en": .all]))
        try await fixture.restart()
        let asset = try #require(fixture.library.asset(named: "cmaf"))
        #expect(asset.bytes > 0 && asset.cachedBytes == 0)
        fixture.downloader.forget(asset)
        #expect(asset.cachedBytes == asset.bytes)
    }

    @Test(arguments: [JobState.queued, .running, .paused, .waiting, .failed, .complete, .cancelled])
    func aDownloadIsPinnedInEveryState(_ state: JobState) async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/ts/master.m3u8")
        var task = DownloadTask()
        task.add(.init(Selection(), range: MediaRange(2..<4), renditions: ["video-90p"]))
        task.add(.init(Selection(), renditions: ["video-180p"]))
        let download = Download(asset, task, state: state, created: 0)
        #expect(download.pins == .renditions(["video-90p": .parts([2..<4]), "video-180p": .all]))
        download.failure = .init(code: .unreadable, message: "")
        #expect(download.pins == .everything)
    }

    @Test func cachedPiecesArePinnedInPlace() async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try #require(asset.rendition("video-90p"))
        let source = try await fixture.library.playlists.source(of: rendition, in: asset)
        for segment in source.playlist.segments.prefix(2) {
            let resource = try #require(rendition.resource(of: segment))
            let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: asset, urgency: .playback)
            await withCheckedContinuation { done in fetch.whenEnded { _ in done.resume() } }
            fetch.release()
        }
        #expect(asset.cachedBytes > 0 && asset.cachedBytes == asset.bytes)
        try await fixture.origin.clearRequests()
        try await fixture.start("/ts/master.m3u8")
        #expect(asset.cachedBytes == 0)
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().allSatisfy { !$0.hasSuffix("/0.ts") && !$0.hasSuffix("/1.ts") })
    }
}
