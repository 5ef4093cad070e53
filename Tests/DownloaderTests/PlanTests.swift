import EventLoop
import Foundation
import HTTPMessage
import Playlist
import Store
import TestSupport
import Testing

@testable import Downloader
@testable import Library

/// Assets whose playlists are the fixtures', read from disk: nothing is fetched.
@LoopActor struct StoredAsset {
    let folder: TemporaryFolder
    let store: Store
    let asset: Asset

    init(_ fixture: String, _ ids: String...) throws {
        folder = try TemporaryFolder()
        store = try Store(path: folder.path)
        let base = try WebURL("http://origin/\(fixture)/master.m3u8")
        asset = Asset(id: "a-id", name: "a", title: nil, origin: base, created: 1, store: store)
        guard case .multivariant(let playlist) = try Self.parse("/\(fixture)/master.m3u8") else { return }
        asset.adopt(playlist, base: base)
        for id in ids {
            let rendition = try #require(asset.rendition(id))
            let url = try #require(asset.urls(of: rendition).first)
            guard case .media(let media) = try Self.parse(url.path) else { continue }
            rendition.adopt(Rendition.Source(playlist: media, base: url))
        }
    }

    private static func parse(_ path: String) throws -> Playlist { try .parse([UInt8](Repository.fixture(path))) }

    func rendition(_ id: String) throws -> Rendition { try #require(asset.rendition(id)) }

    func put(_ path: String, bytes: Int = 1) throws {
        let parts = path.split(separator: "/").map(String.init)
        try store.bundle("a-id", create: true).subdirectory(parts[0], create: true)
            .write([UInt8](repeating: 0, count: bytes), as: parts[1])
        for folder in asset.folders { folder.reread() }
    }
}

@Suite @LoopActor struct PlanTests {
    private func text(_ plan: Plan) -> [String] {
        plan.holes.map { "\($0.folder.id)/\($0.resource.name) @\($0.time)" }
    }

    @Test func whatEverythingNeedsComesFirstThenMediaByTime() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "audio-en")
        let plan = Plan(for: [try stored.rendition("video-90p"), try stored.rendition("audio-en")])
        #expect(
            Array(text(plan).prefix(12)) == [
                "video-90p/init-0.mp4 @-1.0", "audio-en/init-0.mp4 @-1.0", "video-90p/0.m4s @0.0",
                "audio-en/0.m4s @0.0", "video-90p/1.m4s @1.0", "video-90p/2.m4s @2.0", "audio-en/1.m4s @2.005333",
                "video-90p/3.m4s @3.0", "video-90p/4.m4s @4.0", "audio-en/2.m4s @4.010666", "video-90p/5.m4s @5.0",
                "video-90p/6.m4s @6.0",
            ])
    }

    @Test func whatIsThereIsNoHole() throws {
        let stored = try StoredAsset("aes-noiv", "video-90p")
        for path in ["keys/0.key", "keys/2.key", "video-90p/8.ts", "video-90p/12.ts"] { try stored.put(path) }
        #expect(
            text(Plan(for: [try stored.rendition("video-90p")])) == [
                "keys/1.key @-1.0", "video-90p/7.ts @0.0", "video-90p/9.ts @4.0", "video-90p/10.ts @6.0",
                "video-90p/11.ts @8.0",
            ])
    }

    @Test func aKeyOfTwoRenditionsIsOneHole() throws {
        let stored = try StoredAsset("aes", "video-90p", "video-180p")
        let plan = Plan(for: [try stored.rendition("video-90p"), try stored.rendition("video-180p")])
        #expect(plan.holes.count { $0.folder.id == "keys" } == 3)
        #expect(plan.holes.count == 3 + 12)
    }

    @Test func nothingIsPlannedForWhatIsWhole() throws {
        let stored = try StoredAsset("ts", "video-90p")
        for number in 0..<6 { try stored.put("video-90p/\(number).ts") }
        #expect(Plan(for: [try stored.rendition("video-90p")]).holes.isEmpty)
        #expect(Plan(for: []).holes.isEmpty)
    }
}

@Suite @LoopActor struct DownloadProgressTests {
    @Test func loadedTimeIsWhatEveryRenditionHas() throws {
        let stored = try StoredAsset("cmaf", "video-90p", "audio-en")
        let renditions = [try stored.rendition("video-90p"), try stored.rendition("audio-en")]
        for number in [0, 1, 2, 6] { try stored.put("video-90p/\(number).m4s", bytes: 100) }
        for number in [0, 3] { try stored.put("audio-en/\(number).m4s", bytes: 50) }
        let progress = DownloadProgress(of: renditions, bandwidth: 8000)
        #expect(
            progress.loaded.ranges.map { "\(Int($0.lowerBound * 1000)) \(Int($0.upperBound * 1000))" }
                == ["0 2005", "6015 7000"])
        #expect(progress.bytes == 500)
        #expect(progress.duration > 12 && progress.duration < 12.1)
        #expect(progress.stage == "video")
        // 400 bytes in 4 of 12 s of video, 100 in some 4 of 12 s of sound.
        #expect((1400...1550).contains(progress.totalBytes))
    }

    @Test func beforeAnythingIsThereTheAnnouncedBandwidthCounts() throws {
        let stored = try StoredAsset("ts", "video-90p")
        let progress = DownloadProgress(of: [try stored.rendition("video-90p")], bandwidth: 80_000)
        #expect(progress.totalBytes == 120_000)
        #expect(progress.bytes == 0 && progress.loaded == TimeRanges())
        #expect(DownloadProgress(of: [], bandwidth: 1).totalBytes == 0)
    }

    @Test func whatIsWholeHasNoStageAndNoEstimate() throws {
        let stored = try StoredAsset("audio", "audio-2")
        for number in 0..<6 { try stored.put("audio-2/\(number).aac", bytes: 10) }
        try stored.put("audio-2/6.aac", bytes: 10)
        let progress = DownloadProgress(of: [try stored.rendition("audio-2")], bandwidth: 1)
        #expect(progress.stage == nil)
        #expect(progress.totalBytes == progress.bytes)
        #expect(progress.loaded.ranges.count == 1)
    }

    @Test func theStageIsTheKindOfWhatComesNext() throws {
        let stored = try StoredAsset("cmaf", "subtitles-en", "audio-en")
        let renditions = [try stored.rendition("subtitles-en"), try stored.rendition("audio-en")]
        #expect(DownloadProgress(of: renditions, bandwidth: 1).stage == "subtitles")
        #expect(DownloadProgress(of: renditions.reversed(), bandwidth: 1).stage == "audio")
    }

    @Test func theRateIsThatOfTheLastSeconds() {
        var rate = TransferRate()
        let start = ContinuousClock.now
        #expect(rate.bytesPerSecond(at: start) == nil)
        rate.add(1000, at: start)
        rate.add(3000, at: start + .seconds(2))
        #expect(rate.bytesPerSecond(at: start + .seconds(4)) == 1000)
        #expect(rate.bytesPerSecond(at: start + .seconds(6)) == 750)
        #expect(rate.bytesPerSecond(at: start + .seconds(60)) == nil)
    }
}
