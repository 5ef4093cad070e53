import HTTPMessage

/// A request in a box: it is large, and each step of its transfer would copy it.
final class AskedRequest: Sendable {
    let request: OriginRequest

    init(_ request: OriginRequest) { self.request = request }
}

/// The state machine of one transfer: redirects, retries and resumption. Pure: the shell reports events (a head, bytes,
/// an end) and performs the returned actions. The *target* is the whole resource or the request's range of it; offsets
/// count within the target. A body is continued only by a 206 with exactly the requested range of a file of the same
/// size under the same strong validator. If the validator of the 206 is missing or weaker, the body is continued from an
/// earlier byte, and the receiver compares the overlap. Otherwise it restarts at 0, and the receiver compares all the bytes
/// that it has.
struct TransferState {
    private enum Pending {
        case redirect(WebURL)
        case retry(OriginError, after: Duration?)
        case fail(OriginError)
        /// Request the whole body again, at once, in the present manner.
        case restart
        /// Request the rest again, at once, from `overlap` bytes before its beginning.
        case compare
        /// Request the rest again, at once, on a new connection.
        case reconnect
        /// Request the rest again, at once, with credentials in another scheme.
        case authenticate
        case complete
    }

    private(set) var request: OriginRequest {
        get { asked.request }
        set { asked = AskedRequest(newValue) }
    }

    /// Longest unwanted body that is read to its end to keep the connection.
    static let longestSkip: Int64 = 64 * 1024
    private(set) var asked: AskedRequest
    private let rule: GiveUpRule
    /// The request's own policy; nil for the rule's.
    private let policy: RetryPolicy?
    private let redirectLimit: Int
    private(set) var url: WebURL
    private var redirects = 0
    private(set) var failures = 0
    private var rangeFaults = 0
    private var http2Faults = 0
    private var lastProgress: ContinuousClock.Instant
    /// The last failure that was retried; nil once a reply was accepted.
    private(set) var lastFailure: OriginError?
    /// The offset of the next byte; after success, the number of bytes.
    private(set) var position: Int64
    /// The highest offset that the receiver has reached.
    private var reached: Int64
    private var fileSize: Int64?
    private var validator: StrongValidator?
    /// The URL that gave the validator, after redirects.
    private var validatorURL: WebURL
    /// The number of bytes before `position` that an attempt begins with; 0 as long as validators show what belongs together.
    private var overlap: Int64 = 0
    private var mayResume: Bool
    private var manner = Manner()
    /// True if the reply does not show that it is the whole: a 206 that was not asked for.
    private var isUnproven = false
    private var hasRepeatedUnproven = false
    /// The end of the last body that began at 0 and was doubtful.
    private var doubtfulEnd: Int64?
    private var isHeadDelivered = false
    private var attemptStart: Int64 = 0
    private var isAccepting = false
    /// True if the request is aborted after the last byte: the framing of the reply shows no end there.
    private var endsAtLength = false
    /// The length that the reply states, while the attempt reads on behind it; nil without one.
    private var checkedLength: Int64?
    /// True once bytes have followed a stated length.
    private var hasExceeded = false
    /// True if the body is a stream of HTTP/2, which ends by a mark behind its last byte.
    private var isStream = false
    /// True if the last attempt has ended as its framing says, and not by a failure or by silence behind the last byte.
    private(set) var isEndMarked = false
    private var skipped: Int64 = 0
    private var pending: Pending?

    init(
        _ asked: AskedRequest, rule: GiveUpRule, isProbe: Bool = false, redirectLimit: Int,
        usesDigest: Bool = false, now: ContinuousClock.Instant
    ) {
        let request = asked.request
        self.asked = asked
        self.rule = rule
        policy = isProbe ? .never : request.retries
        self.redirectLimit = redirectLimit
        url = request.url
        lastProgress = now

        position = max(0, request.start)
        if let range = request.range, request.start >= Int64(range.count) {
            position = 0
        }
        reached = position

        validator = request.validator
        validatorURL = request.validatorURL ?? request.url
        if request.range == nil, request.validator != nil {
            fileSize = request.size
        }
        if request.comparesOverlap {
            overlap = Self.comparedOverlap
        }

        mayResume = request.method == .get && !request.acceptsCompression
        manner.ignoresLength = request.ignoresStatedLength
        manner.usesDigest = usesDigest
    }

