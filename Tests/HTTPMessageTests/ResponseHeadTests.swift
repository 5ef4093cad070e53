import HTTPMessage
import Testing

@Suite struct ResponseHeadTests {
    @Test func aHeadIsWrittenLineByLine() throws {
        var head = ResponseHead(.partialContent)
        head.append(.playlist)
        head.append(.satisfied(0..<10, size: 20))
        head.append(.acceptRanges, literal: "bytes")
        head.append(FieldName("X-Count"), number: -1203)
        head.append(try #require(EntityTag("abc")))
        head.append(.lastModified, HTTPDate(secondsSinceEpoch: 784_111_777))
        head.append(.hit)
        try head.append(.location, "/api/v1/x")
        #expect(
            String(decoding: head.fieldBytes, as: UTF8.self) == """
                Content-Type: application/vnd.apple.mpegurl\r
                Content-Range: bytes 0-9/20\r
                Accept-Ranges: bytes\r
                X-Count: -1203\r
                ETag: "abc"\r
                Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r
                Cache-Status: Weir; hit\r
                Location: /api/v1/x\r

                """)
    }

    @Test(arguments: ["a\r\nSet-Cookie: x", "a\nb", "a\rb", "a\0b", "\u{7f}"])
    func aValueWithAControlCharacterIsRefused(value: String) {
        var head = ResponseHead(.ok)
        #expect(throws: FieldValueError.self) { try head.append(.location, value) }
        #expect(head.fieldBytes.isEmpty)
    }

    @Test func aCodeOutsideTheRangeBecomes500() {
        #expect(HTTPStatus(99).code == 500)
        #expect(HTTPStatus(600).code == 500)
        #expect(HTTPStatus(599).code == 599)
    }

    @Test(arguments: [
        ("Content-Type: text/html\r\n", "Content-Type", "text/html"), ("ETag:\"x\"\r\n", "ETag", "\"x\""),
        ("a:b:c\n", "a", "b:c"), ("a: \t \r\n", "a", ""),
    ])
    func aHeaderLineIsSplit(line: String, name: String, value: String) throws {
        let field = try #require(FieldLine(line.utf8))
        #expect(field.name == name)
        #expect(field.value == value)
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\n", "\r\n", ": x\r\n", "a b: c\r\n", "a: b\0\r\n", "a: b\rc\r\n"])
    func anInvalidHeaderLineIsNotSplit(line: String) {
        #expect(FieldLine(line.utf8) == nil)
    }

    @Test func aSectionFindsTheFirstLineOfAName() {
        var section = FieldSection()
        for line in ["Server: x\r\n", "no field\r\n", "etag:  \"1\" \r\n", "ETag: \"2\"\r\n", "A:\r\n", ": b\r\n"] {
            Array(line.utf8).withUnsafeBytes { _ = section.append(line: $0) }
        }
        #expect(section.count == 4)
        #expect(section[.entityTag] == "\"1\"")
        #expect(section.firstValue(of: FieldName("server")).map { Array($0) } == Array("x".utf8))
        #expect(section[FieldName("a")] == "" && section[.location] == nil)
        #expect(FieldSection()[.entityTag] == nil)
    }

    @Test func aHeaderNameMatchesInAnyCase() throws {
        #expect(try #require(FieldLine("content-RANGE: x".utf8)).isNamed(.contentRange))
    }
}
