import EventLoop
import Foundation
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Retention

/// Presentations with pieces of 1,000 bytes and two seconds, and a play cache with room for a number of pieces.
@LoopActor final class PlayCacheFixture {
    let base: TestHouse

    /// - Parameter clock: that of the sessions' positions; nil for the system's.
    init(pieces limit: Int?, clock: TestClock? = nil) async throws {
        let cacheLimit = TestHouse.Part.cacheLimit(limit.map { Int64($0 * 1000) })
        if let clock {
            base = try await TestHouse(cacheLimit, .clock(clock))
        } else {
            base = try await TestHouse(cacheLimit)
        }
    }

    var library: Library { base.library }
    var retention: RetentionService { base.retention }

    /// A presentation of `count` segments, without stored pieces.
    func film(_ count: Int = 30) async throws -> (asset: Asset, rendition: Rendition) {
        let asset = try await base.open("/_vod/\(count)x1000/media.m3u8")
        return (asset, try await base.rendition("media", of: asset))
    }

    /// Plays segments one after the other.
    func play(_ numbers: some Sequence<Int>, of film: (asset: Asset, rendition: Rendition)) async throws {
        for number in numbers {
            let fetch = try base.fetch(number, of: film.rendition, in: film.asset)
            try await fetch.end()
            fetch.release()
        }
    }

    /// The numbers of the pieces on disk, in order.
    func numbers(of asset: Asset) -> [Int] {
        files(of: asset).compactMap { file in
            let name = file.split(separator: "/").last.flatMap { PieceName(String($0)) }
            return if case .segment(let number)? = name?.role { number } else { nil }
        }.sorted()
    }

    /// The files of a bundle, by their paths in it, without ledgers.
    func files(of asset: Asset) -> [String] {
        let prefix = "assets/\(asset.id)/"
        return base.folder.files().filter { $0.hasPrefix(prefix) && !$0.hasSuffix(Ledger.fileName) }
            .map { String($0.dropFirst(prefix.count)) }
    }

    /// Waits until the disk has exactly these pieces, and the library's state agrees.
    func settles(
        _ numbers: some Sequence<Int>, of film: (asset: Asset, rendition: Rendition),
        within bound: Duration = .seconds(15)
    ) async throws {
        let wanted = Array(numbers)
        do {
            try await waitUntil("\(wanted)", within: bound) { self.numbers(of: film.asset) == wanted }
        } catch {
            throw TimedOut("\(wanted), but \(self.numbers(of: film.asset))")
        }
        #expect(Set(film.rendition.folder.sizes.keys) == Set(wanted.map { "\($0).ts" }))
    }

    /// Waits until no eviction is pending.
    func isWithinLimit() async throws {
        try await waitUntil("the limit") { retention.cacheLimit.map { retention.cachedBytes <= $0 } ?? true }
    }
}
