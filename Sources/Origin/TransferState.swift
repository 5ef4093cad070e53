import HTTPMessage

/// The state machine of one transfer: redirects, retries and resumption. Pure: the shell reports events (a head, bytes,
/// an end) and performs the returned actions. The *target* is the whole resource or the request's range of it; offsets
/// count within the target. A body is continued only by a 206 with exactly the requested range of a file of the same
/// size under the same strong validator. Otherwise it restarts at 0, and the receiver compares the bytes that it has.
struct TransferState {
    private enum Pending {
        case redirect(WebURL)
        case retry(OriginError, after: Duration?)
        case fail(OriginError)
        case complete
    }

    /// Longest unwanted body that is read to its end to keep the connection.
    static let longestSkip: Int64 = 64 * 1024
    let request: OriginRequest
    private let rule: GiveUpRule
    /// The request's own policy; nil for the rule's.
    private let policy: RetryPolicy?
    private let redirectLimit: Int
    private(set) var url: WebURL
    private var redirects = 0
    private(set) var failures = 0
    private var rangeFaults = 0
    private var lastProgress: ContinuousClock.Instant
    /// The last failure that was retried; nil once a reply was accepted.
    private(set) var lastFailure: OriginError?
    private var position: Int64
    /// The highest offset that the receiver has reached.
    private var reached: Int64
    private var fileSize: Int64?
    private var validator: StrongValidator?
    private var mayResume: Bool
    private var isHeadDelivered = false
    private var attemptStart: Int64 = 0
    private var isAccepting = false
    private var skipped: Int64 = 0
    private var pending: Pending?

    init(
        _ request: OriginRequest, rule: GiveUpRule, isProbe: Bool = false, redirectLimit: Int,
        now: ContinuousClock.Instant
    ) {
        (self.request, self.rule) = (request, rule)
        policy = isProbe ? .never : request.retries
        self.redirectLimit = redirectLimit
        url = request.url
        lastProgress = now
        let isBeyond = request.range.map { request.start >= Int64($0.count) } ?? false
        position = isBeyond ? 0 : max(0, request.start)
        reached = position
        validator = request.validator
        mayResume = request.method == .get && !request.acceptsCompression
    }

    var isResumable: Bool { mayResume && validator != nil }
    private var expectedLength: Int64? {
        if request.isOpenRange { return openLength }
        return request.range.map { Int64($0.count) } ?? fileSize
    }

    /// The length of a range without an end, once a reply has announced it.
    private var openLength: Int64?

    // MARK: Attempts

    mutating func begin() -> Action { .send(nextAttempt()) }
    /// Starts the next attempt after a pause, at the original URL again: the redirect's target may have expired.
    mutating func pauseEnded() -> Action { .send(nextAttempt()) }

    /// Starts the next attempt after the request was aborted without a fault of its own.
    mutating func displaced() -> Action {
        (url, redirects) = (request.url, 0)
        return .send(nextAttempt())
    }

    private mutating func nextAttempt() -> Attempt {
        (pending, isAccepting, skipped) = (nil, false, 0)
        attemptStart = mayResume && validator != nil ? position : 0
        return Attempt(url: url, range: nextRange, ifRange: attemptStart > 0 ? validator : nil)
    }

    // MARK: Heads

    mutating func received(_ reply: Reply) -> Reaction {
        if reply.isRedirect && request.method == .get && request.signature == nil {
            pending = redirect(to: reply.location ?? "")
        } else if accepts(reply.status) {
            return accept(reply, at: 0, length: reply.isEncoded ? nil : reply.contentLength)
        } else {
            switch reply.status {
            case 200: return receivedWhole(reply)
            case 206: return receivedPart(reply)
            case 416: return receivedUnsatisfiable(reply)
            default: pending = failure(for: reply)
            }
        }
        return (reply.contentLength ?? .max) <= Self.longestSkip ? .skip : .stop
    }

    private func accepts(_ status: Int) -> Bool {
        if request.acceptsAnyStatus { return true }
        if request.acceptsRefusals, (300..<500).contains(status), ![408, 416, 429].contains(status) { return true }
        return request.method != .get && (200..<300).contains(status)
    }

