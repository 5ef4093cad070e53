public import EventLoop
package import HTTPMessage
import Origin
public import Store

/// One resource that is being fetched. Equal requests share it, so that the origin is asked once.
///
/// The bytes go to a growing file, which players read while it grows. After the last byte the file is checked and becomes
/// a piece. If the transfer ends early, the bytes stay, and a later `start` continues behind them.
///
/// `FetchState` decides what to do; this class owns the transfer, the timer, the file and the waiting readers.
@LoopActor public final class Fetch {
    /// The urgency of a reader.
    public enum Urgency: Sendable {
        case playback
        case background
    }

    /// The media that a waiting player can play instead of this resource.
    public enum Fallback: Comparable, Sendable {
        /// Nothing: the origin is waited for, even if it is absent.
        case none
        /// Something, as long as no byte of this resource was sent: the player reads the bytes as they arrive.
        case untilBegun
        /// Something, until the resource is complete: the player is sent nothing before that.
        case untilComplete
    }

    /// The state of the fetch when the latest reader joined.
    public enum Approach: Sendable {
        case begun
        /// Bytes of an earlier transfer were there.
        case resumed
        /// A transfer was under way.
        case joined
        /// Every byte was there, though not as a piece.
        case arrived
    }

    /// Times of a reply, by the origin's clock.
    package struct OriginTimes {
        package let sent: HTTPDate
        package let modified: HTTPDate?

        package init(sent: HTTPDate, modified: HTTPDate?) {
            self.sent = sent
            self.modified = modified
        }

        init?(_ head: OriginHead) {
            guard let sent = head.date(.date) else { return nil }
            self.init(sent: sent, modified: head.date(.lastModified))
        }
    }

    /// The resource.
    public let resource: Resource
    package let file: GrowingFile
    /// The complete length in bytes; nil until the origin has stated it.
    public var length: Int64? { response.length }
    var response = ResponseRecord()
    /// The result; nil before the end.
    public var outcome: Result<Void, FetchError>? { ending }
    // Asked for each part that arrives. Of a private variable the compiler sees that no two uses overlap, and leaves out the check.
    private var ending: Result<Void, FetchError>?
    /// The reason why the bytes are not stored, although they should be.
    public var keepFailure: StoreError? { storageFailure ?? file.spillReason }
    var storageFailure: StoreError?
    /// The reason why the bytes are passed on and not stored, although the origin has sent them all: they are no known media.
    public internal(set) var contentError: FetchError?
    /// True if the fetch ended as a piece in the store.
    public internal(set) var isPiece = false
    /// The origin's times in the reply that answered last; nil without a time at which it was sent.
    package var originTimes: OriginTimes? { response.times }
    /// The length of the file of which the resource is a range, as the latest reply states it; nil if it does not.
    package var fileLength: Int64? { response.fileLength }
    /// The strong entity tag of the latest reply.
    package var entityTag: EntityTag? {
        guard case .entityTag(let tag)? = response.validator else { return nil }
        return tag
    }
    /// The address of the origin that answered last.
    public var address: String? { response.address }
    /// The state of the fetch when the latest reader joined.
    public private(set) var approach = Approach.begun
    private(set) var folder: PieceFolder?
    /// Stores gathered bytes on another thread; nil if the loop itself does it.
    let committer: Committer?
    let client: OriginClient
    let access: OriginAccess
    var state: FetchState
    var transfer: Transfer?
    /// The request for several neighbours that includes it.
    private(set) var mergedFetch: MergedFetch?
    /// The fetch whose bytes it reads instead of asking the origin; nil for most.
    var lead: LeadingFetch?
    /// True while it reads the bytes of another fetch, or of a piece.
    var readsShared = false
    /// True if its bytes are those of another fetch, or of a piece: none of them come from the origin.
    package internal(set) var isCopy = false
    /// The piece whose bytes it has read; nil for most.
    var copied: CopiedPiece?
    /// Finds bytes that others have asked for; nil if nobody else can have.
    var findShared: (() -> SharedBytes?)?
    private var timer: LoopTimer?
    /// Ends a transfer that is finished without readers, if that takes too long.
    private var graceTimer: LoopTimer?
    /// The resource at the URL of the present request.
    private(set) var location: Resource
    var alternates: (any AlternateSources)?
    /// The digest that the bytes must have: a key that has changed does not fit the stored segments.
    package var expectation: Digest?
    /// True if later readers do not share the bytes: they are fetched to be compared.
    package var isOneOff = false
    /// The number of bytes that were there before the present request.
    private var requestStart: Int64 = 0
    var body = BodyEvidence()
    /// The reason why arrived bytes were refused, where that says more than the origin's error.
    var refusal: FetchError?
    /// The failure to end with, if no other source is found.
    private var failure: FetchError?

