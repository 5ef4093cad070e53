import Testing

@testable import SegmentFormat

@Suite("Boxes")
struct BoxTests {
    @Test("are parsed in order, with 32-bit, 64-bit and open sizes")
    func parsesEverySizeForm() throws {
        let long = number(UInt32(1)) + Array("free".utf8) + number(UInt64(19)) + [1, 2, 3]
        let extended = box("uuid", Array(0..<16), [9])
        let last = number(UInt32(0)) + Array("mdat".utf8) + [7, 7]
        let bytes = box("ftyp", [1]) + long + extended + box("skip") + last
        let found = try Box.topLevel(of: bytes)
        #expect(found.map(\.type) == ["ftyp", "free", "uuid", "skip", "mdat"])
        #expect(found.map { Array(bytes[$0.payload]) } == [[1], [1, 2, 3], [9], [], [7, 7]])
        #expect(found.map(\.headerSize) == [8, 16, 24, 8, 8])
        #expect(found.map(\.endsWithFile) == [false, false, false, false, true])
        #expect(Array(bytes[found[2].payload.lowerBound - 16..<found[2].payload.lowerBound]) == Array(0..<16))
        #expect(found.flatMap { bytes[$0.range] } == bytes)
    }

    @Test("are parsed as children of a box, after the fields of a full box")
    func parsesChildren() throws {
        let bytes = fullBox("meta", box("a   "), box("b   ", [1]))
        let meta = try #require(try Box.topLevel(of: bytes).first)
        #expect(try meta.children(in: bytes, skipping: 4).map(\.type) == ["a   ", "b   "])
        #expect(throws: SegmentFormatError.self) { try meta.children(in: bytes, skipping: 99) }
    }

    /// A box header, and the bytes after it.
    private static func head(_ size: UInt32, _ type: String, _ more: [UInt8] = []) -> [UInt8] {
        number(size) + Array(type.utf8) + more
    }

    private static let badSizes: [(bytes: [UInt8], expected: String)] = [
        ([0, 0, 0], "byte 8: 3 bytes are left, too few for a box"),
        (head(7, "moov"), "moov at byte 8: its size is 7, less than its own header"),
        (head(9, "moov"), "moov at byte 8: its size is 9, and the file has 8 bytes left"),
        (head(1, "moov", [0]), "moov at byte 8: its header is cut off"),
        (
            head(1, "mdat", number(UInt64.max)),
            "mdat at byte 8: its size is 18446744073709551615, and the file has 16 bytes left"
        ),
        (head(1, "mdat", number(UInt64(15))), "mdat at byte 8: its size is 15, less than its own header"),
        (head(12, "uuid", zeros(4)), "uuid at byte 8: its header is cut off"),
    ]

    @Test("with wrong sizes are refused, with type and offset", arguments: BoxTests.badSizes)
    func refusesBadSizes(bytes: [UInt8], expected: String) throws {
        let error = try #require(throws: SegmentFormatError.self) { try Box.topLevel(of: box("free") + bytes) }
        #expect(error.description == expected)
    }

    @Test("inside a box must have a size")
    func refusesOpenSizeInsideBox() throws {
        let bytes = box("moov", number(UInt32(0)), Array("trak".utf8))
        let error = try #require(throws: SegmentFormatError.self) {
            try Box.topLevel(of: bytes)[0].children(in: bytes)
        }
        #expect(error.description == "trak at byte 8: a size of 0 may stand at the top level alone")
    }

    @Test("print their types as characters, or in hexadecimal")
    func printsTypes() {
        #expect(FourCC("moof").description == "moof")
        #expect(FourCC(0xA974_6F6F).description == "0xa9746f6f")
    }
}
