import HTTPMessage
import Testing

@testable import Fetching
@testable import Origin

struct ResponseRecordTests {
    private static let date = "Date: Mon, 30 Nov 2026 02:00:00 GMT"

    private static func resource(_ range: Range<Int64>? = nil) throws -> Resource {
        Resource(
            name: PieceName(.segment(1), fileExtension: "ts"), url: try WebURL("http://a/1.ts"), range: range)
    }

    private static func head(
        _ lines: [String], length: Int64?, statedLength: Int64? = nil, tag: String? = nil
    ) throws -> OriginHead {
        var reply = Reply()
        for line in lines + [""] {
            Array("\(line)\r\n".utf8).withUnsafeBytes { _ = reply.receive(line: $0) }
        }
        reply.address = "192.0.2.1"
        return reply.head(
            url: try WebURL("http://b/1.ts"), length: length, statedLength: statedLength,
            validator: tag.flatMap(validator))
    }

    private static func validator(_ tag: String) -> StrongValidator? { EntityTag(tag).map { .entityTag($0) } }

    @Test func aResponseStatesItsFacts() throws {
        var response = ResponseRecord()
        #expect(response.end == .mark)
        let lines = ["HTTP/1.1 200 OK", "Content-Length: 100", Self.date]
        try response.receive(Self.head(lines, length: 100, statedLength: 100, tag: "x"), for: Self.resource())
        #expect(response.length == 100)
        #expect(response.statedLength == 100)
        #expect(response.validator == Self.validator("x"))
        #expect(response.validatorURL == (try WebURL("http://b/1.ts")))
        #expect(response.address == "192.0.2.1")
        #expect(response.times != nil)
        #expect(response.end == .length)
        #expect(response.fileLength == nil)
        #expect(!response.isChunked && !response.isRestated && !response.isStatedEmpty)
    }

    @Test func aRangeHasItsOwnLengthAndThatOfItsFile() throws {
        var response = ResponseRecord()
        let lines = ["HTTP/1.1 206 Partial Content", "Content-Length: 10", "Content-Range: bytes 5-14/900"]
        try response.receive(Self.head(lines, length: 20, statedLength: 10), for: Self.resource(5..<15))
        #expect(response.length == 10)
        #expect(response.fileLength == 900)
        #expect(response.times == nil)
    }