    private mutating func receivedWhole(_ reply: Reply) -> Reaction {
        if reply.isEncoded && !request.acceptsCompression { return stop(.fail(error(.unsupportedEncoding))) }
        let size = reply.isEncoded ? nil : reply.contentLength
        if let range = request.range, range.lowerBound > 0 || !request.isOpenRange && size != Int64(range.count) {
            return rangeFault(.rangeIgnored, reply)
        }
        // A receiver of compressed bodies restarts from empty; any other relies on the announced size.
        if isHeadDelivered, !request.acceptsCompression, let size, let fileSize, size != fileSize {
            return stop(.fail(error(.contentChanged)))
        }
        validator = reply.validator
        fileSize = size ?? fileSize
        openLength = size
        return accept(reply, at: 0, length: size)
    }

    private mutating func receivedPart(_ reply: Reply) -> Reaction {
        guard let asked = nextRange, case .satisfied(let got, let size)? = reply.contentRange, !reply.isEncoded,
            got.lowerBound == asked.first,
            request.isOpenRange || got.upperBound == asked.last.map({ $0 + 1 }) ?? size ?? fileSize,
            reply.contentLength ?? Int64(got.count) == Int64(got.count)
        else { return partFault(.wrongRange, reply) }
        if let size, let fileSize, size != fileSize {
            return isHeadDelivered ? stop(.fail(error(.contentChanged))) : partFault(.contentChanged, reply)
        }
        let new = reply.validator
        if attemptStart > 0, let new, new != validator { return partFault(.contentChanged, reply) }
        if attemptStart == 0 { validator = new }
        fileSize = size ?? fileSize
        // An origin may not know the end of what it is still making: then the end of the body counts.
        if request.isOpenRange { openLength = reply.contentLength.map { attemptStart + $0 } }
        return accept(reply, at: attemptStart, length: expectedLength)
    }

    private mutating func receivedUnsatisfiable(_ reply: Reply) -> Reaction {
        guard attemptStart > 0 else { return stop(.fail(error(.unexpectedStatus, reply))) }
        guard case .unsatisfied(let size)? = reply.contentRange, request.range == nil, size == attemptStart,
            fileSize ?? size == size
        else { return partFault(.contentChanged, reply) }
        pending = .complete
        defer { isHeadDelivered = true }
        return .deliver(isHeadDelivered ? nil : reply.head(url: url, length: size))
    }

    private mutating func accept(_ reply: Reply, at offset: Int64, length: Int64?) -> Reaction {
        if let length, length > request.limit { return stop(.fail(error(.tooLarge))) }
        (position, isAccepting, lastFailure) = (offset, true, nil)
        defer { isHeadDelivered = true }
        return .deliver(isHeadDelivered ? nil : reply.head(url: url, length: length))
    }

    private mutating func stop(_ next: Pending) -> Reaction {
        pending = next
        return .stop
    }

    /// Handles an unusable part: a whole resource is fetched again from 0, a range is requested once more.
    private mutating func partFault(_ code: OriginError.Code, _ reply: Reply) -> Reaction {
        guard request.range == nil, attemptStart > 0 else { return rangeFault(code, reply) }
        mayResume = false
        return stop(.retry(error(code, reply), after: nil))
    }

    private mutating func rangeFault(_ code: OriginError.Code, _ reply: Reply) -> Reaction {
        rangeFaults += 1
        mayResume = false
        let error = error(code, reply)
        return stop(rangeFaults > 1 ? .fail(error) : .retry(error, after: nil))
    }

    private var nextRange: (first: Int64, last: Int64?)? {
        if let range = request.range {
            return (range.lowerBound + attemptStart, request.isOpenRange ? nil : range.upperBound - 1)
        }
        return attemptStart > 0 ? (attemptStart, nil) : nil
    }

    // MARK: Redirects and failures

    private func redirect(to location: String) -> Pending {
        guard redirects < redirectLimit else { return .fail(error(.tooManyRedirects)) }
        do {
            let target = try url.resolving(location)
            guard url.scheme == .http || target.scheme == .https else {
                return .fail(error(.forbiddenRedirect, underlying: "from https to http"))
            }
            return .redirect(target)
        } catch {
            return .fail(self.error(.forbiddenRedirect, underlying: error.description))
        }
    }

