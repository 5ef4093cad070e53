package import Orders

extension API {
    /// Background work on an asset, at most one of each kind at a time: `/api/v1/assets/<name>/<kind>`.
    /// `POST` starts a job or attaches to the running one, `GET` returns the last job's state, `DELETE` cancels.
    package protocol Job: Codable, Equatable, Sendable {
        /// Body of `POST`.
        associatedtype Request: Codable, Sendable
        static var kind: JobKind { get }
        /// The request of a `POST` without a body; nil if a body is required.
        static var requestWithoutBody: Request? { get }

        var asset: String { get }
        /// Absent if there was no job since the start of the daemon.
        var state: JobState? { get }
        var bytes: Int { get }
        var totalBytes: Int { get }
    }

    /// The kinds of jobs. The raw values are the last path components of the routes, and keys in JSON.
    package enum JobKind: String, CaseIterable, Sendable {
        case verification
        /// Publishes complete renditions, so that they play without Weir.
        case publication
        case move
    }

    /// The state of a verification of an asset.
    package struct Verification: Job {
        package typealias Request = VerificationRequest
        package static var kind: JobKind { .verification }
        package static var requestWithoutBody: VerificationRequest? { .init() }

        /// Consecutive missing pieces.
        package struct Hole: Codable, Equatable, Sendable {
            /// The range of media time; absent for keys and initialization sections.
            package var time: Download.TimeRange?
            package var first: String
            package var last: String
            package var count: Int
            package var isSelected: Bool
            package init(time: Download.TimeRange?, first: String, last: String, count: Int, isSelected: Bool) {
                self.time = time
                self.first = first
                self.last = last
                self.count = count
                self.isSelected = isSelected
            }
        }

        /// A damaged piece.
        package struct Mismatch: Codable, Equatable, Sendable {
            package var file: String
            /// The range of media time; absent if it is not known, and for keys and initialization sections.
            package var time: Download.TimeRange?
            /// `length`, `bytes` (its SHA-256 differs), or `unreadable` (the disk reports an error).
            package var fault: String
            package var isRepaired: Bool
            package init(file: String, time: Download.TimeRange?, fault: String, isRepaired: Bool) {
                self.file = file
                self.time = time
                self.fault = fault
                self.isRepaired = isRepaired
            }
        }

        /// A rendition, or the asset's keys or session data.
        package struct Part: Codable, Equatable, Sendable {
            package var id: String
            package var pieces: Int
            package var bytes: Int
            package var loaded: [Download.TimeRange]
            /// Missing pieces, without the damaged ones.
            package var holes: [Hole] = []
            package var mismatches: [Mismatch] = []
            /// Number of missing pieces that a download has selected, plus damaged pieces that were not repaired.
            package var remaining = 0
            package init(id: String, pieces: Int, bytes: Int, loaded: [Download.TimeRange]) {
                self.id = id
                self.pieces = pieces
                self.bytes = bytes
                self.loaded = loaded
            }
        }

        package var asset: String
        package var state: JobState?
        package var isRepair = false
        /// True while it fetches missing and damaged pieces again; absent otherwise.
        package var isRepairing: Bool?
        package var bytes = 0
        package var totalBytes = 0
        /// Number of missing or damaged pieces when everything had been read.
        package var found = 0
        package var remaining = 0
        /// Time of the last complete verification, in seconds since 1970; absent if there was none.
        package var verified: Int?
        /// The findings; absent before everything was read.
        package var parts: [Part]?
        package var error: Download.Failure?
        package init(asset: String, state: JobState?) {
            self.asset = asset
            self.state = state
        }
    }

    /// The body of `POST /api/v1/assets/<name>/verification`. Optional.
    package struct VerificationRequest: Codable, Equatable, Sendable {
        /// True to fetch missing pieces that a download has selected, and damaged pieces.
        package var repair: Bool?
        package init(repair: Bool? = nil) { self.repair = repair }
    }

    /// The state of a publication of an asset.
    package struct Publication: Job {
        package typealias Request = PublicationRequest
        package static var kind: JobKind { .publication }

        package var asset: String
        /// State of the publication; published files stay, however it ends.
        package var state: JobState?
        package var target: String?
        package var totalFiles = 0
        package var totalBytes = 0
        package var files = 0
        package var bytes = 0
        /// Number of files that were sent because the target lacked them.
        package var sentFiles = 0
        package var sentBytes = 0
        /// Number of deleted files of an earlier publication that are not part of this one.
        package var deletedFiles = 0
        package var error: Problem?
        package init(asset: String, state: JobState?) {
            self.asset = asset
            self.state = state
        }
    }

