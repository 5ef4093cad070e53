public import EventLoop
import HTTPMessage
import Origin
public import Store

/// One resource on its location from the origin: whoever asks for it meanwhile joins, so that it is fetched once.
///
/// The bytes go to a growing file, which players read as it grows. On the last byte the file is checked and becomes a
/// piece. When the transfer ends early, what came is kept here, and a later `start` goes on behind it.
@LoopActor public final class Fetch {
    /// How soon somebody wants the bytes.
    public enum Urgency: Sendable {
        /// A player waits.
        case playback
        /// A download.
        case background
    }

    /// What is fetched.
    public let resource: Resource
    /// The bytes so far.
    package let file: GrowingFile
    /// The whole length in bytes, once the origin has told it.
    public internal(set) var length: Int64?
    /// How it ended; nil while it is under location.
    public private(set) var outcome: Result<Void, FetchError>?
    /// Why the bytes could not be kept, although they were wanted.
    public var keepFailure: StoreError? { obstacle ?? file.spillReason }
    private var obstacle: StoreError?

    /// Where its piece belongs; nil where it is to be none.
    private(set) var folder: PieceFolder?
    /// What makes a piece of what was gathered; nil where the loop itself does.
    let committer: Committer?
    /// By whom it is asked for.
    let client: OriginClient
    /// What its requests may have.
    let access: OriginAccess
    /// What brings it alone; nil while nothing does, or a mergedFetch.
    var transfer: Transfer?
    /// What brings it together with its neighbours.
    var mergedFetch: MergedFetch?
    /// How many bytes were there before either.
    var beginning: Int64 = 0
    /// Where it is asked for at present.
    var location: Resource
    /// Where else it may be had; nil where nowhere.
    var alternates: (any AlternateSources)?
    /// What those who wait have to play in its place.
    var standIn = StandIn.none
    /// What its bytes must be, where they were had before: a key that has changed does not fit what is stored.
    package var expectation: Digest?
    /// Whether nobody who comes later is given its bytes: they are fetched to be compared.
    package var isOneOff = false
    /// Whether its name stands for these bytes for ever, so that they are worth waiting for.
    var isLasting = false
    /// Whether another location is looked for.
    var isSearching = false
    /// How soon those who ask want it.
    private(set) var urgency = Urgency.background
    /// What the bytes were fetched with, if that allows to go on from them.
    var validator: StrongValidator?
    /// How many want the bytes.
    private(set) var interest = 0
    /// The origin's address that answered last.
    public internal(set) var address: String?
    /// How whoever came last found it.
    public private(set) var approach = Approach.begun
    /// Why the bytes that came were not taken, where that is more than the origin's own error.
    var refusal: FetchError?
    private var isAnnounced = false
    private var announcement: [(Result<Void, FetchError>) -> Void] = []
    private var endings: [(Result<Void, FetchError>) -> Void] = []
    private var arrivals: [() -> Void] = []
    /// What happens if nothing is heard of the origin for long.
    var silence: LoopTimer?
    /// Told when the fetch has ended, or is parked with nobody waiting.
    var ended: (Fetch) -> Void = { _ in }

    init(
        _ resource: Resource, folder: PieceFolder?, file: GrowingFile, obstacle: StoreError?, client: OriginClient,
        access: OriginAccess, committer: Committer? = nil
    ) {
        self.resource = resource
        self.committer = committer
        location = resource
        self.obstacle = obstacle
        self.folder = folder
        self.file = file
        self.client = client
        self.access = access
        // Before any reader: whoever is told hereby that there are bytes finds them still in memory.
        guard isStreamed else { return }
        _ = file.subscribe { [unowned self] in grew() }
    }

    /// Whether what came so far can be gone on from: it is in doubt where the bytes themselves were the trouble.
    var isParked: Bool {
        guard case .failure = outcome else { return false }
        return isSound && folder != nil && file.isKeepable && file.written > 0
    }
    /// Whether nothing speaks against the bytes.
    var isSound = true
    /// Whether the origin told the length or the end of what came last, in place of just closing the connection.
    var isVouched = true
    /// Whether it was asked for once more since it seemed to end too early.
    var isAskedAgain = false
    /// Whether the head of what is asked for at present has come.
    var isAnswered = false
    /// Whether enough of its first bytes were looked at together.
    var isBeginningKnown = false

    /// Whether it ended as a piece in the store.
    public private(set) var isPiece = false
    /// Whether all bytes are there, and the disk is still to take them.
    var isBeingKept = false

    /// Whether the origin is being asked, or has brought everything a moment ago.
    var isUnderWay: Bool { transfer != nil || mergedFetch != nil || isSearching || isBeingKept }
    /// Whether its bytes become a piece, as far as is known.
    public var isKept: Bool { folder != nil && keepFailure == nil }

    // MARK: Reading

    /// Where the bytes are. Read it anew for each use: a full disk makes the file move.
    public var descriptor: Int32 { file.descriptor }
    /// How many bytes are there, from offset 0 on.
    public var written: Int64 { file.written }
    /// The bytes behind `written`, while readers are woken for them: see `GrowingFile.fresh`.
    public var fresh: UnsafeRawBufferPointer? { file.fresh }
    /// Whether the origin has been asked, as far as it is not only waited for its turn.
    public var isAsked: Bool { written > 0 || transfer?.isOnTheWire ?? (mergedFetch != nil) }
    /// Whether all of them are.
    public var isComplete: Bool { file.state == .complete }

