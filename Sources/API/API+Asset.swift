internal import HTTPMessage

extension API {
    /// An asset in the library.
    ///
    /// `GET /api/v1/assets` returns an `AssetList`, `GET /api/v1/assets/<name>` returns one asset.
    public struct Asset: Codable, Equatable, Sendable {
        /// The name for users and for player URLs: `/<name>.m3u8`.
        public var name: String
        /// The permanent id; names the bundle on disk.
        public var id: String
        /// The title for display.
        public var title: String?
        /// The path of the asset's image on the daemon; absent without an image.
        public var artwork: String?
        /// The origin URL.
        public var url: String
        /// True if the asset was imported and has no origin, so that `url` is a placeholder; absent otherwise.
        public var isImported: Bool?
        /// True for an entry of the streams file of which nothing is stored yet; `id` is its name then. Absent
        /// otherwise.
        public var isKnownOnly: Bool?
        /// True for a live stream, which is not stored.
        public var isLive: Bool
        /// The media's length in seconds; absent for live streams and before a media playlist was read.
        public var duration: Double?
        /// Stored bytes.
        public var bytes: Int
        /// The part of `bytes` that was cached by playback, and is evicted when the play cache is full. Absent if it is
        /// not known.
        public var cachedBytes: Int?
        /// Extent to which the asset plays without the network: `complete` if a download's selection does, else if one
        /// variant with the default renditions of its groups does.
        public var local: Local
        /// Playability without the origin, checked against the disk; only in a response for this one asset.
        public var playable: Playable?
        /// Stored part of each rendition, downloaded or cached; only in a response for this one asset.
        public var parts: [Download.Part]?
        /// True if the origin has a new revision, as far as is known; absent otherwise.
        public var hasChanged: Bool?
        /// True if the new revision is being fetched, to replace the stored content once complete; absent otherwise.
        /// `state`, `need` and `download` then describe the new revision, and `bytes` includes it.
        public var isRevised: Bool?
        /// The state of the asset's download; absent if it was never downloaded.
        public var state: Download.State?
        /// The missing condition of that download; absent unless it is `waiting`.
        public var need: Download.Need?
        /// The id of that download.
        public var download: String?
        /// The folder on another disk that holds the asset; absent for assets in the store's own folder.
        public var place: Place?
        /// Policy and play times; absent if they are not known, and in a brief list if there is no policy and no play.
        public var storage: Storage?
        /// Number of keys, and of unusable keys; absent if the asset has none.
        public var keys: KeySummary?
        /// The reason why the asset can only be removed; absent for nearly all assets.
        public var unreadable: String?
        /// The best stored quality as a short label: `720p`, `audio`; absent if nothing is stored.
        public var quality: String?
        /// The tracks, and the stored extent of each; empty in a brief list.
        public var tracks: Tracks
        /// A download's selection with reasons; only if it was requested.
        public var explanation: Explanation?

        /// Creates an asset of which nothing is stored.
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

    /// The response of `GET /api/v1/assets`.
    public struct AssetList: Codable, Equatable, Sendable {
        /// The assets, sorted by name.
        public var assets: [Asset]
        /// The name after which the next page begins; absent on the last page.
        public var next: String?
        /// The size of the play cache, which all assets share; absent if it is not known.
        public var playCache: PlayCache?

        /// Creates a list.
        public init(assets: [Asset], next: String? = nil, playCache: PlayCache? = nil) {
            self.assets = assets
            self.next = next
            self.playCache = playCache
        }
    }

    /// The pieces cached by playback.
    public struct PlayCache: Codable, Equatable, Sendable {
        /// Size in bytes.
        public var bytes: Int
        /// The limit in bytes above which the least recently used pieces are evicted; absent if there is no limit.
        public var limit: Int?

        /// Creates the figures of a play cache.
        public init(bytes: Int, limit: Int?) {
            self.bytes = bytes
            self.limit = limit
        }
    }

