import EventLoop
import Foundation
import Store
import TestSupport
import Testing

@testable import Fetching
@testable import Library

/// Bodies that end inside their media, although their replies are consistent.
@Suite @LoopActor struct CutBodyTests {
    /// Media of a kind, with the presentation in which it is the first segment.
    struct Media: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let playlist: String
        let path: String
        /// Makes the media of the fixture.
        var change: @Sendable ([UInt8]) -> [UInt8] = { $0 }

        func bytes() throws -> [UInt8] { change(Array(try Repository.fixture(path))) }
    }

    nonisolated private static let stream = Media(
        testDescription: "packets", playlist: "/ts/master.m3u8", path: "/ts/90p/0.ts")

    nonisolated private static let kinds = [
        stream,
        Media(testDescription: "packets of 192 bytes", playlist: "/ts/master.m3u8", path: "/ts/90p/0.ts") {
            packets(of: $0).flatMap { [0, 1, 2, 3] + $0 }
        },
        Media(testDescription: "packets of 204 bytes", playlist: "/ts/master.m3u8", path: "/ts/90p/0.ts") {
            packets(of: $0).flatMap { $0 + [UInt8](repeating: 0xEE, count: 16) }
        },
        Media(testDescription: "packets behind other bytes", playlist: "/ts/master.m3u8", path: "/ts/90p/0.ts") {
            [UInt8](repeating: 0xAA, count: 100) + $0
        },
        Media(testDescription: "frames of sound", playlist: "/ts/master.m3u8", path: "/audio/high/0.aac"),
        Media(testDescription: "boxes", playlist: "/cmaf/master.m3u8", path: "/cmaf/video-90p/0.m4s"),
        Media(testDescription: "ciphertext in blocks", playlist: "/aes/master.m3u8", path: "/aes/90p/0.ts"),
    ]

    nonisolated private static func packets(of stream: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: stream.count, by: 188).map { Array(stream[$0..<($0 + 188)]) }
    }

    private func start(_ media: Media) async throws -> (LibraryFixture, Asset, Rendition) {
        let fixture = try await LibraryFixture()
        let asset = try await fixture.open(media.playlist)
        return (fixture, asset, try await fixture.rendition("video-90p", of: asset))
    }

    /// The answers to the requests for the first segment, the last one to all that follow.
    private func answer(_ fixture: LibraryFixture, with bodies: [[UInt8]], isChunked: Bool = false) async throws {
        for (number, body) in bodies.enumerated() {
            let digits = body.map { String(format: "%02x", $0) }.joined()
            let rule = OriginRule("*/0.*s") { rule in
                rule.status = 200
                rule.bodyHex = digits
                rule.chunked = isChunked ? true : nil
                rule.times = number < bodies.count - 1 ? 1 : nil
            }
            try await fixture.origin.add(rule)
        }
    }

    private func count(_ fixture: LibraryFixture) async throws -> Int {
        try await fixture.mediaRequests().count { $0.hasSuffix("/0.ts") || $0.hasSuffix("/0.m4s") }
    }

    @Test(arguments: kinds, [Fetch.Urgency.playback, .background])
    func aBodyThatSeemsCutIsAskedForOnceMore(_ media: Media, _ urgency: Fetch.Urgency) async throws {
        let (fixture, asset, rendition) = try await start(media)
        let whole = try media.bytes()
        try await answer(fixture, with: [Array(whole.prefix(5001)), whole])
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: urgency)
        try await fetch.end()
        #expect(fetch.isPiece && fetch.bytes == whole)
        #expect(try await count(fixture) == 2)
        fetch.release()
    }

    @Test(arguments: kinds)
    func aBodyThatItsPackagerCutIsStored(_ media: Media) async throws {
        let (fixture, asset, rendition) = try await start(media)
        let cut = Array(try media.bytes().prefix(5001))
        try await answer(fixture, with: [cut])
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.isPiece && fetch.bytes == cut)
        #expect(try await count(fixture) == 2)
        fetch.release()
    }

    @Test(arguments: kinds, [4001, 5201])
    func aBodyThatIsCutElsewhereTheNextTimeIsNotStored(_ media: Media, _ other: Int) async throws {
        let (fixture, asset, rendition) = try await start(media)
        let whole = try media.bytes()
        try await answer(fixture, with: [Array(whole.prefix(5001)), Array(whole.prefix(other))])
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        let result = await fetch.result()
        #expect(result.code == .badOrigin && "\(result)".contains("ends inside its media"), "\(result)")
        #expect(rendition.folder.sizes.isEmpty)
        fetch.release()
    }

    /// An origin that answers ranges is asked for the last bytes alone. The first answer ends inside a packet; all do, or only
    /// that one.
    @Test(arguments: [true, false], [Fetch.Urgency.playback, .background])
    func theRestIsEnough(_ isAlways: Bool, _ urgency: Fetch.Urgency) async throws {
        let fixture = try await LibraryFixture()
        let asset = try await fixture.open("/_vod/2x300000/media.m3u8")
        let rendition = try await fixture.rendition("media", of: asset)
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.truncate, $0.times) = (200_001, isAlways ? nil : 1) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: urgency)
        try await fetch.end()
        #expect(fetch.isPiece && fetch.written == (isAlways ? 200_001 : 300_000))
        let path = "/_vod/2x300000/0.ts"
        #expect(try await fixture.origin.requests(for: path).map(\.range) == [nil, "bytes=134465-"])
        try await fixture.origin.clearRules()
        let whole = try await HTTPProbe.fetch(fixture.origin.url(path)).body
        #expect(fetch.bytes == Array(whole.prefix(Int(fetch.written))))
        fetch.release()
    }

    @Test func theLastChunkProvesTheLength() async throws {
        let (fixture, asset, rendition) = try await start(Self.stream)
        let cut = Array(try Self.stream.bytes().prefix(5001))
        try await answer(fixture, with: [cut], isChunked: true)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.isPiece && fetch.bytes == cut)
        #expect(try await count(fixture) == 1)
        fetch.release()
    }

    @Test func chunksWithoutTheLastProveNothing() async throws {
        let (fixture, asset, rendition) = try await start(Self.stream)
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.chunked, $0.cutAfter, $0.noRanges, $0.noValidators) = (true, 5001, true, true) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        #expect(await fetch.result().code == .badOrigin)
        #expect(rendition.folder.sizes.isEmpty)
        fetch.release()
    }

    /// Nothing is stored of a live stream, so that a wrong length does no harm that lasts.
    @Test func whatIsNotStoredIsNotAskedForTwice() async throws {
        let fixture = try await LibraryFixture()
        let asset = try await fixture.open("/_live/a/media.m3u8")
        let rendition = try await fixture.rendition("media", of: asset)
        try await fixture.origin.add(OriginRule("*.ts") { $0.truncate = 5001 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.written == 5001)
        #expect(try await fixture.mediaRequests().count == 1)
        fetch.release()
    }
}