    private func failure(for reply: Reply) -> Pending {
        switch reply.status {
        case 401: .fail(error(.unauthorized, reply))
        case 403: .fail(error(.forbidden, reply))
        case 404: .fail(error(.notFound, reply))
        case 410: .fail(error(.gone, reply))
        case 408, 429, 500, 502...504, 506...599: .retry(error(.serverFailure, reply), after: reply.retryAfter)
        default: .fail(error(.unexpectedStatus, reply))
        }
    }

    private func error(_ code: OriginError.Code, _ reply: Reply? = nil, underlying: String? = nil) -> OriginError {
        OriginError(code, url: url, status: reply?.status, underlying: underlying)
    }

    // MARK: Bodies

    mutating func received(byteCount: Int, now: ContinuousClock.Instant) -> Delivery {
        guard isAccepting else {
            skipped += Int64(byteCount)
            return skipped <= Self.longestSkip ? .skip : .stop
        }
        let end = position + Int64(byteCount)
        if end > expectedLength ?? .max {
            pending = .fail(error(.malformedReply, underlying: "more bytes than announced"))
            return .stop
        }
        if end > request.limit {
            pending = .fail(error(.tooLarge))
            return .stop
        }
        defer { position = end }
        if end > reached { (reached, failures, lastProgress) = (end, 0, now) }
        return .at(position)
    }

    mutating func fail(_ code: OriginError.Code, underlying: String? = nil) {
        pending = .fail(error(code, underlying: underlying))
    }

    // MARK: Ends

    /// Handles the end of a request. `jitter` is evaluated only for a pause; see `GiveUpRule.decision`.
    mutating func ended(
        _ outcome: Outcome, now: ContinuousClock.Instant, waiter: GiveUpRule.Waiter = .anyone,
        jitter: @autoclosure () -> Double
    ) -> Action {
        let next = pending ?? verdict(on: outcome)
        pending = nil
        switch next {
        case .complete: return .end(nil)
        case .fail(let error): return .end(error)
        case .redirect(let target):
            url = target
            redirects += 1
            return .send(nextAttempt())
        case .retry(let error, let retryAfter):
            failures += 1
            lastFailure = error
            let failure = GiveUpRule.Failure(
                code: error.code, count: failures, silence: now - lastProgress, retryAfter: retryAfter,
                isBegun: isHeadDelivered && reached > request.start)
            let decision = rule.decision(after: failure, for: waiter, policy: policy, jitter: jitter())
            guard request.method == .get || request.isRepeatable, case .retry(let pause) = decision else {
                return .end(error)
            }
            (url, redirects) = (request.url, 0)
            return .wait(pause)
        }
    }

    private func verdict(on outcome: Outcome) -> Pending {
        // A failure after the last byte does not matter.
        if isAccepting && position == expectedLength { return .complete }
        switch outcome {
        case .finished where isAccepting && expectedLength == nil: return .complete
        case .finished: return .retry(error(isAccepting ? .cutShort : .malformedReply), after: nil)
        case .stopped: return .fail(error(.local))
        case .failed(let failure):
            let error = error(failure.code, underlying: failure.underlying)
            return failure.isTransient ? .retry(error, after: nil) : .fail(error)
        }
    }

    struct Attempt: Equatable {
        let url: WebURL
        /// The first and last byte to request; nil for no Range, a nil last byte for everything that follows.
        var range: (first: Int64, last: Int64?)?
        var ifRange: StrongValidator?
        var rangeValue: String? { range.map { "bytes=\($0.first)-\($0.last.map(String.init) ?? "")" } }

        static func == (left: Attempt, right: Attempt) -> Bool {
            (left.url, left.rangeValue, left.ifRange) == (right.url, right.rangeValue, right.ifRange)
        }
    }

    enum Action: Equatable {
        case send(Attempt)
        /// Call `pauseEnded()` after this time.
        case wait(Duration)
        case end(OriginError?)
    }

    enum Reaction {
        /// Deliver it, unless one was delivered before, and then the body.
        case deliver(OriginHead?)
        /// Read the body to its end without delivering it, to keep the connection.
        case skip
        case stop
    }

    enum Delivery: Equatable {
        case at(Int64)
        case skip
        case stop
    }

    enum Outcome {
        /// Complete by HTTP's framing.
        case finished
        /// Aborted by the shell, as this state requested.
        case stopped
        case failed(Failure)
    }

    struct Failure: Equatable {
        var code: OriginError.Code
        var underlying: String?
        var isTransient = true
    }
}
