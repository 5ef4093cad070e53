import Foundation
import Store
import Testing

@testable import Daemon

@Suite struct ProcessMemoryTests {
    /// So that no thread gives a large area back just because it frees the last part of it, and parts between others go back too.
    @Test func freeMemoryGoesBackWhenItIsTrimmed() throws {
        ProcessMemory.configure()
        let before = try residentBytes()
        var blocks: [[UInt8]?] = (0..<6000).map { _ in [UInt8](repeating: 1, count: 16 << 10) }
        for index in blocks.indices where index.isMultiple(of: 2) {
            blocks[index] = nil
        }
        #expect(try residentBytes() - before > 80 << 20)
        trimFreeMemory()
        #expect(try residentBytes() - before < 70 << 20)
        #expect(blocks.count { $0 != nil } == 3000)
    }

    private func residentBytes() throws -> Int {
        let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return try #require(Int(words[1])) * 4096
    }
}
