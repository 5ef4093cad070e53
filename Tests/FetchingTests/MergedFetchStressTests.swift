import EventLoop
import Foundation
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Downloads and players that come and go at random, at an origin with random faults.
@Suite @LoopActor struct MergedFetchStressTests {
    private static let count = 16
    private static let faults: [(inout OriginRule) -> Void] = [
        { $0.ignoreRange = true }, { $0.resetAfter = 0 }, { $0.resetAfter = 7000 }, { $0.cutAfter = 1 },
        { $0.cutAfter = 40_000 }, { $0.status = 503 }, { $0.status = 404 }, { $0.html = true },
        { ($0.noValidators, $0.resetAfter) = (true, 20_000) }, { ($0.etag, $0.cutAfter) = ("other", 20_000) },
        { $0.headers = ["Content-Range": "bytes 5-9/100"] }, { $0.throttle = 400_000 },
    ]

    @Test(.timeLimit(.minutes(1)), arguments: 0..<16)
    func randomFaultsCauseNoWrongBytesAndNoHang(_ seed: UInt64) async throws {
        var random = SeededDice(state: seed)
        let fixture = try await RangedFilm(count: Self.count, size: Int.random(in: 1...9000, using: &random))
        for _ in 0..<6 {
            var rule = OriginRule("*.ts")
            rule.skip = Int.random(in: 0..<8, using: &random)
            rule.times = Int.random(in: 1...3, using: &random)
            Self.faults.randomElement(using: &random)?(&rule)
            try await fixture.origin.add(rule)
        }
        var held: [Fetch] = []
        for _ in 0..<30 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let first = Int.random(in: 0..<Self.count, using: &random)
                let wanted = missing(fixture, first..<Int.random(in: first..<Self.count, using: &random) + 1)
                held += try fixture.fetches(wanted)
            case 1:
                let number = Int.random(in: 0..<Self.count, using: &random)
                if missing(fixture, number..<(number + 1)) != [] {
                    held.append(try fixture.player(number))
                }
            case 2, 3:
                if let place = held.indices.randomElement(using: &random) {
                    held.remove(at: place).release()
                }
            case 4:
                if let fetch = held.randomElement(using: &random) {
                    _ = await fetch.result()
                }
            default: _ = try await fixture.origin.load()
            }
        }
        try await fixture.origin.clearRules()
        for fetch in held {
            _ = await fetch.result()
        }
        for fetch in held {
            fetch.release()
        }
        // A doubtful piece is reported once, and then fetched again.
        for _ in 0..<2 {
            let fetches = try fixture.fetches(missing(fixture, 0..<Self.count))
            for fetch in fetches {
                _ = await fetch.result()
            }
            for fetch in fetches {
                fetch.release()
            }
        }
        try expectAll(fixture)
    }

    private func missing(_ fixture: RangedFilm, _ numbers: Range<Int>) -> [Int] {
        numbers.filter { !fixture.rendition.folder.contains("\($0).ts") }
    }

    private func expectAll(_ fixture: RangedFilm) throws {
        for number in 0..<Self.count {
            let path = "assets/\(fixture.asset.id)/media/\(number).ts"
            let stored = try Data(contentsOf: URL(fileURLWithPath: fixture.house.folder.path(path)))
            #expect(stored == fixture.file[try fixture.range(number...number)], "\(number)")
        }
    }
}
