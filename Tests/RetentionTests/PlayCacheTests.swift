import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

/// Eviction from a store of real files.
@Suite @LoopActor struct PlayCacheTests {
    // MARK: Eviction

    @Test func evictsTheOldestPiecesAboveTheLimit() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let film = try await fixture.film()
        try await fixture.play(0..<10, of: film)
        #expect(fixture.retention.cachedBytes == 10_000 && film.asset.cachedBytes == 10_000)
        try await fixture.play(10..<30, of: film)
        try await fixture.settles(20..<30, of: film)
        #expect(fixture.retention.cachedBytes == 10_000)
        #expect(film.asset.bytes == 10_000 && film.asset.cachedBytes == 10_000)
    }

    @Test func aPieceReadAgainStaysLonger() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let film = try await fixture.film()
        try await fixture.play(0..<10, of: film)
        close(try #require(film.rendition.folder.open("3.ts")))
        film.rendition.folder.recordUse(of: "1.ts")
        try await fixture.play(10..<18, of: film)
        try await fixture.settles([1, 3] + Array(10..<18), of: film)
    }

    @Test func evictsNothingWithoutALimit() async throws {
        let fixture = try await PlayCacheFixture(pieces: nil)
        let film = try await fixture.film()
        try await fixture.play(0..<30, of: film)
        #expect(fixture.retention.cacheLimit == nil && fixture.retention.cachedBytes == 30_000)
        try await fixture.settles(0..<30, of: film)
    }

    @Test func refetchesAnEvictedPieceAndKeepsItsReaders() async throws {
        let fixture = try await PlayCacheFixture(pieces: 5)
        let film = try await fixture.film()
        try await fixture.play([0], of: film)
        let open = try #require(film.rendition.folder.open("0.ts"))
        defer { close(open) }
        try await fixture.play(1..<10, of: film)
        try await fixture.settles(5..<10, of: film)
        var bytes = [UInt8](repeating: 0, count: 2000)
        #expect(read(open, &bytes, bytes.count) == 1000)
        #expect(film.rendition.folder.open("0.ts") == nil)

        try await fixture.base.origin.clearRequests()
        try await fixture.play([0], of: film)
        #expect(try await fixture.base.mediaRequests() == ["/_vod/30x1000/0.ts"])
        try await fixture.settles([0] + Array(6..<10), of: film)
    }

    @Test func evictsEverythingWithALimitOfZero() async throws {
        let fixture = try await PlayCacheFixture(pieces: 0)
        let film = try await fixture.film()
        try await fixture.play(0..<30, of: film)
        try await fixture.settles([], of: film)
        #expect(fixture.retention.cachedBytes == 0)
    }

    @Test(arguments: [("aes", "keys/0.key"), ("cmaf", "video-90p/init-0.mp4")])
    func keysAndInitializationSectionsAreEvictedWithTheLastSegment(_ name: String, _ preliminary: String) async throws {
        let fixture = try await PlayCacheFixture(pieces: nil)
        try await fixture.base.fetch("video-90p", of: try await fixture.base.open("/\(name)/master.m3u8"))
        try await fixture.base.restart(.cacheLimit(0))
        let asset = try #require(fixture.library.assets.first)
        #expect(fixture.files(of: asset).contains(preliminary))
        try await waitUntil("nothing of \(name)") {
            let files = fixture.files(of: asset)
            #expect(fixture.numbers(of: asset).isEmpty || files.contains(preliminary), "\(files)")
            return files.allSatisfy { $0.hasSuffix(".json") }
        }
        #expect(asset.bytes == 0 && fixture.retention.cachedBytes == 0 && !asset.isPlayableOffline)
    }

    @Test func aFileWithTwoNamesCountsOnce() async throws {
        let fixture = try await PlayCacheFixture(pieces: 3)
        let film = try await fixture.film()
        try await fixture.play(0..<3, of: film)
        let folder = film.rendition.folder
        #expect(folder.link("2.ts", of: folder, as: "9.ts"))
        #expect(fixture.retention.cachedBytes == 3000 && film.asset.cachedBytes == 3000)
        try await fixture.settles([0, 1, 2, 9], of: film)
        try await fixture.play([3, 4], of: film)
        try await fixture.settles([2, 3, 4, 9], of: film)
        #expect(fixture.retention.cachedBytes == 3000 && film.asset.bytes == 3000)
        // One name alone frees nothing.
        try await fixture.play([5], of: film)
        try await fixture.settles([3, 4, 5], of: film)
        #expect(fixture.retention.cachedBytes == 3000 && film.asset.bytes == 3000)
    }

    /// More pieces than are looked at in one turn.
    @Test func aLongFilmIsPinnedBeforeAnythingIsEvicted() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let film = try await fixture.film(5000)
        fixture.retention.pin(.everything, of: film.asset)
        try await fixture.play([0], of: film)
        let folder = film.rendition.folder
        let pieces = try folder.pieces().directory
        for number in 1..<5000 {
            try pieces.write([UInt8](repeating: 0x47, count: 1000), as: "\(number).ts")
        }
        folder.reread()
        await folder.load()
        fixture.retention.pin(.nothing, of: film.asset)
        // Before a piece of it is in the queue, or after some of them are.
        fixture.retention.pin(.everything, of: film.asset)
        try await waitUntil("nothing to evict") { fixture.retention.cachedBytes == 0 }
        #expect(folder.sizes.count == 5000)

        fixture.retention.pin(.nothing, of: film.asset)
        try await waitUntil("the limit", within: .seconds(60)) { folder.sizes.count == 10 }
    }

    // MARK: Retained pieces

    @Test func pinnedPiecesStayAndDoNotCount() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let kept = try await fixture.film(20)
        let other = try await fixture.film(30)
        fixture.retention.pin(.renditions(["media": .all]), of: kept.asset)
        try await fixture.play(0..<20, of: kept)
        #expect(fixture.retention.cachedBytes == 0 && kept.asset.cachedBytes == 0 && kept.asset.bytes == 20_000)
        try await fixture.play(0..<30, of: other)
        try await fixture.settles(20..<30, of: other)
        try await fixture.settles(0..<20, of: kept)
        #expect(kept.rendition.isComplete)
    }

    @Test func cachedPiecesArePinnedWithoutARequest() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let kept = try await fixture.film(20)
        let other = try await fixture.film(30)
        try await fixture.play(0..<10, of: kept)
        let before = try FileManager.default.attributesOfItem(
            atPath: fixture.base.folder.path("assets/\(kept.asset.id)/media/4.ts"))
        fixture.retention.pin(.renditions(["media": .parts([8..<12])]), of: kept.asset)
        #expect(kept.asset.cachedBytes == 8000)
        try await fixture.play(0..<30, of: other)
        try await fixture.settles(4...5, of: kept)
        try await fixture.settles(20..<30, of: other)
        let after = try FileManager.default.attributesOfItem(
            atPath: fixture.base.folder.path("assets/\(kept.asset.id)/media/4.ts"))
        #expect(before[.systemFileNumber] as? Int == after[.systemFileNumber] as? Int)

        // A piece that is no longer pinned counts as just used.
        fixture.retention.pin(.nothing, of: kept.asset)
        try await fixture.settles(22..<30, of: other)
        try await fixture.settles(4...5, of: kept)
        try await fixture.play(0..<8, of: other)
        try await fixture.settles(4...5, of: kept)
        try await fixture.play(8..<10, of: other)
        try await fixture.settles([], of: kept)
    }

    @Test func keepsPiecesThatASessionNeedsSoon() async throws {
        // It stands still: the position must not go on while the pieces arrive, however long that takes.
        let fixture = try await PlayCacheFixture(pieces: 30, clock: TestClock())
        let film = try await fixture.film(60)
        let other = try await fixture.film(40)
        try await fixture.play(0..<30, of: film)
        let cursor = try #require(fixture.library.playheads.cursor(of: "aaaaaa", in: film.asset, "media"))
        cursor.served("12.ts")
        try await fixture.play(0..<30, of: other)
        // The session needs the time from 10 s before 24 s to 30 s after 26 s.
        try await waitUntil("the eviction of others") { fixture.numbers(of: film.asset).count <= 21 }
        try await fixture.isWithinLimit()
        #expect(Set(7..<28).isSubset(of: fixture.numbers(of: film.asset)))
    }

    @Test func anOfflineSessionNeedsEveryStoredPiece() async throws {
        let fixture = try await PlayCacheFixture(pieces: 5)
        let film = try await fixture.film(10)
        let other = try await fixture.film(30)
        fixture.retention.expect("oaaaaa", at: film.asset, isOffline: true)
        try await fixture.play(0..<10, of: film)
        try await fixture.play(0..<30, of: other)
        try await fixture.settles([], of: other)
        try await fixture.settles(0..<10, of: film)
    }

    // MARK: Bookkeeping

    @Test func playlistsAreUpdatedBeforeAnEviction() async throws {
        let fixture = try await PlayCacheFixture(pieces: 400)
        let asset = try await fixture.base.open("/cmaf/master.m3u8")
        for id in ["audio-en", "video-90p"] {
            try await fixture.base.fetch(id, of: asset)
        }
        let master = fixture.base.folder.path("assets/\(asset.id)/master.m3u8")
        #expect(FileManager.default.fileExists(atPath: master) && asset.isPlayableOffline)
        // If the playlist can be neither written nor deleted, no piece is evicted.
        try FileManager.default.removeItem(atPath: master)
        try FileManager.default.createDirectory(atPath: master + "/in-the-way", withIntermediateDirectories: true)
        let pieces = fixture.files(of: asset).filter { !$0.contains(".m3u8") }
        let film = try await fixture.film(1200)
        try await fixture.play(0..<400, of: film)
        try await waitUntil("a refusal") { fixture.base.log.lines.contains { $0.contains("cannot evict a piece") } }
        #expect(Set(pieces).isSubset(of: fixture.files(of: asset)) && asset.isPlayableOffline)

        try FileManager.default.removeItem(atPath: master)
        fixture.retention.pin(.renditions(["audio-en": .all]), of: asset)
        try await fixture.play(400..<900, of: film)
        try await waitUntil("the video to go", within: .seconds(30)) {
            let files = fixture.files(of: asset)
            if files.contains("video-90p/media.m3u8") {
                #expect(Set(pieces).isSubset(of: files) || !files.contains("master.m3u8"))
            }
            return !files.contains { $0.hasPrefix("video-90p/") && $0 != "video-90p/init-0.mp4" }
        }
        #expect(!asset.isPlayableOffline && !fixture.files(of: asset).contains("master.m3u8"))
        #expect(asset.rendition("audio-en")?.isComplete ?? false && asset.published == asset.content.completeRenditions)
    }

    @Test func aRemovedAssetDoesNotCount() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let film = try await fixture.film(10)
        let other = try await fixture.film(20)
        try await fixture.play(0..<10, of: film)
        _ = try await fixture.library.remove(film.asset)
        #expect(fixture.retention.cachedBytes == 0)
        try await fixture.play(0..<10, of: other)
        try await fixture.settles(0..<10, of: other)
    }

    @Test func countsFilesDeletedOrAddedFromOutside() async throws {
        let fixture = try await PlayCacheFixture(pieces: 10)
        let film = try await fixture.film()
        try await fixture.play(0..<10, of: film)
        let folder = fixture.base.folder.path("assets/\(film.asset.id)/media/")
        for number in 0..<4 {
            try FileManager.default.removeItem(atPath: folder + "\(number).ts")
        }
        try Data(repeating: 0x47, count: 500).write(to: URL(fileURLWithPath: folder + "20.ts"))
        #expect(film.rendition.folder.open("0.ts") == nil && fixture.retention.cachedBytes == 9000)
        film.rendition.folder.reread()
        #expect(film.asset.cachedBytes == 6500 && fixture.retention.cachedBytes == 6500)
    }

    // MARK: Restarts

    @Test func timesOfUseSurviveARestart() async throws {
        let fixture = try await PlayCacheFixture(pieces: nil)
        let film = try await fixture.film(10)
        let other = try await fixture.film(20)
        try await fixture.play(0..<10, of: film)
        try await fixture.play(0..<10, of: other)
        let now = Int64(time(nil))
        for number in 0..<10 {
            // The higher a piece's number, the earlier its last use. The other film's pieces are in between.
            film.rendition.folder.recordUse(of: "\(number).ts", at: now + Int64(10_000 - 1000 * number))
            other.rendition.folder.recordUse(of: "\(number).ts", at: now + 4500)
        }
        try await fixture.base.restart(.cacheLimit(13_000))
        let known = try #require(fixture.library.asset(id: film.asset.id))
        let restored = (asset: known, rendition: try #require(known.renditions.first))
        try await fixture.isWithinLimit()
        try await waitUntil("the limit") { fixture.base.folder.files().filter { $0.hasSuffix(".ts") }.count == 13 }
        // Pieces 6 to 9 were used before the other film's pieces, of which three are evicted.
        try await fixture.settles(0..<6, of: restored)
        #expect(fixture.base.log.lines.contains { $0.contains("play-cache") })
        #expect(fixture.retention.cachedBytes == 13_000)
    }

    @Test func recordsALaterUseOnceAnHour() async throws {
        let fixture = try await PlayCacheFixture(pieces: nil)
        let film = try await fixture.film()
        try await fixture.play([0], of: film)
        film.rendition.folder.recordUse(of: "0.ts", at: 1_000_000_000)
        film.rendition.folder.recordUse(of: "1.ts", at: 1_000_000_000)  // Not stored, so ignored.
        let path = fixture.base.folder.path("assets/\(film.asset.id)/media/0.ts")
        func times() throws -> (used: Int, written: Int) {
            var status = stat()
            try #require(stat(path, &status) == 0)
            return (status.st_atim.tv_sec, status.st_mtim.tv_sec)
        }
        let (used, written) = try times()
        #expect(used == 1_000_000_000 && written > 1_000_000_000)
        try await fixture.base.restart()
        let asset = try #require(fixture.library.assets.first)
        let folder = try #require(asset.renditions.first).folder
        let copy = fixture.base.folder.path("assets/\(asset.id)/media/0.ts")
        var status = stat()
        close(try #require(folder.open("0.ts")))
        #expect(folder.cachedBytes == 0)  // The folder has not been read.
        #expect(folder.bytes == 1000 && folder.cachedBytes == 1000)
        close(try #require(folder.open("0.ts")))
        try #require(stat(copy, &status) == 0)
        #expect(status.st_mtim.tv_sec == written)
    }
}
