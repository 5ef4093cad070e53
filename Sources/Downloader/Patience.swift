import Library
import Origin
import Store

/// How often a download has come to nothing, and what that means for it.
///
/// Pure. What may be over in a while is waited for: an absent origin, a full disk and a refused key for ever, with
/// pauses that double; an origin that answers with errors a few times, counted since the last piece that came; an origin
/// that refuses once more, if anything came since it last did: what its URLs are signed with may serve a few requests.
struct Patience: Equatable, Sendable {
    /// What becomes of a download whose work has ended.
    enum Verdict: Equatable {
        case complete
        /// It is tried again after a pause.
        case wait(Download.Need, Download.Failure, pause: Duration)
        case fail(Download.Failure)
    }

    /// So often an origin that answers with errors is tried again: each transfer has been tried again several times by
    /// then.
    static let attempts = 2

    private var failures = 0
    private var hasProgressed = false

    /// A piece came: what was wrong is over.
    mutating func noteProgress() { (failures, hasProgressed) = (0, true) }

    /// Judges an end.
    ///
    /// - Parameters:
    ///   - name: the asset's.
    ///   - pauses: the first pause, and the longest.
    mutating func verdict(
        on outcome: DownloadOutcome, of name: String, pauses: ClosedRange<Duration>
    ) -> Verdict {
        switch outcome {
        case .complete: return .complete
        case .storeFailed(let error):
            let failure = Download.Failure(
                code: error.code.rawValue, message: "\(name) is not wholly stored: \(error)")
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
            let failure = Download.Failure(code: error.code.rawValue, message: "\(error)\(others)")
            switch error.code {
            case .originAbsent, .notStored, .cancelled: return wait(.network, failure, pauses)
            case .originRefused where isKey: return wait(.key, failure, pauses)
            case .originRefused where hasProgressed:
                hasProgressed = false
                return wait(.network, failure, pauses)
            case .badOrigin where error.mayPass && failures < Self.attempts: return wait(.network, failure, pauses)
            default: return .fail(failure)
            }
        }
    }

    private mutating func wait(
        _ need: Download.Need, _ failure: Download.Failure, _ pauses: ClosedRange<Duration>
    ) -> Verdict {
        var pause = pauses.lowerBound
        for _ in 0..<min(failures, 30) where pause < pauses.upperBound { pause = min(pause * 2, pauses.upperBound) }
        failures += 1
        return .wait(need, failure, pause: pause)
    }
}

extension LibraryError {
    /// Whether an origin's error may be over in a while.
    fileprivate var mayPass: Bool {
        switch (underlying as? OriginError)?.code {
        case .connectionLost, .cutShort, .stalled, .timedOut, .serverFailure, .malformedReply, .local: true
        default: false
        }
    }
}