    @Test("the next response says whether the stated length was wrong", arguments: [nil, 90] as [Int64?])
    func restated(length: Int64?) throws {
        var response = ResponseRecord()
        let resource = try Self.resource()
        try response.receive(Self.head(["HTTP/1.1 200 OK", "Content-Length: 100"], length: 100), for: resource)
        try response.receive(
            Self.head(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], length: length), for: resource)
        #expect(response.isRestated == (length == nil))
        #expect(response.isChunked)
        #expect(response.end == .mark)
        #expect(response.length == length)
    }

    @Test func anEmptyWholeIsStated() throws {
        var response = ResponseRecord()
        let lines = ["HTTP/1.1 200 OK", "Content-Length: 0"]
        try response.receive(Self.head(lines, length: 0), for: Self.resource())
        #expect(response.isStatedEmpty)
    }

    @Test func theMarkMayBeMissing() throws {
        for (lines, end) in [
            (["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], BodyEnd.length), (["HTTP/1.1 200 OK"], .connection),
        ] {
            var response = ResponseRecord()
            try response.receive(Self.head(lines, length: nil), for: Self.resource())
            response.recordUnmarkedEnd()
            #expect(response.end == end)
        }
    }

    @Test func anotherFetchIsReadWithItsFacts() throws {
        var other = ResponseRecord()
        let lines = ["HTTP/1.1 200 OK", "Content-Length: 100", Self.date]
        try other.receive(Self.head(lines, length: 100, tag: "x"), for: Self.resource())
        var whole = ResponseRecord()
        whole.adopt(other, for: try Self.resource())
        #expect(whole.length == 100)
        #expect(whole.validator == other.validator)
        #expect(whole.times != nil)
        // The exact length of a range is known without any response.
        var part = ResponseRecord()
        part.adopt(other, for: try Self.resource(0..<50))
        #expect(part.length == 50)
    }

    @Test func bytesThatAreThereNeedNoResponse() {
        var response = ResponseRecord()
        response.receiveKnown(length: 16)
        #expect(response.length == 16)
        #expect(response.end == .mark)
        response.complete(length: 12)
        #expect(response.length == 12)
    }

    @Test(
        "a validator is for one file of one origin",
        arguments: [
            ("http://a/1.ts?token=2", true), ("http://a/2.ts", false), ("http://b/1.ts", false),
            ("https://a/1.ts", false),
        ])
    func move(next: String, isKept: Bool) throws {
        var response = ResponseRecord()
        try response.receive(Self.head(["HTTP/1.1 200 OK"], length: 1, tag: "x"), for: Self.resource())
        response.move(from: try WebURL("http://a/1.ts"), to: try WebURL(next))
        #expect((response.validator != nil) == isKept)
    }

    @Test(arguments: [true, false])
    func aRepetitionForgetsTheLength(isContinued: Bool) throws {
        var response = ResponseRecord()
        try response.receive(Self.head(["HTTP/1.1 200 OK"], length: 1, tag: "x"), for: Self.resource())
        response.beginRepetition(isContinued: isContinued)
        #expect(response.length == nil)
        #expect((response.validator != nil) == isContinued)
    }
}

/// Bodies that are empty, or end inside their media.
struct BodyEvidenceTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The fields that frame the two responses, and their lengths.
        var first: (fields: String, written: Int64)
        var second: (fields: String, written: Int64)
        var verdict: BodyEvidence.CutVerdict
    }

    static let cases = [
        Case(
            testDescription: "one length, stated twice", first: ("Content-Length: 90", 90),
            second: ("Content-Length: 90", 90), verdict: .accepted),
        Case(
            testDescription: "two lengths", first: ("Content-Length: 90", 90), second: ("Content-Length: 95", 95),
            verdict: .refused),
        Case(
            testDescription: "a length that is not reached", first: ("Content-Length: 90", 90),
            second: ("Content-Length: 95", 90), verdict: .refused),
        Case(
            testDescription: "a mark after a length", first: ("Content-Length: 90", 90),
            second: ("Transfer-Encoding: chunked", 90), verdict: .accepted),
        Case(
            testDescription: "connections that end, wherever that is", first: ("Server: x", 90),
            second: ("Server: x", 90), verdict: .refused),
    ]

    @Test(arguments: cases)
    func twoResponsesDecide(body: Case) throws {
        var evidence = BodyEvidence()
        #expect(evidence.judgeCut(at: body.first.written, by: try response(body.first.fields)) == .repeated)
        #expect(evidence.isRepeated && evidence.isSound)
        #expect(evidence.judgeCut(at: body.second.written, by: try response(body.second.fields)) == body.verdict)
        #expect(evidence.isSound == (body.verdict == .accepted))
    }

    private func response(_ field: String) throws -> ResponseRecord {
        var reply = Reply()
        for line in ["HTTP/1.1 200 OK", field, ""] {
            Array("\(line)\r\n".utf8).withUnsafeBytes { _ = reply.receive(line: $0) }
        }
        let url = try WebURL("http://a/1.ts")
        let resource = Resource(name: PieceName(.segment(1), fileExtension: "ts"), url: url, range: nil)
        var response = ResponseRecord()
        response.receive(
            reply.head(url: url, length: reply.contentLength, statedLength: reply.contentLength, validator: nil),
            for: resource)
        return response
    }
}

struct FetchObserversTests {
    private final class Log {
        var names: [String] = []
    }

    private func observers(_ log: Log) -> FetchObservers {
        var observers = FetchObservers()
        for (moment, name) in [
            (FetchObservers.Moment.ended, "end 1"), (.announced, "begin 1"), (.arrived, "arrival"), (.ended, "end 2"),
            (.announced, "begin 2"), (.unawaited, "free"),
        ] {
            observers.add(at: moment) { _ in log.names.append(name) }
        }
        return observers
    }

    @Test func eachIsNotifiedOnceInItsOrder() {
        let log = Log()
        var observers = observers(log)
        for moment in [FetchObservers.Moment.announced, .announced, .arrived, .unawaited] {
            for notify in observers.take(moment) {
                notify(.success(()))
            }
        }
        #expect(log.names == ["begin 1", "begin 2", "arrival", "free"])
        #expect(observers.takeAtEnd().count == 2)
        #expect(observers.takeAtEnd().isEmpty)
    }

    /// The last byte has not arrived by itself: nobody may ask for the next segment on that account.
    @Test func theEndIsToldToAllButThoseThatWaitForTheLastByte() {
        let log = Log()
        var observers = observers(log)
        for notify in observers.takeAtEnd() {
            notify(.success(()))
        }
        #expect(log.names == ["begin 1", "begin 2", "free", "end 1", "end 2"])
    }
}