    // Inlined, as all that is asked of a running transfer: a call would copy the state.
    @inline(__always) var isResumable: Bool {
        guard mayResume else { return false }
        return validator != nil
    }
    /// True if a silent body may be at its end: an attempt reads on until the connection ends, and the origin keeps it.
    var mayBeOver: Bool { manner.ignoresLength && position >= reached }
    /// True if the body has exactly the length that is in doubt, so that it ends there if nothing follows.
    var isAtCheckedLength: Bool {
        isAccepting && !hasExceeded && position == checkedLength && position >= reached
    }
    /// True if all bytes of a stream have arrived, but not its end.
    @inline(__always) var awaitsEndOfStream: Bool { isAccepting && isStream && position == expectedLength }
    /// True if the body may end at the next byte, where little silence shows it.
    var mayEndInSilence: Bool {
        if awaitsEndOfStream {
            return true
        }
        guard !hasExceeded, let checkedLength else { return false }
        return position <= checkedLength
    }
    var bodyPosition: BodyProgress.Position {
        BodyProgress.Position(
            awaitsEndOfStream: awaitsEndOfStream, isAtCheckedLength: isAtCheckedLength, mayBeShort: mayBeShort,
            mayEndInSilence: mayEndInSilence)
    }
    /// The bytes that are still to come; nil if that is unknown.
    var missing: Int64? { expectedLength.map { max(0, $0 - position) } }
    private var expectedLength: Int64? {
        if request.isOpenRange {
            return openLength
        }
        guard let range = request.range else { return fileSize }
        return Int64(range.count)
    }

    /// The length of a range without an end, once a reply has announced it.
    private var openLength: Int64?

    // MARK: Attempts

    mutating func begin() -> Action { .send(nextAttempt()) }
    /// Starts the next attempt after a pause, at the original URL again: the redirect's target may have expired.
    mutating func pauseEnded() -> Action { .send(nextAttempt()) }

    /// Starts the next attempt after the request was aborted without a fault of its own.
    mutating func displaced() -> Action {
        // All is there but the end of the reply. A request for the rest would name no byte.
        if !request.isOpenRange, let range = request.range, position >= Int64(range.count) {
            return .end(nil)
        }
        url = request.url
        redirects = 0
        return .send(nextAttempt())
    }

    private mutating func nextAttempt() -> Attempt {
        pending = nil
        isAccepting = false
        isUnproven = false
        endsAtLength = false
        skipped = 0
        checkedLength = nil
        attemptStart = 0
        if mayResume, validator != nil {
            attemptStart = max(0, position - overlap)
        }
        let condition = attemptStart > 0 ? validator : nil
        return Attempt(url: url, range: nextRange, ifRange: condition, manner: manner)
    }

    // MARK: Heads

    mutating func received(_ reply: Reply) -> Reaction {
        if reply.isRedirect && request.method == .get && request.signature == nil {
            pending = redirect(to: reply.location ?? "")
        } else if accepts(reply.status) {
            validator = reply.validator
            // A refusal, or the news that nothing has changed, has no bytes of the range.
            if request.acceptsRefusals, reply.status >= 300 {
                request.range = nil
            }
            let length = isDecoded(reply) ? nil : reply.contentLength
            return accept(reply, at: 0, length: length)
        } else {
            switch reply.status {
            // Some origins send a range with a status for the whole.
            case 200 where isPart(reply):
                return receivedPart(reply)
            // Players take any of them as the whole.
            case 200...203, 208...299: return receivedWhole(reply)
            // Nothing asks for several ranges, and the bytes between them are not the media's.
            case 206 where reply.hasSeveralParts: return partFault(.wrongRange, reply)
            case 206: return receivedPart(reply)
            case 412 where attemptStart > 0: return partFault(.contentChanged, reply)
            case 416: return receivedUnsatisfiable(reply)
            // The connection was made for another host, or too early (RFC 9110 §15.5.20, RFC 8470 §5.2). Without a proxy of ours,
            // 407 is a moment's confusion of a gateway in front of the origin.
            case 407 where mayReconnect, 421 where mayReconnect, 425 where mayReconnect: pending = reconnect()
            case 401 where mayAnswerByDigest(reply):
                manner.usesDigest = true
                pending = .authenticate
            default: pending = failure(for: reply)
            }
        }
        let length = reply.contentLength ?? .max
        guard length <= Self.longestSkip else { return .stop }
        return .skip
    }

