import EventLoop
import Foundation
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// The rest of a body whose validator is weaker than that of its beginning, from an origin that ignores If-Range.
@Suite @LoopActor struct ResumedBodyTests {
    private static let cut = 200_000

    nonisolated private static let weaker: [[String: String]] = [
        ["ETag": "W/\"size-300000\""], ["ETag": ""],
        ["ETag": "", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:40 GMT"],
    ]

    private func start() async throws -> (TestHouse, Asset, Rendition, String) {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_vod/2x300000/media.m3u8")
        return (fixture, asset, try await fixture.rendition("media", of: asset), "/_vod/2x300000/0.ts")
    }

    private func ranges(_ fixture: TestHouse, _ path: String) async throws -> [String?] {
        try await fixture.origin.requests(for: path).map(\.range)
    }

    @Test(arguments: weaker, [Fetch.Urgency.playback, .background])
    func anOverlapIsCompared(_ headers: [String: String], _ urgency: Fetch.Urgency) async throws {
        let (fixture, asset, rendition, path) = try await start()
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.cutAfter, $0.times) = (Self.cut, 1) },
            OriginRule("*/0.ts") { $0.headers = headers })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: urgency)
        try await fetch.end()
        #expect(fetch.isPiece && fetch.written == 300_000)
        #expect(try await ranges(fixture, path) == [nil, "bytes=200000-", "bytes=134464-"])
        #expect(fetch.bytes == Array(try await HTTPProbe.fetch(fixture.origin.url(path)).body))
        fetch.release()
    }

    @Test(arguments: weaker)
    func otherContentIsNeverJoined(_ headers: [String: String]) async throws {
        let (fixture, asset, rendition, path) = try await start()
        let other = try await HTTPProbe.fetch(fixture.origin.url("/_size/300000-other.ts")).body
        func part(from first: Int, times: Int?) -> OriginRule {
            OriginRule("*/0.ts") { rule in
                rule.status = 206
                rule.bodyHex = other[first...].map { String(format: "%02x", $0) }.joined()
                rule.headers = headers.merging(["Content-Range": "bytes \(first)-299999/300000"]) { $1 }
                rule.times = times
            }
        }
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.cutAfter, $0.times) = (Self.cut, 1) }, part(from: Self.cut, times: 1),
            part(from: Self.cut - 65_536, times: 1))
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        let result = await fetch.result()
        #expect(result.code == .badOrigin && "\(result)".contains("has changed"), "\(result)")
        #expect(rendition.folder.sizes.isEmpty)
        fetch.release()

        let again = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        try await again.end()
        #expect(again.bytes == Array(try await HTTPProbe.fetch(fixture.origin.url(path)).body))
        again.release()
    }

    @Test func theSameStrongValidatorIsEnough() async throws {
        let (fixture, asset, rendition, path) = try await start()
        try await fixture.origin.add(OriginRule("*/0.ts") { ($0.cutAfter, $0.times) = (Self.cut, 1) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(try await ranges(fixture, path) == [nil, "bytes=200000-"])
        fetch.release()
    }

    /// A download that was stopped, and goes on when the file has grown.
    @Test func anotherSizeIsAnotherContent() async throws {
        let (fixture, asset, rendition, path) = try await start()
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.cutAfter, $0.times) = (Self.cut, 1) },
            OriginRule("*/0.ts") { $0.resetAfter = -1 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        #expect(await fetch.result().code != nil)
        #expect(fetch.written == Int64(Self.cut))
        fetch.release()

        try await fixture.origin.clearRules()
        let whole = try await HTTPProbe.fetch(fixture.origin.url(path)).body
        let grown = whole + whole.suffix(188)
        try await fixture.origin.add(
            OriginRule("*/0.ts") { rule in
                rule.status = 206
                rule.bodyHex = grown[Self.cut...].map { String(format: "%02x", $0) }.joined()
                rule.headers = ["Content-Range": "bytes 200000-300187/300188", "ETag": "\"size-300000\""]
                rule.times = 1
            },
            OriginRule("*/0.ts") { rule in
                rule.status = 200
                rule.bodyHex = grown.map { String(format: "%02x", $0) }.joined()
            })
        let again = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        try await again.end()
        #expect(again.bytes == Array(grown))
        // From the beginning.
        #expect(try await ranges(fixture, path).suffix(2).map { $0 == nil } == [false, true])
        again.release()
    }
}
