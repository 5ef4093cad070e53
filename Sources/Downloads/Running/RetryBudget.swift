import Assets
import Orders
import Origin
import Store

/// The retry budget of a download: decides what happens after a failure.
///
/// Pure. An absent origin, a full disk and a refused key are awaited without limit, with pauses that double. Errors of
/// the origin are retried a few times, counted since the last piece that arrived. A refusal is retried once if anything
/// arrived since the last refusal, because signed URLs may be valid for only a few requests. What an origin rarely says
/// without meaning it (404, 403, a page of text) is asked for once more, and so is a host that is dead.
struct RetryBudget: Equatable, Sendable {
    /// The next state of a download whose work has ended.
    enum Verdict: Equatable {
        case complete
        /// The download retries after a pause.
        case wait(Need, JobFailure, pause: Duration)
        /// A retry after a pause, unless the origin has other content now.
        case lookAgain(JobFailure, pause: Duration)
        case fail(JobFailure)
    }

    private var failures = 0
    private var hasProgressed = false
    /// The pauses since the last piece in which a host had banned its client, and their sum.
    private var bans = 0
    private var banned = Duration.zero

    /// Records that a piece arrived, which resets the budget.
    mutating func recordProgress() {
        failures = 0
        hasProgressed = true
        bans = 0
        banned = .zero
    }

    /// - Parameter pauses: the first pause, and the longest.
    mutating func verdict(on outcome: DownloadOutcome, of name: String, pauses: ClosedRange<Duration>) -> Verdict {
        switch outcome {
        case .complete: return .complete
        case .banned(let error):
            let failure = JobFailure(code: .library(error.code), message: "\(error)")
            let wish = GiveUpRule.downloadPause(afterFailures: bans, pauses)
            let pause = min(wish, GiveUpRule.longestBan - banned)
            guard pause > .zero else { return .fail(failure) }
            bans += 1
            banned += pause
            return .wait(.network, failure, pause: pause)
        case .storeFailed(let error):
            let failure = JobFailure(code: .store(error.code), message: "\(name) is not completely stored: \(error)")
            switch error.code {
            case .diskFull: return wait(for: .space, failure, pauses: pauses)
            case .away: return wait(for: .volume, failure, pauses: pauses)
            default: return .fail(failure)
            }
        case .failed(let error, let isKey, let count):
            if let store = error.underlying as? StoreError, error.code == .store {
                return verdict(on: .storeFailed(store), of: name, pauses: pauses)
            }
            let message = Self.message(error, count: count, of: name)
            let failure = JobFailure(code: .library(error.code), message: message)
            let fault: GiveUpRule.DownloadFault =
                switch error.code {
                case .originAbsent, .notStored, .cancelled: .absent
                case .hostDead: .doubtful
                case .originRefused where !hasProgressed && failures == 0 && error.isDoubtful(isKey: isKey): .doubtful
                case .originRefused: isKey ? .refusedKey : .refused
                case .badOrigin where error.mayPass: .transient
                case .badOrigin where error.isDoubtful(isKey: isKey), .missing where error.isDoubtful(isKey: isKey):
                    .doubtful
                default: .permanent
                }
            let decision = GiveUpRule.decision(
                afterDownloadFault: fault, failures: failures, hasProgressed: hasProgressed, pauses: pauses)
            guard case .retry = decision else { return .fail(failure) }
            if fault == .refused {
                hasProgressed = false
            }
            if fault == .doubtful, case .wait(_, _, let pause) = wait(for: .network, failure, pauses: pauses) {
                return .lookAgain(failure, pause: pause)
            }
            var need = Need.network
            if fault == .refusedKey {
                need = .key
            }
            return wait(for: need, failure, pauses: pauses)
        }
    }

    private static func message(_ error: LibraryError, count: Int, of name: String) -> String {
        guard error.code == .hostDead else {
            guard count > 1 else { return "\(error)" }
            let others = count == 2 ? "so is 1 more" : "so are \(count - 1) more"
            return "\(error); \(others)"
        }
        let others =
            switch count {
            case ...1: ""
            case 2: "; 1 more piece is missing, too"
            default: "; \(count - 1) more pieces are missing, too"
            }
        return "\(name) is not complete: \(error)\(others)"
    }

    private mutating func wait(
        for need: Need, _ failure: JobFailure, pauses: ClosedRange<Duration>
    ) -> Verdict {
        let pause = GiveUpRule.downloadPause(afterFailures: failures, pauses)
        failures += 1
        return .wait(need, failure, pause: pause)
    }
}

extension LibraryError {
    /// True if the origin's error may be temporary.
    fileprivate var mayPass: Bool {
        switch originCode {
        case .connectionLost, .cutShort, .stalled, .timedOut, .serverFailure, .malformedReply, .local: true
        default: false
        }
    }

    /// True if it is the origin's answer for this resource alone, or something else instead of the resource.
    fileprivate func isDoubtful(isKey: Bool) -> Bool {
        switch originCode {
        case .notFound, .forbidden, .unexpectedStatus: true
        case nil: code == .badOrigin
        // A page instead of a key.
        case .tooLarge: isKey
        default: false
        }
    }

    private var originCode: OriginError.Code? { (underlying as? OriginError)?.code }
}
