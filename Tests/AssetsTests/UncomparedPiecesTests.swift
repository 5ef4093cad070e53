import HTTPMessage
import Testing

@testable import Assets
@testable import Fetching

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
        pieces.recordSame(in: ["video"], before: 2, at: HTTPDate(secondsSinceEpoch: 1006))
        #expect(!pieces.isHinted && pieces.pieces.isEmpty)
        let third = pieces.record(piece(2), times(1010, modified: 1010))
        #expect(!third)
    }

    @Test func whatCameDuringAComparisonIsStillUncompared() {
        var pieces = UncomparedPieces()
        for number in 0..<5 {
            _ = pieces.record(piece(number), nil)
        }
        pieces.recordSame(in: ["video"], before: 3, at: nil)
        #expect(pieces.pieces == [piece(3), piece(4)])
        #expect(!pieces.contains("2.ts", of: "video") && pieces.contains("3.ts", of: "video"))
        #expect(!pieces.contains("3.ts", of: "audio"))
    }

    @Test func whatWasNotComparedStaysUncompared() {
        var pieces = UncomparedPieces()
        _ = pieces.record(piece(0), nil)
        let sound = UncomparedPieces.Piece(folder: "audio", file: "0.ts")
        _ = pieces.record(sound, nil)
        pieces.recordSame(in: ["video"], before: 2, at: nil)
        #expect(pieces.pieces == [sound])
    }

    @Test func theFirstPieceStandsForTheOldContent() {
        var pieces = UncomparedPieces()
        for number in [2, 0, 1] {
            _ = pieces.record(piece(number), nil)
        }
        #expect(pieces.oldest(in: "video").map(\.description) == ["2.ts"])
        #expect(pieces.oldest(in: "video") { $0 != "2.ts" }.map(\.description) == ["0.ts"])
        #expect(pieces.oldest(in: "audio").isEmpty)
        var fragmented = UncomparedPieces()
        for file in ["init-0.mp4", "0.m4s", "1.m4s"] {
            _ = fragmented.record(.init(folder: "video", file: file), nil)
        }
        #expect(fragmented.oldest(in: "video").map(\.description) == ["init-0.mp4", "0.m4s"])
    }

    @Test func theLastPiecesOfAnEarlierProcessComeFirst() {
        var pieces = UncomparedPieces()
        _ = pieces.record(piece(8), nil)
        let stored = [
            (folder: "video", files: [("3.ts", 120.0), ("1.ts", 20), ("2.ts", 100), ("key-0", 121), ("8.ts", 122)]),
            (folder: "audio", files: [(name: "0.ts", time: 110)]),
        ]
        let earlier = pieces.lastOnes(of: stored, within: 90)
        _ = pieces.record(piece(9), nil)
        _ = pieces.record(piece(3), nil)
        pieces.restore(earlier)
        let sound = UncomparedPieces.Piece(folder: "audio", file: "0.ts")
        #expect(pieces.pieces == [piece(2), sound, piece(8), piece(9), piece(3)])
        #expect([piece(2), sound, piece(3), piece(8)].map { pieces.isRestored($0) } == [true, true, false, false])
        #expect(pieces.oldest(in: "video").map(\.description) == ["2.ts"])
        pieces.recordSame(in: ["video"], before: 1, at: nil)
        #expect(pieces.pieces == [sound, piece(9), piece(3)])
    }

    /// A tag costs no body later, and the first segments may be a common title.
    @Test(arguments: [
        (["0.ts", "1.ts", "2.ts", "3.ts"], [0, 1, 2, 3], "2.ts"), (["0.ts", "1.ts", "2.ts"], [0], "0.ts"),
        (["0.ts", "1.ts", "2.ts"], [2], "2.ts"), (["init-0.mp4", "0.m4s"], [0], nil), (["0.ts"], [], nil),
    ])
    func theTagOfAMiddleSegmentIsKept(files: [String], tagged: [Int], kept: String?) {
        var pieces = UncomparedPieces()
        for (number, file) in files.enumerated() {
            let tag = tagged.contains(number) ? EntityTag("\(number)") : nil
            _ = pieces.record(.init(folder: "video", file: file), nil, tag: tag)
        }
        pieces.recordSame(in: ["video"], before: files.count, at: nil)
        #expect(pieces.marks["video"]?.file == kept && pieces.isEmpty)
    }

    @Test func onlyWhatCameBehindTheHintIsSuspect() {
        var pieces = UncomparedPieces()
        for number in 0..<2 {
            _ = pieces.record(piece(number), times(1000, modified: 500))
        }
        #expect(!pieces.isSuspect(piece(1)))
        let hasOtherVersion = pieces.notice(times(1010, modified: 1005))
        _ = pieces.record(piece(2), times(1010, modified: 1005))
        #expect(hasOtherVersion && pieces.isSuspect(piece(2)) && !pieces.isSuspect(piece(1)))
        pieces.settle()
        #expect(!pieces.isSuspect(piece(2)))
    }

    @Test func aPartOfAnotherVersionOfAFileIsAHint() throws {
        let file = try WebURL("http://a.example/film.ts")
        var pieces = UncomparedPieces()
        func hasOtherVersion(_ tag: String?, _ length: Int64?) -> Bool {
            pieces.notice(.init(tag: tag.flatMap { EntityTag($0) }, length: length), of: file)
        }
        #expect(!hasOtherVersion("one", 100) && !hasOtherVersion(nil, 100) && !hasOtherVersion("one", nil))
        #expect(hasOtherVersion("two", 100))
        pieces.settle()
        #expect(hasOtherVersion("one", 101))
    }
}
