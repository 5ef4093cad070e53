import HTTPMessage
import Testing

@Suite struct RequestHeadRefusalTests {
    /// One malformed head and its expected error.
    struct Refusal: Sendable, CustomTestStringConvertible {
        let text: String
        let error: RequestHeadError
        let code: Int

        init(_ text: String, _ error: RequestHeadError, _ code: Int) {
            self.text = text
            self.error = error
            self.code = code
        }

        var testDescription: String { String(text.debugDescription.prefix(70)) }
    }

    static let requestLines: [Refusal] = [
        Refusal("GET / HTTP/1.1\nHost: x\r\n\r\n", .bareLineFeed, 400),
        Refusal("\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", .bareLineFeed, 400),
        Refusal("\r\n\r\nGET / HTTP/1.1\r\n", .malformedRequestLine, 400),
        Refusal(" GET / HTTP/1.1\r\n", .malformedRequestLine, 400),
        Refusal("GET  / HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /  HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /\tHTTP/1.1\r\n", .malformedRequestLine, 400),
        Refusal("GET / x HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /\r\n", .malformedRequestLine, 400),
        Refusal("GET\r\n", .malformedRequestLine, 400),
        Refusal("GET / HTTP/1.1 \r\n", .malformedRequestLine, 400),
        Refusal("GET / http/1.1\r\n", .malformedRequestLine, 400),
        Refusal("GET / HTTP/11\r\n", .malformedRequestLine, 400),
        Refusal("GET / HTTP/2.0\r\n", .unsupportedVersion, 505),
        Refusal("GET / HTTP/0.9\r\n", .unsupportedVersion, 505),
        Refusal("get / HTTP/1.1\r\n", .unknownMethod, 501),
        Refusal("TRACE / HTTP/1.1\r\n", .unknownMethod, 501),
        Refusal("CONNECT host:443 HTTP/1.1\r\n", .unknownMethod, 501),
        Refusal("G{T / HTTP/1.1\r\n", .malformedRequestLine, 400),
        Refusal("GET * HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET http:///a HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET http://u:p@localhost/ HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET http://localhost?a HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET https://localhost/ HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET localhost HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /a#b HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /a\0b HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /a\rb HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /a\u{7f} HTTP/1.1\r\n", .malformedTarget, 400),
        Refusal("GET /" + String(repeating: "a", count: 8 * 1024) + " HTTP/1.1\r\n", .targetTooLong, 414),
        Refusal("GET /" + String(repeating: "a", count: 9 * 1024), .targetTooLong, 414),
        Refusal("\u{16}\u{3}\u{1}", .malformedRequestLine, 400),
    ]

    static let fields: [Refusal] = [
        Refusal("Host: x\n", .bareLineFeed, 400),
        Refusal("Host: x\r\nA: b\r\n c\r\n", .foldedField, 400),
        Refusal("Host: x\r\n\tA: b\r\n", .foldedField, 400),
        Refusal("Host : x\r\n", .malformedField, 400),
        Refusal(": x\r\n", .malformedField, 400),
        Refusal("Host\r\n", .malformedField, 400),
        Refusal("H\u{e9}: x\r\n", .malformedField, 400),
        Refusal("A\0: x\r\n", .malformedField, 400),
        Refusal("A: x\0y\r\n", .controlCharacter, 400),
        Refusal("A: xxxxxxxxxxxx\u{1}y\r\n", .controlCharacter, 400),
        Refusal("A: x\ry\r\n", .controlCharacter, 400),
        Refusal("A: x\u{7f}\r\n", .controlCharacter, 400),
        Refusal("A: b\r\n\r\n", .missingHost, 400),
        Refusal("Host: x\r\nHost: x\r\n\r\n", .repeatedHost, 400),
        Refusal("Host:\r\n\r\n", .malformedHost, 400),
        Refusal("Host: a b\r\n\r\n", .malformedHost, 400),
        Refusal("Host: a, b\r\n\r\n", .malformedHost, 400),
        Refusal("Host: u@a\r\n\r\n", .malformedHost, 400),
        Refusal("Host: a/b\r\n\r\n", .malformedHost, 400),
        Refusal("Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", .repeatedContentLength, 400),
        Refusal("Host: x\r\nContent-Length: 1, 1\r\n\r\n", .malformedContentLength, 400),
        Refusal("Host: x\r\nContent-Length: +1\r\n\r\n", .malformedContentLength, 400),
        Refusal("Host: x\r\nContent-Length: 0x1\r\n\r\n", .malformedContentLength, 400),
        Refusal("Host: x\r\nContent-Length:\r\n\r\n", .malformedContentLength, 400),
        Refusal("Host: x\r\nContent-Length: 99999999999999999999\r\n\r\n", .bodyTooLarge, 413),
        Refusal("Host: x\r\nContent-Length: 65537\r\n\r\n", .bodyTooLarge, 413),
        Refusal("Host: x\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncoding, 400),
        Refusal("Host: x\r\nTransfer-Encoding: identity\r\n\r\n", .transferEncoding, 400),
        Refusal("Host: x\r\nExpect: 200-ok\r\n\r\n", .unknownExpectation, 417),
        Refusal("Host: x\r\n" + String(repeating: "A: b\r\n", count: 64), .tooManyFields, 431),
        Refusal("Host: x\r\nA: " + String(repeating: "b", count: 16 * 1024) + "\r\n", .headersTooLarge, 431),
        Refusal("Host: x\r\nA: " + String(repeating: "b", count: 16 * 1024), .headersTooLarge, 431),
    ]

    @Test(arguments: requestLines)
    func aMalformedRequestLineIsRefused(_ refusal: Refusal) {
        expect(refusal, for: refusal.text)
    }

    @Test(arguments: fields)
    func aMalformedHeaderSectionIsRefused(_ refusal: Refusal) {
        expect(refusal, for: "POST / HTTP/1.1\r\n" + refusal.text)
    }

    @Test(arguments: [HTTPMethod.get, .head, .options])
    func aBodyOnAMethodWithoutOneIsRefused(method: HTTPMethod) {
        let text = "\(method.rawValue) / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n"
        expect(Refusal(text, .unexpectedBody, 400), for: text)
    }

    @Test func aTargetThatIsNotUTF8IsRefused() {
        var bytes = [UInt8]("GET /".utf8)
        bytes += [0xFF, 0xFE]
        bytes += [UInt8](" HTTP/1.1\r\n".utf8)
        var parser = RequestHeadParser()
        #expect(throws: RequestHeadError.malformedTarget) {
            try bytes.withUnsafeBytes { try parser.parse($0) }
        }
    }

    @Test(arguments: RequestHeadError.allCases)
    func everyRefusalHasASentence(error: RequestHeadError) {
        #expect(error.sentence.hasSuffix("."))
        #expect((400...505).contains(error.status.code))
    }

    private func expect(_ refusal: Refusal, for text: String) {
        #expect(throws: refusal.error) { try RequestHead(parsing: text) }
        #expect(refusal.error.status.code == refusal.code)
    }
}
