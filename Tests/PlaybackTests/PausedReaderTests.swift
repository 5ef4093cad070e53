import AccessLog
import Assets
import EventLoop
import Fetching
import Foundation
import Glibc
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import HTTPServer
@testable import Playback
@testable import Playheads

/// Clients that stop reading a segment, for hours by the server's clock, and what they hold meanwhile.
@Suite @LoopActor struct PausedReaderTests {
    private static let size = 24_000_000
    private static let night = Duration.seconds(36_000)
    private static let list = "/_vod/2x\(size)/media.m3u8"

    /// The descriptors of this process for files with this name, deleted or not.
    private static func descriptors(_ name: String, in folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .count { $0.hasPrefix(folder) && $0.contains("/\(name)") }
    }

    private static func isStored(_ file: String, _ fixture: TestHouse) throws -> Bool {
        guard let asset = fixture.library.assets.first else { return false }
        return asset.folders.contains { $0.contains(file) }
    }

    /// Asks for a path, and reads nothing. Returns once the client holds the server up.
    private static func pausedReader(_ path: String, _ fixture: TestHouse) async throws -> RawConnection {
        let before = fixture.heldUp.count
        let connection = try RawConnection(port: fixture.players.port, receiveBuffer: 4096)
        try await connection.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(fixture.players.port)\r\n\r\n")
        try await waitUntil("a reader that is behind") { fixture.heldUp.count == before + 1 }
        return connection
    }

    private static func body(_ connection: RawConnection) async throws -> Data {
        _ = try await connection.receiveHead()
        return try await connection.receive(count: size).bytes
    }

    /// The transfer ends as if nobody were paused, and the one reader of it keeps an open file, as with a stored segment.
    @Test func aPausedReaderOfANewSegmentHoldsItsFileAndNoFetch() async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await fixture.entry(fixture.typed(Self.list))
        let connection = try await Self.pausedReader(paths[0], fixture)
        try await waitUntil("the piece") { try Self.isStored("0.ts", fixture) }
        try await waitUntil("the end of the fetch") {
            try Self.descriptors("0.ts", in: fixture.folder.path) == 1
        }
        fixture.pass(Self.night)
        let plain = try await HTTPProbe.fetch(fixture.origin.url("/_vod/2x\(Self.size)/0.ts"))
        #expect(try await Self.body(connection) == plain.body)
        #expect(try await fixture.origin.requests().count { $0.path.hasSuffix("/0.ts") && !$0.isComparison } == 2)
        try await waitUntil("the end of the reply") { try Self.descriptors("0.ts", in: fixture.folder.path) == 0 }
    }

    /// A download beside it does not wait for a player that waits for nothing but itself.
    @Test func aPausedReaderOfANewSegmentHoldsNoDownloadBack() async throws {
        let clock = TestClock()
        let fixture = try await TestHouse(.clock(clock), .playback())
        let paths = try await fixture.entry(fixture.typed(Self.list))
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = Self.size / 2 })
        let connection = try await Self.pausedReader(paths[0], fixture)
        #expect(fixture.library.playheads.demands(at: clock.instant).waiting.count == 1)
        clock.advance(by: 2)
        try await waitUntil("a half") { try await fixture.origin.load().paused == 1 }
        try await fixture.origin.release()
        try await waitUntil("the piece") { try Self.isStored("0.ts", fixture) }
        try await waitUntil("no wait for the origin") {
            fixture.library.playheads.demands(at: clock.instant).waiting.isEmpty
        }
        clock.advance(by: 60)
        #expect(!fixture.library.playheads.demands(at: clock.instant).isWatched)
        // It is no stall either, and the link was as fast as it was.
        clock.advance(by: 36_000)
        fixture.pass(Self.night)
        #expect(try await Self.body(connection).count == Self.size)
        try await waitUntil("the delivery") {
            fixture.playback.sessions.summaries.first?.bytes.origin == Int64(Self.size)
        }
        let event = try #require(await fixture.playback.sessions.accessEvents(.init()).last)
        #expect(event.stalls == 0 && event.overdue == 0)
        #expect(event.observed.count == 1 && event.observed.seconds == 2)
    }

    @Test func aSessionInWhichNothingHappensForLongDoesNotCount() async throws {
        let clock = TestClock()
        let fixture = try await TestHouse(.clock(clock), .playback())
        let paths = try await fixture.entry(fixture.typed(Self.list))
        let connection = try await Self.pausedReader(paths[0], fixture)
        let sessions = fixture.playback.sessions
        let limit = Duration.seconds(12 * 3600)
        try await waitUntil("the piece") { try Self.isStored("0.ts", fixture) }
        clock.advance(by: 12 * 3600 - 60)
        #expect(sessions.count(withoutSilentFor: limit) == 1)
        clock.advance(by: 120)
        #expect(sessions.count == 1 && sessions.count(withoutSilentFor: limit) == 0)
        #expect(try await Self.body(connection).count == Self.size)
        try await waitUntil("the delivery") { sessions.count(withoutSilentFor: limit) == 1 }
    }

    /// Playback goes on with what the reader had, and the asset's space is known until then.
    @Test func aPausedReaderOfARemovedAssetLosesNothing() async throws {
        let fixture = try await TestHouse(.playback())
        let paths = try await fixture.entry(fixture.typed(Self.list))
        let whole = try await fixture.get(paths[0])
        let connection = try await Self.pausedReader(paths[0], fixture)
        let asset = try #require(fixture.library.assets.first)
        #expect(fixture.players.connections.unreadFiles.map { $0.path.contains("/assets/\(asset.id)/") } == [true])
        #expect(fixture.players.connections.unreadFiles.map(\.isDeleted) == [false])
        _ = try await fixture.library.remove(asset)
        try await waitUntil("the deletion") { fixture.players.connections.unreadFiles.map(\.isDeleted) == [true] }
        #expect(fixture.players.connections.unreadFiles.first.map { $0.bytes >= Self.size } ?? false)
        fixture.pass(Self.night)
        #expect(try await Self.body(connection) == whole.body)
        try await waitUntil("the end of the reply") { fixture.players.connections.unreadFiles.isEmpty }
    }
}
