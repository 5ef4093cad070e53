public import EventLoop
import HTTPMessage

/// One resource on its way in: made by `OriginClient.start`, which keeps it until it has ended.
///
/// The shell around `TransferState`: it owns the request on the wire, the watchdog and the deadline.
@LoopActor public final class Transfer {
    /// What the watchdog waits for.
    private enum Watch {
        case pause
        case head(sent: Int64)
        case body(since: Int64, latest: Int64, left: Duration)
        case skip
    }

    /// How long an unwanted body may take to run out.
    private static let skipLimit = Duration.seconds(2)

    let id: UInt64
    private let client: OriginClient
    private var receiver: (any TransferReceiver)?
    private var state: TransferState
    private let isProbe: Bool
    private var attempt: TransferState.Attempt?
    private var wire: CurlRequest?
    private var isEncoded = false
    private var received: Int64 = 0
    private var watch = Watch.pause
    private var watchdog: LoopTimer?
    private var deadline: LoopTimer?

    /// Who waits for it.
    public private(set) var priority: OriginRequest.Priority
    /// As in the request.
    private var insists: Bool
    /// As in the request; may become so later.
    public var isReadMeanwhile: Bool

    init(_ id: UInt64, _ request: OriginRequest, _ receiver: any TransferReceiver, client: OriginClient, isProbe: Bool)
    {
        self.id = id
        self.client = client
        self.receiver = receiver
        self.isProbe = isProbe
        priority = request.priority
        (insists, isReadMeanwhile) = (request.insists, request.isReadMeanwhile)
        // The timers go in `leave`, before this does.
        let policy = isProbe ? .never : request.retries ?? client.configuration.retries
        state = TransferState(
            request, policy: policy, redirectLimit: client.configuration.redirectLimit, now: .now)
        watchdog = LoopTimer { [unowned self] in watchdogFired() }
        guard let bound = request.deadline else { return }
        deadline = LoopTimer { [unowned self] in deadlinePassed() }
        deadline?.schedule(after: bound)
    }

    private var request: OriginRequest { state.request }
    /// Whether it takes one of its host's places.
    var isCounted: Bool { !request.toleratesSilence }
    /// Where it is asked for at the moment.
    var url: WebURL { state.url }

    /// Ends the transfer, and the request on the wire with it. The receiver hears nothing any more, not even of the
    /// end.
    public func cancel() {
        guard receiver != nil else { return }
        leave()
        client.activity.ended(.cancelled)
        if isProbe { client.presence.abandonedProbe(request.url.origin) }
    }

    /// Lets it go first from now on: a player has come to need what a download fetches. Never lowers.
    ///
    /// - Parameter insists: as in a request.
    public func raise(to priority: OriginRequest.Priority, insists: Bool = false) {
        self.insists = self.insists || insists
        guard priority > self.priority, receiver != nil else { return }
        self.priority = priority
        client.move(self)  // In the next turn it goes on, should it be held.
    }

    // MARK: What the client calls

    /// The first turn of the loop after it was made.
    func begin() {
        if receiver != nil { perform(state.begin()) }
    }

    /// A place at the attempt's host is taken for it.
    func placeGranted() {
        guard receiver != nil, let attempt else { return }
        (isEncoded, received) = (false, 0)
        guard let wire = client.open(request, attempt) else { return end(OriginError(.local, url: attempt.url)) }
        wire.owner = self
        guard client.add(wire, for: request, attempt) else { return end(OriginError(.local, url: attempt.url)) }
        self.wire = wire
        watch(.head(sent: 0), for: client.configuration.firstByteLimit)
    }

    /// Its place was taken away, for playback: it waits for the next one, and goes on from what has come.
    func displaced() {
        guard receiver != nil else { return }
        takeOffTheWire()
        perform(state.displaced())
    }

    /// Ends it with an error for a reason outside of the transfer.
    func fail(_ code: OriginError.Code, underlying: String? = nil) {
        guard receiver != nil else { return }
        end(OriginError(code, url: state.url, underlying: underlying))
    }

    /// Ends it before anything was tried.
    func refuse(_ code: OriginError.Code) {
        let cause = code == .unreachable ? "it could not be reached a moment ago" : nil
        end(OriginError(code, url: request.url, underlying: cause), isNews: false)
    }

    // MARK: Yielding

    /// Since when it is held back by us.
    private var heldSince: ContinuousClock.Instant?
    /// For how long it was held in the span that the watchdog waits for.
    private var held = Duration.zero

    /// Whether a request of its is on the wire: before that it waits for a place at its host, or for its next try.
    public var isOnTheWire: Bool { wire != nil }

    /// Lets the body on the wire wait, or go on. Not from within a callback of libcurl.
    ///
    /// - Parameters:
    ///   - isLong: it waits until others are done, who may have its place meanwhile.
    ///   - window: what may be on its way, in bytes; nil for what the system thinks best.
    func throttle(_ isHeld: Bool, isLong: Bool, window: Int?) {
        guard let wire else { return }
        wire.intake.limitWindow(to: window.map { max($0, Int(BackgroundAllowance.smallestWindow)) })
        client.lend(self, isHeld && isLong)
        guard isHeld != wire.isPaused else { return }
        noteHold(isHeld)
        wire.pause(isHeld)
    }

    private func noteHold(_ isHeld: Bool) {
        if let heldSince { held += .now - heldSince }
        heldSince = isHeld ? .now : nil
    }

    /// Whether the origin is there, but its last reply was an error that may pass.
    public var isPutOff: Bool { state.lastFailure.map { !$0.code.isAway } ?? false }

