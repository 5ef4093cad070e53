public import EventLoop
import HTTPMessage

/// The transfer of one resource. Created by `OriginClient.start`, and retained by the client until it ends.
///
/// The imperative shell of `TransferState`, `TransferUrgency`, `TransferHold` and `BodyProgress`: owns the request in progress, the
/// watchdog and the deadline.
@LoopActor public final class Transfer {
    private enum Watch {
        case pause
        /// The host's name is being resolved. If that lasts too long, former addresses are used, if there are any.
        case name(former: [SocketAddress]?)
        /// The name of the user's host is being resolved, for comparison.
        case namedHost
        case head(GiveUpRule.HeadWatch)
        /// With the time until the rule is asked.
        case body(GiveUpRule.BodyWatch, left: Duration)
        case skip
    }

    let id: UInt64
    let client: OriginClient
    private(set) var receiver: (any TransferReceiver)?
    var state: TransferState
    private let isProbe: Bool
    private var attempt: TransferState.Attempt?
    private var wire: CurlRequest?
    // See `Transfer+Handler`.
    var handling: Task<Void, Never>?
    var terms: HandlerTerms?
    /// True if the next attempt is for the URL that a handler answered with.
    var isLocated = false
    private var isDecoded = false
    private let body = BodyProgress(at: .now)
    /// True if the origin has shown that it answers ranges.
    private var takesRanges = false
    private var watch = Watch.pause
    private var watchdog: LoopTimer?
    private(set) var deadline: LoopTimer?
    private var urgency: TransferUrgency
    private var hold = TransferHold()

    init(
        _ id: UInt64, for asked: AskedRequest, receiver: any TransferReceiver, client: OriginClient, isProbe: Bool
    ) {
        self.id = id
        self.client = client
        self.receiver = receiver
        self.isProbe = isProbe
        urgency = TransferUrgency(asked.request)
        // `leave` drops the timers before this object is released.
        state = TransferState(
            asked, rule: client.configuration.giveUpRule, isProbe: isProbe,
            redirectLimit: client.configuration.redirectLimit,
            usesDigest: client.connections.usesDigest(asked.request.url.origin), now: .now)
        watchdog = LoopTimer { [unowned self] in watchdogFired() }
        guard let bound = asked.request.deadline else { return }
        deadline = LoopTimer { [unowned self] in deadlinePassed() }
        deadline?.schedule(after: bound)
    }

    var request: OriginRequest { state.request }
    private var tally: TrafficTally? {
        guard let tally = request.tally, urgency.isBackground || tally.countsEveryUrgency else { return nil }
        return tally
    }
    /// The urgency.
    public var priority: OriginRequest.Priority { urgency.priority }
    /// True while it yields to another transfer of its player.
    public var isTrailing: Bool { urgency.isTrailing }
    /// As in the request; may become true later.
    public var isReadWhileFetched: Bool {
        get { urgency.isReadWhileFetched }
        set { urgency.isReadWhileFetched = newValue }
    }
    private var rule: GiveUpRule { client.configuration.giveUpRule }
    /// True if it occupies a slot of its host.
    var isCounted: Bool { !request.toleratesSilence }
    var url: WebURL { state.url }

    /// Ends the transfer and its request. The receiver is not notified, not even of the end.
    public func cancel() {
        guard receiver != nil else { return }
        leave()
        client.activity.ended(.cancelled)
        if isProbe {
            client.hosts.abandonProbe(request.url.origin)
        }
    }

    /// Raises the priority, never lowers it: a player needs the bytes of a download. `ignoresAbsence` as in a request.
    public func raise(to priority: OriginRequest.Priority, ignoresAbsence: Bool = false) {
        guard receiver != nil, urgency.raise(to: priority, ignoresAbsence: ignoresAbsence) else { return }
        client.move(self)  // A paused transfer resumes in the next turn.
    }

