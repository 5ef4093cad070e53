import HTTPMessage

/// What one transfer has got so far and what it does next: redirects, retries, and resuming where a body broke off.
///
/// Pure: the shell tells it what happened (a head, bytes, an end) and does what it answers. *Wanted* is the whole
/// resource, or the request's range of it; offsets count within what is wanted. A body is only ever continued by a 206
/// that carries exactly the range asked for, of a file of the same size, under the same strong validator. In every
/// other case it begins again at 0, and the receiver compares what it has.
struct TransferState {
    private enum Pending {
        case redirect(WebURL)
        case retry(OriginError, after: Duration?)
        case fail(OriginError)
        case complete
    }

    /// The longest unwanted body that is read out to keep the connection.
    static let longestSkip: Int64 = 64 * 1024

    let request: OriginRequest
    private let policy: RetryPolicy
    private let redirectLimit: Int

    private(set) var url: WebURL
    private var redirects = 0
    /// Tries that failed in a row since the last progress.
    private(set) var failures = 0
    private var rangeFaults = 0
    private var lastProgress: ContinuousClock.Instant
    /// Why the last request failed that was to be tried again; nil once a reply was taken.
    private(set) var lastFailure: OriginError?

    /// Where the next byte belongs.
    private var position: Int64
    /// What the receiver has got at most.
    private var reached: Int64
    private var fileSize: Int64?
    private var validator: StrongValidator?
    private var mayResume: Bool
    private var isHeadTold = false

    private var attemptStart: Int64 = 0
    private var isAccepting = false
    private var skipped: Int64 = 0
    private var pending: Pending?

    init(_ request: OriginRequest, policy: RetryPolicy, redirectLimit: Int, now: ContinuousClock.Instant) {
        self.request = request
        self.policy = policy
        self.redirectLimit = redirectLimit
        url = request.url
        lastProgress = now
        let isBeyond = request.range.map { request.start >= Int64($0.count) } ?? false
        position = isBeyond ? 0 : max(0, request.start)
        reached = position
        validator = request.validator
        mayResume = request.method == .get && !request.acceptsCompression
    }

    /// Whether the body can be gone on from where it is.
    var isResumable: Bool { mayResume && validator != nil }

    private var wanted: Int64? { request.range.map { Int64($0.count) } ?? fileSize }

    // MARK: Asking

    /// The first request.
    mutating func begin() -> Action { .ask(nextAttempt()) }

    /// The request after a pause. It goes to the URL of the request again: where that redirected to may have expired.
    mutating func pauseEnded() -> Action { .ask(nextAttempt()) }

    /// The request after one that was broken off although nothing was wrong with it.
    mutating func displaced() -> Action {
        (url, redirects) = (request.url, 0)
        return .ask(nextAttempt())
    }

    private mutating func nextAttempt() -> Attempt {
        (pending, isAccepting, skipped) = (nil, false, 0)
        attemptStart = mayResume && validator != nil ? position : 0
        var attempt = Attempt(url: url)
        if let range = request.range {
            attempt.range = (range.lowerBound + attemptStart, range.upperBound - 1)
        } else if attemptStart > 0 {
            attempt.range = (attemptStart, nil)
        }
        if attemptStart > 0 { attempt.ifRange = validator }
        return attempt
    }

    // MARK: Heads

    /// Judges the head of a final reply.
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

    /// Whether a reply is passed on whatever it says of the resource.
    private func accepts(_ status: Int) -> Bool {
        if request.acceptsAnyStatus { return true }
        if request.acceptsRefusals, (300..<500).contains(status), ![408, 416, 429].contains(status) { return true }
        return request.method != .get && (200..<300).contains(status)
    }

    private mutating func receivedWhole(_ reply: Reply) -> Reaction {
        if reply.isEncoded && !request.acceptsCompression { return stop(.fail(error(.unsupportedEncoding))) }
        let size = reply.isEncoded ? nil : reply.contentLength
        if let range = request.range, range.lowerBound > 0 || size != Int64(range.count) {
            return rangeFault(.rangeIgnored, reply)
        }
        // Who collects what is compressed begins anew; anybody else relies on the size that was told.
        if isHeadTold, !request.acceptsCompression, let size, let fileSize, size != fileSize {
            return stop(.fail(error(.contentChanged)))
        }
        validator = reply.validator
        fileSize = size ?? fileSize
        return accept(reply, at: 0, length: size)
    }

