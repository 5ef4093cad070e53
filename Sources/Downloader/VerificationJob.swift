public import EventLoop
public import Integrity
public import Library
import Store

/// One verification of an asset: what becomes of it, and of what it has found.
@LoopActor public final class VerificationJob {
    /// The reading.
    public let verification: Verification
    /// Whether what is missing is to be fetched.
    public let isRepair: Bool
    /// Where it is.
    public internal(set) var state = JobState.running
    /// What kept it from its end.
    public internal(set) var failure: Download.Failure?
    /// How many pieces a download lacked, or were wrong, before any was fetched; 0 before all were read.
    public internal(set) var found = 0

    private let integrity: Integrity
    /// Whether nobody has asked for it.
    let isScrub: Bool
    /// Ends the waiting for a download.
    var stopWaiting: (() -> Void)?

    init(_ verification: Verification, in integrity: Integrity, isRepair: Bool, isScrub: Bool) {
        (self.verification, self.integrity, self.isRepair, self.isScrub) = (verification, integrity, isRepair, isScrub)
    }

    /// What was found, as it stands now.
    public var report: VerificationReport { integrity.report(on: verification) }

    /// What it is about.
    public var asset: Asset { verification.asset }
}

extension Download.Failure {
    /// The library's error, as downloads keep it.
    init(_ error: LibraryError) {
        let code = error.code == .store ? (error.underlying as? StoreError)?.code.rawValue : nil
        self.init(code: code ?? error.code.rawValue, message: error.message)
    }
}
