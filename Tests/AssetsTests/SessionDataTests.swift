import EventLoop
import HLS
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct SessionDataTests {
    private static let variant = "#EXT-X-STREAM-INF:BANDWIDTH=9,RESOLUTION=160x90\n/ts/90p/media.m3u8\n"

    private func put(_ lines: String, _ fixture: TestHouse) async throws {
        let text = "#EXTM3U\n\(lines)\n\(Self.variant)"
        try await fixture.origin.add(OriginRule("/film/master.m3u8") { ($0.status, $0.body) = (200, text) })
    }

    private func names(_ lines: String) async throws -> [String] {
        let fixture = try await TestHouse()
        try await put(lines, fixture)
        let asset = try await fixture.open("/film/master.m3u8")
        let data = try #require(asset.multivariant).sessionData
        return data.map { asset.content.sessionData.name(of: $0)?.description ?? "-" }
    }

    @Test func aNameIdentifiesTheSessionData() async throws {
        let line = { (id: String, rest: String) in "#EXT-X-SESSION-DATA:DATA-ID=\"\(id)\",\(rest)" }
        let names = try await names(
            [
                line("a", "URI=\"x.json?token=1\""), line("a", "URI=\"x.json?token=2\""),
                line("a", "LANGUAGE=\"en\",URI=\"x.json\""), line("b", "URI=\"x.json\""), line("a", "URI=\"y\""),
                line("a", "FORMAT=RAW,URI=\"y.PNG\""), line("a", "FORMAT=RAW,URI=\"y.svg\""),
                line("a", "FORMAT=RAW,URI=\"y.js\""), line("c", "VALUE=\"v\""), line("c", "URI=\"file:///x/\""),
            ].joined(separator: "\n"))
        #expect(names[0] == names[1])
        #expect(Set(names.dropFirst().dropLast(2)).count == 7)
        let extensions = names.map { $0.split(separator: ".").last ?? "" }
        #expect(extensions == ["json", "json", "json", "json", "json", "png", "bin", "bin", "-", "-"])
        for name in names.dropLast(2) {
            #expect(PieceName(name)?.description == name)
        }
    }

    @Test func sessionDataIsFetchedOnceWithTheFirstCompleteRendition() async throws {
        let fixture = try await TestHouse()
        try await put(
            "#EXT-X-SESSION-DATA:DATA-ID=\"a\",URI=\"a.json\"\n#EXT-X-SESSION-DATA:DATA-ID=\"b\",URI=\"b.json\"",
            fixture)
        try await fixture.origin.add(
            OriginRule("/film/a.json") { ($0.status, $0.body) = (200, "{}") },
            OriginRule("/film/b.json") { $0.status = 404 })
        let asset = try await fixture.open("/film/master.m3u8")
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let first = try fixture.fetch(0, of: rendition, in: asset)
        try await first.end()
        first.release()
        #expect(try await fixture.origin.requests().allSatisfy { !$0.path.hasSuffix(".json") })

        try await fixture.fetch("video-90p", of: asset)
        let data = try #require(asset.multivariant).sessionData
        let name = try #require(asset.content.sessionData.name(of: data[0])).description
        try await waitUntil("session data") { asset.content.sessionData.folder.contains(name) }
        #expect(asset.content.storedFile(of: .sessionData(data[0])) == "data/\(name)")
        #expect(asset.content.storedFile(of: .sessionData(data[1])) == nil)
        let known = asset.bytes
        fixture.library.keepSessionData(of: asset)
        #expect(asset.content.sessionData.markUntried().isEmpty)

        // The next process retries failed session data once, as soon as the entry playlist is loaded.
        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "film"))
        #expect(again.bytes == known && again.isPlayableOffline)
        try await fixture.origin.clearRequests()
        _ = try await fixture.library.playlists.refresh(again)
        try await waitUntil("another try") {
            try await fixture.origin.requests().contains { $0.path == "/film/b.json" && $0.state == "done" }
        }
        #expect(try await !fixture.origin.requests().contains { $0.path == "/film/a.json" })
        _ = try await fixture.library.remove(again)
        // Removal moves a bundle out of `assets` at once, and deletes it in the background.
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") })
        try await waitUntil("its end") { !fixture.folder.files().contains { $0.hasSuffix(name) } }
    }
}
