extension API {
    /// Work on an asset that goes on in the daemon, one of its kind at a time for each asset.
    ///
    /// `POST /api/v1/assets/<name>/<kind>` begins it, or attaches to what is under way, and answers with 202; `GET` tells how
    /// the last one stands, and `DELETE` gives it up and tells that too.
    public protocol Job: Codable, Equatable, Sendable {
        /// What `POST` takes.
        associatedtype Request: Codable, Sendable

        /// What it is.
        static var kind: JobKind { get }

        /// What `POST` without a body asks for; nil where there has to be one.
        static var requestWithoutBody: Request? { get }

        /// The asset's name.
        var asset: String { get }
        /// Where it is.
        var state: JobState { get }
        /// The bytes that are done with.
        var bytes: Int { get }
        /// The bytes that there are to do; 0 before that is known.
        var totalBytes: Int { get }
    }

    /// Where a job is.
    public enum JobState: String, Codable, Sendable {
        /// There is none since the daemon was started.
        case none
        /// It goes on.
        case running
        /// What a verification has found missing is fetched.
        case repairing
        /// It has come to its end.
        case done
        /// Someone gave it up.
        case cancelled
        /// Something kept it from its end: see `error`.
        case failed

        /// Whether nothing more happens.
        public var isFinal: Bool { self != .running && self != .repairing }
    }

    /// The kinds of jobs. The raw values are the last words of their routes, and what they are called in JSON.
    public enum JobKind: String, CaseIterable, Sendable {
        /// What is stored is read, and is told from what had come.
        case verification
        /// What is whole is put where it plays with no Weir.
        case publication
        /// The asset goes to another disk.
        case move
    }
}

extension API.Job {
    /// None.
    public static var requestWithoutBody: Request? { nil }

    /// Whether it has not come to an end of its own, good or bad: somebody gave it up, or the daemon was started anew.
    public var isGivenUp: Bool { state == .cancelled || state == .none }
}
