import Origin
import Testing

@testable import Fetching

/// Scripts of events, with the actions that each one must cause.
@Suite struct FetchStateTests {
    private enum Event {
        case admit(Fetch.Fallback)
        case join(Fetch.Urgency)
        case leave(isNearlyDone: Bool)
        case start(Fetch.Urgency)
        case merge, unmerge, continueAlone
        case head, announce
        case timer(GiveUpRule.Decision)
        case fail(maySearch: Bool)
        case searched(isFound: Bool)
        case commit, end
    }

    private struct Step {
        let event: Event
        let actions: [FetchState.Action]
        init(_ event: Event, _ actions: FetchState.Action...) { (self.event, self.actions) = (event, actions) }
    }

    private func apply(_ event: Event, to state: inout FetchState, hasUntriedSource: Bool) -> [FetchState.Action] {
        switch event {
        case .admit(let fallback):
            state.admit(fallback)
            return []
        case .join(let urgency): return state.join(urgency, hasUntriedSource: hasUntriedSource)
        case .leave(let isNearlyDone): return state.leave() && !isNearlyDone ? state.abandon() : []
        case .start(let urgency): return state.start(urgency, hasUntriedSource: hasUntriedSource)
        case .merge:
            state.merge()
            return []
        case .unmerge:
            state.unmerge()
            return []
        case .continueAlone: return state.continueAlone(hasUntriedSource: hasUntriedSource)
        case .head: return state.receiveHead(hasUntriedSource: hasUntriedSource)
        case .announce: return state.announce()
        case .timer(let decision):
            #expect(state.awaited == decision)
            return state.timerFired()
        case .fail(let maySearch): return state.fail(maySearch: maySearch)
        case .searched(let isFound): return state.searched(isFound: isFound, hasUntriedSource: hasUntriedSource)
        case .commit: return state.commit()
        case .end: return state.end(isSuccess: true)
        }
    }

    private func expect(
        _ steps: [Step], isStreamed: Bool = true, hasUntriedSource: Bool = false, endsIn phase: FetchState.Phase,
        at location: SourceLocation = #_sourceLocation
    ) {
        var state = FetchState(isStreamed: isStreamed, isLasting: true)
        for (number, step) in steps.enumerated() {
            let actions = apply(step.event, to: &state, hasUntriedSource: hasUntriedSource)
            #expect(actions == step.actions, "step \(number)", sourceLocation: location)
        }
        #expect(state.phase == phase, sourceLocation: location)
    }

    @Test func givesAPlayerItsHeadWhenTheBodyIsSilent() {
        expect(
            [
                Step(.join(.playback), .raisePriority), Step(.start(.playback), .request),
                Step(.head, .startTimer(.sendHead)), Step(.timer(.sendHead), .announce), Step(.announce),
                Step(.commit), Step(.end),
            ], endsIn: .ended(isSuccess: true))
    }

    @Test func stopsTheTimerAtTheFirstByte() {
        expect(
            [
                Step(.join(.playback), .raisePriority), Step(.start(.playback), .request),
                Step(.head, .startTimer(.sendHead)), Step(.announce, .stopTimer, .announce), Step(.commit),
            ], endsIn: .committing)
    }

    @Test func announcesAKeyOnlyAtItsEnd() {
        expect(
            [Step(.join(.playback), .raisePriority), Step(.start(.playback), .request), Step(.head), Step(.commit)],
            isStreamed: false, endsIn: .committing)
    }

    @Test func leavesASilentSourceWhenThereIsAnother() {
        expect(
            [
                Step(.join(.playback), .raisePriority), Step(.start(.playback), .request, .startTimer(.switchSource)),
                Step(.timer(.switchSource), .cancelRequest, .reportSilence), Step(.fail(maySearch: true), .search),
                Step(.searched(isFound: true), .request, .startTimer(.switchSource)),
                Step(.head, .stopTimer, .startTimer(.sendHead)), Step(.end, .stopTimer),
            ], hasUntriedSource: true, endsIn: .ended(isSuccess: true))
    }

    @Test func waitsForASilentSourceWhenThereIsNoOther() {
        expect(
            [Step(.join(.playback), .raisePriority), Step(.start(.playback), .request)], endsIn: .requesting)
    }

