import Testing

@testable import Store

/// Values of pieces by name, in parts.
@Suite struct PieceTableTests {
    @Test func isADictionary() {
        var generator = SystemRandomNumberGenerator()
        var table = PieceTable<Int>()
        var plain: [String: Int] = [:]
        for step in 0..<60_000 {
            let file = "\(Int.random(in: 0..<20_000, using: &generator)).ts"
            switch Int.random(in: 0..<4, using: &generator) {
            case 0:
                #expect(table.removeValue(forKey: file) == plain.removeValue(forKey: file))
            case 1:
                table[file] = nil
                plain[file] = nil
            default:
                table[file] = step
                plain[file] = step
            }
        }
        #expect(table.count == plain.count && table.isEmpty == plain.isEmpty)
        #expect(plain.allSatisfy { table[$0.key] == $0.value && table[$0.key, default: -1] == $0.value })
        #expect(Set(table.keys) == Set(plain.keys) && table.values.sorted() == plain.values.sorted())
        #expect(Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0.value) }) == plain)
    }

    /// A step of the loop, such as the arrival of a piece while a worker reads the table, copies one part at most.
    @Test func anEmptyTableHasNothing() {
        var table = PieceTable<Int>()
        #expect(table["0.ts"] == nil)
        #expect(table.removeValue(forKey: "0.ts") == nil)
        table["0.ts"] = nil
        #expect(table.isEmpty && table.largestPart == 0 && Array(table.keys) == [] && Array(table.values) == [])
        #expect(table == [:])
    }

    @Test func aMillionPiecesAreInSmallParts() {
        var table = PieceTable<Int64>()
        for number in 0..<1_000_000 {
            table["\(number).m4s"] = 1
        }
        #expect(table.count == 1_000_000)
        #expect(table.largestPart < 10_000)
    }

    @Test func aCopyStaysAsItWas() {
        var table: PieceTable<Int> = ["a": 1]
        let copy = table
        table["a"] = 2
        table["b"] = 3
        #expect(copy == ["a": 1] && copy != table && table == ["b": 3, "a": 2])
    }
}
