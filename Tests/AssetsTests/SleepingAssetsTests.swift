import EventLoop
import Fetching
import Foundation
import Glibc
import HLS
import HTTPMessage
import Playheads
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Origin

@Suite @LoopActor struct SleepingAssetsTests {
    /// An origin with so many lone playlists, and a library in which few assets stay awake.
    private func fixture(_ count: Int, segments: Int = 3) async throws -> TestHouse {
        let root = try TemporaryFolder()
        for number in 0..<count {
            let lines = (0..<segments).map { "#EXTINF:2,\nfilm\(number)/segment\($0).ts\n" }.joined()
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n"
            try root.write(Data(text.utf8), to: "film\(number).m3u8")
        }
        let fixture = try await TestHouse(.origin(root))
        fixture.library.sleeping.limit = 2
        return fixture
    }

    @Test func theOneThatWasNotUsedForLongestComesFirst() {
        let start = ContinuousClock.now
        var assets = AwakeAssets()
        assets.limits = (count: 2, size: 100, age: .seconds(10))
        assets.record("a", size: 10, at: start)
        assets.record("b", size: 10, at: start)
        #expect(!assets.isFull(now: start))
        assets.record("a", size: 10, at: start)
        assets.record("c", size: 10, at: start + .seconds(1))
        #expect(assets.isFull(now: start + .seconds(1)))
        #expect(assets.popOldest() == "b")
        #expect(!assets.isFull(now: start + .seconds(1)))
        // Too long, or too large together.
        #expect(assets.isFull(now: start + .seconds(11)))
        assets.record("c", size: 95, at: start + .seconds(1))
        #expect(assets.isFull(now: start + .seconds(1)))
        assets.remove("a")
        #expect(!assets.isFull(now: start + .seconds(1)))
        #expect(assets.popOldest() == "c" && assets.popOldest() == nil && assets.count == 0)
    }

    /// In a debug build, which needs about eight times as long as a release build.
    @Test func anEntryOfThousandsOfVariantsIsPlannedOnAnotherThread() async throws {
        let root = try TemporaryFolder()
        let lines = (0..<10_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + $0)\n\($0).m3u8\n" }
        try root.write(Data("#EXTM3U\n\(lines.joined())".utf8), to: "wide.m3u8")
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        try root.write(Data(media.utf8), to: "short.m3u8")
        let fixture = try await TestHouse(.origin(root))
        fixture.library.sleeping.limit = 0
        let asset = try await fixture.open("/wide.m3u8")
        _ = try await fixture.open("/short.m3u8")
        try await waitUntil("sleep") { asset.isAsleep }
        let longest = await LoopStopwatch.longest { await fixture.library.wake(asset) }
        #expect(asset.renditions.count == 10_000)
        #expect(longest < 0.2)
    }

    @Test func assetsThatNobodyUsesSleep() async throws {
        let fixture = try await fixture(6)
        var assets: [Asset] = []
        for number in 0..<6 {
            assets.append(try await fixture.open("/film\(number).m3u8"))
        }
        try await waitUntil("sleep") { fixture.library.awakeCount <= 2 }
        #expect(assets.map(\.isAsleep) == [true, true, true, true, false, false])
        // All that a list shows of an asset is known, and it is found under its name, id and URL.
        for asset in assets {
            #expect(fixture.library.asset(named: asset.name) === asset)
            #expect(fixture.library.asset(id: asset.id) === asset)
            #expect(fixture.library.asset(at: asset.origin) === asset)
        }
        #expect(assets[0].isAsleep)
        // A use that does not wait.
        #expect(assets[0].duration == 6 && !assets[0].isAsleep)
        let rendition = try #require(assets[0].renditions.first)
        #expect(try fixture.resource(2, of: rendition).url.text.hasSuffix("/film0/segment2.ts"))
        // A player's request.
        await fixture.library.wake(assets[1])
        #expect(!assets[1].isAsleep && assets[1].duration == 6)
        #expect(try await fixture.open("/film2.m3u8") === assets[2])
        #expect(!assets[2].isAsleep)
        // Nothing came from the origin again.
        #expect(try await fixture.origin.requests().count == 6)
        try await waitUntil("sleep") { fixture.library.awakeCount <= 2 }
        _ = try await fixture.library.remove(assets[3])
        #expect(fixture.library.asset(named: assets[3].name) == nil)
    }

    @Test func largePlaylistsAreReadByWorkers() async throws {
        let fixture = try await fixture(1, segments: 5_000)
        let asset = try await fixture.open("/film0.m3u8")
        let files = try #require(asset.renditions.first).segmentFiles
        fixture.library.sleeping.limit = 0
        fixture.library.sleeping.recordUse(of: asset)
        try await waitUntil("sleep") { asset.isAsleep }
        fixture.library.sleeping.limit = 1
        await fixture.library.wake(asset)
        let rendition = try #require(asset.renditions.first)
        #expect(rendition.segmentFiles == files && rendition.source?.preparations != nil)
        #expect(try fixture.resource(4_999, of: rendition).url.text.hasSuffix("/film0/segment4999.ts"))
    }