    /// Calls `wake` after each change of `written` or `outcome`, and when there is something `fresh`, until the id that
    /// is returned is given to `unsubscribe`.
    public func subscribe(_ wake: @escaping () -> Void) -> Int { file.subscribe(wake) }
    /// Ends what `subscribe` began.
    public func unsubscribe(_ id: Int) { file.unsubscribe(id) }

    // MARK: Asking

    /// Starts, or goes on where an earlier transfer ended.
    ///
    /// - Parameter location: the resource, at the URL that is known now.
    func start(_ urgency: Urgency, by location: Resource) {
        guard !isUnderWay else { return }
        outcome = nil
        isAnnounced = false
        file.reopen()
        self.urgency = urgency
        turn(to: location)
        alternates?.reset(location)
        ask()
    }

    /// Counts one more who wants the bytes. `release()` takes it back.
    func retain(_ urgency: Urgency) {
        approach = standing
        interest += 1
        if urgency == .playback {
            self.urgency = .playback
            transfer?.raise(to: .playback, insists: isInsisting)
            if isReadMeanwhile { transfer?.isReadMeanwhile = true }
            if silence == nil, !isAnnounced, isUnderWay { awaitBeginning() }
        }
        mergedFetch?.retained(self, urgency)
    }

    /// A player has come to wait for what was not waited for so far.
    private func awaitBeginning() {
        if isAnswered { expectBody() } else if transfer != nil, hasAlternate { watch() }
    }

    /// Counts one less. A transfer that nobody wants goes on if little is missing, since what is here is of use later;
    /// else it ends, and the bytes wait for the next who asks.
    ///
    /// - Parameter isInTheWay: whether the link is wanted for something else at once, however little is missing.
    public func release(isInTheWay: Bool = false) {
        interest -= 1
        guard interest == 0, outcome == nil else { return }
        mergedFetch?.released(self)
        guard let transfer, isInTheWay || !isNearlyDone else { return }
        abandon(transfer)
    }

    /// Keeps nothing: the asset was removed. Who reads reads on to the end.
    func forgo() {
        folder = nil
        guard interest == 0 else { return }
        mergedFetch?.released(self)
        transfer.map { abandon($0) }
    }

    private func abandon(_ transfer: Transfer) {
        transfer.cancel()
        endUnwanted()
    }

    /// Whether so little is missing that it is fetched to the end although nobody waits.
    var isNearlyDone: Bool {
        guard let length else { return false }
        // A reader that has all bytes leaves before the end of the transfer is heard of; others may still ask.
        guard folder != nil else { return length == reached }
        return length - reached <= max(Self.finishedAnyway, length / 2)
    }

    /// Where the bytes end that readers have had the chance to take.
    private var reached: Int64 { file.written + Int64(file.fresh?.count ?? 0) }

    /// So many bytes of what will be kept are fetched to the end although nobody waits for them.
    private static let finishedAnyway: Int64 = 8 << 20

    /// Calls back once it is clear what to answer: bytes are there, or all is over. At once if that is so already.
    public func whenAnnounced(_ body: @escaping (Result<Void, FetchError>) -> Void) {
        if let outcome { return body(outcome) }
        if isAnnounced { return body(.success(())) }
        announcement.append(body)
    }

    /// Calls back when all is over. At once if that is so already.
    public func whenEnded(_ body: @escaping (Result<Void, FetchError>) -> Void) {
        if let outcome { body(outcome) } else { endings.append(body) }
    }

    /// Calls back if the origin has brought everything some time before the end: another may be asked for meanwhile.
    public func whenArrived(_ body: @escaping () -> Void) {
        if outcome == nil { arrivals.append(body) }
    }

    // MARK: Ending

    /// Tells those who wait for it that there is something to answer, if only a head.
    public func announce() {
        guard !isAnnounced else { return }
        isAnnounced = true
        silence = nil
        let waiting = announcement
        announcement = []
        for body in waiting { body(.success(())) }
    }

    private func grew() {
        if file.state == .open { announce() }
    }

    /// All bytes are there, and the disk is still to take them.
    func arrive() {
        let waiting = arrivals
        arrivals = []
        for body in waiting { body() }
    }

    /// It is a piece now, or is none for this reason.
    func noteKept(_ failure: StoreError?) { if let failure { obstacle = failure } else { isPiece = true } }

    /// It is over because nobody waits.
    func endUnwanted() { end(.failure(FetchError(.cancelled, "\(resource.url.redacted) is not wanted any more"))) }

    /// It is over: tells everybody.
    func end(_ outcome: Result<Void, FetchError>) {
        transfer = nil
        silence = nil
        self.outcome = outcome
        switch outcome {
        case .success: file.finish()
        case .failure: file.fail()
        }
        let waiting = announcement + endings
        (announcement, endings, arrivals) = ([], [], [])
        ended(self)
        for body in waiting { body(outcome) }
    }
}
