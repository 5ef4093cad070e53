import EventLoop
import Foundation
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

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

    /// One answer of the origin.
    enum Answer: Sendable {
        case whole
        /// The first bytes, with their number as the length.
        case bytes(Int)
        /// The first bytes in chunks, the last chunk included.
        case chunks(Int)
        /// The first bytes in chunks; then the connection ends.
        case brokenChunks(Int)
    }

    enum Outcome: Sendable {
        /// So many bytes are a piece; nil for the whole.
        case stored(Int?, requests: Int)
        /// The words of the error, if it has some of its own.
        case refused(String?)
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let media: [Media]
        let urgencies: [Fetch.Urgency]
        /// The last one answers all requests that follow.
        let answers: [Answer]
        let outcome: Outcome

        init(
            _ description: String, of media: [Media] = kinds, _ urgencies: [Fetch.Urgency] = [.playback, .background],
            answers: [Answer], _ outcome: Outcome
        ) {
            testDescription = description
            self.media = media
            self.urgencies = urgencies
            self.answers = answers
            self.outcome = outcome
        }
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let row: Row
        let media: Media
        let urgency: Fetch.Urgency
        var testDescription: String { "\(row.testDescription), \(media.testDescription), \(urgency)" }
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

    nonisolated private static let rows = [
        Row("cut once", answers: [.bytes(5001), .whole], .stored(nil, requests: 2)),
        Row("cut by its packager", [.playback], answers: [.bytes(5001)], .stored(5001, requests: 2)),
        Row("cut elsewhere, earlier", [.background], answers: [.bytes(5001), .bytes(4001)], .refused(nil)),
        Row("cut elsewhere, later", [.background], answers: [.bytes(5001), .bytes(5201)], .refused(nil)),
        Row("with a last chunk", of: [stream], answers: [.chunks(5001)], .stored(5001, requests: 1)),
        Row(
            "without a last chunk", of: [stream], [.background], answers: [.brokenChunks(5001)],
            .refused("ended before it was complete")),
    ]

    nonisolated private static var cases: [Case] {
        rows.flatMap { row in
            row.media.flatMap { media in row.urgencies.map { Case(row: row, media: media, urgency: $0) } }
        }
    }

    nonisolated private static func packets(of stream: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: stream.count, by: 188).map { Array(stream[$0..<($0 + 188)]) }
    }

    private func rule(for answer: Answer, of whole: [UInt8], isLast: Bool) -> OriginRule {
        OriginRule("*/0.*s") { rule in
            rule.status = 200
            rule.times = isLast ? nil : 1
            var bytes = whole
            switch answer {
            case .whole: break
            case .bytes(let count): bytes = Array(whole.prefix(count))
            case .chunks(let count):
                bytes = Array(whole.prefix(count))
                rule.chunked = true
            case .brokenChunks(let count):
                rule.chunked = true
                rule.cutAfter = count
                rule.noRanges = true
                rule.noValidators = true
            }
            rule.bodyHex = bytes.map { String(format: "%02x", $0) }.joined()
        }
    }

    @Test(arguments: cases)
    func aBodyThatEndsInsideItsMedia(_ test: Case) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open(test.media.playlist)
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let whole = try test.media.bytes()
        let answers = test.row.answers
        for (number, answer) in answers.enumerated() {
            try await fixture.origin.add(rule(for: answer, of: whole, isLast: number == answers.count - 1))
        }

        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: test.urgency)
        defer { fetch.release() }
        let result = await fetch.result()

        switch test.row.outcome {
        case .stored(let count, let requests):
            #expect(fetch.isPiece && fetch.bytes == Array(whole.prefix(count ?? whole.count)), "\(result)")
            let paths = try await fixture.mediaPaths()
            #expect(paths.count { $0.hasSuffix("/0.ts") || $0.hasSuffix("/0.m4s") } == requests)
        case .refused(let words):
            #expect(result.code == .badOrigin && words.map { "\(result)".contains($0) } ?? true, "\(result)")
            #expect(rendition.folder.sizes.isEmpty)
        }
    }

    /// By HTTP/2 the end of the stream proves the length at once. A stream without its end is asked for once more, by HTTP/1.1.
    @Test(
        arguments: [
            (["--only"], "", true, ["h2"]), ([], "&noend=1", true, ["h2", "http/1.1"]),
            (["--only"], "&noend=1", false, nil),
        ] as [([String], String, Bool, [String]?)])
    func aStreamThatEndsInsideItsMedia(
        options: [String], query: String, isStored: Bool, protocols: [String]?
    ) async throws {
        let origin = try await HTTP2Origin(options)
        let fixture = try await TestHouse(.authority(origin.authority))
        let playlist =
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts?packets=1&size=5001&noranges=1\(query)\n#EXT-X-ENDLIST\n"
        let text = try #require(playlist.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        let asset = try await fixture.library.open(try WebURL("\(origin.url)/media.m3u8?text=\(text)"))
        let rendition = try await fixture.rendition("media", of: asset)

        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        defer { fetch.release() }
        let result = await fetch.result()

        #expect(fetch.isPiece == isStored, "\(result)")
        if isStored {
            #expect(fetch.bytes == HTTP2Origin.packets(5001))
        }
        // A comparison of the first bytes is no part of the fetch.
        let requests = try await origin.statistics().requests.filter {
            $0.target.hasPrefix("/0.ts") && $0.range.isEmpty
        }
        if let protocols {
            #expect(requests.map(\.protocolName) == protocols)
        }
    }

    /// An origin that answers ranges is asked for the last bytes alone. The first answer ends inside a packet; all do, or only
    /// that one.
    @Test(arguments: [true, false], [Fetch.Urgency.playback, .background])
    func theRestIsEnough(_ isAlways: Bool, _ urgency: Fetch.Urgency) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_vod/2x300000/media.m3u8")
        let rendition = try await fixture.rendition("media", of: asset)
        try await fixture.origin.add(
            OriginRule("*/0.ts") { ($0.truncate, $0.times) = (200_001, isAlways ? nil : 1) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: urgency)
        defer { fetch.release() }
        try await fetch.end()
        #expect(fetch.isPiece && fetch.written == (isAlways ? 200_001 : 300_000))
        let path = "/_vod/2x300000/0.ts"
        #expect(try await fixture.origin.requests(for: path).map(\.range) == [nil, "bytes=134465-"])
        try await fixture.origin.clearRules()
        let whole = try await HTTPProbe.fetch(fixture.origin.url(path)).body
        #expect(fetch.bytes == Array(whole.prefix(Int(fetch.written))))
    }

    /// Nothing is stored of a live stream, so that a wrong length does no harm that lasts.
    @Test func whatIsNotStoredIsNotAskedForTwice() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_live/a/media.m3u8")
        let rendition = try await fixture.rendition("media", of: asset)
        try await fixture.origin.add(OriginRule("*.ts") { $0.truncate = 5001 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        defer { fetch.release() }
        try await fetch.end()
        #expect(fetch.written == 5001)
        #expect(try await fixture.mediaRequests().count == 1)
    }
}