    private func accepts(_ status: Int) -> Bool {
        if request.acceptsAnyStatus {
            return true
        }
        if request.acceptsRefusals, (300..<500).contains(status), ![408, 416, 429].contains(status) {
            return true
        }
        return request.method != .get && (200..<300).contains(status)
    }

    /// True if the attempt's bytes are not those that are sent.
    @inline(__always) func isDecoded(_ reply: Reply) -> Bool {
        guard manner.decodes else { return false }
        return reply.coding == .decodable
    }

    private mutating func receivedWhole(_ reply: Reply) -> Reaction {
        if reply.coding == .mixed || reply.hasTransferCoding && !manner.decodes {
            return stop(.fail(error(.unsupportedEncoding)))
        }

        let isRestated = manner.ignoresLength
        let isStoredAsSent = !isDecoded(reply) && !isRestated
        let size = isStoredAsSent ? reply.contentLength : nil

        if let range = request.range, range.lowerBound > 0 || !request.isOpenRange && size != Int64(range.count) {
            guard request.acceptsWhole, range.lowerBound == 0, reply.coding == .identity,
                size ?? .max >= Int64(range.count)
            else { return rangeFault(.rangeIgnored, reply) }
            // The rest is not read.
            endsAtLength = true
            return accept(reply, at: 0, length: Int64(range.count))
        }

        // libcurl reads on until the connection ends, so that nothing would tell an empty body from one that is still to come.
        if size == 0, reply.hasUnusedLength {
            manner.ignoresLength = true
            return stop(.restart)
        }

        // A receiver of compressed bodies restarts from empty; any other relies on the announced size.
        if isHeadDelivered, !request.acceptsCompression, let size, let fileSize, size != fileSize,
            size != doubtfulEnd
        {
            return stop(.fail(error(.contentChanged)))
        }

        if isStoredAsSent {
            begin(with: reply.validator)
        } else {
            // A decoded body begins again: a range of it would be one of other bytes.
            begin(with: nil)
        }
        checkedLength = nil
        if isRestated {
            fileSize = nil
            if !isDecoded(reply) {
                checkedLength = reply.contentLength
            }
        } else {
            fileSize = size ?? fileSize
        }

        openLength = size
        endsAtLength = size != nil && reply.hasUnusedLength
        return accept(reply, at: 0, length: size)
    }
    /// Handles a part of a resource whose size has changed.
    private mutating func receivedOtherSize(_ reply: Reply) -> Reaction {
        guard isHeadDelivered else { return partFault(.contentChanged, reply) }
        return stop(.fail(error(.contentChanged)))
    }
    private mutating func receivedPart(_ reply: Reply) -> Reaction {
        guard let asked = nextRange else { return receivedUnrequestedPart(reply) }
        if let last = asked.last {
            return receivedPart(reply, of: asked.first...last)
        }

        guard case .satisfied(let got, let size)? = reply.contentRange, reply.coding == .identity,
            got.lowerBound == asked.first,
            request.isOpenRange || got.upperBound == size ?? fileSize,
            reply.contentLength ?? Int64(got.count) == Int64(got.count)
        else { return partFault(.wrongRange, reply) }

        if let size, let fileSize, size != fileSize {
            return receivedOtherSize(reply)
        }
        if let reaction = checkContinuity(of: reply) {
            return reaction
        }

        if manner.ignoresLength {
            checkedLength = reply.contentLength.map { attemptStart + $0 }
            return accept(reply, at: attemptStart, length: nil)
        }

        fileSize = size ?? fileSize
        // An origin may not know the end of what it is still making: then the end of the body counts.
        if request.isOpenRange {
            openLength = reply.contentLength.map { attemptStart + $0 }
        }
        return accept(reply, at: attemptStart, length: expectedLength)
    }