    /// Body of `POST /api/v1/assets/<name>/publication`. The daemon keeps the client's keys in memory until the
    /// publication has ended; they are in no response and no log.
    package struct PublicationRequest: Codable, Equatable, Sendable {
        /// Keys for an object store.
        package struct Keys: Codable, Equatable, Sendable {
            package var accessKey: String
            package var secretKey: String
            package var sessionToken: String?
            package init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
                self.accessKey = accessKey
                self.secretKey = secretKey
                self.sessionToken = sessionToken
            }
        }

        /// `s3://BUCKET/PREFIX`, `rsync://HOST/MODULE/PATH`, `HOST:PATH`, or an absolute folder path of the daemon.
        package var target: String
        /// The URL of an object store other than AWS.
        package var endpoint: String?
        /// The region of the bucket; if absent, us-east-1.
        package var region: String?
        package var keys: Keys?
        package init(target: String, endpoint: String? = nil, region: String? = nil, keys: Keys? = nil) {
            self.target = target
            self.endpoint = endpoint
            self.region = region
            self.keys = keys
        }
    }

    /// The state of a move of an asset to another volume.
    package struct Move: Job {
        package typealias Request = MoveRequest
        package static var kind: JobKind { .move }

        package var asset: String
        /// State of the move; unless it is `done`, the asset is still in its former folder.
        package var state: JobState?
        /// The target folder; absent for the store's own.
        package var path: String?
        package var bytes = 0
        package var totalBytes = 0
        /// Number of damaged pieces, which were not moved; absent if there are none.
        package var damagedPieces: Int?
        package var error: Download.Failure?
        package init(asset: String, state: JobState?) {
            self.asset = asset
            self.state = state
        }
    }

    /// Body of `POST /api/v1/assets/<name>/move`.
    package struct MoveRequest: Codable, Equatable, Sendable {
        /// The absolute path of a folder on the daemon's disk, created if necessary; absent for the store's own folder.
        package var path: String?
        package init(path: String? = nil) { self.path = path }
    }

    /// The volume of an asset that was moved to another disk.
    package struct Volume: Codable, Equatable, Sendable {
        package var path: String
        package var isPresent: Bool
        package init(path: String, isPresent: Bool) {
            self.path = path
            self.isPresent = isPresent
        }
    }

    /// The body of `POST /api/v1/assets/<name>/export`, which answers at the end.
    package struct ExportRequest: Codable, Equatable, Sendable {
        /// Target path on the daemon's disk: absolute, and not yet existing.
        package var path: String
        /// The format; if absent, the path's ending decides: `.tar`, `.mp4`, `.mkv`, `.ts`, or else a folder.
        package var format: ExportFormat?
        /// True for a file for each part between two changes of the media, where one file cannot hold them.
        package var split: Bool?
        package init(path: String, format: ExportFormat? = nil, split: Bool? = nil) {
            self.path = path
            self.format = format
            self.split = split
        }
    }

    package struct Export: Codable, Equatable, Sendable {
        package var name: String
        package var path: String
        package var format: ExportFormat
        /// The bytes of exported media.
        package var bytes: Int
        /// The written files; absent if it is one, at `path`.
        package var paths: [String]?
        /// Stored content that is not in it; absent for none.
        package var shortfalls: [Shortfall]?
        /// True if a file for each part would hold more; absent otherwise.
        package var isSplittable: Bool?
        package init(name: String, path: String, format: ExportFormat, bytes: Int) {
            self.name = name
            self.path = path
            self.format = format
            self.bytes = bytes
        }
    }

    /// The body of `POST /api/v1/assets`, which imports a folder on the daemon's disk and answers at the end.
    package struct ImportRequest: Codable, Equatable, Sendable {
        /// The absolute path of the folder, or of the playlist in it to start from.
        package var path: String
        /// Name of the asset; if absent, the folder's name, or one derived from the path.
        package var name: String?
        package init(path: String, name: String? = nil) {
            self.path = path
            self.name = name
        }
    }
}

extension API.Job {
    /// By default, nil: a body is required.
    package static var requestWithoutBody: Request? { nil }

    /// True if the job has ended, with or without a result.
    package var isOver: Bool { state?.isFinal ?? true }

    /// True if the job ended without a result: a user cancelled it, or the daemon was restarted.
    package var isAborted: Bool { state == .cancelled || state == nil }
}
