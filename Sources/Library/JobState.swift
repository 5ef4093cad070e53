/// The state of a longer job on an asset: a verification, a publication, a move.
public enum JobState: Sendable {
    /// The job runs.
    case running
    /// The job fetches the resources that a verification found missing.
    case repairing
    /// The job has finished.
    case done
    /// The job was cancelled.
    case cancelled
    /// The job failed, and has an error message.
    case failed

    /// True if the state cannot change any more.
    public var isFinal: Bool { self != .running && self != .repairing }
}