    /// True if a reply with a status for the whole is the range that was asked for: its Content-Length must be that of a part.
    private func isPart(_ reply: Reply) -> Bool {
        guard let asked = nextRange, let last = asked.last, let part = reply.statedPart, part.first == asked.first
        else {
            return false
        }
        let length = reply.contentLength
        return length == last - asked.first + 1 || length == part.last.map { $0 - part.first + 1 }
    }

    /// Handles the reply to a request for a range with an end. Players check nothing but the first byte, so the end, the size
    /// and the length may be wrong, as long as all requested bytes arrive. The bytes behind them are not read.
    private mutating func receivedPart(_ reply: Reply, of asked: ClosedRange<Int64>) -> Reaction {
        let count = Int64(asked.count)
        var length = reply.contentLength
        if manner.ignoresLength {
            length = nil
        }
        let stated = reply.statedPart

        // Without an offset, the exact length says that it is a part and not the whole.
        let isBare = reply[.contentRange] == nil && length == count && attemptStart == 0
        // The length of the whole file is that of its bytes, whatever Content-Range says.
        let isWhole = asked.lowerBound > 0 && length != nil && length == stated?.size
        let statedLast = stated?.last ?? asked.upperBound
        let isComplete = statedLast >= asked.upperBound || length ?? 0 >= count
        guard isBare || stated?.first == asked.lowerBound, !isWhole, reply.coding == .identity, isComplete
        else { return partFault(.wrongRange, reply) }

        if let length, length < count {
            manner.ignoresLength = true
            return stop(.restart)
        }

        var size: Int64?
        if let known = stated?.size, known > asked.upperBound {
            size = known
        }
        if let size, let fileSize, size != fileSize {
            return receivedOtherSize(reply)
        }
        if let reaction = checkContinuity(of: reply) {
            return reaction
        }

        fileSize = size ?? fileSize
        endsAtLength = length != count && !reply.isChunked || reply.hasUnusedLength
        return accept(reply, at: attemptStart, length: expectedLength)
    }

    private mutating func begin(with validator: StrongValidator?) {
        self.validator = validator
        validatorURL = url
    }

    /// Checks that a part continues the bytes so far, if there are any: the origin may ignore If-Range. Returns the reaction to
    /// a part that cannot be used; nil for any other.
    private mutating func checkContinuity(of reply: Reply) -> Reaction? {
        guard attemptStart > 0 else {
            begin(with: reply.validator)
            return nil
        }
        switch agreement(with: reply) {
        case .same: return nil
        case .different: return partFault(.contentChanged, reply)
        // The receiver compares the overlap.
        case .unknown where overlap > 0: return nil
        case .unknown:
            overlap = Self.comparedOverlap
            return stop(.compare)
        }
    }

    private func agreement(with reply: Reply) -> StrongValidator.Agreement {
        let agreement = validator?.agreement(with: reply.validator) ?? .unknown
        // A validator is one of versions of a single resource (RFC 9110 §8.8.1). Tokens in a query make no other resource.
        let isSameResource = url.origin == validatorURL.origin && url.path == validatorURL.path
        guard agreement == .same, !isSameResource else { return agreement }
        return .unknown
    }

    /// Handles a 206 to a request for the whole. It is the whole if its range is; without a known size the receiver must
    /// recognise the end.
    private mutating func receivedUnrequestedPart(_ reply: Reply) -> Reaction {
        if let range = reply.contentRange {
            guard case .satisfied(let got, let size) = range, got.lowerBound == 0,
                got.upperBound == size ?? got.upperBound,
                reply.contentLength ?? got.upperBound == got.upperBound
            else { return partFault(.wrongRange, reply) }
            isUnproven = size == nil
        } else {
            isUnproven = true
        }
        guard reply.coding == .identity else { return partFault(.wrongRange, reply) }
        return receivedWhole(reply)
    }

    private mutating func receivedUnsatisfiable(_ reply: Reply) -> Reaction {
        guard attemptStart > 0 else { return stop(.fail(error(.unexpectedStatus, reply))) }
        guard case .unsatisfied(let size)? = reply.contentRange, request.range == nil, size == attemptStart,
            fileSize ?? size == size || size == doubtfulEnd
        else { return partFault(.contentChanged, reply) }
        guard fileSize ?? size == size else {
            // The length that was stated first is wrong. A second body from 0 on is the proof.
            mayResume = false
            return stop(.restart)
        }
        pending = .complete
        defer { isHeadDelivered = true }
        guard !isHeadDelivered else { return .deliver(nil) }
        return .deliver(reply.head(url: url, length: size, statedLength: size, validator: reply.validator))
    }

