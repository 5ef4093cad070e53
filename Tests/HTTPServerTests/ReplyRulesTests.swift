import HTTPMessage
import Testing

@testable import HTTPServer

@Suite struct ReplyRulesTests {
    @Test(
        arguments: [
            (HTTPMethod.get, HTTPVersion.http11, 200, 5, ReplyFraming.Delimiter.length(5), true, true),
            (.get, .http11, 200, 0, .length(0), false, true), (.head, .http11, 200, 5, .length(5), false, true),
            (.get, .http11, 304, 5, .absent, false, true), (.get, .http11, 204, nil, .absent, false, true),
            (.get, .http11, 200, nil, .chunks, true, true), (.get, .http10, 200, nil, .close, true, false),
            (.head, .http11, 200, nil, .absent, false, true), (.get, .http10, 200, 5, .length(5), true, true),
        ] as [(HTTPMethod, HTTPVersion, Int, Int64?, ReplyFraming.Delimiter, Bool, Bool)])
    func aReplyIsFramed(
        method: HTTPMethod, version: HTTPVersion, status: Int, length: Int64?, delimiter: ReplyFraming.Delimiter,
        sendsBody: Bool, keeps: Bool
    ) {
        let framing = ReplyFraming(
            method: method, version: version, status: HTTPStatus(status), length: length, mayKeep: true)
        #expect(framing.delimiter == delimiter)
        #expect(framing.sendsBody == sendsBody)
        #expect(framing.keepsConnection == keeps)
    }

    @Test func aGrowingBodyIsSentAsItGrows() {
        var progress = GrowingProgress(offset: 10, length: 20)
        #expect(progress.next(written: 5, state: .open) == .wait)
        #expect(progress.next(written: 15, state: .open) == .send(10..<15))
        #expect(progress.next(written: 15, state: .open) == .wait)
        #expect(progress.next(written: 99, state: .open) == .send(15..<30))
        #expect(progress.next(written: 99, state: .failed) == .end)
    }

    @Test func aGrowingBodyIsSentInSteps() {
        var progress = GrowingProgress(offset: 0, length: nil)
        #expect(progress.next(written: GrowingProgress.step + 1, state: .open) == .send(0..<GrowingProgress.step))
        #expect(
            progress.next(written: GrowingProgress.step + 1, state: .complete)
                == .send(GrowingProgress.step..<GrowingProgress.step + 1))
        #expect(progress.next(written: GrowingProgress.step + 1, state: .complete) == .end)
    }

    /// Offset, length, bytes in the file, fresh bytes, and the part of these to send next.
    @Test(
        arguments: [
            (0, 10, 0, 5, 0..<5), (0, 10, 0, 20, 0..<10), (4, 10, 0, 20, 4..<14), (4, nil, 0, 20, 4..<20),
            (4, nil, 4, 20, 0..<20),
            // Earlier bytes first; all already sent.
            (0, 10, 1, 5, 0..<0), (30, nil, 0, 20, 20..<20),
        ] as [(Int64, Int64?, Int64, Int, Range<Int>)])
    func freshBytesAreSentInTurn(offset: Int64, length: Int64?, written: Int64, count: Int, part: Range<Int>) {
        var progress = GrowingProgress(offset: offset, length: length)
        #expect(progress.nextFresh(written: written, count: count) == part)
        progress.advance(by: part.count)
        #expect(progress.isAtEnd == (length.map { $0 == part.count } ?? false))
        let left = progress.nextFresh(written: written, count: count)
        #expect(part.isEmpty || left.isEmpty)
    }

    @Test(arguments: [GrowingBodyState.failed, .complete])
    func aBodyThatEndsTooSoonFailsAfterItsLastByte(state: GrowingBodyState) {
        var progress = GrowingProgress(offset: 0, length: 20)
        #expect(progress.next(written: 5, state: state) == .send(0..<5))
        #expect(progress.next(written: 5, state: state) == .fail)
    }

    @Test(arguments: ["127.0.0.1", "::1", "192.168.0.7", "fe80::1", "0.0.0.0"])
    func aLiteralAddressIsReadAndWritten(literal: String) throws {
        let address = try #require(SocketAddress(literal: literal, port: 80))
        #expect(address.host == literal)
        #expect(address.literal == (literal.contains(":") ? "[\(literal)]" : literal))
        #expect(address.isLoopback == ["127.0.0.1", "::1"].contains(literal))
        #expect(address.withSockaddr { pointer, _ in SocketAddress(pointer) } == address)
    }

    @Test(arguments: ["localhost", "", "1.2.3", "[127.0.0.1", "::1%lo", "127.0.0.1:80"])
    func anInvalidLiteralAddressIsRefused(text: String) {
        #expect(SocketAddress(literal: text, port: 80) == nil)
    }
}