    @Test func doesNotSendAHeadToAPlayerWithAFallback() {
        expect(
            [
                Step(.admit(.untilComplete)), Step(.join(.playback), .raisePriority),
                Step(.start(.playback), .request, .startTimer(.switchSource)), Step(.head, .stopTimer),
            ], endsIn: .requesting)
    }

    @Test func watchesTheSourceWhenAPlayerJoinsADownload() {
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request), Step(.admit(.untilBegun)),
                Step(.join(.playback), .raisePriority),
            ], endsIn: .requesting)
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request), Step(.leave(isNearlyDone: true)),
                Step(.admit(.untilBegun)), Step(.join(.playback), .raisePriority, .startTimer(.switchSource)),
            ], endsIn: .requesting)
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request), Step(.head),
                Step(.join(.playback), .raisePriority, .startTimer(.sendHead)),
            ], endsIn: .requesting)
    }

    @Test func endsWithoutReaders() {
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request),
                Step(.leave(isNearlyDone: false), .cancelRequest, .endUnwanted),
            ], endsIn: .requesting)
        expect(
            [Step(.join(.background)), Step(.start(.background), .request), Step(.leave(isNearlyDone: true))],
            endsIn: .requesting)
    }

    @Test func isADownloadsFetchOnceItsPlayersHaveLeft() {
        var state = FetchState(isLasting: true)
        _ = state.join(.background, hasUntriedSource: false)
        _ = state.start(.background, hasUntriedSource: false)
        for _ in 0..<2 {
            _ = state.join(.playback, hasUntriedSource: false)
        }
        let left = state.leave(.playback)
        #expect(!left && !state.demote() && state.urgency == .playback)
        let leftAgain = state.leave(.playback)
        #expect(!leftAgain && state.demote() && state.urgency == .background)
        let ended = state.leave(.background)
        #expect(ended && !state.demote())
    }

    @Test func failsWithoutReadersOrSources() {
        expect(
            [Step(.join(.background)), Step(.start(.background), .request), Step(.fail(maySearch: false), .fail)],
            endsIn: .requesting)
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request), Step(.leave(isNearlyDone: true)),
                Step(.fail(maySearch: true), .fail),
            ], endsIn: .requesting)
        expect(
            [
                Step(.join(.background)), Step(.start(.background), .request), Step(.fail(maySearch: true), .search),
                Step(.leave(isNearlyDone: false)), Step(.searched(isFound: true), .fail),
            ], endsIn: .searching)
    }

    @Test func goesOnAloneWhenTheMergedRequestDropsIt() {
        expect(
            [
                Step(.join(.background)), Step(.merge), Step(.head), Step(.continueAlone), Step(.unmerge),
                Step(.continueAlone, .request),
            ], endsIn: .requesting)
        expect(
            [
                Step(.join(.background)), Step(.merge), Step(.leave(isNearlyDone: false)), Step(.unmerge),
                Step(.continueAlone, .endUnwanted),
            ], endsIn: .idle)
    }

    @Test(arguments: [
        (Fetch.Fallback.none, false, true), (.none, true, false), (.untilBegun, false, false),
        (.untilComplete, false, false),
    ])
    func insistsForPlayersWithNothingElseToPlay(fallback: Fetch.Fallback, hasUntriedSource: Bool, ignoresAbsence: Bool)
    {
        var state = FetchState(isLasting: true)
        state.admit(fallback)
        _ = state.join(.playback, hasUntriedSource: hasUntriedSource)
        _ = state.start(.playback, hasUntriedSource: hasUntriedSource)
        #expect(state.isInsisting(hasUntriedSource) == ignoresAbsence)
        _ = state.end(isSuccess: false)
        #expect(!state.isInsisting(hasUntriedSource))
    }

    @Test func neverInsistsOnLiveSegments() {
        var state = FetchState(isLasting: false)
        _ = state.join(.playback, hasUntriedSource: false)
        _ = state.start(.playback, hasUntriedSource: false)
        #expect(!state.isInsisting(false))
    }

    @Test func theReaderWithTheLeastFallbackDecides() {
        var state = FetchState()
        state.admit(.untilComplete)
        _ = state.join(.playback, hasUntriedSource: false)
        _ = state.start(.playback, hasUntriedSource: false)
        state.admit(.untilBegun)
        #expect(state.fallback == .untilBegun)
        state.admit(.untilComplete)
        #expect(state.fallback == .untilBegun)
    }
}
