import TestSupport
import Testing

@testable import Fetching

@Suite struct MergedFetchOrderTests {
    /// Consumes bytes until none are left or needed, and finishes parts that end.
    private func feed(_ order: inout MergedFetchOrder, _ count: Int) -> [MergedFetchOrder.Part] {
        var parts: [MergedFetchOrder.Part] = []
        var left: Int = count
        while let part = order.assign(left) {
            parts.append(part)
            left -= part.count
            if part.isLast {
                order.finish(part.piece)
            }
        }
        return parts
    }

    private func part(_ piece: Int, _ offset: Int64, _ count: Int, last: Bool = false) -> MergedFetchOrder.Part {
        MergedFetchOrder.Part(piece: piece, offset: offset, count: count, isLast: last)
    }

    @Test func writesBytesToPiecesInOrder() {
        var order = MergedFetchOrder(lengths: [10, 5, 1])
        #expect(feed(&order, 3) == [part(0, 0, 3)])
        #expect(order.hasBegun(0) && !order.hasBegun(1))
        #expect(feed(&order, 9) == [part(0, 3, 7, last: true), part(1, 0, 2)])
        #expect(order.remaining == 1..<3 && order.position == 12)
        #expect(feed(&order, 4) == [part(1, 2, 3, last: true), part(2, 0, 1, last: true)])
        #expect(order.isOver && !order.isCut)
        #expect(feed(&order, 1) == [])
    }

    @Test func aPieceThatEndsAtTheEndOfABufferLeavesTheNextUnbegun() {
        var order = MergedFetchOrder(lengths: [10, 5])
        #expect(feed(&order, 10) == [part(0, 0, 10, last: true)])
        #expect(order.current == 1 && !order.hasBegun(1) && !order.isOver)
    }

    @Test func aLeavingPartEndsTheRequestBeforeItself() {
        var order = MergedFetchOrder(lengths: [10, 10, 10, 10, 10])
        order.markUnneeded(3)
        let behind = order.leave(2)
        #expect(behind.needed == [4] && behind.unneeded == [3])
        #expect(order.remaining == 0..<2 && order.isCut)
        #expect(feed(&order, 50) == [part(0, 0, 10, last: true), part(1, 0, 10, last: true)])
        #expect(order.isOver && order.position == 20)
    }

    @Test func theFirstThatLeavesEndsTheRequest() {
        var order = MergedFetchOrder(lengths: [10, 10])
        #expect(order.leave(0).needed == [1])
        #expect(order.isOver && order.isCut && feed(&order, 1) == [])
    }

    @Test func dropsOnlyUnneededPartsAtTheEnd() {
        var order = MergedFetchOrder(lengths: [10, 10, 10, 10])
        order.markUnneeded(1)
        #expect(order.trim().isEmpty)
        order.markUnneeded(3)
        #expect(order.trim() == 3..<4)
        #expect(!order.isOver && order.isCut)
        order.markUnneeded(2)
        #expect(order.trim() == 1..<3)
        order.markUnneeded(0)
        #expect(order.trim() == 0..<1)
        #expect(order.isOver && order.remaining.isEmpty)
    }

    @Test func keepsPartsThatAreNeededAgain() {
        var order = MergedFetchOrder(lengths: [10, 10, 10])
        order.markUnneeded(1)
        order.markNeeded(1)
        order.markUnneeded(2)
        #expect(order.trim() == 2..<3)
        #expect(order.remaining == 0..<2)
    }

    @Test func keepsFinishedParts() {
        var order = MergedFetchOrder(lengths: [10, 10])
        _ = feed(&order, 10)
        order.markUnneeded(0)
        order.markUnneeded(1)
        #expect(order.trim() == 1..<2)
        #expect(order.isOver)
    }

    @Test func reportsUnfinishedPartsAtTheEnd() {
        var order = MergedFetchOrder(lengths: [10, 10, 10])
        _ = feed(&order, 15)
        #expect(order.close() == 1..<3)
        #expect(order.isOver && order.close().isEmpty && feed(&order, 5) == [])
    }

    /// Whatever happens in whatever order: every byte belongs to one piece, in order and without a gap.
    @Test(arguments: 0..<200) func everyByteHasOnePlace(_ seed: UInt64) {
        var random = SeededDice(state: seed)
        let lengths = (0..<Int.random(in: 1...16, using: &random)).map { _ in Int64.random(in: 1...40, using: &random) }
        var order = MergedFetchOrder(lengths: lengths)
        var got = lengths.map { _ in Int64(0) }
        var ended: Set<Int> = []
        var gone: Set<Int> = []
        for _ in 0..<60 {
            let piece = Int.random(in: lengths.indices, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where order.remaining.contains(piece) && piece > order.current:
                let behind = order.leave(piece)
                gone.formUnion([piece] + behind.needed + behind.unneeded)
            case 1 where order.remaining.contains(piece):
                order.markUnneeded(piece)
                gone.formUnion(order.trim())
            case 2 where order.remaining.contains(piece): order.markNeeded(piece)
            default:
                for part in feed(&order, Int.random(in: 0...60, using: &random)) {
                    #expect(part.offset == got[part.piece] && part.count > 0)
                    #expect(!gone.contains(part.piece) && ended.allSatisfy { $0 < part.piece })
                    got[part.piece] += Int64(part.count)
                    #expect(part.isLast == (got[part.piece] == lengths[part.piece]))
                    if part.isLast {
                        ended.insert(part.piece)
                    }
                }
            }
            #expect(order.position == got.reduce(0, +))
            let all = ended.union(gone).union(order.remaining)
            #expect(
                all.count == lengths.count && ended.isDisjoint(with: gone) && gone.isDisjoint(with: order.remaining))
        }
    }
}
