import HTTPMessage
import Testing

@Suite struct RangeTests {
    @Test(arguments: [
        ("bytes=0-", ByteRange.from(0)), ("bytes=5-9", .bounded(first: 5, last: 9)), ("bytes=-3999", .suffix(3999)),
        ("Bytes=0-0", .bounded(first: 0, last: 0)), ("bytes= 1-2 ", .bounded(first: 1, last: 2)),
        ("bytes=,1-2,", .bounded(first: 1, last: 2)), ("bytes=007-", .from(7)),
        ("bytes=0-99999999999999999999", .bounded(first: 0, last: .max)), ("bytes=-0", .suffix(0)),
    ])
    func oneRangeIsParsed(value: String, range: ByteRange) {
        #expect(ByteRange(value.utf8) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=0-1,2-3", "items=0-1", "bytes 0-1",
        "bytes=1",
        "bytes=1-2-3", "bytes=+1-2", "bytes=1 - 2", "bytes=--1", " bytes=0-1",
    ])
    func anythingButASingleRangeIsIgnored(value: String) {
        #expect(ByteRange(value.utf8) == nil)
    }

    @Test(
        arguments: [
            (ByteRange.from(0), 10, 0..<10), (.from(9), 10, 9..<10), (.bounded(first: 2, last: 4), 10, 2..<5),
            (.bounded(first: 2, last: .max), 10, 2..<10), (.suffix(3), 10, 7..<10), (.suffix(30), 10, 0..<10),
        ] as [(ByteRange, Int64, Range<Int64>)])
    func aRangeIsPlacedInARepresentation(range: ByteRange, size: Int64, bytes: Range<Int64>) {
        #expect(range.resolved(size: size) == bytes)
    }

    @Test(
        arguments: [
            (ByteRange.from(10), 10), (.from(0), 0), (.bounded(first: 10, last: 20), 10), (.suffix(0), 10),
            (.suffix(5), 0),
            (.from(.max), 10),
        ] as [(ByteRange, Int64)])
    func aRangeBeyondTheEndIsUnsatisfiable(range: ByteRange, size: Int64) {
        #expect(range.resolved(size: size) == nil)
    }

    @Test(arguments: [
        ("bytes 0-9/20", ContentRange.satisfied(0..<10, size: 20)), ("bytes 5-5/*", .satisfied(5..<6, size: nil)),
        ("bytes */20", .unsatisfied(size: 20)),
    ])
    func aContentRangeIsReadAndWritten(value: String, range: ContentRange) {
        #expect(ContentRange(value) == range)
        #expect(range.description == value)
    }

    @Test(
        arguments: [
            ("bytes 10-19/100", 10, 19, 100), ("bytes 10-20/20", 10, 20, nil), ("bytes 10-19/0", 10, 19, nil),
            ("bytes 10-19/10", 10, 19, nil), ("bytes 10-19/*", 10, 19, nil), ("bytes=10-19/100", 10, 19, 100),
            ("Bytes: 10 - 19 / 100", 10, 19, nil), ("bytes 10-/100", 10, nil, 100), ("bytes 10-9/100", 10, nil, 100),
            ("bytes 10-19", 10, 19, nil),
        ] as [(String, Int64, Int64?, Int64?)])
    func aPartIsReadByItsFirstByte(value: String, first: Int64, last: Int64?, size: Int64?) throws {
        let part = try #require(StatedPart(value))
        #expect((part.first, part.last, part.size) == (first, last, size))
    }

    @Test(arguments: [
        "", "bytes", "bytes */20", "bytes -9/20", "bytes 10/20", "bytes10-19/20", "items 0-9/20", "bytes a-9/20",
        "bytes 99999999999999999999-99999999999999999999/1",
    ])
    func aPartWithoutAFirstByteIsRefused(value: String) { #expect(StatedPart(value) == nil) }

    @Test(arguments: [
        "", "bytes", "bytes 0-9", "bytes 0-9/", "bytes 9-0/20", "bytes 0-20/20", "bytes */*", "bytes  0-9/20",
        "bytes=0-9/20",
        "bytes 0-9/20 ", "bytes -9/20", "bytes 0-/20", "bytes 0-9/2/0", "items 0-9/20", "bytes 0--9/20",
    ])
    func aMalformedContentRangeIsRefused(value: String) {
        #expect(ContentRange(value) == nil)
    }
}
