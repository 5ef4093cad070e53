import HTTPMessage
import Testing

@Suite struct RequestHeadTests {
    @Test func aPlainRequestGivesItsParts() throws {
        let head = try RequestHead(
            parsing: "GET /a/b?c=d?e HTTP/1.1\r\nHost: localhost:8216\r\nX-Blank: \t a b \t\r\n\r\n")
        #expect(head.method == .get)
        #expect(head.version == .http11)
        #expect(head.target == "/a/b?c=d?e")
        #expect(head.path == "/a/b")
        #expect(head.query == "c=d?e")
        #expect(String(decoding: head.hostBytes, as: UTF8.self) == "localhost:8216")
        #expect(head[FieldName("x-blank")] == "a b")
        #expect(head.contentLength == nil)
        #expect(head.fieldCount == 2)
    }

    @Test func fieldNamesAreFoundInAnyCase() throws {
        let head = try RequestHead(parsing: "GET / HTTP/1.1\r\nhOST: x\r\nRANGE: bytes=0-\r\n\r\n")
        #expect(head[.range] == "bytes=0-")
        #expect(head.firstValue(of: .range).map(Array.init) == Array("bytes=0-".utf8))
        #expect(!head.contains(.ifRange))
    }

    @Test func repeatedFieldsAreJoinedButHaveNoOnlyValue() throws {
        let head = try RequestHead(
            parsing: "GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"a\"\r\nif-none-match: \"b\"\r\n\r\n")
        #expect(head[.ifNoneMatch] == "\"a\", \"b\"")
        #expect(head.onlyValue(of: .ifNoneMatch) == nil)
    }

    @Test(
        arguments: [
            ("", "http://tv.example:8216"), ("X-Forwarded-Proto: https", "https://tv.example:8216"),
            ("x-forwarded-proto: HTTPS , http\r\nX-Forwarded-Host: tv.example:8443, proxy", "https://tv.example:8443"),
            ("X-Forwarded-Proto: gopher\r\nX-Forwarded-Host: [::1]:80", "http://[::1]:80"),
            ("X-Forwarded-Host: a\"b", "http://tv.example:8216"), ("X-Forwarded-Host: a/b", "http://tv.example:8216"),
            ("X-Forwarded-Host:", "http://tv.example:8216"),
        ])
    func theBaseIsThatOfTheOutermostProxy(_ fields: String, _ base: String) throws {
        let more = fields.isEmpty ? "" : fields + "\r\n"
        let head = try RequestHead(parsing: "GET / HTTP/1.1\r\nHost: tv.example:8216\r\n\(more)\r\n")
        #expect(head.base == base)
    }

    @Test func anOriginURLInTheTargetStaysUnchanged() throws {
        let target = "/https://host:8443/a%20b/[1]|{x}/\u{e9}.m3u8?t=\"1\"&u=https://x/"
        let head = try RequestHead(parsing: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(head.target == target)
    }

    /// As the clients of proxies write it (RFC 9112 §3.2.2).
    @Test(arguments: [
        ("http://localhost:8216/a?b", "/a?b", "localhost:8216"), ("HTTP://localhost:8216/", "/", "LOCALHOST:8216"),
        ("http://localhost:8216", "/", "localhost:8216"),
        ("http://[::1]:8216/https://h/x.m3u8?t=1", "/https://h/x.m3u8?t=1", "[::1]:8216"),
    ])
    func anAbsoluteTargetIsReadBehindItsHost(_ target: String, _ path: String, _ host: String) throws {
        let head = try RequestHead(parsing: "GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(head.target == path)
        #expect(String(decoding: head.hostBytes, as: UTF8.self) == host)
    }

    @Test func optionsTakesAnAsterisk() throws {
        let head = try RequestHead(parsing: "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(head.target == "*")
    }

    @Test func anEmptyLineBeforeTheRequestIsSkipped() throws {
        let head = try RequestHead(parsing: "\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(head.target == "/")
        #expect(head.byteCount == 29)
    }

    @Test(arguments: [
        ("HTTP/1.1", "", true), ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "Connection: x, CLOSE \r\n", false), ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: Keep-Alive\r\n", true), ("HTTP/1.0", "Connection: keep-alive, close\r\n", false),
        ("HTTP/1.7", "", true),
    ])
    func persistenceFollowsVersionAndConnectionField(version: String, fields: String, keeps: Bool) throws {
        let head = try RequestHead(parsing: "GET / \(version)\r\nHost: x\r\n\(fields)\r\n")
        #expect(head.keepsConnection == keeps)
    }

    @Test func aBodyIsAnnouncedByItsLength() throws {
        let head = try RequestHead(
            parsing: "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 0012\r\nExpect: 100-Continue\r\n\r\n")
        #expect(head.contentLength == 12)
        #expect(head.expectsContinue)
    }

    @Test func aHeadInAnyTwoPortionsIsTheSame() throws {
        let text = "\r\nPUT /x?y HTTP/1.1\r\nHost: [::1]:8216\r\nContent-Length: 3\r\nA: b\r\n\r\nabc"
        let bytes = [UInt8](text.utf8)
        for cut in 0...bytes.count {
            var parser = RequestHeadParser()
            let first = try bytes[..<cut].withUnsafeBytes { try parser.parse($0) }
            let head = try first ?? bytes.withUnsafeBytes { try parser.parse($0) }
            #expect(head?.byteCount == bytes.count - 3)
            #expect(head?.target == "/x?y")
            #expect(head?.fieldCount == 3)
        }
    }

    @Test func aHeadByteByByteIsTheSame() throws {
        let bytes = [UInt8]("GET /x HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n".utf8)
        var parser = RequestHeadParser()
        for count in 1..<bytes.count {
            #expect(try bytes[..<count].withUnsafeBytes { try parser.parse($0) } == nil)
        }
        #expect(try bytes.withUnsafeBytes { try parser.parse($0) }?.fieldCount == 2)
    }
}
