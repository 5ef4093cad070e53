import HTTPMessage
import Testing

@testable import Origin

struct TransferStateTests {
    /// One step of a conversation: an event and the expected result.
    enum Step {
        /// A reply's head and the expected reaction.
        case head(String, _ reaction: String)
        /// Body bytes and where they belong.
        case bytes(Int, _ delivery: String)
        /// The end of the request and the expected action.
        case ends(TransferState.Outcome, _ action: String)
        /// An end that the receiver is asked about, with its answer, and the expected action.
        case asks(TransferState.Outcome, EndEvidence, _ accepts: Bool, _ action: String)
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var change: @Sendable (inout OriginRequest) -> Void = { _ in }
        let first: String
        let steps: [Step]
    }

    @Test(arguments: cases)
    func conversationMatchesTheTable(_ table: Case) throws {
        var request = OriginRequest(try WebURL("http://h/r"))
        table.change(&request)
        let now = ContinuousClock.now
        var state = TransferState(request, rule: GiveUpRule(), redirectLimit: 10, now: now)
        #expect(name(state.begin()) == table.first)
        var isWaiting = false
        for (number, step) in table.steps.enumerated() {
            switch step {
            case .head(let text, let expected):
                #expect(name(state.received(try reply(text))) == expected, "step \(number)")
            case .bytes(let count, let expected):
                #expect(name(state.received(byteCount: count, now: now)) == expected, "step \(number)")
            case .asks(let outcome, let evidence, let accepts, let expected):
                #expect(state.doubt(about: outcome) == evidence, "step \(number)")
                if accepts {
                    state.acceptEnd()
                }
                let action = state.ended(outcome, now: now, jitter: 0)
                #expect(name(action) == expected, "step \(number)")
                isWaiting = expected == "wait"
            case .ends(let outcome, let expected):
                if !isWaiting {
                    #expect(state.doubt(about: outcome) != .repeated, "step \(number)")
                }
                let action = isWaiting ? state.pauseEnded() : state.ended(outcome, now: now, jitter: 0)
                #expect(name(action) == expected, "step \(number)")
                isWaiting = expected == "wait"
            }
        }
    }

