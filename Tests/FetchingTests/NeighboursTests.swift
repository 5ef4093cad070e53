import HTTPMessage
import Testing

@testable import Fetching

@Suite struct NeighboursTests {
    private func runs(_ parts: [(file: String, range: Range<Int64>?)]) throws -> [Range<Int>] {
        let resources = try parts.enumerated().map { number, part in
            Resource(
                name: PieceName(.segment(number), fileExtension: "ts"), url: try WebURL("http://o/" + part.file),
                range: part.range)
        }
        return Resource.runs(of: resources)
    }

    @Test func partsThatFollowEachOtherAreARun() throws {
        #expect(try runs([("a", 0..<5), ("a", 5..<9), ("a", 9..<10)]) == [0..<3])
    }

    @Test func whatDoesNotContinueBeginsAnother() throws {
        // Another file, a gap, an overlap, the same again, one before, a whole file.
        #expect(try runs([("a", 0..<5), ("b", 5..<9), ("b", 9..<10)]) == [0..<1, 1..<3])
        #expect(try runs([("a", 0..<5), ("a", 6..<9)]) == [0..<1, 1..<2])
        #expect(try runs([("a", 0..<5), ("a", 4..<9)]) == [0..<1, 1..<2])
        #expect(try runs([("a", 0..<5), ("a", 0..<5)]) == [0..<1, 1..<2])
        #expect(try runs([("a", 5..<9), ("a", 0..<5)]) == [0..<1, 1..<2])
        #expect(try runs([("a", 0..<5), ("a", nil), ("a", 5..<9)]) == [0..<1, 1..<2, 2..<3])
        #expect(try runs([("a", nil), ("b", nil)]) == [0..<1, 1..<2])
    }

    @Test func aQueryIsPartOfTheFile() throws {
        #expect(try runs([("a?t=1", 0..<5), ("a?t=2", 5..<9)]) == [0..<1, 1..<2])
    }

    @Test func nothingAndOneAreRuns() throws {
        #expect(try runs([]) == [])
        #expect(try runs([("a", 3..<5)]) == [0..<1])
    }

    @Test func aRunIsNoLongerThanWhatIsTakenAtOnce() throws {
        let most = Resource.Limits.mergedFetch
        #expect(try runs([("a", 7..<9), ("a", 9..<(most + 7)), ("a", (most + 7)..<(most + 8))]) == [0..<2, 2..<3])
    }
}
