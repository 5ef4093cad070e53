import Library
import Origin
import Store

/// The retry budget of a download: decides what happens after a failure.
///
/// Pure. An absent origin, a full disk and a refused key are awaited without limit, with pauses that double. Errors of
/// the origin are retried a few times, counted since the last piece that arrived. A refusal is retried once if anything
/// arrived since the last refusal, because signed URLs may be valid for only a few requests.
struct RetryBudget: Equatable, Sendable {
    /// The next state of a download whose work has ended.
    enum Verdict: Equatable {
        case complete
        /// The download retries after a pause.
        case wait(Download.Need, JobFailure, pause: Duration)
        case fail(JobFailure)
    }

    private var failures = 0
    private var hasProgressed = false

    /// Records that a piece arrived, which resets the budget.
    mutating func recordProgress() { (failures, hasProgressed) = (0, true) }

    /// - Parameter pauses: the first pause, and the longest.
    mutating func verdict(on outcome: DownloadOutcome, of name: String, pauses: ClosedRange<Duration>) -> Verdict {
        switch outcome {
        case .complete: return .complete
        case .storeFailed(let error):
            let failure = JobFailure(code: error.code.rawValue, message: "\(name) is not completely stored: \(error)")
            switch error.code {
            case .diskFull: return wait(.space, failure, pauses)
            case .away: return wait(.disk, failure, pauses)
            default: return .fail(failure)
            }
        case .failed(let error, let isKey, let count):
            if let store = error.underlying as? StoreError, error.code == .store {
                return verdict(on: .storeFailed(store), of: name, pauses: pauses)
            }
            let others = count > 1 ? "; so are \(count - 1) more" : ""
            let failure = JobFailure(code: error.code.rawValue, message: "\(error)\(others)")
            let fault: GiveUpRule.DownloadFault =
                switch error.code {
                case .originAbsent, .notStored, .cancelled: .absent
                case .originRefused: isKey ? .refusedKey : .refused
                case .badOrigin where error.mayPass: .transient
                default: .permanent
                }
            let decision = GiveUpRule.decision(
                afterDownloadFault: fault, failures: failures, hasProgressed: hasProgressed, pauses: pauses)
            guard case .retry = decision else { return .fail(failure) }
            if fault == .refused { hasProgressed = false }
            return wait(fault == .refusedKey ? .key : .network, failure, pauses)
        }
    }

    private mutating func wait(
        _ need: Download.Need, _ failure: JobFailure, _ pauses: ClosedRange<Duration>
    ) -> Verdict {
        let pause = GiveUpRule.downloadPause(afterFailures: failures, pauses)
        failures += 1
        return .wait(need, failure, pause: pause)
    }
}

extension LibraryError {
    /// True if the origin's error may be temporary.
    fileprivate var mayPass: Bool {
        switch (underlying as? OriginError)?.code {
        case .connectionLost, .cutShort, .stalled, .timedOut, .serverFailure, .malformedReply, .local: true
        default: false
        }
    }
}