    @Test(arguments: [(99, #"/r 199-199 "a""#), (100, "done")])
    func aDisplacedRangeWithAllItsBytesIsComplete(_ received: Int, _ expected: String) throws {
        var request = OriginRequest(try WebURL("http://h/r"))
        request.range = 100..<200
        var state = TransferState(request, rule: GiveUpRule(), redirectLimit: 5, now: .now)
        _ = state.begin()
        _ = state.received(try reply("206|ETag: \"a\"|Content-Range: bytes 100-199/1000"))
        _ = state.received(byteCount: received, now: .now)
        #expect(name(state.displaced()) == expected)
    }

    @Test func pauseFollowsRetryAfter() throws {
        var state = TransferState(
            OriginRequest(try WebURL("http://h/r")), rule: GiveUpRule(), redirectLimit: 5, now: .now)
        _ = state.begin()
        _ = state.received(try reply("429|Retry-After: 7|Content-Length: 0"))
        #expect(state.ended(.finished, now: .now, jitter: 1) == .wait(.seconds(7)))
        _ = state.pauseEnded()
        _ = state.received(
            try reply(
                "503|Date: Sun, 06 Nov 1994 08:49:37 GMT|Retry-After: Sun, 06 Nov 1994 08:49:40 GMT|Content-Length: 0"))
        #expect(state.ended(.finished, now: .now, jitter: 1) == .wait(.seconds(3)))
        _ = state.pauseEnded()
        _ = state.received(try reply("503|Retry-After: 86400|Content-Length: 0"))
        #expect(state.ended(.finished, now: .now, jitter: 1) == .wait(.seconds(60)))
    }

    @Test(arguments: [
        (
            "http://cdn/r", 403,
            "X-Site goes to the stream's own host alone; --header-for cdn 'X-Site: …' sends one here too"
        ),
        (
            "http://cdn:8080/r", 401,
            "X-Site goes to the stream's own host alone; --header-for cdn:8080 'X-Site: …' sends one here too"
        ),
        ("http://cdn/r", 404, nil), ("http://h/r", 403, nil),
    ])
    func aRefusalOfAnotherHostNamesAFieldThatItDidNotGet(url: String, status: Int, advice: String?) throws {
        var request = OriginRequest(try WebURL(url))
        let fields = try UserFields(["Referer: r", "X-Site: 1"])
        request.fields = fields.shared
        request.credentials = .init(origin: try WebURL("http://h/").origin, fields: fields.credentials)
        var state = TransferState(request, rule: GiveUpRule(), redirectLimit: 5, now: .now)
        _ = state.begin()
        _ = state.received(try reply("\(status)|Content-Length: 0"))

        guard case .end(let error?) = state.ended(.finished, now: .now, jitter: 1) else {
            Issue.record("the request has not failed")
            return
        }
        #expect(error.underlying == advice)
        #expect(error.status == status)
    }

    /// The network goes down during the body.
    @Test(arguments: [(true, "abc", 60.0), (true, "", 4), (false, "abc", 4)])
    func playerWithTheBeginningOfABodyWaitsForTheNetwork(_ isAwaited: Bool, _ body: String, _ timeLimit: Double) throws
    {
        let start = ContinuousClock.now
        var state = TransferState(
            OriginRequest(try WebURL("http://h/r")), rule: GiveUpRule(), redirectLimit: 5, now: start)
        _ = state.begin()
        _ = state.received(try reply("200|ETag: \"1\"|Content-Length: 9"))
        _ = state.received(byteCount: body.utf8.count, now: start)
        var outcome = TransferState.Outcome.failed(.init(code: .connectionLost))
        var waited = Duration.zero
        while case .wait(let pause) = state.ended(
            outcome, now: start + waited, waiter: isAwaited ? .playerOnceBegun : .anyone, jitter: 0)
        {
            #expect(pause <= .seconds(4))
            waited += pause
            outcome = .failed(.init(code: .unreachable))
            guard case .send = state.pauseEnded() else { break }
        }
        #expect(waited <= .seconds(max(timeLimit, 8)) && waited >= .seconds(timeLimit - 3))
    }

    /// The network goes down before the first byte.
    @Test(arguments: [(true, true, 60.0), (true, false, 4), (false, true, 4)])
    func playerWithoutAnAlternativeWaitsForTheNetwork(_ isAwaited: Bool, _ ignoresAbsence: Bool, _ timeLimit: Double)
        throws
    {
        let start = ContinuousClock.now
        var state = TransferState(
            OriginRequest(try WebURL("http://h/r")), rule: GiveUpRule(), redirectLimit: 5, now: start)
        _ = state.begin()
        var waited = Duration.zero
        while case .wait(let pause) = state.ended(
            .failed(.init(code: .unreachable)), now: start + waited,
            waiter: isAwaited ? ignoresAbsence ? .player : .playerOnceBegun : .anyone,
            jitter: 0)
        {
            waited += pause
            guard case .send = state.pauseEnded() else { break }
        }
        #expect(waited <= .seconds(max(timeLimit, 8)) && waited >= .seconds(timeLimit - 3))
    }

    private func reply(_ text: String) throws -> Reply {
        let lines = text.split(separator: "|")
        var reply = Reply()
        var progress = Reply.Progress.incomplete
        for line in ["HTTP/1.1 \(lines[0]) Status"] + lines.dropFirst().map(String.init) + [""] {
            progress = Array((line + "\r\n").utf8).withUnsafeBytes { reply.receive(line: $0) }
        }
        #expect(progress == .complete)
        return reply
    }

    private func name(_ action: TransferState.Action) -> String {
        switch action {
        case .send(let attempt):
            let url = attempt.url.text.replacing("http://h", with: "", maxReplacements: 1)
            let range = attempt.rangeValue.map { " " + $0.dropFirst("bytes=".count) } ?? ""
            let manner =
                (attempt.manner.decodes ? "" : " as it is") + (attempt.manner.ignoresLength ? " to its end" : "")
            return url + range + (attempt.ifRange.map { " \($0)" } ?? "") + manner
        case .wait: return "wait"
        case .end(let error): return error?.code.rawValue ?? "done"
        }
    }

    private func name(_ reaction: TransferState.Reaction) -> String {
        switch reaction {
        case .deliver(nil): "deliver"
        case .deliver(let head?): "deliver \(head.length.map(String.init) ?? "?")"
        case .skip: "skip"
        case .stop: "stop"
        }
    }

    private func name(_ delivery: TransferState.Delivery) -> String {
        switch delivery {
        case .at(let offset): "at \(offset)"
        case .last(let offset, let count): "last \(count) at \(offset)"
        case .skip: "skip"
        case .stop: "stop"
        }
    }
}

extension TransferState {
    /// The state of a transfer of a request that only this test has.
    init(
        _ request: OriginRequest, rule: GiveUpRule, isProbe: Bool = false, redirectLimit: Int,
        usesDigest: Bool = false, now: ContinuousClock.Instant
    ) {
        self.init(
            AskedRequest(request), rule: rule, isProbe: isProbe, redirectLimit: redirectLimit, usesDigest: usesDigest,
            now: now)
    }
}