    private mutating func accept(_ reply: Reply, at offset: Int64, length: Int64?) -> Reaction {
        if lacksLength(reply) {
            manner.avoidsHTTP2 = true
            return stop(.restart)
        }
        if let length, length > request.limit {
            return stop(.fail(tooLarge))
        }
        position = offset
        isAccepting = true
        lastFailure = nil
        isStream = reply.isHTTP2
        defer { isHeadDelivered = true }
        // The length of an earlier head was wrong.
        if isHeadDelivered, !manner.ignoresLength {
            return .deliver(nil)
        }
        var statedLength: Int64?
        if reply.coding == .identity, let rest = reply.contentLength {
            statedLength = offset + rest
        }
        return .deliver(reply.head(url: url, length: length, statedLength: statedLength, validator: validator))
    }

    /// True if the end of the body could not be told from a fault of HTTP/2; see `HTTPVersions`.
    @inline(__always) func lacksLength(_ reply: Reply) -> Bool {
        reply.isHTTP2 && reply.contentLength == nil && ![204, 304].contains(reply.status)
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
        guard rangeFaults > 1 else { return stop(.retry(error, after: nil)) }
        return stop(.fail(error))
    }

    private var nextRange: (first: Int64, last: Int64?)? {
        if let range = request.range {
            let last = request.isOpenRange ? nil : range.upperBound - 1
            return (range.lowerBound + attemptStart, last)
        }
        guard attemptStart > 0 else { return nil }
        return (attemptStart, nil)
    }

    // MARK: Redirects and failures

    /// Continues at the URL of a handler's answer.
    mutating func located(at url: WebURL, _ terms: HandlerTerms) -> Action {
        request.add(terms)
        self.url = url
        request.located = url
        return .send(nextAttempt())
    }

    /// True if the request may be sent once more on a new connection.
    private var mayReconnect: Bool {
        let isRepeatable = request.method == .get || request.isRepeatable
        return isRepeatable && !manner.isOnNewConnection
    }

    /// True if the origin asks for Digest, and has got the same credentials as Basic.
    private func mayAnswerByDigest(_ reply: Reply) -> Bool {
        let isRepeatable = request.method == .get || request.isRepeatable && request.body.isEmpty
        guard isRepeatable, !manner.usesDigest, reply.offersDigest else { return false }
        return request.fields(for: url).contains { BasicCredentials($0) != nil }
    }

    private mutating func reconnect() -> Pending {
        manner.isOnNewConnection = true
        return .reconnect
    }

    private func redirect(to location: String) -> Pending {
        guard redirects < redirectLimit else { return .fail(error(.tooManyRedirects)) }
        do {
            return .redirect(try url.resolving(redirect: location))
        } catch {
            return .fail(self.error(.forbiddenRedirect, underlying: error.description))
        }
    }

    private func failure(for reply: Reply) -> Pending {
        switch reply.status {
        // Some servers ask for a client certificate by a status, after the handshake.
        case 400: .fail(error(.unexpectedStatus, reply, underlying: adviceOnWithheldCertificate))
        case 401: .fail(error(.unauthorized, reply, underlying: adviceOnWithheldFields ?? adviceOnWithheldCertificate))
        case 403: .fail(error(.forbidden, reply, underlying: adviceOnWithheldFields ?? adviceOnWithheldCertificate))
        case 404: .fail(error(.notFound, reply))
        case 410: .fail(error(.gone, reply))
        // For legal reasons (RFC 7725): the refusal is the origin's, whatever the client's rights.
        case 451: .fail(error(.forbidden, reply))
        // A redirect without a Location: a server that is overloaded or about to restart.
        case 301...303, 307, 308: .retry(error(.unexpectedStatus, reply), after: reply.retryAfter)
        case 408, 429, 500, 502...504, 506...599: .retry(error(.serverFailure, reply), after: reply.retryAfter)
        default: .fail(error(.unexpectedStatus, reply))
        }
    }