    /// Response of `DELETE /api/v1/assets/<name>`.
    public struct Removal: Codable, Equatable, Sendable {
        /// The asset's name.
        public var name: String
        /// Freed bytes.
        public var bytes: Int
        /// The folder on a disk that is absent; the stored content stays there. Absent otherwise.
        public var left: String?
        /// Creates a removal.
        public init(name: String, bytes: Int) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The presentation at an origin URL, of which nothing is stored: `GET /api/v1/presentation?url=<URL,
    /// percent-encoded>`.
    public struct Presentation: Codable, Equatable, Sendable {
        /// The requested URL.
        public var url: String
        /// The name of the asset that already has this URL; absent otherwise.
        public var name: String?
        /// The title for display.
        public var title: String?
        /// The media's length in seconds; absent for live streams.
        public var duration: Double?
        /// True for a live stream.
        public var isLive: Bool
        /// The tracks to select from, with estimated sizes.
        public var tracks: Tracks
        /// The selection with reasons, in the response of `POST /api/v1/selection`. Absent for a lone media playlist,
        /// which leaves nothing to select.
        public var explanation: Explanation?

        /// Creates a presentation.
        public init(url: String, duration: Double? = nil, isLive: Bool = false, tracks: Tracks) {
            self.url = url
            self.duration = duration.map(API.milliseconds)
            self.isLive = isLive
            self.tracks = tracks
        }
    }
}

extension API {
    /// The query of `GET /api/v1/assets`: the page of the list and its detail.
    ///
    /// `limit=500&after=<name>&brief=1`, all optional. If assets are left, `next` in the list names the last asset of
    /// the page.
    public struct ListWish: Equatable, Sendable {
        /// Maximum number of assets, 1 or more; nil for all.
        public var limit: Int?
        /// The name after which the page begins; nil for the first page. An asset of that name need not exist.
        public var after: String?
        /// True to leave `tracks` empty, and `storage` out if it has no information.
        public var isBrief = false

        /// Creates a query, by default for all assets with all details.
        public init(limit: Int? = nil, after: String? = nil, isBrief: Bool = false) {
            (self.limit, self.after, self.isBrief) = (limit, after, isBrief)
        }

        /// The query string with its question mark; empty for all assets with all details.
        var query: String {
            let pairs = [
                limit.map { "limit=\($0)" }, after.map { "after=\(PercentEncoding.encode($0))" },
                isBrief ? "brief=1" : nil,
            ].compactMap(\.self)
            return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
        }
    }
}

extension API {
    /// Playability of an asset without its origin, after its pieces were compared with the disk.
    public struct Playable: Codable, Equatable, Sendable {
        /// The possible answers.
        public enum Answer: String, Codable, Sendable {
            /// Plays from the beginning to the end.
            case yes
            /// Plays with parts cut out.
            case part
            /// Does not play, or plays too little to count as `part`.
            case no
        }

        /// The answer.
        public var answer: Answer
        /// The reason in words: what is complete or missing.
        public var reason: String
        /// Playable duration in seconds; absent if it is 0 or not known.
        public var duration: Double?

        /// Creates an answer.
        public init(_ answer: Answer, _ reason: String, duration: Double? = nil) {
            (self.answer, self.reason, self.duration) = (answer, reason, duration.map(API.milliseconds))
        }
    }
}

extension API {
    /// The image of an asset: `GET /api/v1/assets/<name>/artwork`. `PUT` replaces it with a JPEG, PNG or WebP file of
    /// at most 4 MB, sent unchanged, and returns the `Asset`.
    public struct Artwork: Equatable, Sendable {
        /// `image/jpeg`, `image/png` or `image/webp`.
        public let mediaType: String
        /// The unchanged file.
        public let bytes: [UInt8]

        /// Creates an image.
        public init(mediaType: String, bytes: [UInt8]) {
            self.mediaType = mediaType
            self.bytes = bytes
        }

        /// Recognises a JPEG, PNG or WebP file by its first bytes; nil for any other file, and for one over `limit`.
        public init?(file bytes: [UInt8]) {
            guard let artwork = HTTPMessage.Artwork(bytes) else { return nil }
            self.init(mediaType: artwork.kind.mediaType, bytes: bytes)
        }

        /// Maximum size in bytes.
        public static let limit = HTTPMessage.Artwork.limit
        /// The accepted files, to follow "artwork is" in a message.
        public static let accepted = HTTPMessage.Artwork.accepted
    }
}
