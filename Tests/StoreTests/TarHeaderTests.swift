import Testing

@testable import Store

@Suite struct TarHeaderTests {
    private func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    @Test func formatsAFileHeaderWithItsChecksum() throws {
        let header = try #require(TarHeader(file: "film/video/12.m4s", size: 4096, time: 8))
        #expect(header.bytes.count == 512)
        #expect(text(header.bytes[0..<100]) == "film/video/12.m4s")
        #expect(text(header.bytes[100..<108]) == "0000644")
        #expect(text(header.bytes[124..<136]) == "00000010000")
        #expect(text(header.bytes[136..<148]) == "00000000010")
        #expect(header.bytes[156] == UInt8(ascii: "0"))
        #expect(text(header.bytes[257..<263]) == "ustar" && text(header.bytes[263..<266]).hasPrefix("00"))
        var blank = header.bytes
        blank.replaceSubrange(148..<156, with: [UInt8](repeating: UInt8(ascii: " "), count: 8))
        #expect(Int(text(header.bytes[148..<155]), radix: 8) == blank.reduce(0) { $0 + Int($1) })
    }

    @Test func splitsALongPath() throws {
        let folder = String(repeating: "f", count: 90)
        let header = try #require(TarHeader(file: folder + "/" + folder + "/1.ts", size: 1, time: 0))
        #expect(text(header.bytes[345..<500]) == folder)
        #expect(text(header.bytes[0..<100]) == folder + "/1.ts")
        #expect(TarHeader(file: String(repeating: "f", count: 101), size: 1, time: 0) == nil)
        #expect(TarHeader(file: "f", size: 1 << 33, time: 0) == nil)
    }

    @Test(arguments: [(0, 0), (1, 511), (511, 1), (512, 0), (513, 511)])
    func padsTheLastBlock(size: Int64, padding: Int) {
        #expect(TarHeader.padding(behind: size) == [UInt8](repeating: 0, count: padding))
    }
}
