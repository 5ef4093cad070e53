import EventLoop
import Foundation
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// A rendition whose segments are byte ranges of one file, and merged fetches of them.
@LoopActor final class RangedFilm {
    let house: TestHouse
    let asset: Asset
    let rendition: Rendition
    /// The file's bytes.
    let file: Data
    /// The file's path at the origin.
    let path: String

    private init(in house: TestHouse, master: String, path: String) async throws {
        self.house = house
        self.path = path
        asset = try await house.open(master)
        rendition = try await house.rendition("video-90p", of: asset)
        file = try Repository.fixture("/byterange-ts/90p/all.ts")
    }

    /// Six segments, which make up the whole file.
    convenience init(in house: TestHouse) async throws {
        try await self.init(in: house, master: "/byterange-ts/master.m3u8", path: "/byterange-ts/90p/all.ts")
    }

    /// Six segments of a file that two mirrors have.
    convenience init(mirroredIn root: TemporaryFolder) async throws {
        try await self.init(in: TestHouse(.origin(root)), master: "/master.m3u8", path: "/a/90p/all.ts")
    }

    /// A file of `count` segments of `size` bytes.
    init(count: Int, size: Int) async throws {
        house = try await TestHouse()
        let path = "/_size/\(count * size).ts"
        let lines = (0..<count).map { "#EXTINF:2,\n#EXT-X-BYTERANGE:\(size)@\($0 * size)\n\(path)\n" }
        let text = "#EXTM3U\n#EXT-X-VERSION:4\n#EXT-X-TARGETDURATION:2\n" + lines.joined() + "#EXT-X-ENDLIST\n"
        try await house.origin.add(OriginRule("/media.m3u8") { ($0.status, $0.body) = (200, text) })
        asset = try await house.open("/media.m3u8")
        rendition = try await house.rendition("media", of: asset)
        file = try await HTTPProbe.fetch(house.origin.url(path)).body
        self.path = path
        try await house.origin.clearRequests()
    }

    var origin: TestOrigin { house.origin }

    /// The fetches of these segments, requested together.
    func fetches(_ numbers: some Sequence<Int>) throws -> [Fetch] {
        let resources = try numbers.map { try house.resource($0, of: rendition) }
        return try house.library.fetches(resources, in: rendition.folder, of: asset)
    }

    /// A player's fetch of one segment.
    func player(_ number: Int) throws -> Fetch { try house.fetch(number, of: rendition, in: asset) }

    /// The byte range of these segments in the file.
    func range(_ numbers: ClosedRange<Int>) throws -> Range<Int> {
        let first = try #require(try house.resource(numbers.lowerBound, of: rendition).range)
        let last = try #require(try house.resource(numbers.upperBound, of: rendition).range)
        return Int(first.lowerBound)..<Int(last.upperBound)
    }

    /// The Range field for these segments.
    func field(_ numbers: ClosedRange<Int>) throws -> String {
        let range = try range(numbers)
        return "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
    }

    /// The requests for the file, in order, without comparisons.
    func requests() async throws -> [TestOrigin.Request] {
        try await origin.requests().filter { $0.path.hasPrefix(path) && !$0.isComparison }
    }

    /// The Range fields of the requests for the file, in order.
    func ranges() async throws -> [String] { try await requests().map { $0.range ?? "none" } }

    /// Waits until the origin has received `count` requests for the file.
    func waitForRequests(_ count: Int) async throws {
        try await waitUntil("\(count) requests") { @LoopActor in try await requests().count == count }
    }

    /// Waits for the ends of the fetches. Each must be stored as a piece with the exact bytes.
    func expectExact(_ fetches: [Fetch], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for fetch in fetches {
            try await fetch.end()
            let range = try #require(fetch.resource.range)
            let bytes = Array(file[Int(range.lowerBound)..<Int(range.upperBound)])
            #expect(fetch.bytes == bytes, "\(fetch.resource.name)", sourceLocation: sourceLocation)
            #expect(fetch.isPiece, sourceLocation: sourceLocation)
            #expect(fetch.length == Int64(bytes.count), sourceLocation: sourceLocation)
            let stored = rendition.folder.sizes[fetch.resource.name.description]
            #expect(stored == Int64(bytes.count), sourceLocation: sourceLocation)
        }
    }
}
