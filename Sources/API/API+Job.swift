extension API {
    /// Background work on an asset, one job of a kind at a time for each asset.
    ///
    /// `POST /api/v1/assets/<name>/<kind>` begins it, or attaches to what is under way, and answers with 202; `GET` tells how
    /// the last one stands, and `DELETE` gives it up and tells that too.
    public protocol Job: Codable, Equatable, Sendable {
        /// Body of `POST`.
        associatedtype Request: Codable, Sendable

        /// Kind of the job.
        static var kind: JobKind { get }

        /// The request that `POST` without a body stands for; nil if a body is required.
        static var requestWithoutBody: Request? { get }

        /// The asset's name.
        var asset: String { get }
        /// State of the job.
        var state: JobState { get }
        /// The bytes that are done with.
        var bytes: Int { get }
        /// The bytes that there are to do; 0 before that is known.
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

    /// The kinds of jobs. The raw values are the last words of their routes, and what they are called in JSON.
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
    /// None.
    public static var requestWithoutBody: Request? { nil }

    /// True if the job ended without a result: a user cancelled it, or the daemon was restarted.
    public var isGivenUp: Bool { state == .cancelled || state == .none }
}