    @Test func aPresentationKeepsItsRenditionsAndKeys() async throws {
        let fixture = try await TestHouse()
        fixture.library.sleeping.limit = 0
        let asset = try await fixture.open("/aes/master.m3u8")
        let names = asset.renditions.map(\.name.id)
        try await waitUntil("sleep") { asset.isAsleep }
        await fixture.library.wake(asset)
        #expect(asset.renditions.map(\.name.id) == names)
        let rendition = try await fixture.rendition(names[0], of: asset)
        let resource = try fixture.resource(0, of: rendition)
        let keys = asset.keys.allNumbers
        #expect(!keys.isEmpty)
        fixture.library.sleeping.recordUse(of: asset)
        try await waitUntil("sleep") { asset.isAsleep }
        let again = try #require(asset.rendition(names[0]))
        #expect(again !== rendition && again.source?.isDurable == true)
        #expect(try fixture.resource(0, of: again) == resource && asset.keys.allNumbers == keys)
        try await fixture.fetch(names[0], of: asset)
        #expect(again.isComplete)
        try await fixture.restart(.offline)
        let restored = try #require(fixture.library.asset(named: asset.name))
        #expect(restored.rendition(names[0])?.isComplete == true)
    }

    @Test(arguments: [false, true]) func anAssetThatSleepsKeepsItsCookies(inFile: Bool) async throws {
        let fixture = try await TestHouse()
        let folder = try TemporaryFolder()
        if inFile {
            fixture.library.cookieFolder = CookieFolder(folder.path("cookies")) { _ in }
        }
        try await fixture.origin.add(
            OriginRule("/login/master.m3u8") {
                $0.redirect = "/ts/master.m3u8"
                $0.headers = ["Set-Cookie": "a=b; Path=/"]
            })
        fixture.library.sleeping.limit = 0
        let asset = try await fixture.open("/login/master.m3u8")
        try await waitUntil("sleep") { asset.isAsleep }
        // Without a file, only libcurl has the cookies.
        #expect(asset.access.cookies.isOpen == !inFile)
        try await fixture.origin.clearRequests()
        try await fixture.fetch("video-90p", of: asset)
        #expect(Set(try await fixture.origin.requests().map { $0.headers["cookie"] }) == ["a=b"])
    }

    enum Use: CaseIterable { case piece, session, download, recent }

    @Test(arguments: Use.allCases) func anAssetInUseStaysAwake(use: Use) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let downloads = DownloadStub()
        fixture.library.attach(downloads)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        switch use {
        case .piece:
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            try await fetch.end()
            fetch.release()
        case .session:
            _ = try #require(fixture.library.playheads.cursor(of: "aabcde", in: asset, "video-90p"))
        case .download: downloads.kept = asset
        case .recent: fixture.library.sleeping.limit = 1
        }
        if use != .recent {
            fixture.library.sleeping.limit = 0
        }
        fixture.library.sleeping.recordUse(of: asset)
        for _ in 0..<20 {
            await Task { @LoopActor in }.value
        }
        #expect(!asset.isAsleep)
    }

    /// The bytes that the allocator has given out and not got back.
    private static func allocatedBytes() throws -> Int {
        typealias Info = @convention(c) (Int32, UnsafeMutablePointer<FILE>?) -> Int32
        // Its header is not in the module of the C library.
        let found = try #require(dlsym(nil, "malloc_info"))
        let info = unsafeBitCast(found, to: Info.self)
        var text: UnsafeMutablePointer<CChar>? = nil
        var length: Int = 0
        let stream = open_memstream(&text, &length)
        _ = info(0, stream)
        fclose(stream)
        defer { free(text) }
        let totals = String(cString: try #require(text)).components(separatedBy: "</heap>").last ?? ""
        func size(_ type: String) -> Int? {
            let line = totals.split(separator: "\n").first { $0.contains("type=\"\(type)\"") }
            return line.flatMap { Int($0.components(separatedBy: "size=\"")[1].prefix { $0.isNumber }) }
        }
        let sizes = ["current", "mmap", "rest", "fast"].compactMap { size($0) }
        guard sizes.count == 4 else { throw TimedOut("the allocator's counts") }
        return sizes[0] + sizes[1] - sizes[2] - sizes[3]
    }

    /// The memory that each opened URL needs, by the allocator's own count.
    @Test func anOpenedURLCostsLittle() async throws {
        let count = 600
        let fixture = try await fixture(count, segments: 200)
        var before = 0
        for number in 0..<count {
            if number == 200 {
                before = try Self.allocatedBytes()
            }
            _ = try await fixture.open("/film\(number).m3u8")
        }
        try await waitUntil("sleep") { fixture.library.awakeCount <= 2 }
        let bytes = (try Self.allocatedBytes() - before) / (count - 200)
        print("bytes for each opened URL: \(bytes)")
        #expect(bytes < 8_000)
    }
}
