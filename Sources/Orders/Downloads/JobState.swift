/// State of a download, or of another job on an asset. The raw values are in the catalogue and in the API, and never change.
///
/// Only downloads are queued, paused or waiting.
public enum JobState: String, Codable, CaseIterable, Sendable {
    /// Waiting for its turn.
    case queued
    /// In progress.
    case running
    /// Stopped by the user until the user resumes it.
    case paused
    /// Waiting for a condition; it continues by itself.
    case waiting
    /// Stopped by an error; it does not continue by itself. Stored pieces are kept.
    case failed
    /// Done.
    case complete
    /// Cancelled.
    case cancelled

    /// True if the job continues, now or later, without the user's action.
    public var isActive: Bool { self == .queued || self == .running || self == .waiting }
    /// True if the job has ended: its state changes only by a new request.
    public var isFinal: Bool { self == .failed || self == .complete || self == .cancelled }
}
