import Origin

/// The progress of one fetch: its phase, its readers, and its reaction to a silent origin.
/// Pure: `Fetch` reports what happened and performs the returned actions in their order. Times are not kept here: one
/// timer runs in the shell, and reports when it fires.
struct FetchState {
    enum Phase: Equatable {
        /// No request is under way: the fetch is new, or the merged request has dropped it.
        case idle
        case requesting
        /// A request for several neighbours is under way and includes it.
        case merged
        case searching
        case committing
        /// It is over. A failed fetch may be started again.
        case ended(isSuccess: Bool)
    }

    enum Action: Equatable {
        case request
        case cancelRequest
        case raisePriority
        /// Restart the timer, of `GiveUpRule.originSilence`, for this step: `switchSource` or `sendHead`.
        case startTimer(GiveUpRule.Decision)
        case stopTimer
        case announce
        case search
        /// Give up this source: the origin is silent.
        case reportSilence
        /// End with the latest failure.
        case fail
        case endUnwanted
    }

    typealias Fallback = Fetch.Fallback

    /// True if the name stands for the same bytes for ever, so that an absent origin is waited for.
    let isLasting: Bool
    /// True if readers may have the bytes while they arrive. A key is useless before it is complete.
    let isStreamed: Bool
    private(set) var phase = Phase.idle
    private(set) var readers = 0
    /// The readers that are players.
    private var players = 0
    /// True if a player reads it.
    var hasPlayers: Bool { players > 0 }
    private(set) var urgency = Fetch.Urgency.background
    /// The least that any waiting reader can play instead.
    private(set) var fallback = Fallback.none
    /// True once waiting readers were notified that a reply can begin.
    private(set) var isAnnounced = false
    /// True once the present request has a head.
    private(set) var hasHead = false
    /// The decision for which the timer runs; nil while it does not.
    private(set) var awaited: GiveUpRule.Decision?

    init(isStreamed: Bool = true, isLasting: Bool = false) {
        self.isStreamed = isStreamed
        self.isLasting = isLasting
    }

    // MARK: Questions

    /// True while a request is under way, or its result is being processed.
    var isUnderWay: Bool {
        switch phase {
        case .requesting, .merged, .searching, .committing: true
        case .idle, .ended: false
        }
    }

    var hasEnded: Bool {
        guard case .ended = phase else { return false }
        return true
    }

    /// True if a player waits that has nothing else to play, so that an absent origin is waited for.
    func isInsisting(_ hasUntriedSource: Bool) -> Bool {
        !hasEnded && GiveUpRule.isInsisting(fetching(hasUntriedSource))
    }

    func fetching(_ hasUntriedSource: Bool) -> GiveUpRule.Fetching {
        GiveUpRule.Fetching(
            isPlayer: urgency == .playback, hasFallback: fallback != .none, hasUntriedSource: hasUntriedSource,
            isLasting: isLasting, isStreamed: isStreamed)
    }

    // MARK: Readers

    /// A reader with this fallback is about to join. The reader with the least decides.
    mutating func admit(_ fallback: Fallback) {
        self.fallback = isUnderWay && readers > 0 ? min(self.fallback, fallback) : fallback
    }

    mutating func join(_ urgency: Fetch.Urgency, hasUntriedSource: Bool) -> [Action] {
        readers += 1
        guard urgency == .playback else { return [] }
        players += 1
        self.urgency = .playback
        guard awaited == nil, !isAnnounced, isUnderWay else { return [.raisePriority] }
        guard hasHead || phase == .requesting else { return [.raisePriority] }
        return [.raisePriority] + startTimer(hasUntriedSource)
    }

    /// A reader leaves. True if no reader is left before the end.
    mutating func leave(_ urgency: Fetch.Urgency = .background) -> Bool {
        readers -= 1
        players = min(urgency == .playback ? players - 1 : players, readers)
        return readers == 0 && !hasEnded
    }

    /// True if the last player has left, and a download still waits: it is a download's fetch from now on.
    mutating func demote() -> Bool {
        guard urgency == .playback, readers > 0, players == 0, isUnderWay else { return false }
        urgency = .background
        return true
    }

    func abandon() -> [Action] { phase == .requesting ? [.cancelRequest, .endUnwanted] : [] }

    // MARK: Requests

    /// Starts, or continues where an earlier request ended. Only when nothing is under way.
    mutating func start(_ urgency: Fetch.Urgency, hasUntriedSource: Bool) -> [Action] {
        isAnnounced = false
        self.urgency = urgency
        return request(hasUntriedSource)
    }

    /// Asks for all of it again, to compare and to continue behind that.
    mutating func repeatRequest(hasUntriedSource: Bool) -> [Action] { request(hasUntriedSource) }
    mutating func merge() { phase = .merged }
    mutating func unmerge() {
        guard phase == .merged else { return }
        phase = .idle
    }

    /// The merged request does not deliver it: requests it alone, if a reader waits.
    mutating func continueAlone(hasUntriedSource: Bool) -> [Action] {
        guard phase == .idle else { return [] }
        let stop = stop()
        return stop + (readers > 0 ? request(hasUntriedSource) : [.endUnwanted])
    }

    private mutating func request(_ hasUntriedSource: Bool) -> [Action] {
        phase = .requesting
        hasHead = false
        return [.request] + startTimer(hasUntriedSource)
    }

    // MARK: Responses

    mutating func receiveHead(hasUntriedSource: Bool) -> [Action] {
        hasHead = true
        return stop() + startTimer(hasUntriedSource)
    }

    /// A reply can begin, with bytes or at least with a head.
    mutating func announce() -> [Action] {
        guard !isAnnounced else { return [] }
        isAnnounced = true
        return stop() + [.announce]
    }

    mutating func timerFired() -> [Action] {
        guard awaited.take() == .sendHead else { return [.cancelRequest, .reportSilence] }
        return announce()
    }

    /// The source has failed; `maySearch` if another one may have the bytes, and the present ones can be continued.
    mutating func fail(maySearch: Bool) -> [Action] {
        let stop = stop()
        hasHead = false
        guard maySearch, readers > 0 else { return stop + [.fail] }
        phase = .searching
        return stop + [.search]
    }

    /// The search has ended; `isFound` if there is another source.
    mutating func searched(isFound: Bool, hasUntriedSource: Bool) -> [Action] {
        isFound && readers > 0 ? request(hasUntriedSource) : [.fail]
    }

    mutating func commit() -> [Action] {
        phase = .committing
        return stop()
    }

    mutating func end(isSuccess: Bool) -> [Action] {
        phase = .ended(isSuccess: isSuccess)
        return stop()
    }

    // MARK: Timer

    private mutating func startTimer(_ hasUntriedSource: Bool) -> [Action] {
        let decision = GiveUpRule.decision(afterSilenceOf: fetching(hasUntriedSource), hasHead: hasHead)
        guard decision != .wait else { return [] }
        awaited = decision
        return [.startTimer(decision)]
    }

    private mutating func stop() -> [Action] {
        guard awaited.take() != nil else { return [] }
        return [.stopTimer]
    }
}