    /// Lowers the priority to background: no player waits any more, and the transfer is only finished.
    /// - Parameter isAbandoned: true if nobody else waits either.
    public func lower(isAbandoned: Bool = false) {
        guard receiver != nil, urgency.lower(isAbandoned: isAbandoned) else { return }
        client.move(self)
    }

    /// Ends `isAbandoned` of `lower`: somebody waits again, if not a player.
    public func reclaim() { urgency.reclaim() }

    /// Lets a transfer for a player yield to another one that the same player needs first, or ends that: it has a download's
    /// share of the link meanwhile, and is still the player's.
    public func holdBehind(_ trails: Bool) {
        guard receiver != nil, urgency.holdBehind(trails) else { return }
        client.move(self)
    }

    /// Bytes per second of the present body; nil before its first byte.
    public var rate: Double? { body.rate(at: .now) }
    /// True if a complete body has ended by the mark of its framing; see `BodyEnd.mark`.
    public var isEndMarked: Bool { state.isEndMarked }
    /// True if the bytes so far can be continued by Range.
    public var isContinuable: Bool { takesRanges && state.isResumable }

    /// Starts the first attempt, in the first turn of the loop after `init`.
    func begin() {
        if receiver != nil {
            perform(state.begin())
        }
    }

    /// Sends the attempt; the host's slot is reserved for it.
    func slotGranted() {
        guard receiver != nil, let attempt else { return }
        isDecoded = false
        body.begin(at: .now)
        let plan = client.plan(state.asked, attempt)
        if let reason = client.refusal(of: plan) {
            return attemptEnded(.failed(.init(code: .refusedAddress, underlying: reason, isTransient: false)))
        }
        if let named = plan.nameToCompare, client.names.resolve(named, for: self) == nil {
            return watch(.namedHost, for: NameCache.renewalLimit)
        }
        resolve(plan)
    }

    private func resolve(_ plan: ConnectionPlan) {
        guard let name = plan.name else { return connect(to: [], plan) }
        guard let answer = client.names.resolve(name, for: self) else {
            let former = client.names.formerAddresses(of: name)
            var limit = rule.limit(of: .resolving)
            if former != nil {
                limit = min(limit, NameCache.renewalLimit)
            }
            return watch(.name(former: former), for: limit)
        }
        nameResolved(answer)
    }

    private func namedHostResolved() {
        client.names.cancel(self)
        watchdog?.cancel()
        // A cached answer for the peer's name comes at once, and is not that of the named host.
        watch = .pause
        if let attempt {
            resolve(client.plan(state.asked, attempt))
        }
    }

    /// - Parameter plan: nil to decide again, because a name is known now.
    private func connect(to addresses: [SocketAddress], _ plan: ConnectionPlan? = nil) {
        guard let attempt else { return }
        body.connect(at: .now)
        let asked = state.asked
        let plan = plan ?? client.plan(asked, attempt)
        guard let wire = client.open(asked, attempt: attempt, plan: plan, addresses: addresses, priority: priority)
        else {
            return end(OriginError(.local, url: attempt.url))
        }
        wire.owner = self
        guard client.add(wire, plan) else { return end(OriginError(.local, url: attempt.url)) }
        self.wire = wire
        tally?.recordRequest(to: attempt.url.origin)
        watch(.head(GiveUpRule.HeadWatch(.connecting, now: .now)), for: rule.firstCheck)
    }

    /// Stops the request, whose slot playback needs. The transfer resumes from its last byte in the next slot.
    func displaced() {
        guard receiver != nil else { return }
        endRequest()
        perform(state.displaced())
    }

    func fail(_ code: OriginError.Code, underlying: String? = nil) {
        guard receiver != nil else { return }
        end(OriginError(code, url: state.url, underlying: underlying))
    }

    /// Ends the transfer before any attempt.
    func refuse(_ code: OriginError.Code) {
        let cause: String? =
            switch code {
            case .unreachable: "its last requests failed"
            case .hostDead: client.hosts.reason(of: request.url.origin)
            default: nil
            }
        end(OriginError(code, url: request.url, underlying: cause), isNews: false)
    }

