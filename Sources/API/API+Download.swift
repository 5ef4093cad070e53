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
            /// It lacks what `need` says (see `error`), and goes on by itself.
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
            public var code: APIError.Code
            /// A sentence that names the asset and the cause.
            public var message: String

            /// A failure.
            public init(code: APIError.Code, message: String) {
                self.code = code
                self.message = message
            }
        }

        /// The identity of the download, which is its asset's: an asset has one download.
        public var id: String
        /// The name of its asset.
        public var asset: String
        /// The asset's title.
        public var title: String?
        /// Where it is in its life.
        public var state: State
        /// What it waits for; absent unless `waiting`.
        public var need: Need?
        /// Before whom it comes.
        public var priority: Priority
        /// A line of the user's own.
        public var note: String?
        /// What comes now (`video`, `audio`, `subtitles`), for display; absent when nothing does.
        public var stage: String?
        /// What is stored of everything that was selected: the stretches of media time that would play, in order.
        public var loaded: [TimeRange]
        /// The stretches of media time that are wanted, in order: of whole segments. All of the media, unless a range
        /// was asked for; empty until a media playlist was read, and while it is recorded.
        public var expected: [TimeRange]
        /// Whether it records what goes on, so that nobody knows how much is to come; absent when it does not.
        public var isRecording: Bool?
        /// How far all of it is, from 0 to 1, by bytes: an estimate that never falls while it runs, and is 1 when
        /// everything is stored and not before.
        public var fraction: Double
        /// How far each of its renditions is.
        public var parts: [Part]
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
        /// What there is besides, for a further download to add; only in answers about this one
        /// download, not in lists and events.
        public var unselected: Tracks?
        /// Why it `failed`, or what it is `waiting` for.
        public var error: Failure?

        /// A download that is queued.
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

        /// The seconds of media that are stored.
        public var loadedDuration: Double { Self.duration(of: loaded) }

        /// The seconds of media that are wanted; absent as long as `duration` is.
        public var expectedDuration: Double? { expected.isEmpty ? duration : Self.duration(of: expected) }

        /// How much of the media time that is wanted is stored, from 0 to 1; absent as long as `duration` is.
        ///
        /// What is complete is all there: its tracks may end a little before the longest one does.
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
    /// What a download waits for.
    public enum Need: String, Codable, Sendable {
        /// An origin that can be reached, and answers.
        case network
        /// Room on the disk.
        case space
        /// A key that the origin refuses to give.
        case key
        /// The disk on which the asset lies.
        case disk
    }

    /// Which of several downloads begins first.
    public enum Priority: String, Codable, Sendable, CaseIterable {
        /// In the order in which they were asked for.
        case `default`
        /// Before those.
        case important
    }

    /// How far one rendition of a download is.
    public struct Part: Codable, Equatable, Sendable {
        /// What the store calls the rendition.
        public var id: String
        /// `video`, `audio` or `subtitles`; what a variant names by itself is `video`, sound alone included.
        public var kind: String
        /// The media time that is stored of what is wanted, in order. A gap of the origin's (EXT-X-GAP) counts as
        /// stored.
        public var loaded: [TimeRange]
        /// The media time that is wanted, in order.
        public var expected: [TimeRange]
        /// The bytes that are stored.
        public var bytes: Int
        /// The bytes that it will have: an estimate until it is complete.
        public var totalBytes: Int
        /// How far it is, from 0 to 1, by bytes: an estimate, but that 1 is all of it and nothing less.
        public var fraction: Double
        /// Its share of the whole for a reader who adds up selections rather than bytes, in sums of 1: 70 for video, 20
        /// for audio and 10 for subtitles, spread evenly over the renditions of a kind.
        public var weight: Double
        /// Whether everything that is wanted of it is stored.
        public var isComplete: Bool

        /// A rendition of which nothing is stored.
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
    /// `GET /api/v1/downloads`.
    public struct DownloadList: Codable, Equatable, Sendable {
        /// The downloads, in the order in which they were asked for. Of those that are complete `loaded`, `expected`, `parts`
        /// and `selection` are left empty, and `bytes` is what is kept of the asset: `GET /api/v1/downloads/<id>` tells more.
        public var downloads: [Download]
        /// A list.
        public init(downloads: [Download]) { self.downloads = downloads }
    }
}
