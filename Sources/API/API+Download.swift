extension API {
    /// The state of a persisted download: `GET /api/v1/downloads/<id>`.
    public struct Download: Codable, Equatable, Sendable {
        /// The states of a download.
        public enum State: String, Codable, Sendable {
            /// Other downloads come first.
            case queued
            /// Resources are being fetched.
            case running
            /// Paused by a user until a user resumes it.
            case paused
            /// Waits for `need` (see `error`), and continues by itself.
            case waiting
            /// Failed for the reason in `error`; does not continue by itself. Stored pieces are kept.
            case failed
            /// Everything that was selected is stored.
            case complete
            /// Cancelled by a user. Stored pieces are kept.
            case cancelled

            /// True if the state changes only by a new request.
            public var isFinal: Bool { self == .failed || self == .complete || self == .cancelled }
        }

        /// A range of media time, `[start, end)` in seconds; in JSON an array of the two.
        public struct TimeRange: Codable, Equatable, Sendable {
            /// Start in seconds.
            public var start: Double
            /// End in seconds, exclusive.
            public var end: Double

            /// Creates a range, rounded to milliseconds.
            public init(start: Double, end: Double) {
                self.start = API.milliseconds(start)
                self.end = API.milliseconds(end)
            }

            /// Reads `[start, end]`.
            public init(from decoder: any Decoder) throws {
                var values = try decoder.unkeyedContainer()
                self.init(start: try values.decode(Double.self), end: try values.decode(Double.self))
            }

            /// Writes `[start, end]`.
            public func encode(to encoder: any Encoder) throws {
                var values = encoder.unkeyedContainer()
                try values.encode(start)
                try values.encode(end)
            }
        }

        /// The reason why a download failed or waits.
        public struct Failure: Codable, Equatable, Sendable {
            /// The kind, as in `Problem.code`.
            public var code: APIError.Code
            /// A sentence that names the asset and the cause.
            public var message: String

            /// Creates a failure.
            public init(code: APIError.Code, message: String) {
                self.code = code
                self.message = message
            }
        }

        /// The id of the download, which equals its asset's id: an asset has one download.
        public var id: String
        /// The name of the asset.
        public var asset: String
        /// The asset's title.
        public var title: String?
        /// State of the download.
        public var state: State
        /// The missing condition; absent unless the state is `waiting`.
        public var need: Need?
        /// Priority among downloads.
        public var priority: Priority
        /// The user's note.
        public var note: String?
        /// Kind of media being fetched (`video`, `audio`, `subtitles`), for display; absent if there is none.
        public var stage: String?
        /// Stored ranges of media time that are playable in all selected tracks, in order.
        public var loaded: [TimeRange]
        /// Selected ranges of media time, in order, rounded to whole segments. All of the media unless a range was
        /// requested; empty before a media playlist was read, and for a recording.
        public var expected: [TimeRange]
        /// True for a recording, whose final length is unknown; absent otherwise.
        public var isRecording: Bool?
        /// Progress from 0 to 1, by bytes: an estimate that never falls while the download runs, and is 1 only when
        /// everything is stored.
        public var fraction: Double
        /// Progress of each rendition.
        public var parts: [Part]
        /// The media's length in seconds; absent until a media playlist was read.
        public var duration: Double?
        /// Stored bytes of the selection.
        public var bytes: Int
        /// The expected size of the selection: an estimate until the download is complete.
        public var totalBytes: Int?
        /// Recent rate in bytes per second; absent unless `running`.
        public var rate: Int?
        /// Estimated seconds to the end; absent unless the state is `running`.
        public var eta: Int?
        /// The selected tracks: one or more variants with renditions. Empty before the playlists were read.
        public var selection: Tracks
        /// The tracks that are not selected, which a further download can add; only in responses for this one download,
        /// not in lists and events.
        public var unselected: Tracks?
        /// Reason for `failed` or `waiting`.
        public var error: Failure?

        /// Creates a queued download.
        public init(id: String, asset: String, title: String? = nil) {
            self.id = id
            self.asset = asset
            self.title = title
            state = .queued
            priority = .default
            (loaded, expected, parts) = ([], [], [])
            fraction = 0
            bytes = 0
            selection = Tracks()
        }

        /// Stored seconds of media.
        public var loadedDuration: Double { Self.duration(of: loaded) }

        /// Selected seconds of media; absent as long as `duration` is.
        public var expectedDuration: Double? { expected.isEmpty ? duration : Self.duration(of: expected) }

        /// Stored share of the selected media time, from 0 to 1; absent as long as `duration` is.
        ///
        /// A complete download is 1: its tracks may end a little before the longest one does.
        public var loadedFraction: Double? {
            guard state != .complete else { return 1 }
            guard let wanted = expectedDuration, wanted > 0 else { return nil }
            return min(1, loadedDuration / wanted)
        }

        private static func duration(of ranges: [TimeRange]) -> Double {
            ranges.reduce(0) { $0 + max(0, $1.end - $1.start) }
        }
    }
}

extension API.Download {
    /// The conditions that a download can wait for.
    public enum Need: String, Codable, Sendable {
        /// An origin that is reachable and answers.
        case network
        /// Free space on the disk.
        case space
        /// A key that the origin refuses to send.
        case key
        /// The disk that holds the asset.
        case disk
    }

    /// The order of downloads.
    public enum Priority: String, Codable, Sendable, CaseIterable {
        /// In the order of the requests.
        case `default`
        /// Before all `default` downloads.
        case important
    }

    /// Progress of a rendition of a download.
    public struct Part: Codable, Equatable, Sendable {
        /// The rendition's id in the store.
        public var id: String
        /// `video`, `audio` or `subtitles`. A variant's own rendition is `video`, even if it has audio only.
        public var kind: String
        /// Stored ranges of the selected media time, in order. A gap of the origin (EXT-X-GAP) counts as stored.
        public var loaded: [TimeRange]
        /// Selected ranges of media time, in order.
        public var expected: [TimeRange]
        /// Stored bytes.
        public var bytes: Int
        /// Expected bytes: an estimate until the rendition is complete.
        public var totalBytes: Int
        /// Progress from 0 to 1, by bytes: an estimate, and 1 only when everything is stored.
        public var fraction: Double
        /// Weight for readers who add up selections instead of bytes; the weights sum to 1. The ratio is 70 for video,
        /// 20 for audio and 10 for subtitles, spread evenly over the renditions of a kind.
        public var weight: Double
        /// True if every selected segment is stored.
        public var isComplete: Bool

        /// Creates a rendition of which nothing is stored.
        public init(id: String, kind: String) {
            self.id = id
            self.kind = kind
            (loaded, expected) = ([], [])
            (bytes, totalBytes) = (0, 0)
            (fraction, weight) = (0, 0)
            isComplete = false
        }
    }
}

extension API {
    /// The response of `GET /api/v1/downloads`.
    public struct DownloadList: Codable, Equatable, Sendable {
        /// The downloads in the order of the requests. For complete downloads, `loaded`, `expected`, `parts` and
        /// `selection` are empty, and `bytes` is the asset's stored size; `GET /api/v1/downloads/<id>` returns all
        /// details.
        public var downloads: [Download]
        /// Creates a list.
        public init(downloads: [Download]) { self.downloads = downloads }
    }
}
