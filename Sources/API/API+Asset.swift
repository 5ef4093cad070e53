extension API {
    /// An asset that the library knows.
    ///
    /// `GET /api/v1/assets` gives `AssetList`, `GET /api/v1/assets/<name>` gives one.
    public struct Asset: Codable, Equatable, Sendable {
        /// What people and player URLs call it: `/<name>.m3u8`.
        public var name: String
        /// The identity that never changes; names the bundle on disk.
        public var id: String
        /// For display.
        public var title: String?
        /// The path here of the image that is kept with it; absent where there is none.
        public var artwork: String?
        /// Where it comes from.
        public var url: String
        /// Whether it was imported, and comes from nowhere: `url` then only stands for it. Absent when it is not so.
        public var isImported: Bool?
        /// Whether it is an entry of the user's list of streams of which there is nothing yet: `id` is its name then. Absent
        /// when it is not so.
        public var isKnownOnly: Bool?
        /// Whether it is a live stream, which is never kept.
        public var isLive: Bool
        /// The media's length in seconds; absent for live streams and before a media playlist was read.
        public var duration: Double?
        /// The bytes that are stored.
        public var bytes: Int
        /// How many of `bytes` are there because they flowed while it was played, and make way when the play cache is
        /// full; the others are kept. Absent where that is not known.
        public var cachedBytes: Int?
        /// How much of it plays without the network: `complete` when what was asked for does (a download's selection;
        /// else one variant with the default renditions of its groups).
        public var local: Local
        /// Whether it plays without its origin, by what is on disk: only where it alone was asked for.
        public var playable: Playable?
        /// What is stored of each rendition of which anything is, whoever wanted it: only where the asset alone was asked for.
        public var parts: [Download.Part]?
        /// Whether the origin has other content than what is stored, as far as is known; absent when it is not so.
        public var hasChanged: Bool?
        /// Whether that other content is being fetched, to take the place of what is stored when it is whole; absent when
        /// it is not so. `state`, `need` and `download` are about that then, and its part is in `bytes`.
        public var isRevised: Bool?
        /// The state of its last download; absent when none was asked for.
        public var state: Download.State?
        /// What that download waits for; absent unless it is `waiting`.
        public var need: Download.Need?
        /// The id of that download.
        public var download: String?
        /// The folder on another disk that it lies in; absent for the store's own.
        public var place: Place?
        /// How long it is kept, and when it was played; absent where that is not known, and in a brief list where nobody has
        /// said how long and nobody has played it.
        public var storage: Storage?
        /// Its keys, and how many of them may not be used; absent where it has none.
        public var keys: KeySummary?
        /// Why nothing can be done with it but to remove it; absent for nearly all.
        public var unreadable: String?
        /// The best that is stored, in a word for people: `720p`, `audio`; absent where nothing is.
        public var quality: String?
        /// What it offers, and what of that is stored; empty in a brief list.
        public var tracks: Tracks
        /// What a download would choose of it, and why: only where it was asked for.
        public var explanation: Explanation?

        /// An asset of which nothing is stored.
        public init(name: String, id: String, title: String? = nil, url: String, duration: Double? = nil) {
            self.name = name
            self.id = id
            self.title = title
            self.url = url
            isLive = false
            self.duration = duration.map(API.milliseconds)
            bytes = 0
            local = .none
            tracks = Tracks()
        }
    }

    /// `GET /api/v1/assets`.
    public struct AssetList: Codable, Equatable, Sendable {
        /// The assets, by name.
        public var assets: [Asset]
        /// The name after which the rest comes; absent where there is none.
        public var next: String?
        /// What is there because it flowed, of all assets; absent where that is not known.
        public var playCache: PlayCache?

        /// A list.
        public init(assets: [Asset], next: String? = nil, playCache: PlayCache? = nil) {
            self.assets = assets
            self.next = next
            self.playCache = playCache
        }
    }

    /// The pieces that are kept because they flowed while something was played.
    public struct PlayCache: Codable, Equatable, Sendable {
        /// How much they take, in bytes.
        public var bytes: Int
        /// The bytes above which the longest unused make way; absent where there is no limit.
        public var limit: Int?

        /// Their figures.
        public init(bytes: Int, limit: Int?) {
            self.bytes = bytes
            self.limit = limit
        }
    }

    /// What `DELETE /api/v1/assets/<name>` did.
    public struct Removal: Codable, Equatable, Sendable {
        /// The asset's name.
        public var name: String
        /// The bytes that were freed.
        public var bytes: Int
        /// The folder that it lies in on a disk that is not there: what is stored stays there. Absent otherwise.
        public var left: String?
        /// A removal.
        public init(name: String, bytes: Int) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// What an origin URL offers, before anything is kept: `GET /api/v1/presentation?url=<URL, percent-encoded>`.
    public struct Presentation: Codable, Equatable, Sendable {
        /// The URL as it was asked for.
        public var url: String
        /// The name of the asset that this URL belongs to, when there is one already.
        public var name: String?
        /// For display.
        public var title: String?
        /// The media's length in seconds; absent for live streams.
        public var duration: Double?
        /// Whether it is a live stream, which cannot be downloaded.
        public var isLive: Bool
        /// What can be chosen from, with sizes as estimates.
        public var tracks: Tracks
        /// What a selection chooses of it, and why: in the answer to `POST /api/v1/selection`, unless the source is a
        /// media playlist, of which there is nothing to choose.
        public var explanation: Explanation?

        /// A presentation.
        public init(url: String, duration: Double? = nil, isLive: Bool = false, tracks: Tracks) {
            self.url = url
            self.duration = duration.map(API.milliseconds)
            self.isLive = isLive
            self.tracks = tracks
        }
    }
}