    /// True if a request is in progress, and not waiting for a slot at its host or for the next attempt.
    public var isOnTheWire: Bool { wire != nil }

    /// The time for which a request on a connection that was used before has waited for its reply, if that makes the origin's other
    /// connections suspect; nil otherwise.
    func suspectSilence(at origin: WebURL.Origin, now: ContinuousClock.Instant) -> Duration? {
        let silence = now - body.lastArrival
        guard silence >= rule.suspectSilence, let wire, case .head = watch, wire.stage.isSilence,
            wire.isOnUsedConnection, wire.attempt.url.origin == origin
        else { return nil }
        return silence
    }

    func sharesConnection(of other: CurlRequest) -> Bool { wire?.shares(other) ?? false }

    /// Pauses or resumes the body. Not from within a callback of libcurl.
    /// - Parameter window: bytes that may be under way; nil for the system's default.
    func throttle(_ hold: Hold, window: Int?) {
        guard let wire, self.hold.isNeeded(hold, window: window) else { return }
        let request = TransferHold.Request(
            mayBeMultiplexed: wire.mayBeMultiplexed, isPaused: wire.isPaused, isContinuable: isContinuable,
            mayStop: mayStop, isAbandoned: urgency.isAbandoned, mayTrail: urgency.mayTrail)
        switch self.hold.apply(hold, window: window, to: request, now: .now) {
        case .none: break
        case .stop: displaced()
        case .wait(let time): client.throttle(after: time)
        case .limit(let window, let lendsSlot, let isPaused):
            wire.receiveLimits.limitWindow(to: window)
            client.lendSlot(self, lendsSlot)
            wire.setPaused(isPaused)
        }
    }

    /// How a transfer is held back.
    enum Hold {
        case none
        /// For a moment.
        case brief
        /// Until others are done, which may use the slot meanwhile.
        case long
    }

    /// True if the request may end before its body, for one that goes first. What cannot be continued is not fetched twice: by HTTP/1.1 its
    /// body pauses, and by HTTP/2 the origin may have sent all of it into the one connection before its first byte arrives.
    var mayStop: Bool {
        if isContinuable {
            return true
        }
        guard let wire else { return true }
        return body.count == 0 && !wire.mayBeMultiplexed
    }

    /// The number of bytes of the resource or range, once the transfer has succeeded.
    public var count: Int64 { state.position }
    /// True if the origin answers, but its last reply was a transient error.
    public var isRetryingServerFailure: Bool {
        guard let failure = state.lastFailure else { return false }
        return !failure.code.isAway
    }

    func perform(_ action: TransferState.Action) {
        switch action {
        case .send(let attempt):
            self.attempt = attempt
            let asked = state.asked
            if !isLocated, attempt.url == asked.request.url, client.isHandled(asked.request) {
                return askHandler(attempt)
            }
            isLocated = false
            if asked.request.isDowngraded(at: attempt.url) {
                client.recordDowngrade(from: asked.request.first, to: attempt.url)
            }
            client.enqueue(self, host: attempt.url.origin)
        case .wait(let pause):
            tally?.recordRetry()
            watch(.pause, for: pause)
        case .end(let error):
            if let error, let attempt, isLocatedAgain(after: error, attempt) {
                return
            }
            end(error)
        }
    }

    /// Ends the transfer and notifies the receiver. `isNews` if the end says something about the origin's presence.
    func end(_ error: OriginError?, isNews: Bool = true) {
        guard let receiver else { return }
        leave()
        client.activity.ended(error?.code)
        if isNews {
            client.recordEnd(error, request, at: state.url, isProbe: isProbe)
        }
        if let error {
            receiver.transfer(self, ended: .failure(error))
        } else {
            receiver.transfer(self, ended: .success(()))
        }
    }

    private func leave() {
        let left = wire
        receiver = nil
        handling?.cancel()
        watchdog = nil
        deadline = nil
        endRequest()
        client.remove(self)
        if let left {
            client.leaveShared(left, after: nil)
        }
    }

