import Dispatch
import EventLoop
import Foundation
import HLS
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct AssetsTests {
    // MARK: Opening

    @Test func aURLBecomesAnAssetWithItsRenditions() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/cmaf/master.m3u8")
        #expect(asset.name == "cmaf")
        #expect(
            asset.renditions.map(\.name.id) == [
                "audio-en", "audio-fr", "subtitles-en", "video-90p", "video-180p", "video-270p", "iframes-90p",
                "iframes-180p", "iframes-270p",
            ])
        #expect(fixture.library.asset(named: "cmaf") === asset)
        #expect(fixture.library.asset(id: asset.id) === asset)
        #expect(fixture.library.asset(at: asset.origin) === asset)
        #expect(try await fixture.origin.requests().map(\.path) == ["/cmaf/master.m3u8"])
    }

    @Test func concurrentOpensOfOneURLMakeOneRequestAndOneAsset() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("/ts/*") { $0.delay = 0.1 })
        let tasks = (0..<20).map { _ in Task { @LoopActor in try await fixture.open("/ts/master.m3u8").id } }
        var ids: Set<String> = []
        for task in tasks {
            ids.insert(try await task.value)
        }
        #expect(ids.count == 1)
        #expect(try await fixture.origin.requests().count == 1)
    }

    @Test func concurrentOpensOfEqualNamesGetDifferentNames() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("/ts/*") { $0.delay = 0.1 })
        async let first = fixture.open("/ts/master.m3u8?a")
        async let second = fixture.open("/ts/master.m3u8?b")
        let names = [try await first.name, try await second.name]
        #expect(names.sorted() == ["ts", "ts-2"])
    }

    @Test(arguments: ["ts", "Not a name"])
    func refusesATakenOrInvalidName(_ name: String) async throws {
        let fixture = try await TestHouse()
        _ = try await fixture.open("/ts/master.m3u8")
        let code = await code { _ = try await fixture.library.open(fixture.url("/aes/master.m3u8"), name: name) }
        #expect(code == .nameTaken)
        #expect(try await fixture.origin.requests().map(\.path) == ["/ts/master.m3u8"])
    }

    @Test(
        arguments: [
            ("/nothing.m3u8", LibraryError.Code.badOrigin), ("/ts/90p/0.ts", .notPlaylist), ("/html", .notPlaylist),
            ("/empty", .notPlaylist), ("/denied", .originRefused), ("/cut", .notPlaylist), ("/slow", .originAbsent),
        ])
    func aBadPlaylistRegistersNoAsset(_ path: String, _ expected: LibraryError.Code) async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(
            OriginRule("/html") { $0.html = true },
            OriginRule("/empty") { ($0.status, $0.body) = (200, "") },
            OriginRule("/denied") { $0.status = 403 },
            OriginRule("/cut") { ($0.status, $0.body, $0.contentLength) = (200, "#EXTM3U\n", 100) },
            OriginRule("/slow") { $0.resetAfter = -1 })
        let code = await code { _ = try await fixture.open(path) }
        #expect(code == expected)
        #expect(fixture.library.assets.isEmpty)
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })
    }

    @Test func offlineRefusesUnknownURLsWithoutARequest() async throws {
        let fixture = try await TestHouse()
        try await fixture.restart(.offline)
        #expect(await code { _ = try await fixture.open("/ts/master.m3u8") } == .notStored)
        #expect(try await fixture.origin.load().accepted == 0)
    }

    @Test func aPreviewLeavesNoTrace() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.library.preview(fixture.url("/ts/master.m3u8"))
        #expect(asset.duration == 12)
        #expect(!asset.isLive)
        #expect(try await fixture.library.preview(fixture.url("/_live/a/media.m3u8")).isLive)
        #expect(fixture.library.assets.isEmpty)
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
    }

    // MARK: Restarts

    @Test func restoresEverythingAfterARestartWithoutTheOrigin() async throws {
        let fixture = try await TestHouse()
        let url = try fixture.url("/aes/master.m3u8")
        var asset = try await fixture.library.open(url, name: "my-film", title: "My film")
        for id in ["video-90p", "video-180p"] {
            _ = try await fixture.rendition(id, of: asset)
        }
        let id = asset.id
        let keys = (0..<3).map { asset.keys.resource($0)?.url.text }
        asset = try await fixture.library.open(fixture.url("/audio/low/media.m3u8"))
        try await fixture.origin.stop()

        try await fixture.restart(.offline)
        #expect(fixture.library.assets.map(\.name) == ["low", "my-film"])
        asset = try #require(fixture.library.asset(at: url))
        #expect(asset.id == id)
        #expect(asset.title == "My film")
        #expect(asset.renditions.map { $0.source != nil } == [true, true])
        #expect((0..<3).map { asset.keys.resource($0)?.url.text } == keys)
        #expect(asset.duration == 12)
        #expect(try #require(fixture.library.asset(named: "low")).duration ?? 0 > 12)
    }

    @Test func aTitleSetLaterIsPersistent() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        _ = try await fixture.rendition("video-90p", of: asset)
        _ = try await fixture.library.open(fixture.url("/ts/master.m3u8"), title: "Title")
        try await fixture.restart()
        #expect(fixture.library.asset(named: "ts")?.title == "Title")
    }

    @Test func anAssetWithoutStoredContentIsForgotten() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_live/a/master.m3u8")
        _ = try await fixture.rendition(asset.renditions[0].name.id, of: asset)
        _ = try await fixture.open("/_live/b/media.m3u8")
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
    }

    @Test func anEndedLoneLiveStreamIsStored() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_event/a/media.m3u8")
        #expect(asset.isLive)
        try await fixture.origin.end("a")
        try await waitUntil("the end") { @LoopActor in
            let answer = try await fixture.library.playlists.refresh(asset)
            return answer == .answered && !asset.isLive
        }
        try await fixture.restart()
        #expect(fixture.library.assets.count == 1)
        #expect(fixture.library.assets.first?.isLive == false)
    }

    @Test func aPlaylistIsPublishedOnlyAfterItsKeyNumbersAreStored() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/aes/master.m3u8")
        let rendition = try #require(asset.rendition("video-90p"))
        let library = fixture.library
        let loading = Task { @LoopActor in try await library.playlists.source(of: rendition, in: asset) }
        try await waitUntil("the playlist in sight") { rendition.source != nil }
        #expect((0..<3).allSatisfy(asset.keys.isSaved))
        #expect(rendition.isSaved)
        _ = try await loading.value
    }

    // MARK: Refreshing

    @Test func limitsTheRateOfReloads() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        for _ in 0..<3 {
            #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        }
        #expect(try await fixture.origin.requests().count == 1)
        asset.entryChecks.latest = nil
        async let first = fixture.library.playlists.refresh(asset)
        async let second = fixture.library.playlists.refresh(asset)
        let answers = [try await first, try await second]
        #expect(answers == [.answered, .answered])
        #expect(try await fixture.origin.requests().count == 2)
    }

    @Test func anAbsentOriginIsAnErrorOnlyWithoutStoredContent() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/audio/master.m3u8")
        try await fixture.origin.stop()
        asset.entryChecks.latest = nil
        let library = fixture.library
        #expect(await code { _ = try await library.playlists.refresh(asset) } == .originAbsent)

        try await fixture.origin.restart()
        try await fixture.fetch("audio", of: asset)
        try await fixture.origin.stop()
        asset.entryChecks.latest = nil
        #expect(try await library.playlists.refresh(asset) == .absent)
        #expect(asset.isPlayableOffline)
    }

    /// An asset with three segments.
    private func partial() async throws -> (TestHouse, Asset) {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        for place in 0..<3 {
            let fetch = try fixture.fetch(place, of: rendition, in: asset)
            try await fetch.end()
            fetch.release()
        }
        return (fixture, asset)
    }

    @Test func whatADownloadWasAnsweredSaysNothingAboutASession() async throws {
        let (fixture, asset) = try await partial()
        let library = fixture.library
        try await library.playlists.loadEntry(of: asset)
        try await fixture.origin.stop()
        #expect(try await library.playlists.refresh(asset) == .absent)
    }

    @Test func aPartialAssetDoesNotWaitLongForASilentOrigin() async throws {
        let (fixture, asset) = try await partial()
        let library = fixture.library
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { $0.hold = true })
        let requests = try await fixture.origin.requests().count
        // A player loads the entry twice. Both get the same answer, from one request.
        for _ in 0..<2 {
            #expect(try await library.playlists.refresh(asset) == .silent)
        }
        #expect(try await fixture.origin.requests().count == requests + 1)
        // It was only slow.
        try await fixture.origin.release()
        try await waitUntil("the late answer") { @LoopActor in
            try await library.playlists.refresh(asset) == .answered
        }
    }

    @Test func aStoredAssetDoesNotWaitLongForASilentOrigin() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/audio/master.m3u8")
        try await fixture.fetch("audio", of: asset)
        try await fixture.origin.add(OriginRule("*") { $0.hold = true })
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .silent)
    }

    @Test func aPlaylistThatIsNoLongerListedIsNotKept() async throws {
        let root = try TemporaryFolder()
        func list(_ height: Int) throws {
            let entry = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=\(height),RESOLUTION=1x\(height)\n\(height).m3u8\n"
            try root.write(Data(entry.utf8), to: "master.m3u8")
        }
        try root.write(Data("#EXTM3U\n#EXTINF:2,\n1.ts\n#EXT-X-ENDLIST\n".utf8), to: "90.m3u8")
        try list(90)
        let fixture = try await TestHouse(.origin(root))
        let asset = try await fixture.open("/master.m3u8")
        let old = try #require(asset.rendition("video-90p"))
        try await fixture.origin.add(OriginRule("/90.m3u8") { $0.hold = true })
        let load = Task { @LoopActor in try await fixture.library.playlists.source(of: old, in: asset) }
        try await waitUntil("the request") { try await fixture.origin.requests(for: "/90.m3u8").count == 1 }
        try list(180)
        asset.entryChecks.latest = nil
        _ = try await fixture.library.playlists.refresh(asset)
        #expect(asset.rendition("video-90p") == nil)
        try await fixture.origin.release()
        await #expect(throws: LibraryError.self) { try await load.value }
        #expect(old.source == nil)
    }

    @Test func anotherChoiceOfRenditionsDoesNotOrphanPieces() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
        for other in ["#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nx\n", "#EXTM3U\n#EXTINF:2,\nx.ts\n#EXT-X-ENDLIST\n"] {
            try await fixture.origin.replaceRules(
                with: OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, other) })
            asset.entryChecks.latest = nil
            #expect(try await fixture.library.playlists.refresh(asset) == .answered)
            #expect(asset.renditions.map(\.name.id) == ["video-90p", "video-180p", "video-270p"])
            #expect(rendition.source?.playlist.segments.count == 6)
        }
    }

    @Test func withoutStoredPiecesTheOriginDecides() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        _ = try await fixture.rendition("video-90p", of: asset)
        let lone = "#EXTM3U\n#EXTINF:2,\nx.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, lone) })
        asset.entryChecks.latest = nil
        #expect(try await fixture.library.playlists.refresh(asset) == .answered)
        #expect(asset.renditions.map(\.name.id) == ["media"])
        try await fixture.restart()
        #expect(fixture.library.assets.first?.renditions.map(\.name.id) == ["media"])
    }

    @Test func aLiveRenditionIsReloadedOnlyWhenDue() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_live/a/master.m3u8")
        let rendition = try await fixture.rendition(asset.renditions[0].name.id, of: asset)
        for _ in 0..<5 {
            _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        }
        #expect(try await fixture.origin.requests(for: "/_live/a/media.m3u8").count == 1)
        try await fixture.origin.advance("a")
        try await waitUntil("the next segment") { @LoopActor in
            try await fixture.library.playlists.source(of: rendition, in: asset).playlist.mediaSequence == 1
        }
    }

    // MARK: Removing

    @Test func aRemovedAssetLeavesDiskAndCatalogue() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/audio/master.m3u8")
        try await fixture.fetch("audio", of: asset)
        let bytes = asset.bytes
        #expect(bytes > 0)
        #expect(try await fixture.library.remove(asset) == bytes)
        #expect(fixture.library.assets.isEmpty)
        try await waitUntil("an empty store") {
            !fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") }
        }
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
    }

    @Test func aRemovalDuringAFetchServesReadersAndStoresNothing() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let read = try fixture.fetch(0, of: rendition, in: asset)
        let unread = try fixture.fetch(1, of: rendition, in: asset)
        try await read.announced()
        try await unread.announced()
        unread.release()
        let other = try #require(asset.rendition("video-180p"))
        try await fixture.origin.add(OriginRule("/ts/180p/*") { $0.delay = 0.2 })
        let library = fixture.library
        let loading = Task { @LoopActor in try await library.playlists.source(of: other, in: asset) }
        try await waitUntil("a request") { try await fixture.origin.requests(for: "/ts/180p/media.m3u8").count == 1 }

        _ = try await library.remove(asset)
        #expect(await unread.result().code == .cancelled)
        try await fixture.origin.release()
        try await read.end()
        #expect(read.bytes == Array(try Repository.fixture("/ts/90p/0.ts")))
        #expect(!read.isPiece)
        #expect(await code { _ = try await loading.value } == .missing)
        #expect(await code { _ = try fixture.fetch(2, of: rendition, in: asset) } == .missing)
        read.release()

        // Another asset takes over the URL.
        let again = try await fixture.open("/ts/master.m3u8")
        #expect(again.id != asset.id)
        #expect(again.bytes == 0)
        try await fixture.restart()
        #expect(fixture.library.assets.isEmpty)
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })
    }
    @Test func workOnARemovedAssetThatHasNotBegunIsDropped() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let gate = DispatchSemaphore(value: 0)
        var tasks: [Task<Bool?, Never>] = []
        for owner in [asset, asset.access, asset.renditions[0]] as [AnyObject] {
            // The first piece of work keeps the second from its turn.
            for _ in 0..<2 {
                let work = Task { @LoopActor in
                    await PureWork.shared.run(size: .max, for: owner) { () -> Bool in
                        gate.wait()
                        gate.signal()
                        return true
                    }
                }
                tasks.append(work)
            }
        }
        await Task { @LoopActor in }.value
        #expect(PureWork.shared.waitingCount(for: asset) == 1)
        _ = try await fixture.library.remove(asset)
        // An owner whose turn had not come has no work any more.
        #expect(PureWork.shared.waitingCount(for: asset) == 0)
        #expect(PureWork.shared.waitingCount(for: asset.access) == 0)
        gate.signal()
        var results: [Bool?] = []
        for task in tasks {
            results.append(await task.value)
        }
        #expect(results[0] == true && results[1] == nil && results[3] == nil && results[5] == nil)
    }

    // MARK: Fetching

    @Test func everyFetchErrorIsAnErrorOfTheLibrary() {
        for code in FetchError.Code.allCases {
            #expect(LibraryError.Code(rawValue: code.rawValue) != nil)
        }
    }

    @Test func piecesWithoutARecordedPlaylistAreNotStored() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/aes/master.m3u8")
        let rendition = try #require(asset.rendition("video-90p"))
        // Simulates a playlist that could not be recorded: after a crash, the numbers of its keys would go to other
        // keys.
        rendition.adopt(
            try RenditionFixture.source(
                "#EXT-X-KEY:METHOD=AES-128,URI=\"../keys/2.key\"\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST",
                base: fixture.origin.url("/aes/90p/media.m3u8")))
        asset.saveFailure = StoreError(.diskFull, path: "catalogue")
        for (folder, resource) in rendition.preliminaries {
            let fetch = try fixture.library.fetch(resource, in: folder, of: asset, urgency: .playback)
            try await fetch.end()
            #expect(fetch.keepFailure?.code == .diskFull)
        }
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.keepFailure?.code == .diskFull)

        // The next request for the playlist records it in the catalogue.
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        #expect(rendition.isSaved && asset.saveFailure == nil)
    }
}