    /// The advice about a host that has refused a request without having got all of the user's fields; nil if it got all.
    private var adviceOnWithheldFields: String? {
        guard let host = FieldHost.naming(url), let field = request.withheldFields(at: url).first else { return nil }
        return
            "\(field.name) goes to the stream's own host alone; --header-for \(host) '\(field.name): …' sends one here too"
    }

    /// The advice about a host that has refused a request without having seen the user's client certificate; nil if it has seen it, and
    /// without one.
    private var adviceOnWithheldCertificate: String? {
        let use = request.certificateUse(at: url)
        guard case .withheld = use else { return nil }
        return "it may require a client certificate. \(use.advice)"
    }

    private func error(_ code: OriginError.Code, _ reply: Reply? = nil, underlying: String? = nil) -> OriginError {
        OriginError(code, url: url, status: reply?.status, underlying: underlying)
    }

    private var tooLarge: OriginError { error(.tooLarge, underlying: "the limit is \(request.limit) bytes") }

    // MARK: Bodies

    mutating func received(byteCount: Int, now: ContinuousClock.Instant) -> Delivery {
        guard isAccepting else {
            skipped += Int64(byteCount)
            guard skipped <= Self.longestSkip else { return .stop }
            return .skip
        }

        let stated = expectedLength ?? .max
        var end = position + Int64(byteCount)
        let isLast = end >= stated && (endsAtLength || end > stated && request.range != nil && !request.isOpenRange)

        if isLast, end > stated, request.range == nil {
            hasExceeded = true
            manner.ignoresLength = true
            pending = .restart
            return .stop
        }
        if isLast {
            end = stated
        }
        if end > stated {
            pending = .fail(error(.malformedReply, underlying: "more bytes than announced"))
            return .stop
        }
        if end > request.limit {
            pending = .fail(tooLarge)
            return .stop
        }

        defer { position = end }
        if end > reached {
            reached = end
            failures = 0
            lastProgress = now
        }

        guard isLast else { return .at(position) }
        return .last(position, count: Int(end - position))
    }

    mutating func fail(_ code: OriginError.Code, underlying: String? = nil) {
        pending = .fail(error(code, underlying: underlying))
    }

    // MARK: Ends

    /// True if an origin that is silent may have sent all: a length is stated, or the end of the connection is awaited.
    var mayBeShort: Bool {
        guard isAccepting, request.range == nil, request.method == .get, position >= reached else { return false }
        if manner.ignoresLength {
            guard let checkedLength else { return true }
            return position > checkedLength
        }
        guard let expectedLength else { return false }
        return position < expectedLength
    }

    /// True if the connection has ended before the length that is in doubt.
    private var isShortOfCheckedLength: Bool {
        guard let checkedLength else { return false }
        return position < checkedLength
    }

    /// Returns the question that the receiver must answer before `ended`: can the body end here? Nil if HTTP knows.
    mutating func doubt(about outcome: Outcome) -> EndEvidence? {
        guard pending == nil, isAccepting, request.range == nil, request.method == .get, position > 0 else {
            return nil
        }
        guard position >= reached else {
            doubtfulEnd = nil
            return nil
        }

        switch outcome {
        case .finished where expectedLength ?? position == position && !isUnproven && !isShortOfCheckedLength:
            return nil
        case .finished: break
        case .failed(let failure) where [.cutShort, .stalled].contains(failure.code) && position != expectedLength:
            break
        default: return nil
        }

        defer {
            if attemptStart == 0 {
                doubtfulEnd = position
            }
        }

        if attemptStart == 0, doubtfulEnd == position {
            return .repeated
        }
        guard outcome == .finished, isUnproven else { return .shorterThanStated }
        return .unrequestedPart
    }

    /// The receiver recognises the end of the body.
    mutating func acceptEnd() { pending = .complete }

    /// The result of a reply that is complete by its framing.
    private mutating func endOfWhole() -> Pending {
        guard isUnproven else { return .complete }
        // The receiver did not recognise the end: a second body with the same one is the proof.
        defer { hasRepeatedUnproven = true }
        guard hasRepeatedUnproven else { return .restart }
        return .fail(error(.wrongRange))
    }

