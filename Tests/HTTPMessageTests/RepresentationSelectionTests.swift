import HTTPMessage
import Testing

@Suite struct RepresentationSelectionTests {
    static let date = HTTPDate(secondsSinceEpoch: 784_111_777)

    @Test(
        arguments: [
            ("", .whole), ("Range: bytes=0-\r\n", .part(0..<100)), ("Range: bytes=10-19\r\n", .part(10..<20)),
            ("Range: bytes=-1\r\n", .part(99..<100)), ("Range: bytes=100-\r\n", .unsatisfiable),
            ("Range: bytes=0-1,5-6\r\n", .whole), ("Range: bytes=0-1\r\nRange: bytes=2-3\r\n", .whole),
            ("Range: lines=0-1\r\n", .whole), ("If-None-Match: \"tag\"\r\nRange: bytes=0-1\r\n", .notModified),
            ("If-None-Match: W/\"tag\"\r\n", .notModified),
            ("If-None-Match: \"other\"\r\nRange: bytes=0-1\r\n", .part(0..<2)),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", .notModified),
            ("If-Modified-Since: Sun, 06 Nov 1994 08:49:36 GMT\r\n", .whole),
            ("If-None-Match: \"other\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", .whole),
            ("Range: bytes=0-1\r\nIf-Range: \"tag\"\r\n", .part(0..<2)),
            ("Range: bytes=0-1\r\nIf-Range: W/\"tag\"\r\n", .whole),
            ("Range: bytes=0-1\r\nIf-Range: \"other\"\r\n", .whole),
            ("Range: bytes=200-\r\nIf-Range: \"other\"\r\n", .whole),
            ("Range: bytes=0-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n", .part(0..<2)),
            ("Range: bytes=0-1\r\nIf-Range: Sun, 06 Nov 1994 08:49:38 GMT\r\n", .whole),
        ] as [(String, RepresentationSelection)])
    func aRequestSelects(fields: String, selection: RepresentationSelection) throws {
        let head = try RequestHead(parsing: "GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
        let tag = try #require(EntityTag("tag"))
        #expect(
            RepresentationSelection(for: head, size: 100, entityTag: tag, lastModified: Self.date) == selection)
    }

    @Test func aRangeOfUnknownSizeSelectsTheWhole() throws {
        let head = try RequestHead(parsing: "GET / HTTP/1.1\r\nHost: x\r\nRange: bytes=5-\r\n\r\n")
        #expect(RepresentationSelection(for: head, size: nil, entityTag: nil, lastModified: nil) == .whole)
    }

    @Test func aRangeOnHEADIsIgnored() throws {
        let head = try RequestHead(parsing: "HEAD / HTTP/1.1\r\nHost: x\r\nRange: bytes=5-\r\n\r\n")
        #expect(RepresentationSelection(for: head, size: 10, entityTag: nil, lastModified: nil) == .whole)
    }

    @Test func withoutValidatorsConditionsAreFalse() throws {
        let head = try RequestHead(
            parsing: "GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\nRange: bytes=5-\r\nIf-Range: \"a\"\r\n\r\n")
        #expect(RepresentationSelection(for: head, size: 10, entityTag: nil, lastModified: nil) == .whole)
    }
}