    private var observers = FetchObservers()
    /// Called once, at the end or when the fetch is parked without readers.
    private let ended: (Fetch) -> Void

    init(
        _ resource: Resource, folder: PieceFolder?, file: GrowingFile, storageFailure: StoreError?,
        client: OriginClient,
        access: OriginAccess, committer: Committer? = nil, isLasting: Bool = false,
        ended: @escaping (Fetch) -> Void = { _ in }
    ) {
        self.resource = resource
        self.committer = committer
        self.storageFailure = storageFailure
        self.folder = folder
        self.file = file
        self.client = client
        self.access = access
        self.ended = ended
        location = resource
        let isKey = if case .key = resource.name.role { true } else { false }
        state = FetchState(isStreamed: !isKey, isLasting: isLasting)
        guard state.isStreamed else { return }
        // The first subscriber: readers that it notifies of bytes find them still in memory.
        _ = file.subscribe { [unowned self] in grew() }
    }

    /// True if the bytes so far can be continued later.
    var isParked: Bool {
        guard case .failure = ending else { return false }
        return body.isSound && folder != nil && file.isKeepable && file.written > 0
    }

    /// True if the bytes will become a piece, unless something fails.
    public var isKept: Bool { folder != nil && keepFailure == nil && contentError == nil }

    // MARK: Reading

    /// The file of the bytes. Read it again for each use: a full disk moves the file.
    public var descriptor: Int32 { file.descriptor }
    /// The number of bytes that are there, from offset 0 on.
    public var written: Int64 { file.written }
    /// False if its bytes are in memory because the disk has no room, or cannot be written.
    package var isOnDisk: Bool { file.isOnDisk }
    /// The modification time that the piece will have, in nanoseconds since 1970.
    public var modified: Int64 { file.modified }
    /// The bytes behind `written`, while readers are notified of them: see `GrowingFile.fresh`.
    public var fresh: UnsafeRawBufferPointer? { file.fresh }
    /// True if a request was sent, and not just queued.
    public var isAsked: Bool {
        if let lead {
            return lead.fetch.isAsked
        }
        return written > 0 || transfer?.isOnTheWire ?? (mergedFetch != nil)
    }
    /// Bytes per second of its present transfer; nil before the first byte.
    public var rate: Double? { (transfer ?? mergedFetch?.transfer)?.rate }
    /// True if every byte is there.
    public var isComplete: Bool { file.state == .complete }
    /// True if a player without a fallback waits, and the origin is slow or unreachable: such a player gets its head early.
    /// False if the origin has answered with an error that may pass, which is reported soon.
    public var isAwaited: Bool {
        state.urgency == .playback && state.fallback == .none && state.isUnderWay
            && !(transfer?.isRetryingServerFailure ?? false)
    }

    /// Calls `wake` after each change of `written` or `outcome`, and when there are `fresh` bytes, until `unsubscribe`.
    public func subscribe(_ wake: @escaping () -> Void) -> Int { file.subscribe(wake) }
    /// Ends a subscription.
    public func unsubscribe(_ id: Int) { file.unsubscribe(id) }

    /// Calls back once a reply can begin, or at the end; at once if that was before.
    public func whenAnnounced(_ body: @escaping (Result<Void, FetchError>) -> Void) {
        if let ending {
            return body(ending)
        }
        if state.isAnnounced {
            return body(.success(()))
        }
        observers.add(at: .announced, body)
    }

    /// Calls back at the end; at once if that was before.
    public func whenEnded(_ body: @escaping (Result<Void, FetchError>) -> Void) {
        if let ending {
            body(ending)
        } else {
            observers.add(at: .ended, body)
        }
    }

    /// Calls back if every byte has arrived some time before the end: another resource may be requested meanwhile.
    public func whenArrived(_ body: @escaping () -> Void) {
        if ending == nil {
            observers.add(at: .arrived) { _ in body() }
        }
    }

    /// Lets the fetch yield to another one of its player, which needs that one first. Its request is sent at once. Its bytes wait
    /// until those of the other have arrived, unless the player has a buffer: on a slow link both would come late.
    public func hold(behind first: Fetch) {
        whenAnnounced { [weak self, weak first] _ in
            guard let first, first.isDelivering, let transfer = self?.transfer else { return }
            transfer.holdBehind(true)
            first.observers.add(at: .unawaited) { [weak transfer] _ in transfer?.holdBehind(false) }
        }
    }

    /// True while its bytes wait for those of another one.
    public var isTrailing: Bool { transfer?.isTrailing ?? false }

