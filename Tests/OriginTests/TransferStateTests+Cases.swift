import HTTPMessage

@testable import Origin

/// The conversations as a table: the origin's replies and the expected results.
extension TransferStateTests {
    static let broken = TransferState.Outcome.failed(.init(code: .cutShort))
    static let lost = TransferState.Outcome.failed(.init(code: .unreachable))
    static let whole = "200|Content-Length: 100|ETag: \"a\""
    static let unread = TransferState.Outcome.failed(.init(code: .unsupportedEncoding))

    static func part(_ range: String, _ tag: String = "a") -> String {
        "206|Content-Range: bytes \(range)|ETag: \"\(tag)\""
    }

    static let cases: [Case] = [
        Case(
            testDescription: "whole", first: "/r",
            steps: [.head(whole, "deliver 100"), .bytes(60, "at 0"), .bytes(40, "at 60"), .ends(.finished, "done")]),
        Case(
            testDescription: "unknown length ends with the reply", first: "/r",
            steps: [.head("200", "deliver ?"), .bytes(60, "at 0"), .ends(.finished, "done")]),
        Case(
            testDescription: "broken body resumes by its tag", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head(part("60-99/100"), "deliver"), .bytes(40, "at 60"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "short body with an orderly end counts as broken", first: "/r",
            steps: [.head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(.finished, "wait")]),
        Case(
            testDescription: "failure after the last byte is ignored", first: "/r",
            steps: [.head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(broken, "done")]),
        Case(
            testDescription: "without a strong validator the body restarts", first: "/r",
            steps: [
                .head("200|Content-Length: 100|ETag: W/\"a\"", "deliver 100"), .bytes(60, "at 0"),
                .ends(broken, "wait"),
                .ends(.finished, "/r"), .head("200|Content-Length: 100|ETag: W/\"a\"", "deliver"), .bytes(100, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "old modification date is a validator", first: "/r",
            steps: [
                .head(
                    "200|Content-Length: 9|Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT|Date: Sun, 06 Nov 1994 09:49:37 GMT",
                    "deliver 9"), .bytes(6, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 6- Sun, 06 Nov 1994 08:49:37 GMT"),
            ]),
        Case(
            testDescription: "changed content restarts, for the receiver to compare", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head("200|Content-Length: 100|ETag: \"b\"", "deliver"), .bytes(50, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 50- \"b\""),
            ]),
        Case(
            testDescription: "changed length cannot be the same content", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head("200|Content-Length: 101", "stop"), .ends(.stopped, "contentChanged"),
            ]),
        Case(
            testDescription: "another size is accepted when the body restarts",
            change: { $0.acceptsCompression = true }, first: "/r",
            steps: [
                .head("200|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r"), .head("200|Content-Length: 60", "deliver"), .bytes(60, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "206 of a file of another size", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head(part("60-100/101"), "stop"), .ends(.stopped, "contentChanged"),
            ]),
        Case(
            testDescription: "206 with another tag is not used to resume", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head(part("60-99/100", "b"), "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "wrong part is not used to resume", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head(part("59-99/100"), "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r"),
                .head(whole, "deliver"), .bytes(100, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "206 without Content-Range is refused", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head("206|Content-Length: 40|ETag: \"a\"", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "416 with the received size means complete",
            change: {
                $0.start = 100
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 100- \"a\"",
            steps: [
                .head("416|Content-Range: bytes */100|Content-Length: 9", "deliver 100"), .bytes(9, "skip"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "416 with another size restarts",
            change: {
                $0.start = 100
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 100- \"a\"",
            steps: [.head("416|Content-Range: bytes */90", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r")]),
        Case(
            testDescription: "receiver's bytes are resumed",
            change: {
                $0.start = 60
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 60- \"a\"",
            steps: [.head(part("60-99/100"), "deliver 100"), .bytes(40, "at 60"), .ends(.finished, "done")]),
        Case(
            testDescription: "receiver's bytes without a validator are only compared", change: { $0.start = 60 },
            first: "/r",
            steps: [.head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(.finished, "done")]),
        Case(
            testDescription: "range of a file", change: { $0.range = 1000..<1100 }, first: "/r 1000-1099",
            steps: [
                .head(part("1000-1099/9999"), "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 1060-1099 \"a\""),
                .head(part("1060-1099/9999") + "|Content-Length: 40", "deliver"), .bytes(40, "at 60"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "whole file in reply to a range, twice", change: { $0.range = 0..<100 },
            first: "/r 0-99",
            steps: [
                .head("200|Content-Length: 9999", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r 0-99"),
                .head("200|Content-Length: 9999", "stop"), .ends(.stopped, "rangeIgnored"),
            ]),
        Case(
            testDescription: "beginning of a whole file in reply to a range",
            change: {
                $0.range = 0..<100
                $0.acceptsWhole = true
            }, first: "/r 0-99",
            steps: [
                .head("200|Content-Length: 9999", "deliver 100"), .bytes(60, "at 0"), .bytes(60, "last 40 at 60"),
                .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "a whole file that is compressed, or shorter than the range",
            change: {
                $0.range = 0..<100
                $0.acceptsWhole = true
            }, first: "/r 0-99",
            steps: [
                .head("200|Content-Encoding: gzip", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r 0-99"),
                .head("200|Content-Length: 99", "stop"), .ends(.stopped, "rangeIgnored"),
            ]),
        Case(
            testDescription: "whole file that equals the range is accepted", change: { $0.range = 0..<100 },
            first: "/r 0-99",
            steps: [.head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(.finished, "done")]),
        Case(
            testDescription: "other range, twice", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-18/100"), "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r 10-19"),
                .head(part("0-9/100"), "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "range with an end that is one too large", change: { $0.range = 10..<20 },
            first: "/r 10-19",
            steps: [
                .head(part("10-20/20") + "|Content-Length: 10", "deliver 10"), .bytes(10, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "range that is longer than requested", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-99/100") + "|Content-Length: 90", "deliver 10"), .bytes(6, "at 0"),
                .bytes(50, "last 4 at 6"), .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "chunked range that is longer than requested", change: { $0.range = 10..<20 },
            first: "/r 10-19",
            steps: [
                .head(part("10-99/100") + "|Transfer-Encoding: chunked", "deliver 10"), .bytes(11, "last 10 at 0"),
                .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "range that ends with the connection", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-19/100"), "deliver 10"), .bytes(10, "last 10 at 0"), .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "range of a file of size 0", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-19/0") + "|Content-Length: 10", "deliver 10"), .bytes(10, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "range of a file of the part's size, and resumed", change: { $0.range = 100..<200 },
            first: "/r 100-199",
            steps: [
                .head(part("100-199/100") + "|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r 160-199 \"a\""),
                .head(part("160-199/40") + "|Content-Length: 40", "deliver"), .bytes(40, "at 60"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "range with status 200", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head("200|Content-Range: bytes 10-19/100|Content-Length: 10", "deliver 10"), .bytes(10, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "other range with status 200, twice", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head("200|Content-Range: bytes 0-99/100|Content-Length: 100", "stop"), .ends(.stopped, "wait"),
                .ends(.finished, "/r 10-19"),
                .head("200|Content-Range: bytes 11-20/100|Content-Length: 10", "stop"),
                .ends(.stopped, "rangeIgnored"),
            ]),
        Case(
            testDescription: "range with too small a length", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-19/100") + "|Content-Length: 5", "stop"), .ends(.stopped, "/r 10-19 to its end"),
                .head(part("10-19/100") + "|Content-Length: 5", "deliver 10"), .bytes(6, "at 0"),
                .bytes(9, "last 4 at 6"), .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "no range without its first byte", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head("206|Content-Length: 9", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r 10-19"),
                .head(part("9-19/100") + "|Content-Length: 11", "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "a length that is no number",
            first: "/r",
            steps: [
                .ends(.failed(.init(code: .malformedReply, hasInvalidLength: true)), "/r to its end"),
                .head("200|Content-Length: -1", "deliver ?"), .bytes(60, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "an obsolete Transfer-Encoding does not hide the end", first: "/r",
            steps: [
                .head(whole + "|Transfer-Encoding: identity", "deliver 100"), .bytes(100, "last 100 at 0"),
                .ends(.stopped, "done"),
            ]),
        Case(
            testDescription: "an obsolete Transfer-Encoding beside too small a length", first: "/r",
            steps: [
                .head(whole + "|Transfer-Encoding: identity", "deliver 100"), .bytes(101, "stop"),
                .ends(.stopped, "/r to its end"),
            ]),
        Case(
            testDescription: "an obsolete Transfer-Encoding beside a length of 0", first: "/r",
            steps: [
                .head("200|Content-Length: 0|Transfer-Encoding: identity", "stop"), .ends(.stopped, "/r to its end"),
                .head("200|Content-Length: 0|Transfer-Encoding: identity", "deliver ?"), .bytes(60, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "a compressed transfer is never taken as it is", first: "/r",
            steps: [
                .head("200|Transfer-Encoding: gzip", "deliver ?"), .ends(unread, "/r as it is"),
                .head("200|Transfer-Encoding: gzip", "stop"), .ends(.stopped, "unsupportedEncoding"),
            ]),
        Case(
            testDescription: "range with the length of the whole, which it may be", change: { $0.range = 10..<20 },
            first: "/r 10-19",
            steps: [
                .head("200|Content-Range: bytes 10-19/100|Content-Length: 100", "stop"), .ends(.stopped, "wait"),
                .ends(.finished, "/r 10-19"),
                .head("206|Content-Range: bytes 10-19/100|Content-Length: 100", "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "range with its length alone", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head("206|Content-Length: 10", "deliver 10"), .bytes(10, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "range with another length alone, twice", change: { $0.range = 10..<20 },
            first: "/r 10-19",
            steps: [
                .head("206|Content-Length: 11", "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r 10-19"),
                .head("206", "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "range beyond the file", change: { $0.range = 1000..<1100 }, first: "/r 1000-1099",
            steps: [.head("416|Content-Range: bytes */90", "stop"), .ends(.stopped, "unexpectedStatus")]),
        Case(
            testDescription: "unrequested 206 of a part", first: "/r",
            steps: [
                .head(part("0-9/100"), "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r"),
                .head(part("5-99/100"), "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "unrequested 206 of several parts", first: "/r",
            steps: [
                .head("206|Content-Type: Multipart/Byteranges; boundary=b|Content-Length: 100", "stop"),
                .ends(.stopped, "wait"), .ends(.finished, "/r"),
                .head("206|Content-Type: multipart/byteranges; boundary=b", "stop"), .ends(.stopped, "wrongRange"),
            ]),
        Case(
            testDescription: "unrequested 206 of the whole", first: "/r",
            steps: [
                .head("206|Content-Range: bytes 0-99/100|Content-Length: 100", "deliver 100"), .bytes(100, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "unrequested 206 without a size, recognised by the receiver", first: "/r",
            steps: [
                .head("206|Content-Length: 100", "deliver 100"), .bytes(100, "at 0"),
                .asks(.finished, .unrequestedPart, true, "done"),
            ]),
        Case(
            testDescription: "unrequested 206 of unknown size, the same twice", first: "/r",
            steps: [
                .head("206|Content-Range: bytes 0-99/*|Content-Length: 100", "deliver 100"), .bytes(100, "at 0"),
                .asks(.finished, .unrequestedPart, false, "/r"),
                .head("206|Content-Range: bytes 0-99/*|Content-Length: 100", "deliver"), .bytes(100, "at 0"),
                .asks(.finished, .repeated, true, "done"),
            ]),
        Case(
            testDescription: "unrequested 206 without a size, never recognised", first: "/r",
            steps: [
                .head("206|Content-Length: 100", "deliver 100"), .bytes(100, "at 0"),
                .asks(.finished, .unrequestedPart, false, "/r"),
                .head("206|Content-Length: 100", "deliver"), .bytes(100, "at 0"),
                .asks(.finished, .repeated, false, "wrongRange"),
            ]),
        Case(
            testDescription: "unrequested 206 that is compressed", first: "/r",
            steps: [
                .head("206|Content-Range: bytes 0-99/100|Content-Encoding: gzip", "stop"), .ends(.stopped, "wait"),
            ]),
        Case(
            testDescription: "201 and 203 are the whole", first: "/r",
            steps: [
                .head("203|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r"), .head("201|Content-Length: 100", "deliver"), .bytes(100, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "Content-Length of a chunked body", first: "/r",
            steps: [
                .head("200|Content-Length: 0|Transfer-Encoding: chunked", "deliver ?"), .bytes(60, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "shorter than stated, and the media shows that it is whole", first: "/r",
            steps: [
                .head("200|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"),
                .asks(broken, .shorterThanStated, true, "done"),
            ]),
        Case(
            testDescription: "shorter than stated, twice", first: "/r",
            steps: [
                .head("200|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"),
                .asks(broken, .shorterThanStated, false, "wait"), .ends(.finished, "/r"),
                .head("200|Content-Length: 100", "deliver"), .bytes(60, "at 0"), .asks(broken, .repeated, true, "done"),
            ]),
        Case(
            testDescription: "shorter than stated, at two ends", first: "/r",
            steps: [
                .head("200|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"),
                .asks(broken, .shorterThanStated, false, "wait"), .ends(.finished, "/r"),
                .head("200|Content-Length: 100", "deliver"), .bytes(70, "at 0"),
                .asks(broken, .shorterThanStated, false, "wait"), .ends(.finished, "/r"),
                .head("200|Content-Length: 100", "deliver"), .bytes(50, "at 0"), .ends(broken, "wait"),
            ]),
        Case(
            testDescription: "shorter than stated, and a range shows it", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .asks(broken, .shorterThanStated, false, "wait"),
                .ends(.finished, "/r 60- \"a\""), .head("416|Content-Range: bytes */60", "stop"),
                .ends(.stopped, "/r"), .head(whole, "deliver"), .bytes(60, "at 0"),
                .asks(broken, .repeated, true, "done"),
            ]),
        Case(
            testDescription: "shorter than stated, and the second length is right", first: "/r",
            steps: [
                .head("200|Content-Length: 100", "deliver 100"), .bytes(60, "at 0"),
                .asks(broken, .shorterThanStated, false, "wait"), .ends(.finished, "/r"),
                .head("200|Content-Length: 60", "deliver"), .bytes(60, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "longer than stated", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(.exceeded, "/r to its end"),
                .head(whole, "deliver ?"), .bytes(120, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "longer than stated, then cut earlier than before", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(.exceeded, "/r to its end"),
                .head(whole, "deliver ?"), .bytes(90, "at 0"), .ends(.finished, "wait"),
                .ends(.finished, "/r to its end"), .head(whole, "deliver ?"), .bytes(120, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "bytes behind a range do not matter", change: { $0.range = 0..<100 }, first: "/r 0-99",
            steps: [
                .head(part("0-99/999") + "|Content-Length: 100", "deliver 100"), .bytes(100, "at 0"),
                .ends(.exceeded, "done"),
            ]),
        Case(
            testDescription: "more than announced", first: "/r",
            steps: [
                .head("200|Content-Length: 10", "deliver 10"), .bytes(11, "stop"), .ends(.stopped, "malformedReply"),
            ]),
        Case(
            testDescription: "announced size above the limit", change: { $0.limit = 99 }, first: "/r",
            steps: [.head(whole, "stop"), .ends(.stopped, "tooLarge")]),
        Case(
            testDescription: "received size above the limit", change: { $0.limit = 99 }, first: "/r",
            steps: [.head("200", "deliver ?"), .bytes(99, "at 0"), .bytes(1, "stop"), .ends(.stopped, "tooLarge")]),
        Case(
            testDescription: "unrequested coding begins again", first: "/r",
            steps: [
                .head("200|Content-Length: 9|Content-Encoding: gzip|ETag: \"a\"", "deliver ?"), .bytes(60, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r"),
                .head("200|Content-Length: 9|Content-Encoding: br|ETag: \"a\"", "deliver"), .bytes(100, "at 0"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "a resumed body that is compressed begins again", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""), .head(part("60-99/100") + "|Content-Encoding: gzip", "stop"),
                .ends(.stopped, "wait"), .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "a range that is compressed", change: { $0.range = 10..<20 }, first: "/r 10-19",
            steps: [
                .head(part("10-19/100") + "|Content-Encoding: gzip", "stop"), .ends(.stopped, "wait"),
                .ends(.finished, "/r 10-19"), .head("200|Content-Encoding: gzip", "stop"),
                .ends(.stopped, "rangeIgnored"),
            ]),
        Case(
            testDescription: "words that are no codings", first: "/r",
            steps: [
                .head(whole + "|Content-Encoding: utf-8", "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""), .head(part("60-99/100") + "|Content-Encoding: none", "deliver"),
                .bytes(40, "at 60"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "a coding beside a word that names no coding", first: "/r",
            steps: [
                .head("200|Content-Encoding: aws-chunked, gzip", "stop"), .ends(.stopped, "unsupportedEncoding"),
            ]),
        Case(
            testDescription: "a body that is not what its coding says is asked for as it is", first: "/r",
            steps: [
                .head(whole + "|Content-Encoding: gzip", "deliver ?"), .ends(unread, "/r as it is"),
                .head(whole + "|Content-Encoding: gzip", "deliver"), .bytes(100, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "a compressed body that is broken in its middle", first: "/r",
            steps: [
                .head(whole + "|Content-Encoding: gzip", "deliver ?"), .bytes(60, "at 0"), .ends(unread, "wait"),
                .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "encoded playlist restarts instead of resuming",
            change: { $0.acceptsCompression = true },
            first: "/r",
            steps: [
                .head("200|Content-Length: 9|Content-Encoding: gzip|ETag: \"a\"", "deliver ?"), .bytes(60, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "redirect, and back to the first URL after a failure", first: "/r",
            steps: [
                .head("302|Location: a/b?c|Content-Length: 3", "skip"), .bytes(3, "skip"), .ends(.finished, "/a/b?c"),
                .head("307|Location: ../d|Content-Length: 0", "skip"), .ends(broken, "/d"), .ends(lost, "wait"),
                .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "redirect with a long body", first: "/r",
            steps: [.head("301|Location: /b", "stop"), .ends(.stopped, "/b")]),
        Case(
            testDescription: "too many redirects", first: "/r",
            steps: (0..<10).flatMap { _ in
                [.head("302|Location: /r|Content-Length: 0", "skip"), Step.ends(.finished, "/r")]
            } + [.head("302|Location: /r|Content-Length: 0", "skip"), .ends(.finished, "tooManyRedirects")]),
        Case(
            testDescription: "redirect to a file URL", first: "/r",
            steps: [
                .head("302|Location: file:///etc/passwd|Content-Length: 0", "skip"),
                .ends(.finished, "forbiddenRedirect"),
            ]),
        Case(
            testDescription: "redirect with userinfo", first: "/r",
            steps: [
                .head("302|Location: http://u@h/|Content-Length: 0", "skip"), .ends(.finished, "/"),
            ]),
        Case(
            testDescription: "redirect from https to http",
            change: { if let url = try? WebURL("https://h/s") { $0.url = url } },
            first: "https://h/s",
            steps: [
                .head("302|Location: http://h/r|Content-Length: 0", "skip"), .ends(.finished, "/r"),
                .head(whole, "deliver 100"), .bytes(100, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "redirect without a Location", first: "/r",
            steps: [
                .head("302|Content-Length: 3", "skip"), .bytes(3, "skip"), .ends(.finished, "wait"),
                .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "redirect from http to https", first: "/r",
            steps: [.head("302|Location: https://h/r|Content-Length: 0", "skip"), .ends(.finished, "https://h/r")]),
        Case(
            testDescription: "server failures, six of them", first: "/r",
            steps: (0..<5).flatMap { _ in
                [.head("503|Content-Length: 0", "skip"), Step.ends(.finished, "wait"), .ends(.finished, "/r")]
            } + [.head("503|Content-Length: 0", "skip"), .ends(.finished, "serverFailure")]),
        Case(
            testDescription: "progress resets the count of failures", first: "/r",
            steps: (0..<5).flatMap { _ in [.ends(lost, "wait"), Step.ends(.finished, "/r")] } + [
                .head(whole, "deliver 100"), .bytes(1, "at 0"), .ends(broken, "wait"), .ends(.finished, "/r 1- \"a\""),
            ] + (0..<4).flatMap { _ in [.ends(lost, "wait"), Step.ends(.finished, "/r 1- \"a\"")] } + [
                .ends(lost, "unreachable")
            ]),
        Case(
            testDescription: "receiving the same bytes again is no progress", first: "/r",
            steps: (0..<5).flatMap { number in
                [
                    .head("200|Content-Length: 100", number == 0 ? "deliver 100" : "deliver"), Step.bytes(60, "at 0"),
                    .asks(broken, number == 0 ? .shorterThanStated : .repeated, false, "wait"), .ends(.finished, "/r"),
                ]
            } + [
                .head("200|Content-Length: 100", "deliver"), .bytes(60, "at 0"),
                .asks(broken, .repeated, false, "cutShort"),
            ]),
        Case(
            testDescription: "no retry of a POST", change: { $0.method = .post }, first: "/r",
            steps: [.ends(lost, "unreachable")]),
        Case(
            testDescription: "no redirect of a POST", change: { $0.method = .post }, first: "/r",
            steps: [.head("307|Location: /b|Content-Length: 0", "skip"), .ends(.finished, "unexpectedStatus")]),
        Case(
            testDescription: "reply of any status, if accepted", change: { $0.acceptsAnyStatus = true },
            first: "/r",
            steps: [.head("503|Content-Length: 5", "deliver 5"), .bytes(5, "at 0"), .ends(.finished, "done")]),
        Case(
            testDescription: "no bytes of a range that has not changed",
            change: { ($0.range, $0.acceptsRefusals) = (0..<10, true) }, first: "/r 0-9",
            steps: [.head("304|ETag: \"a\"", "deliver ?"), .ends(.finished, "done")]),
        Case(
            testDescription: "permanent failure below HTTP", first: "/r",
            steps: [.ends(.failed(.init(code: .untrustedCertificate, isTransient: false)), "untrustedCertificate")]),
        Case(
            testDescription: "start beyond the range",
            change: {
                $0.range = 0..<10
                $0.start = 10
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 0-9", steps: []),
        Case(
            testDescription: "206 with a weaker validator: an overlap is compared", first: "/r",
            steps: [
                .head("200|Content-Length: 200000|ETag: \"a\"", "deliver 200000"), .bytes(100_000, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r 100000- \"a\""),
                .head("206|Content-Range: bytes 100000-199999/200000|ETag: W/\"a\"", "stop"),
                .ends(.stopped, "/r 34464- \"a\""),
                .head("206|Content-Range: bytes 34464-199999/200000|ETag: W/\"a\"", "deliver"),
                .bytes(100_000, "at 34464"), .ends(broken, "wait"), .ends(.finished, "/r 68928- \"a\""),
                .head("206|Content-Range: bytes 68928-199999/200000", "deliver"), .bytes(131_072, "at 68928"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "206 with a weaker validator early in the body: it begins again", first: "/r",
            steps: [
                .head(whole, "deliver 100"), .bytes(60, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 60- \"a\""),
                .head("206|Content-Range: bytes 60-99/100", "stop"), .ends(.stopped, "/r"),
                .head("200|Content-Length: 100", "deliver"), .bytes(100, "at 0"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "206 with another tag behind an overlap", first: "/r",
            steps: [
                .head("200|Content-Length: 200000|ETag: \"a\"", "deliver 200000"), .bytes(100_000, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r 100000- \"a\""),
                .head("206|Content-Range: bytes 100000-199999/200000", "stop"), .ends(.stopped, "/r 34464- \"a\""),
                .head("206|Content-Range: bytes 34464-199999/200000|ETag: \"b\"", "stop"), .ends(.stopped, "wait"),
                .ends(.finished, "/r"),
            ]),
        Case(
            testDescription: "206 from another URL with the same tag: an overlap is compared", first: "/r",
            steps: [
                .head("200|Content-Length: 200000|ETag: \"a\"", "deliver 200000"), .bytes(100_000, "at 0"),
                .ends(broken, "wait"), .ends(.finished, "/r 100000- \"a\""),
                .head("302|Location: /s|Content-Length: 0", "skip"), .ends(.finished, "/s 100000- \"a\""),
                .head("206|Content-Range: bytes 100000-199999/200000|ETag: \"a\"", "stop"),
                .ends(.stopped, "/r 34464- \"a\""),
                .head("302|Location: /s|Content-Length: 0", "skip"), .ends(.finished, "/s 34464- \"a\""),
                .head("206|Content-Range: bytes 34464-199999/200000|ETag: \"a\"", "deliver"),
                .bytes(165_536, "at 34464"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "an overlap of a range stays within it", change: { $0.range = 1000..<101_000 },
            first: "/r 1000-100999",
            steps: [
                .head(part("1000-100999/200000"), "deliver 100000"), .bytes(90_000, "at 0"), .ends(broken, "wait"),
                .ends(.finished, "/r 91000-100999 \"a\""),
                .head("206|Content-Range: bytes 91000-100999/200000", "stop"),
                .ends(.stopped, "/r 25464-100999 \"a\""),
                .head("206|Content-Range: bytes 25464-100999/200000", "deliver"), .bytes(75_536, "last 75536 at 24464"),
                .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "another size than the receiver knows",
            change: {
                ($0.start, $0.size) = (60, 100)
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 60- \"a\"",
            steps: [.head(part("60-109/110"), "stop"), .ends(.stopped, "wait"), .ends(.finished, "/r")]),
        Case(
            testDescription: "a length in doubt, and the connection ends before it",
            change: { ($0.ignoresStatedLength, $0.start) = (true, 60) }, first: "/r to its end",
            steps: [
                .head("200|Content-Length: 100", "deliver ?"), .bytes(80, "at 0"),
                .asks(.finished, .shorterThanStated, false, "wait"),
            ]),
        Case(
            testDescription: "a length in doubt of the last bytes",
            change: {
                ($0.ignoresStatedLength, $0.comparesOverlap, $0.start) = (true, true, 100_000)
                $0.validator = StrongValidator("\"a\"")
            }, first: "/r 34464- \"a\" to its end",
            steps: [
                .head("206|Content-Range: bytes 34464-99999/100000|Content-Length: 65536|ETag: \"a\"", "deliver ?"),
                .bytes(65_536, "at 34464"), .ends(.finished, "done"),
            ]),
        Case(
            testDescription: "a length in doubt, and nothing behind it",
            change: { ($0.ignoresStatedLength, $0.start) = (true, 60) }, first: "/r to its end",
            steps: [.head("200|Content-Length: 60", "deliver ?"), .bytes(60, "at 0"), .ends(.finished, "done")]),
    ]
}
