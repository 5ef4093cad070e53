import EventLoop
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Assets opened by a client on the network: they may not use private addresses until the user gives the URL.
@Suite @LoopActor struct StrangerTests {
    private static let path = "/ts/master.m3u8"

    /// An asset in the state after a restart, as if its host had been a public one when it was opened.
    private func restarted() async throws -> (fixture: TestHouse, asset: Asset) {
        let fixture = try await TestHouse()
        let url = try fixture.url(Self.path)
        let asset = Asset(
            id: "film-0000", name: "film", title: nil, origin: url, access: OriginAccess(to: url, namesPeer: false),
            created: 1, store: fixture.library.store)
        let text = Array(try Repository.fixture(Self.path))
        guard case .multivariant(let playlist) = try Playlist.parse(text) else { throw LibraryError(.notPlaylist, "") }
        asset.adopt(playlist, base: url)
        fixture.library.register(asset)
        await fixture.library.records.saveNew(asset)
        return (fixture, try await again(fixture))
    }

    private func again(_ fixture: TestHouse) async throws -> Asset {
        try await fixture.restart()
        return try #require(fixture.library.asset(at: try fixture.url(Self.path)))
    }

    /// True if a playlist of the asset's private origin is refused without a request.
    private func isRefused(_ id: String, of asset: Asset, _ fixture: TestHouse) async throws -> Bool {
        try await fixture.origin.clearRequests()
        let code = await code { _ = try await fixture.rendition(id, of: asset) }
        let paths = try await fixture.origin.requests().map(\.path)
        #expect((code == nil) == (paths == ["/ts/\(id.dropFirst(6))/media.m3u8"]), "\(paths)")
        return code == .refusedURL && paths.isEmpty
    }

    @Test func privateAddressesStayForbiddenAfterARestart() async throws {
        var (fixture, asset) = try await restarted()
        #expect(try await isRefused("video-90p", of: asset, fixture))
        // A rename, or another request from the network, changes nothing.
        try await fixture.library.rename(asset, to: "other")
        #expect(try await fixture.library.open(asset.origin, isUsers: false) === asset)
        asset = try await again(fixture)
        #expect(asset.name == "other")
        #expect(try await isRefused("video-90p", of: asset, fixture))
    }

    @Test func theUsersURLPermitsPrivateAddressesPermanently() async throws {
        var (fixture, asset) = try await restarted()
        #expect(try await fixture.library.open(asset.origin) === asset)
        #expect(try await !isRefused("video-90p", of: asset, fixture))
        asset = try await again(fixture)
        #expect(try await !isRefused("video-180p", of: asset, fixture))
    }

    @Test func anEntryInTheStreamsFileCountsAsTheUsersURL() async throws {
        let (fixture, asset) = try await restarted()
        fixture.library.streams = [try #require(KnownStream(name: "mine", title: nil, url: asset.origin))]
        #expect(try await fixture.library.open(asset.origin, isUsers: false) === asset)
        #expect(try await !isRefused("video-90p", of: asset, fixture))
    }

    @Test func theUsersURLWithAnotherTokenCountsToo() async throws {
        var (fixture, asset) = try await restarted()
        // Simulates an asset whose ended playlist was fetched while the host was a public one.
        _ = try await fixture.library.open(asset.origin)
        try await fixture.fetch("video-90p", of: asset)
        var record = asset.record
        record.fromNetwork = true
        try await fixture.library.store.catalogue.save(.init(assets: [record]))
        asset = try await again(fixture)
        #expect(try await isRefused("video-180p", of: asset, fixture))
        let url = try fixture.url(Self.path + "?token=2")
        #expect(try await fixture.library.open(url) === asset)
        #expect(asset.origin == url)
        #expect(try await !isRefused("video-180p", of: asset, fixture))
        try await fixture.restart()
        let later = try #require(fixture.library.asset(at: url))
        #expect(try await !isRefused("video-270p", of: later, fixture))
    }

    @Test func aRevisionHasTheSameRights() async throws {
        let (fixture, asset) = try await restarted()
        var revision = asset.record
        revision.id = "film-0001"
        revision.revises = asset.id
        try await fixture.library.store.catalogue.save(.init(assets: [revision]))
        let former = try await again(fixture)
        #expect(try await fixture.library.open(former.origin) === former)
        #expect(former.revision?.access === former.access)
        let later = try await again(fixture)
        #expect(later.revision?.access.namesPeer == true)
    }
}