    /// True while a player waits for bytes of it.
    private var isDelivering: Bool { state.hasPlayers && !isComplete && ending == nil }

    func notify(_ moment: FetchObservers.Moment) {
        for notify in observers.take(moment) {
            notify(.success(()))
        }
    }

    /// Notifies waiting readers that a reply can begin, if only with its head.
    public func announce() { perform(state.announce()) }

    // MARK: Readers

    func retain(_ urgency: Urgency) {
        approach = present
        graceTimer?.cancel()
        transfer?.reclaim()
        perform(state.join(urgency, hasUntriedSource: hasUntriedSource))
        mergedFetch?.retained(self, urgency)
    }

    func admit(_ fallback: Fallback) { state.admit(fallback) }

    /// Counts one reader less. Without readers the transfer stops, and its bytes stay for the next reader; `AbandonedTransfer`
    /// says when it is finished all the same.
    /// - Parameters:
    ///   - urgency: that of the reader.
    ///   - isInTheWay: true if the link is needed for something else at once, however little is missing.
    public func release(_ urgency: Urgency = .background, isInTheWay: Bool = false) {
        let isLast = state.leave(urgency)
        if !state.hasPlayers {
            notify(.unawaited)
        }
        guard isLast else {
            if state.demote() {
                lower()
            }
            return
        }
        switch isInTheWay ? .stop : abandonment {
        case .stop: abandon()
        case .finishSoon:
            // Even what takes a moment would delay the segment at the position to which a player has just jumped.
            if let length, reached < length {
                lower(isAbandoned: true)
            }
            if graceTimer == nil {
                graceTimer = LoopTimer { [weak self] in self?.graceEnded() }
            }
            graceTimer?.schedule(after: AbandonedTransfer.grace)
        case .finishLast: lower()
        }
    }

    private func lower(isAbandoned: Bool = false) {
        transfer?.lower(isAbandoned: isAbandoned)
        mergedFetch?.lower(for: self)
    }

    private func graceEnded() {
        if state.readers == 0, !state.hasEnded {
            abandon()
        }
    }

    private func abandon() {
        mergedFetch?.released(self)
        perform(state.abandon())
    }

    /// Stores nothing: the asset was removed. Present readers can read to the end.
    func stopKeeping() {
        folder = nil
        if state.readers == 0 {
            abandon()
        }
    }

    private var present: Approach {
        if case .success = ending {
            return .arrived
        }
        if state.isUnderWay {
            return .joined
        }
        return written > 0 ? .resumed : .begun
    }

    /// The decision about the rest of the transfer, once no reader waits for it.
    private var abandonment: AbandonedTransfer.Verdict {
        // A player has all that the origin stated; the rest decides if it can be stored.
        if body.isRepeated || response.isRestated, state.isUnderWay, state.urgency == .playback {
            return folder == nil ? .stop : .finishLast
        }
        guard let length, mergedFetch?.hasBegun(self) ?? true else { return .stop }
        // A reader that has every byte leaves before the end of the transfer is reported; others may still ask.
        guard folder != nil else { return length == reached ? .finishSoon : .stop }
        let carrier = transfer ?? mergedFetch?.transfer
        return AbandonedTransfer(
            received: reached, missing: length - reached, rate: carrier?.rate,
            isContinuable: carrier?.isContinuable ?? false
        ).verdict
    }

    /// The end of the bytes that readers could read so far.
    private var reached: Int64 { file.written + Int64(file.fresh?.count ?? 0) }

    // MARK: Requesting

    /// Starts the fetch, or continues it at the URL known now. Does nothing while a transfer is under way.
    func start(_ urgency: Urgency, at location: Resource) {
        guard !state.isUnderWay else { return }
        ending = nil
        file.reopen()
        move(to: location)
        alternates?.reset(location)
        perform(state.start(urgency, hasUntriedSource: hasUntriedSource))
    }

    func join(_ mergedFetch: MergedFetch) {
        self.mergedFetch = mergedFetch
        state.merge()
    }

    func leaveMergedFetch() {
        mergedFetch = nil
        state.unmerge()
    }

    /// True if it has not ended, and nothing is done for it.
    var isIdle: Bool { state.phase == .idle }

    /// Requests its bytes by itself if a reader waits: the request for several neighbours does not deliver it.
    func continueAlone() { perform(state.continueAlone(hasUntriedSource: hasUntriedSource)) }

    /// A request at the present location, for this range of the file there; nil for all of it.
    func request(for range: Range<Int64>?) -> OriginRequest {
        let hasUntriedSource = hasUntriedSource
        var request = OriginRequest(location.url)
        request.range = range
        access.grant(to: &request)
        request.priority = state.urgency == .playback ? .playback : .background
        if state.fetching(hasUntriedSource).hasAlternative {
            request.retries = .hasty
        }
        request.ignoresAbsence = state.isInsisting(hasUntriedSource) && !client.isDead(location.url)
        request.isReadWhileFetched = isReadWhileFetched(hasUntriedSource)
        return request
    }

