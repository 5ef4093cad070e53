extension API {
    /// A persisted download as it stands: `GET /api/v1/downloads/<id>`.
    public struct Download: Codable, Equatable, Sendable {
        /// Where a download is in its life.
        public enum State: String, Codable, Sendable {
            /// Others come first.
            case queued
            /// Bytes come, or are asked for.
            case running
            /// Someone stopped it, and it goes on when someone lets it.
            case paused
            /// It lacks something (see `error`), and goes on by itself.
            case waiting
            /// It cannot go on by itself: see `error`. What is stored is kept.
            case failed
            /// Everything that was selected is stored.
            case complete
            /// Someone cancelled it. What is stored is kept.
            case cancelled

            /// Whether nothing more happens unless someone asks for it.
            public var isFinal: Bool { self == .failed || self == .complete || self == .cancelled }
        }

        /// A stretch of media time, `[start, end)` in seconds; in JSON an array of the two.
        public struct TimeRange: Codable, Equatable, Sendable {
            /// The first instant.
            public var start: Double
            /// The instant behind the last.
            public var end: Double

            /// A stretch, to the millisecond.
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

        /// Why a download failed, or what it waits for.
        public struct Failure: Codable, Equatable, Sendable {
            /// The kind, as in `Problem.code`.
            public var code: ControlError.Code
            /// A sentence that names the asset and the cause.
            public var message: String

            /// A failure.
            public init(code: ControlError.Code, message: String) {
                self.code = code
                self.message = message
            }
        }

        /// The identity of the download.
        public var id: String
        /// The name of its asset.
        public var asset: String
        /// The asset's title.
        public var title: String?
        /// Where it is in its life.
        public var state: State
        /// What comes now (`video`, `audio`, `subtitles`), for display; absent when nothing does.
        public var stage: String?
        /// What is stored of everything that was selected: the stretches of media time that would play, in order.
        public var loaded: [TimeRange]
        /// The media's length in seconds; absent until a media playlist was read.
        public var duration: Double?
        /// The bytes of the selection that are stored.
        public var bytes: Int
        /// The size that the selection will have: an estimate until it is complete.
        public var totalBytes: Int?
        /// Bytes a second, as of late; absent unless `running`.
        public var rate: Int?
        /// An estimate of the seconds that are left; absent unless `running`.
        public var eta: Int?
        /// What was chosen: one variant or more, with renditions. Empty until the playlists were read.
        public var selection: Tracks
        /// What there is besides, for a further download to add; only in the answer that begins a download.
        public var unselected: Tracks?
        /// Why it `failed`, or what it is `waiting` for.
        public var error: Failure?

        /// A download that is queued.
        public init(id: String, asset: String, title: String? = nil) {
            self.id = id
            self.asset = asset
            self.title = title
            state = .queued
            loaded = []
            bytes = 0
            selection = Tracks()
        }

        /// The seconds of media that are stored.
        public var loadedDuration: Double { loaded.reduce(0) { $0 + max(0, $1.end - $1.start) } }

        /// How much media time is stored, from 0 to 1; absent as long as `duration` is.
        ///
        /// What is complete is all there: its tracks may end a little before the longest one does.
        public var fraction: Double? {
            guard state != .complete else { return 1 }
            guard let duration, duration > 0 else { return nil }
            return min(1, loadedDuration / duration)
        }
    }
}
