public import EventLoop
public import Integrity
public import Library
import Store

/// One verification of an asset, with its result and the repair of the damage.
@LoopActor public final class VerificationJob {
    /// Reads and checks the pieces.
    public let verification: Verification
    /// True if missing pieces are fetched.
    public let isRepair: Bool
    /// Current state.
    public internal(set) var state = JobState.running
    /// The error that ended the job early.
    public internal(set) var failure: Download.Failure?
    /// Number of missing or damaged pieces before the repair; 0 until all pieces were read.
    public internal(set) var found = 0

    private let integrity: Integrity
    /// True if the scrubber started the job, not a user.
    let isScrub: Bool
    /// Ends the wait for a download.
    var stopWaiting: (() -> Void)?

    init(_ verification: Verification, in integrity: Integrity, isRepair: Bool, isScrub: Bool) {
        (self.verification, self.integrity, self.isRepair, self.isScrub) = (verification, integrity, isRepair, isScrub)
    }

    /// Current result.
    public var report: VerificationReport { integrity.report(on: verification) }

    /// The asset that is verified.
    public var asset: Asset { verification.asset }
}

extension Download.Failure {
    /// Uses the store's own code if the error comes from the store.
    init(_ error: LibraryError) {
        let code = error.code == .store ? (error.underlying as? StoreError)?.code.rawValue : nil
        self.init(code: code ?? error.code.rawValue, message: error.message)
    }
}
