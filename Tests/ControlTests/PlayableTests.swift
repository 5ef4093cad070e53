import EventLoop
import Foundation
import Orders
import Retention
import TestRooms
import TestSupport
import Testing
import WeirAPI

@testable import Assets
@testable import Control

/// The question of a command before it starts a player.
@Suite @LoopActor struct PlayableTests {
    private let house: TestHouse
    private let service: LibraryService
    private var origin: TestOrigin { house.origin }

    init() async throws {
        house = try await TestHouse(.downloader())
        service = LibraryService(of: house)
    }

    private func ask(
        _ source: String, choosing selection: Selection = Selection(), isOffline: Bool = false
    ) async throws(APIError) -> API.Presentation {
        try await service.playable(API.DownloadRequest(source: source, selection), isOffline: isOffline)
    }

    private func code(
        _ source: String, choosing selection: Selection = Selection(), isOffline: Bool = false
    ) async -> APIError.Code? {
        do throws(APIError) {
            _ = try await ask(source, choosing: selection, isOffline: isOffline)
            return nil
        } catch {
            return error.code
        }
    }

    /// Downloads a fixture.
    private func save(_ fixture: String, _ quality: Selection.Quality = .worst) async throws {
        var request = API.DownloadRequest(source: origin.master(fixture), Selection(quality: quality))
        request.name = fixture
        let download = try await service.download(request)
        try await waitUntil("the end of the download") {
            try await service.download(id: download.id).state == .complete
        }
    }

    @Test func aStreamThatPlaysIsOpenedAndNothingOfItIsFetched() async throws {
        #expect(try await ask(origin.master("ts")).name == "ts")
        #expect(try await ask("ts").tracks.variants.count == 3)
        #expect(try await house.mediaRequests() == [])
        let mistyped = await #expect(throws: APIError.self) { try await ask("TS") }
        #expect(mistyped?.message == "there is no asset named TS; did you mean ts?")
    }

    @Test func whatDoesNotPlayHasTheErrorOfADownloadAndLeavesNothing() async throws {
        let protected = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery"
            #EXTINF:2,
            0.ts
            #EXT-X-ENDLIST

            """
        try await origin.add(OriginRule("/drm.m3u8") { ($0.status, $0.body) = (200, protected) })
        let paths = ["/nothing.m3u8", "/ts/90p/0.ts", "/drm.m3u8"]
        for source in paths.map({ origin.url($0) }) + ["ftp://host/a.m3u8"] {
            var refusal: APIError?
            do throws(APIError) {
                _ = try await service.download(API.DownloadRequest(source: source))
            } catch {
                refusal = error
            }
            let wanted = try #require(refusal)
            let error = await #expect(throws: APIError.self) { try await ask(source) }
            #expect(error?.code == wanted.code && error?.message == wanted.message && error?.next == wanted.next)
        }
        #expect(house.library.assets.isEmpty)
    }

    @Test func aChoiceThatLeavesNothingIsRefused() async throws {
        #expect(await code(origin.master("ts"), choosing: Selection(quality: .height(4320))) == .noMatch)
        #expect(house.library.assets.isEmpty)
        #expect(await code(origin.master("ts"), choosing: Selection(quality: .worst)) == nil)
    }

    @Test func withoutTheNetworkItPlaysWhatIsStored() async throws {
        let url = origin.master("ts")
        #expect(await code(url, isOffline: true) == .noSuchAsset)
        _ = try await ask(url)
        #expect(await code(url, isOffline: true) == .offline)
        try await save("ts")
        let other = await #expect(throws: APIError.self) {
            try await ask("ts", choosing: Selection(quality: .best), isOffline: true)
        }
        #expect(other?.code == .offline)
        #expect(other?.message.hasPrefix("nothing of that choice is completely stored of ts") ?? false)
        #expect(await code("ts", choosing: Selection(quality: .best)) == nil)
        try await origin.stop()
        for isOffline in [false, true] {
            #expect(await code("ts", isOffline: isOffline) == nil)
            #expect(await code(url, isOffline: isOffline) == nil)
        }
    }

    /// The first variant of the playlist is another one, of which nothing is known.
    @Test func aSilentOriginDelaysNothingThatIsStored() async throws {
        try await save("ts", .best)
        try await house.restart(.downloader())
        try await origin.add(OriginRule("*") { $0.hold = true })
        try await origin.clearRequests()
        let service = LibraryService(of: house)
        _ = try await service.playable(API.DownloadRequest(source: "ts"), isOffline: false)
        #expect(try await origin.requests().isEmpty)
    }

    @Test func anAbsentOriginIsToldBeforeAPlayerWaitsForIt() async throws {
        _ = try await ask(origin.master("ts"))
        try await origin.stop()
        house.library.asset(named: "ts")?.entryChecks.latest = nil
        #expect(await code("ts") == .originAbsent)
        #expect(house.library.asset(named: "ts") != nil)
    }

    @Test func whatHasExpiredIsNotPlayed() async throws {
        try await save("ts")
        let asset = try #require(house.library.asset(named: "ts"))
        _ = try await service.setPolicy(StoragePolicy(expires: 1), ofAsset: asset.name)
        #expect(await code("ts") == .expired)
    }
}