    private func endRequest() {
        watchdog?.cancel()
        client.names.cancel(self)
        if let wire {
            client.remove(wire)
        }
        wire = nil
        hold.end()
        client.release(self)
    }

    func attemptEnded(_ outcome: TransferState.Outcome) {
        let ended = wire
        if let wire {
            client.record(outcome, of: wire)
        }
        if let evidence = state.doubt(about: outcome), receiver?.transfer(self, mayEndBy: evidence) ?? false {
            state.acceptEnd()
        }

        endRequest()
        if case .failed(let failure) = outcome {
            if failure.code.isTimeout {
                client.connections.recordTimeout(of: state.url.origin, now: .now)
            }
            client.hosts.record(failure, of: state.url.origin, now: .now)
            if let fault = failure.http2Fault {
                client.connections.record(fault, of: state.url.origin, now: .now)
            }
        }
        if let ended {
            client.leaveShared(ended, after: outcome)
        }

        // A connection with bytes that nothing reads must not be used again.
        if outcome == .exceeded {
            client.connections.recordTimeout(of: state.url.origin, now: .now)
        }

        let url = state.url
        let action = state.ended(
            outcome, now: .now, waiter: waiter, isHostDead: client.isDead(url), jitter: .random(in: 0...1))
        if case .wait = action {
            reportAbsence()
        }
        if case .send(let next) = action, next.manner.usesDigest {
            client.connections.recordDigest(of: state.url.origin)
        }
        if case .send(let next) = action, next.url.origin != request.url.origin {
            client.hosts.recordRedirect(of: request.url, to: next.url.origin, now: .now)
        }
        perform(action)
    }

    private var waiter: GiveUpRule.Waiter { urgency.waiter(hasOwnPolicy: request.retries != nil) }

    /// Reports the origin's absence when other transfers would give up, so that no other caller waits for it.
    private func reportAbsence() {
        guard let failure = state.lastFailure, rule.isAbsenceReported(afterFailures: state.failures) else { return }
        client.recordEnd(failure, request, at: state.url, isProbe: false)
    }

    /// An unreachable origin is the better explanation than a lack of time.
    private func deadlinePassed() {
        guard let failure = state.lastFailure, failure.code == .unreachable else { return fail(.timedOut) }
        end(failure)
    }

    private func watch(_ what: Watch, for span: Duration) {
        watch = what
        hold.beginSpan(isOnTheWire: wire != nil, now: .now)
        switch what {
        case .body where request.toleratesSilence: watchdog?.cancel()
        default: watchdog?.schedule(after: span)
        }
    }

    private func watchdogFired() {
        switch watch {
        case .pause: perform(state.pauseEnded())
        case .namedHost: namedHostResolved()
        case .name(let former?):
            client.names.cancel(self)
            connect(to: former)
        case .name(nil):
            let limit = rule.limit(of: .resolving).components.seconds
            let reason = "its name could not be resolved in \(limit) s"
            attemptEnded(.failed(.init(code: .unreachable, underlying: reason, hostFault: .noWay)))
        case .head(let head): checkHead(head)
        case .skip: attemptEnded(.stopped)
        case .body(let check, let left):
            // Our own pauses do not count against the origin, but what it sent meanwhile comes at once when they end.
            let paused = hold.takePausedTime(now: .now)
            if paused > .zero {
                watchdog?.schedule(after: min(paused, GiveUpRule.resumedLimit))
                return
            }
            if left > .zero {
                return watchBody(check, for: left)
            }
            let next = rule.watch(
                after: check, bodyAt: body.count, isResumable: state.isResumable || state.mayBeOver,
                failures: state.failures, isInsisting: urgency.isInsisting || state.mayBeOver)
            guard let next else { return attemptEnded(.failed(.init(code: .stalled))) }
            watchBody(next, for: next.pause)
        }
    }