    private mutating func receivedPart(_ reply: Reply) -> Reaction {
        guard let asked = nextRange, case .satisfied(let got, let size)? = reply.contentRange, !reply.isEncoded,
            got.lowerBound == asked.first, got.upperBound == asked.last.map({ $0 + 1 }) ?? size ?? fileSize,
            reply.contentLength ?? Int64(got.count) == Int64(got.count)
        else { return partFault(.wrongRange, reply) }
        if let size, let fileSize, size != fileSize {
            return isHeadTold ? stop(.fail(error(.contentChanged))) : partFault(.contentChanged, reply)
        }
        let new = reply.validator
        if attemptStart > 0, let new, new != validator { return partFault(.contentChanged, reply) }
        if attemptStart == 0 { validator = new }
        fileSize = size ?? fileSize
        return accept(reply, at: attemptStart, length: wanted)
    }

    private mutating func receivedUnsatisfiable(_ reply: Reply) -> Reaction {
        guard attemptStart > 0 else { return stop(.fail(error(.unexpectedStatus, reply))) }
        guard case .unsatisfied(let size)? = reply.contentRange, request.range == nil, size == attemptStart,
            fileSize ?? size == size
        else { return partFault(.contentChanged, reply) }
        pending = .complete
        defer { isHeadTold = true }
        return .deliver(isHeadTold ? nil : reply.head(url: url, length: size))
    }

    private mutating func accept(_ reply: Reply, at offset: Int64, length: Int64?) -> Reaction {
        if let length, length > request.limit { return stop(.fail(error(.tooLarge))) }
        (position, isAccepting, lastFailure) = (offset, true, nil)
        defer { isHeadTold = true }
        return .deliver(isHeadTold ? nil : reply.head(url: url, length: length))
    }

    private mutating func stop(_ next: Pending) -> Reaction {
        pending = next
        return .stop
    }

    /// A part that does not fit: what is whole is fetched from 0, what is a range is asked for once more.
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

    /// The Range of the request on the wire.
    private var nextRange: (first: Int64, last: Int64?)? {
        if let range = request.range { return (range.lowerBound + attemptStart, range.upperBound - 1) }
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

    /// Places bytes of the body.
    mutating func received(byteCount: Int, now: ContinuousClock.Instant) -> Delivery {
        guard isAccepting else {
            skipped += Int64(byteCount)
            return skipped <= Self.longestSkip ? .skip : .stop
        }
        let end = position + Int64(byteCount)
        if end > wanted ?? .max {
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

    /// The shell or the receiver found a reason to break the request off for good.
    mutating func fail(_ code: OriginError.Code, underlying: String? = nil) {
        pending = .fail(error(code, underlying: underlying))
    }

    // MARK: Ends

    /// The request on the wire has ended.
    ///
    /// - Parameters:
    ///   - patience: what is done while the origin is away, where a player waits for the rest and has nothing else; nil
    ///     where none does.
    ///   - insists: whether it has nothing else before the first byte, either.
    ///   - jitter: asked for where there is a pause: see `RetryPolicy`.
    mutating func ended(
        _ outcome: Outcome, now: ContinuousClock.Instant, patience: RetryPolicy? = nil,
        insists: Bool = false, jitter: @autoclosure () -> Double
    ) -> Action {
        let next = pending ?? verdict(on: outcome)
        pending = nil
        switch next {
        case .complete: return .end(nil)
        case .fail(let error): return .end(error)
        case .redirect(let target):
            url = target
            redirects += 1
            return .ask(nextAttempt())
        case .retry(let error, let retryAfter):
            failures += 1
            lastFailure = error
            let isBegun = isHeadTold && reached > request.start
            let policy = error.code.isAway && (isBegun || insists) ? patience ?? policy : policy
            let pause = policy.pause(
                afterFailures: failures, silentFor: now - lastProgress, retryAfter: retryAfter, jitter: jitter())
            guard request.method == .get || request.isRepeatable, let pause else { return .end(error) }
            (url, redirects) = (request.url, 0)
            return .wait(pause)
        }
    }

    private func verdict(on outcome: Outcome) -> Pending {
        // Whatever broke afterwards: nothing is missing.
        if isAccepting && position == wanted { return .complete }
        switch outcome {
        case .finished where isAccepting && wanted == nil: return .complete
        case .finished: return .retry(error(isAccepting ? .cutShort : .malformedReply), after: nil)
        case .stopped: return .fail(error(.local))
        case .failed(let failure):
            let error = error(failure.code, underlying: failure.underlying)
            return failure.isTransient ? .retry(error, after: nil) : .fail(error)
        }
    }
}