    /// Handles the end of a request. `isHostDead` is evaluated only after a failure, and `jitter` only for a pause; see
    /// `GiveUpRule.decision`.
    mutating func ended(
        _ outcome: Outcome, now: ContinuousClock.Instant, waiter: GiveUpRule.Waiter = .anyone,
        isHostDead: @autoclosure () -> Bool = false, jitter: @autoclosure () -> Double
    ) -> Action {
        let next = pending ?? verdict(on: outcome)
        pending = nil
        isEndMarked = outcome == .finished

        switch next {
        case .complete: return .end(nil)
        case .fail(let error): return .end(error)
        case .restart:
            url = request.url
            redirects = 0
            position = 0
            return .send(nextAttempt())
        case .compare, .reconnect, .authenticate:
            url = request.url
            redirects = 0
            return .send(nextAttempt())
        case .redirect(let target):
            url = target
            redirects += 1
            return .send(nextAttempt())
        case .retry(let error, let retryAfter):
            failures += 1
            lastFailure = error
            var failure = GiveUpRule.Failure(
                code: error.code, count: failures, silence: now - lastProgress, retryAfter: retryAfter,
                isBegun: isHeadDelivered && reached > request.start)
            failure.isHostDead = error.code == .unreachable && isHostDead()
            let decision = rule.decision(after: failure, for: waiter, policy: policy, jitter: jitter())
            guard request.method == .get || request.isRepeatable, case .retry(let pause) = decision else {
                guard !failure.isHostDead else { return .end(error.ofDeadHost) }
                return .end(error)
            }
            url = request.url
            redirects = 0
            return .wait(pause)
        }
    }

    private mutating func verdict(on outcome: Outcome) -> Pending {
        // A failure after the last byte does not matter.
        if isAccepting && position == expectedLength {
            let isLonger = outcome == .exceeded || outcome.hasInvalidLength
            guard isLonger, request.range == nil, request.method == .get, !manner.ignoresLength else {
                return endOfWhole()
            }
            hasExceeded = true
            manner.ignoresLength = true
            return .restart
        }
        switch outcome {
        // The receiver has more bytes than that; only those of a playlist are replaced.
        case .finished where isAccepting && position < reached && !request.acceptsCompression:
            return .retry(error(.cutShort), after: nil)
        case .finished where isAccepting && isShortOfCheckedLength: return .retry(error(.cutShort), after: nil)
        case .finished where isAccepting && expectedLength == nil: return endOfWhole()
        case .finished where isAccepting, .exceeded where isAccepting: return .retry(error(.cutShort), after: nil)
        case .finished, .exceeded: return .retry(error(.malformedReply), after: nil)
        case .stopped: return .fail(error(.local))
        // The body is not what its Content-Encoding says, and nothing of it was delivered.
        case .failed(let failure) where failure.code == .unsupportedEncoding && position == 0 && manner.decodes:
            manner.decodes = false
            return .restart
        case .failed(let failure)
        where failure.hasInvalidLength && request.method == .get && !manner.ignoresLength:
            manner.ignoresLength = true
            // The bytes so far are right: the rest follows by a range, if nothing else could be meant by it.
            guard isResumable, position > 0 else { return .restart }
            fileSize = nil
            return .compare
        case .failed(let failure) where failure.http2Fault == .collision:
            manner.avoidsHTTP2 = true
            return .restart
        // One proxy of several may not know the credentials yet, or take them by Digest alone.
        case .failed(let failure) where failure.isRefusedByProxy && mayReconnect:
            manner.asksProxyForScheme = failure.isDigestOffered
            return reconnect()
        case .failed(let failure):
            avoidHTTP2(after: failure)
            let error = error(failure.code, underlying: failure.underlying)
            guard failure.isTransient else { return .fail(error) }
            return .retry(error, after: nil)
        }
    }

    /// A single stream may be reset by a server that restarts; after that HTTP/1.1 is the safer way.
    private mutating func avoidHTTP2(after failure: Failure) {
        guard let fault = failure.http2Fault else { return }
        http2Faults += 1
        if fault == .framing || fault == .http1Required || http2Faults > 1 {
            manner.avoidsHTTP2 = true
        }
    }
}
