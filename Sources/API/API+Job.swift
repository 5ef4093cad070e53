extension API {
    /// Background work on an asset. An asset has at most one job of each kind at a time.
    ///
    /// `POST /api/v1/assets/<name>/<kind>` starts a job or attaches to the running one, and answers 202. `GET` returns
    /// the state of the last job. `DELETE` cancels the job and returns its state.
    public protocol Job: Codable, Equatable, Sendable {
        /// Body of `POST`.
        associatedtype Request: Codable, Sendable

        /// Kind of the job.
        static var kind: JobKind { get }

        /// The request of a `POST` without a body; nil if a body is required.
        static var requestWithoutBody: Request? { get }

        /// The asset's name.
        var asset: String { get }
        /// State of the job.
        var state: JobState { get }
        /// Processed bytes.
        var bytes: Int { get }
        /// Total bytes; 0 until they are known.
        var totalBytes: Int { get }
    }

    /// The states of a job.
    public enum JobState: String, Codable, Sendable {
        /// No job since the daemon was started.
        case none
        /// In progress.
        case running
        /// A verification is fetching missing and damaged pieces.
        case repairing
        /// Finished.
        case done
        /// Cancelled by a user.
        case cancelled
        /// Ended by the error in `error`.
        case failed

        /// True if the job has ended.
        public var isFinal: Bool { self != .running && self != .repairing }
    }

    /// The kinds of jobs. The raw values are the last path components of the routes, and keys in JSON.
    public enum JobKind: String, CaseIterable, Sendable {
        /// Checks stored files for damage.
        case verification
        /// Publishes complete renditions to a place where they play without Weir.
        case publication
        /// Moves the asset to another volume.
        case move
    }
}

extension API.Job {
    /// By default, nil: a body is required.
    public static var requestWithoutBody: Request? { nil }

    /// True if the job ended without a result: a user cancelled it, or the daemon was restarted.
    public var isGivenUp: Bool { state == .cancelled || state == .none }
}
