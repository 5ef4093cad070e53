import Assets
import EventLoop
import Foundation
import HTTPMessage
import Orders
import Retention
import Store
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Responses to players for expired and revoked keys.
@Suite @LoopActor struct KeyExpiryTests {
    private let clock = TestClock()
    private let fixture: TestHouse

    init() async throws { fixture = try await TestHouse(.clock(clock), .playback()) }

    /// Plays one rendition of `aes` completely, so that it is stored. Returns the paths of its session, with the keys.
    private func played() async throws -> [String] {
        let paths = try await fixture.media(fixture.typed("/aes/master.m3u8"))
        for path in paths {
            #expect(try await fixture.get(path).status == 200)
        }
        #expect(try fixture.asset("aes").isPlayableOffline)
        return paths
    }

    /// The path in an unknown session.
    private func stranger(_ path: String) -> String {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        return (parts[..<3] + ["azzzzz"] + parts[4...]).joined(separator: "/")
    }

    @Test func newSessionsAreRefusedAndCurrentOnesPlayToTheEnd() async throws {
        let early = try await played()
        let asset = try fixture.asset("aes")
        let key = try #require(early.first { $0.hasSuffix("/0.key") })
        let waiting = try await fixture.media("/offline/aes.m3u8")
        let lists = try await fixture.entry("/offline/aes.m3u8")
        try await fixture.retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        clock.advance(by: 60)
        for path in ["/offline/aes.m3u8", lists[0], try #require(waiting.first { $0.hasSuffix(".key") })] {
            let answer = try await fixture.get(path)
            #expect(answer.status == 410 && answer.text.contains("renew with: weir keys aes --renew"), "\(answer.text)")
        }
        try await fixture.origin.clearRequests()
        #expect(try await fixture.get(key).status == 200)
        #expect(try await fixture.mediaPaths().isEmpty)
        // Media is served to every session, since it is useless without the key.
        #expect(try await fixture.get(stranger(try #require(early.last))).status == 200)
        try await fixture.library.keys.renew(of: asset)
        #expect(try await fixture.get("/offline/aes.m3u8").status == 200)
        #expect(try await fixture.get(stranger(key)).status == 200)
        #expect(try await fixture.mediaPaths().count == 3)
    }

    /// Stored media stands in for an entry that fails, but not with a key whose time is over.
    @Test func anExpiredKeyIsTheAnswerWhereTheEntryFails() async throws {
        _ = try await played()
        let asset = try fixture.asset("aes")
        try await fixture.origin.add(OriginRule("*.m3u8") { $0.status = 500 })
        let entries = ["/aes.m3u8", "/auto/aes.m3u8", fixture.typed("/aes/master.m3u8")]
        for entry in entries {
            #expect(try await fixture.get(entry).status == 200)
        }
        try await fixture.retention.setPolicy(StoragePolicy(keys: KeyTerms(lifetime: 60)), of: asset)
        clock.advance(by: 60)
        for entry in entries {
            let answer = try await fixture.get(entry)
            #expect(answer.status == 410 && answer.text.contains("weir keys aes --renew"), "\(entry): \(answer.text)")
        }
    }

    @Test func onlineSessionsGetTheOriginsKeyWhichIsNotStored() async throws {
        let early = try await played()
        let asset = try fixture.asset("aes")
        let key = try #require(early.first { $0.hasSuffix("/0.key") })
        try await fixture.library.keys.setExpiry(clock.date + 10, ofKeys: [0], of: asset)
        clock.advance(by: 10)
        #expect(try await fixture.get(fixture.typed("/aes/master.m3u8")).status == 200)
        try await fixture.origin.clearRequests()
        #expect(try await fixture.get(stranger(key)).body == Repository.fixture("/aes/keys/0.key"))
        #expect(try await fixture.mediaPaths() == ["/aes/keys/0.key"])
        #expect(!asset.isPlayableOffline)
        fixture.library.mode = .offline
        #expect(try await fixture.get(stranger(key)).status == 410)
    }

    @Test func aRevokedKeyIsNotServedOffline() async throws {
        let early = try await played()
        let asset = try fixture.asset("aes")
        let key = try #require(early.first { $0.hasSuffix("/0.key") })
        // The copy in memory is not served either.
        #expect(try await fixture.get(key).status == 200)
        try await fixture.library.keys.revoke(of: asset)
        fixture.library.mode = .offline
        #expect(try await fixture.get(key).status == 410)
        #expect(try await fixture.get(stranger(key)).status == 410)
        let answer = try await fixture.get("/aes.m3u8")
        #expect(answer.status == 410 && answer.text.contains("were revoked"), "\(answer.text)")
        fixture.library.mode = .auto
        try await fixture.origin.add(OriginRule("*/0.key") { $0.status = 403 })
        #expect(try await fixture.get(stranger(key)).status == 502)
        try await fixture.origin.clearRules()
        // A key that differs from the stored one is not used.
        try await fixture.origin.add(OriginRule("*/0.key") { ($0.status, $0.body) = (200, "sixteen bytes it") })
        let other = try await fixture.get(stranger(key))
        #expect(other.status == 502 && other.text.contains("another key"), "\(other.text)")
    }

    @Test func aKeyWindowBeginsWithTheFirstSegment() async throws {
        _ = try await played()
        let asset = try fixture.asset("aes")
        // Long after the last session.
        clock.advance(by: 100_000)
        try await fixture.retention.setPolicy(StoragePolicy(keys: KeyTerms(afterFirstPlay: 3600)), of: asset)
        let paths = try await fixture.media("/offline/aes.m3u8")
        #expect(asset.keys.life(of: 0).firstPlayed == nil)
        #expect(try await fixture.get(try #require(paths.first { $0.hasSuffix(".ts") })).status == 200)
        #expect(fixture.library.keys.reports(of: asset)[0].expiration == clock.date + 3600)
        clock.advance(by: 3600)
        #expect(try await fixture.get("/offline/aes.m3u8").status == 410)
    }
}
