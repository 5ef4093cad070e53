import EventLoop
import Extras
import Foundation
import HLS
import HTTPMessage
import Origin
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// The user's own header fields: which requests have them, and where they are stored.
@Suite @LoopActor struct UserFieldsTests {
    private static let secret = "session=tr0ub4dor"
    private static let name = "cookie"

    private func fields(_ value: String = secret) throws -> UserFields { try UserFields(["Cookie: \(value)"]) }

    /// True if each request had the field; nil if there were no requests.
    private func had(_ origin: TestOrigin, _ value: String = secret) async throws -> Bool? {
        let requests = try await origin.requests()
        return requests.isEmpty ? nil : requests.allSatisfy { $0.headers[Self.name] == value }
    }

    private func gave(_ origin: TestOrigin) async throws -> [String] {
        try await origin.requests().filter { $0.headers[Self.name] != nil }.map(\.path)
    }

    @Test func fieldsAreSentWithEveryRequestForTheAsset() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("/redirected/*") { $0.redirect = "/aes/master.m3u8" })
        let asset = try await fixture.library.open(fixture.url("/redirected/master.m3u8"), fields: fields())
        try await fixture.fetch("video-90p", of: asset)
        let paths = Set(try await fixture.origin.requests().map(\.path))
        #expect(paths.isSuperset(of: ["/aes/master.m3u8", "/aes/90p/media.m3u8", "/aes/90p/0.ts"]))
        #expect(paths.contains { $0.hasSuffix(".key") })
        #expect(try await had(fixture.origin) == true)
    }

    @Test func aUserAgentFieldReplacesWeirsOwnForThisAssetOnly() async throws {
        let fixture = try await TestHouse()
        let other = try await TestOrigin()
        let url = other.url("/ts/master.m3u8")
        try await fixture.origin.add(OriginRule("/agent/master.m3u8") { $0.redirect = url })
        let agent = try UserFields(["User-Agent: Box/2"])
        await #expect(throws: LibraryError.self) {
            try await fixture.library.open(fixture.url("/agent/master.m3u8"), fields: agent)
        }
        #expect(try await fixture.origin.requests().map { $0.headers["user-agent"] } == ["Box/2"])
        #expect(try await other.requests().isEmpty, "a private address that nobody named")
    }

    /// The address guard refuses the other ports as well. The tests of requests show that fields would not go to public
    /// ports either.
    @Test func fieldsAreNotSentToOtherPorts() async throws {
        let fixture = try await TestHouse()
        let other = try await TestOrigin()
        // Another name for the same address is another origin.
        let host = "http://localhost:\(fixture.origin.port)"
        let media =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(host)/aes/90p/0.key\"\n#EXTINF:2,\n"
            + "\(host)/ts/90p/0.ts\n#EXTINF:2,\n\(other.url("/ts/90p/1.ts"))\n#EXTINF:2,\n/moved/2.ts\n#EXTINF:2,\n"
            + "/aes/90p/3.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(
            OriginRule("/film.m3u8") { ($0.status, $0.body) = (200, media) },
            OriginRule("/moved/2.ts") { $0.redirect = "\(host)/ts/90p/2.ts" })
        let asset = try await fixture.library.open(fixture.url("/film.m3u8"), fields: fields())
        let rendition = try await fixture.rendition("media", of: asset)
        for number in 0..<4 {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            _ = await fetch.result()
            fetch.release()
        }
        let given = try await gave(fixture.origin)
        #expect(given == ["/film.m3u8", "/moved/2.ts", "/aes/90p/3.ts"])
        #expect(try await other.requests().isEmpty)
    }

    @Test func interstitialsGetFieldsAtTheAssetsOriginOnly() async throws {
        let fixture = try await TestHouse()
        let text =
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-DATERANGE:ID=\"1\",START-DATE=\"2026-01-01T00:00:00Z\","
            + "X-ASSET-URI=\"/ts/master.m3u8\"\n#EXTINF:2,\n/ts/90p/0.ts\n#EXT-X-ENDLIST\n"
        try await fixture.origin.add(OriginRule("/film.m3u8") { ($0.status, $0.body) = (200, text) })
        let asset = try await fixture.library.open(fixture.url("/film.m3u8"), fields: fields())
        let name = asset.content.interstitials.name(try fixture.url("/ts/master.m3u8"), .presentation)
        _ = try await fixture.library.interstitials.presentation(name, of: asset, query: nil)
        #expect(try await fixture.origin.requests().map(\.path) == ["/film.m3u8", "/ts/master.m3u8"])
        #expect(try await had(fixture.origin) == true)
    }

    @Test func fieldsAreStoredInTheCatalogueOnly() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.library.open(fixture.url("/ts/master.m3u8"), title: "A film", fields: fields())
        try await fixture.fetch("video-90p", of: asset)
        fixture.library.publish(asset)
        let files = fixture.folder.files().filter { !$0.hasPrefix("catalogue") }
        #expect(files.contains { $0.hasSuffix("asset.json") } && files.contains { $0.hasSuffix("media.m3u8") })
        for file in files {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.folder.path(file)))
            #expect(bytes.range(of: Data(Self.secret.utf8)) == nil, "\(file)")
        }
        for file in fixture.folder.files() where file.hasPrefix("catalogue") {
            let mode = try FileManager.default.attributesOfItem(atPath: fixture.folder.path(file))[.posixPermissions]
            #expect(mode as? Int == 0o600, "\(file)")
        }
        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "master") ?? fixture.library.assets.first)
        #expect(try again.fields == fields())
        try await fixture.origin.clearRequests()
        try await fixture.fetch("video-180p", of: again)
        #expect(try await had(fixture.origin) == true)
        #expect(fixture.log.lines.allSatisfy { !$0.contains(Self.secret) })
    }

    @Test func changedFieldsApplyToTheNextRequestAndAreStored() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.library.open(fixture.url("/ts/master.m3u8"), fields: fields("old"))
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.clearRequests()
        try await fixture.library.setFields(fields("new"), of: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
        #expect(try await had(fixture.origin, "new") == true)
        try await fixture.restart()
        let again = try #require(fixture.library.assets.first)
        #expect(try again.fields == fields("new"))
        #expect(try await fixture.library.open(again.origin, fields: UserFields()) === again)
        #expect(again.fields.isEmpty)
        try await fixture.restart()
        #expect(fixture.library.assets.first?.fields.isEmpty ?? false)
    }

    @Test func aConcurrentOpenWithFieldsDoesNotShareARefusal() async throws {
        let fixture = try await TestHouse()
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.hold, $0.times, $0.status) = (true, 1, 401) })
        let url = try fixture.url("/ts/master.m3u8")
        let without = Task { @LoopActor in await code { _ = try await fixture.library.open(url) } }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        let with = Task { @LoopActor in try await fixture.library.open(url, fields: fields()) }
        try await fixture.origin.release()
        #expect(await without.value == .originRefused)
        #expect(try await with.value.fields == fields())
        #expect(try await gave(fixture.origin).count == 1)
    }

    @Test func aPreviewUsesFieldsAndStoresNothing() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.library.preview(fixture.url("/ts/master.m3u8"), fields: fields())
        #expect(try await had(fixture.origin) == true && asset.isPreview && fixture.library.assets.isEmpty)
    }
}