    // MARK: Steps

    private func perform(_ action: TransferState.Action) {
        switch action {
        case .ask(let attempt):
            self.attempt = attempt
            client.enqueue(self, host: attempt.url.origin)
        case .wait(let pause): watch(.pause, for: pause)
        case .end(let error): end(error)
        }
    }

    /// - Parameter isNews: the end tells something about the presence of the origin.
    private func end(_ error: OriginError?, isNews: Bool = true) {
        guard let receiver else { return }
        leave()
        client.activity.ended(error?.code)
        if isNews { client.note(error, request, at: state.url, isProbe: isProbe) }
        receiver.transfer(self, ended: error.map { .failure($0) } ?? .success(()))
    }

    private func leave() {
        receiver = nil
        watchdog = nil
        deadline = nil
        takeOffTheWire()
        client.forget(self)
    }

    private func takeOffTheWire() {
        watchdog?.cancel()
        if let wire { client.remove(wire) }
        wire = nil
        heldSince = nil
        client.release(self)
    }

    private func attemptEnded(_ outcome: TransferState.Outcome) {
        takeOffTheWire()
        if case .failed(let failure) = outcome, failure.code.isSilence { client.noteSilence(of: state.url) }
        let hasOwn = request.retries != nil
        let isAwaited = priority == .playback && (!hasOwn || isReadMeanwhile)
        let patience = isAwaited ? client.configuration.retriesBehindAReply : nil
        let action = state.ended(
            outcome, now: .now, patience: patience, insists: insists && !hasOwn, jitter: .random(in: 0...1))
        if case .wait = action { noteAbsence() }
        perform(action)
    }

    /// Who goes on waiting for an origin tells of it when others would have given up, so that nobody else waits.
    private func noteAbsence() {
        let others = client.configuration.retries.attempts
        guard let failure = state.lastFailure, state.failures - 1 == others else { return }
        client.note(failure, request, at: state.url, isProbe: false)
    }

    /// That an origin was not reached says more than that there is no time left.
    private func deadlinePassed() {
        guard let failure = state.lastFailure, failure.code == .unreachable else { return fail(.timedOut) }
        end(failure)
    }

    // MARK: The watchdog

    private func watch(_ what: Watch, for span: Duration) {
        watch = what
        noteHold(heldSince != nil && wire != nil)
        held = .zero
        switch what {
        case .head where request.toleratesSilence, .body where request.toleratesSilence: watchdog?.cancel()
        default: watchdog?.schedule(after: span)
        }
    }

    private func watchdogFired() {
        switch watch {
        case .pause: perform(state.pauseEnded())
        case .head(let before):
            // While its body goes out, there can be no reply.
            let sent = wire?.sent ?? 0
            if sent > before { return watch(.head(sent: sent), for: client.configuration.firstByteLimit) }
            attemptEnded(.failed(.init(code: .timedOut, underlying: "no reply in time")))
        case .skip: attemptEnded(.stopped)
        case .body(let before, let latest, let left):
            noteHold(heldSince != nil)
            // An origin has nothing to do with pauses of ours.
            if held > .zero {
                watchdog?.schedule(after: held)
                return held = .zero
            }
            let isEnough = left == .zero ? received - before >= client.configuration.stallBytes : received > latest
            guard isEnough || left > .zero && !state.isResumable else {
                return attemptEnded(.failed(.init(code: .stalled)))
            }
            if left > .zero { watchBody(since: before, for: left) } else { watchBody() }
        }
    }

    /// Expects a body to bring enough in a while, from now on.
    private func watchBody() { watchBody(since: received, for: client.configuration.stallSpan) }

    /// The same for what is left of the while; who waits and has nothing else looks more often whether anything comes.
    private func watchBody(since before: Int64, for left: Duration) {
        let silence = client.configuration.silenceSpan * (1 << min(state.failures, 3))
        let span = insists || isReadMeanwhile ? min(left, silence) : left
        watch(.body(since: before, latest: received, left: left - span), for: span)
    }
}

extension Transfer: CurlRequestOwner {
    func request(_ wire: CurlRequest, received reply: Reply) -> Bool {
        client.presence.reached(state.url.origin)
        client.headCame(on: wire, for: priority)
        isEncoded = reply.isEncoded
        switch state.received(reply) {
        case .stop: return false
        case .skip:
            watch(.skip, for: Self.skipLimit)
            return true
        case .deliver(let head):
            watchBody()
            if let head { receiver?.transfer(self, received: head) }
            return receiver != nil
        }
    }

    func request(_ wire: CurlRequest, received bytes: UnsafeRawBufferPointer) -> Bool {
        received += Int64(bytes.count)
        client.count(bytes.count, for: priority)
        if isEncoded, isBomb(wire) {
            state.fail(.tooLarge, underlying: "its compressed form is out of proportion")
            return false
        }
        switch state.received(byteCount: bytes.count, now: .now) {
        case .stop: return false
        case .skip: return true
        case .at(let offset):
            do {
                try receiver?.transfer(self, received: bytes, at: offset)
            } catch {
                state.fail(.contentChanged)
                return false
            }
            return receiver != nil
        }
    }

    func request(_ wire: CurlRequest, ended outcome: TransferState.Outcome) {
        self.wire = nil
        attemptEnded(outcome)
    }

    /// What was decoded against what came, plus the one buffer by which libcurl's count may lag.
    private func isBomb(_ wire: CurlRequest) -> Bool {
        received > client.configuration.compressionRatioLimit * (wire.encodedByteCount + 16 * 1024)
    }
}