    /// Compares the stage of the attempt with its limit, and waits for the rest of that.
    private func checkHead(_ head: GiveUpRule.HeadWatch) {
        guard let wire else { return }
        var head = head
        let stage = wire.stage
        head.record(stage, readyAt: wire.readyAt, sent: wire.sent, now: .now)
        if stage.isSilence, request.toleratesSilence {
            return
        }
        if stage == .handshaking {
            wire.setHandshaking(rule)
        }
        let mayChange = state.failures == 0 && request.retries == nil && request.method == .get
        var doubt: GiveUpRule.Doubt?
        if mayChange {
            doubt = client.connections.doubt(about: wire.use, now: .now)
        }
        let left = head.left(rule, doubt: doubt, now: .now)
        guard let left else { return attemptEnded(.failed(wire.failureOfLate(stage))) }
        watch(.head(head), for: left)
    }

    /// Watches a body, in steps; see `BodyProgress`.
    private func watchBody(_ check: GiveUpRule.BodyWatch, for span: Duration) {
        let position = state.bodyPosition
        var verdict = body.check(at: position, for: span, rule: rule)
        if verdict == .ask {
            if receiver?.transfer(self, mayEndBy: .silent) ?? false {
                return attemptEnded(.failed(.init(code: .stalled)))
            }
            verdict = body.watch(at: position, for: span, rule: rule)
        }
        switch verdict {
        case .ask: break
        case .end(let outcome): attemptEnded(outcome)
        case .watch(let step, let left):
            body.beginStep()
            watch(.body(check, left: left), for: step)
        }
    }

    /// The end of a stream follows its last byte at once. A body without it is complete by its length alone.
    private func awaitEndOfStream() {
        guard case .body(let check, let left) = watch else { return }
        body.awaitEndOfStream()
        watch(.body(check, left: max(left, rule.silenceAtEnd)), for: rule.silenceBehindLength)
    }
}

extension Transfer: NameWaiter {
    func nameResolved(_ answer: NameCache.Answer) {
        guard receiver != nil else { return }
        if case .namedHost = watch {
            return namedHostResolved()
        }
        switch answer {
        case .addresses(let addresses): connect(to: addresses)
        case .none(let reason):
            attemptEnded(.failed(.init(code: .unreachable, underlying: reason, hostFault: .refusal)))
        case .failed(let reason):
            attemptEnded(.failed(.init(code: .unreachable, underlying: reason, hostFault: .noWay)))
        }
    }
}

extension Transfer: CurlRequestOwner {
    func request(_ wire: CurlRequest, received reply: Reply) -> Bool {
        client.hosts.recordReply(from: state.url.origin, now: .now)
        if let address = wire.connected, request.namedPeer?.host == state.url.host, request.route.firstClass == nil {
            request.classRecorder?.record(address.hostClass)
        }

        client.headReceived(on: wire)
        if .now - body.lastArrival > rule.unacknowledgedLimit {
            client.connections.recordSlowReply(from: state.url.origin)
        }
        isDecoded = state.isDecoded(reply)
        if state.lacksLength(reply) {
            client.connections.recordLengthless(state.url.origin, isPlaylist: request.acceptsCompression)
        }

        switch state.received(reply) {
        case .stop: return false
        case .skip:
            watch(.skip, for: GiveUpRule.skipLimit)
            return true
        case .deliver(let head):
            if state.url.origin == request.url.origin {
                client.hosts.recordDirectReply(from: request.url, now: .now)
            }
            body.beginBody(at: .now)
            takesRanges = takesRanges || reply.answersRanges
            let check = rule.watch(
                bodyAt: body.count, failures: state.failures,
                isInsisting: urgency.isInsisting || attempt?.manner.ignoresLength ?? false)
            watchBody(check, for: check.pause)
            if let head {
                deliver(head)
            }
            return receiver != nil
        }
    }

    func deliver(_ head: OriginHead) {
        var head = head
        head.terms = terms
        receiver?.transfer(self, received: head)
    }

    /// In one turn of the loop each connection that is ready brings all that it has: the first one may be all that the rate allows.
    func mayReceive(_ wire: CurlRequest, besides undelivered: Int) -> Bool {
        guard priority == .background, !wire.mayBeMultiplexed, client.isAheadOfRate(after: undelivered) else {
            return true
        }
        hold.pauseAtRate(now: .now)
        return false
    }