    /// Records that the origin did not answer: for a while it gets no requests for resources that have a fallback.
    public func doubtOrigin() {
        if state.fallback != .none, !hasUntriedSource {
            client.presumeAbsent(after: request(for: location.range))
        }
    }

    var hasAlternate: Bool { state.fetching(hasUntriedSource).hasAlternative }
    var hasUntriedSource: Bool { alternates?.hasUntried ?? false }
    private var isInsisting: Bool { state.isInsisting(hasUntriedSource) }
    /// True if a player has no fallback any more once it has the first byte.
    private func isReadWhileFetched(_ hasUntriedSource: Bool) -> Bool {
        state.fallback == .untilBegun && !hasUntriedSource
    }

    private func move(to next: Resource) {
        response.move(from: location.url, to: next.url)
        location = next
    }

    /// Asks for the bytes: whoever has asked for the same ones already, else the origin.
    private func requestBytes() {
        guard file.written == 0, !body.isRepeated, let shared = findShared?() else { return sendRequest() }
        refusal = nil
        requestStart = 0
        read(shared)
    }

    func sendRequest() {
        readsShared = false
        isCopy = false
        refusal = nil
        requestStart = file.written
        if case .key = resource.name.role, let bytes = location.url.inlineBytes {
            return receive(inline: bytes)
        }
        var request = request(for: location.range)
        request.start = file.written
        request.validator = response.validator
        request.validatorURL = response.validatorURL
        request.size = length
        request.comparesOverlap = body.isRepeated
        request.limit = resource.limit
        request.ignoresStatedLength = body.isRepeated && file.written > 0
        transfer = client.start(request, receiver: self)
    }

    private func search(after error: FetchError) {
        guard let alternates else { return }
        Task { @LoopActor in
            let isForPlayer = state.urgency == .playback
            let next = await alternates.next(after: error, isForPlayer: isForPlayer) { [weak self] in
                self?.state.readers ?? 0 > 0
            }
            if let next, state.readers > 0 {
                move(to: next)
                body.isSound = true
            }
            perform(state.searched(isFound: next != nil, hasUntriedSource: hasUntriedSource))
        }
    }

    // MARK: Ending

    /// The present source has failed: tries another one if there is one and a reader waits, else ends.
    func fail(_ error: FetchError) {
        transfer = nil
        leaveLead()
        if file.written > requestStart {
            alternates?.recordArrival()
        }
        failure = error
        let maySearch = alternates != nil && error.concernsOrigin && (body.isSound || file.written == 0)
        perform(state.fail(maySearch: maySearch))
    }

    func end(_ outcome: Result<Void, FetchError>) {
        transfer = nil
        leaveLead()
        failure = nil
        graceTimer?.cancel()
        ending = outcome
        let isSuccess = if case .success = outcome { true } else { false }
        perform(state.end(isSuccess: isSuccess))
        if isSuccess {
            file.finish()
        } else {
            file.fail()
        }
        let waiting = observers.takeAtEnd()
        ended(self)
        for notify in waiting {
            notify(outcome)
        }
    }

    func perform(_ actions: [FetchState.Action]) {
        for action in actions {
            perform(action)
        }
    }

    private func perform(_ action: FetchState.Action) {
        switch action {
        case .request: requestBytes()
        case .cancelRequest:
            transfer?.cancel()
            transfer = nil
            leaveLead()
        case .raisePriority:
            raiseLead()
            transfer?.raise(to: .playback, ignoresAbsence: isInsisting)
            if isReadWhileFetched(hasUntriedSource) {
                transfer?.isReadWhileFetched = true
            }
        case .startTimer:
            if timer == nil {
                timer = LoopTimer { [unowned self] in perform(state.timerFired()) }  // Stops at the end.
            }
            timer?.schedule(after: GiveUpRule.originSilence)
        case .stopTimer: timer?.cancel()
        case .announce: notify(.announced)
        case .search:
            if let failure {
                search(after: failure)
            }
        case .reportSilence:
            doubtOrigin()
            fail(FetchError(.originAbsent, "\(location.url.redacted) does not answer"))
        case .fail: end(.failure(failure ?? cancelled))
        case .endUnwanted: end(.failure(cancelled))
        }
    }

    private var cancelled: FetchError { FetchError(.cancelled, "\(resource.url.redacted) is not needed any more") }

    private func grew() {
        if file.state == .open {
            announce()
        }
    }
}
