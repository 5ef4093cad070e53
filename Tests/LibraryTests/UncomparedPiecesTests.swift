import HTTPMessage
import Testing

@testable import Fetching
@testable import Library

@Suite struct UncomparedPiecesTests {
    private func piece(_ number: Int) -> UncomparedPieces.Piece {
        .init(folder: "video", file: "\(number).ts")
    }

    private func times(_ sent: Int64, modified: Int64?) -> Fetch.OriginTimes {
        .init(
            sent: HTTPDate(secondsSinceEpoch: sent), modified: modified.map { HTTPDate(secondsSinceEpoch: $0) })
    }

    @Test func aFileChangedAfterTheFirstReplyIsAHintOnce() {
        var pieces = UncomparedPieces()
        let replies: [(modified: Int64?, isHint: Bool)] = [
            (500, false), (1000, false), (nil, false), (1001, true), (1002, false),
        ]
        for (number, reply) in replies.enumerated() {
            let isHint = pieces.record(piece(number), times(1000 + Int64(number), modified: reply.modified))
            #expect(isHint == reply.isHint, "\(number)")
        }
        let isHint = pieces.record(piece(9), nil)
        #expect(pieces.isHinted && !isHint)
    }

    @Test func anOriginThatDatesEachFileAnewIsComparedOnce() {
        var pieces = UncomparedPieces()
        let first = pieces.record(piece(0), times(1000, modified: 1000))
        let second = pieces.record(piece(1), times(1005, modified: 1005))
        #expect(!first && second)
        pieces.recordSame(first: 2, at: HTTPDate(secondsSinceEpoch: 1006))
        #expect(!pieces.isHinted && pieces.pieces.isEmpty)
        let third = pieces.record(piece(2), times(1010, modified: 1010))
        #expect(!third)
    }

    @Test func whatCameDuringAComparisonIsStillUncompared() {
        var pieces = UncomparedPieces()
        for number in 0..<5 { _ = pieces.record(piece(number), nil) }
        pieces.recordSame(first: 3, at: nil)
        #expect(pieces.pieces == [piece(3), piece(4)])
        #expect(!pieces.contains("2.ts", of: "video") && pieces.contains("3.ts", of: "video"))
        #expect(!pieces.contains("3.ts", of: "audio"))
    }

    @Test func anEarlySegmentStandsForTheOldContent() {
        for (count, number) in [(1, 0), (2, 0), (4, 0), (5, 1), (9, 2), (40, 3)] {
            var pieces = UncomparedPieces()
            for number in 0..<count { _ = pieces.record(piece(number), nil) }
            #expect(pieces.early(in: "video")?.description == "\(number).ts", "\(count)")
            #expect(pieces.early(in: "audio") == nil)
        }
        var pieces = UncomparedPieces()
        for number in 0..<3 { _ = pieces.record(piece(number), times(1000, modified: 500)) }
        for number in 3..<9 { _ = pieces.record(piece(number), times(1010, modified: 1005)) }
        #expect(pieces.isHinted && pieces.early(in: "video")?.description == "1.ts")
    }
}