    var takesSmallParts: Bool { receiver?.takesSmallParts ?? false }

    func request(_ wire: CurlRequest, received bytes: UnsafeRawBufferPointer) -> Bool {
        let now = ContinuousClock.now
        body.record(bytes.count, at: now)
        client.count(bytes.count, for: priority)
        tally?.record(bytes: bytes.count, from: state.url.origin)
        if isDecoded, isBomb(wire, lag: client.configuration.bufferSize) {
            return false
        }
        switch state.received(byteCount: bytes.count, now: now) {
        case .stop: return false
        case .skip: return true
        case .at(let offset):
            if state.awaitsEndOfStream {
                awaitEndOfStream()
            }
            return deliver(bytes, at: offset)
        case .last(let offset, let count):
            _ = deliver(UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), at: offset)
            return false
        }
    }

    func deliver(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
        do {
            try receiver?.transfer(self, received: bytes, at: offset)
        } catch {
            state.fail(.contentChanged)
            return false
        }
        return receiver != nil
    }

    func request(_ wire: CurlRequest, ended outcome: TransferState.Outcome) {
        if isDecoded {
            _ = isBomb(wire, lag: 0)
        }
        attemptEnded(outcome)
    }

    /// Compares decoded with received bytes, and fails the transfer of too many.
    private func isBomb(_ wire: CurlRequest, lag: Int) -> Bool {
        let limit = client.configuration.compressionRatioLimit
        guard body.isOutOfProportion(to: wire.encodedByteCount, lag: lag, limit: limit) else { return false }
        state.fail(.tooLarge, underlying: "its compressed form is out of proportion")
        return true
    }
}

/// Receives the bytes of a transfer.
///
/// Called on the loop, never from within `OriginClient.start`, and never after `Transfer.cancel()`, which each of these
/// methods may call. The transfer retains the receiver until its end.
@LoopActor public protocol TransferReceiver: AnyObject {
    /// The final reply has begun. Called before any bytes, and again if its length was wrong; not called if the transfer
    /// fails earlier.
    func transfer(_ transfer: Transfer, received head: OriginHead)

    /// The next bytes, valid during the call, at their offset within the requested range.
    /// Contiguous, from `OriginRequest.start` or 0, with one exception: after a break that could not be resumed they
    /// restart at 0, or some bytes before the end of those that arrived. The receiver must then compare the bytes that it has,
    /// and throw if they differ.
    /// - Throws: any error, to end the transfer with `contentChanged`.
    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) throws
    /// True if bytes may be delivered in parts as small as they come, because that costs the receiver nothing. Otherwise they are copied
    /// together first.
    var takesSmallParts: Bool { get }
    /// Judges a body that ended, or whose framing ended, where HTTP does not show that it is complete. All bytes so far were
    /// delivered. Return true if the body can end here; otherwise it is requested again.
    func transfer(_ transfer: Transfer, mayEndBy evidence: EndEvidence) -> Bool
    /// The transfer has ended. Called once, and last. On success all bytes were delivered.
    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>)
}

extension TransferReceiver {
    /// False: most receivers write each part to a file.
    public var takesSmallParts: Bool { false }
    /// Accepts a body that was received twice with one end.
    public func transfer(_ transfer: Transfer, mayEndBy evidence: EndEvidence) -> Bool { evidence == .repeated }
}

/// The circumstances in which a body ended where HTTP does not show that it is complete.
public enum EndEvidence: Hashable, Sendable {
    /// It is shorter than its stated length.
    case shorterThanStated
    /// An earlier body from the first byte on had this end too, and the same bytes if the receiver compares them.
    case repeated
    /// Nothing has arrived for a while, although more bytes are stated. If the body can end here, it is requested again.
    case silent
    /// It is complete as a part of unknown size, sent with status 206 although no Range was requested.
    case unrequestedPart
}
