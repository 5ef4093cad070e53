internal import HTTPMessage

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

extension API {
    /// Which assets a list is to have, and what of them: the query of `GET /api/v1/assets`.
    ///
    /// `limit=500&after=<name>&brief=1`, each of which may be left out. A list that has not all says in `next` after which
    /// name the rest comes.
    public struct ListWish: Equatable, Sendable {
        /// The most assets, from 1 on; nil for all.
        public var limit: Int?
        /// The name behind which it begins; nil for the first of all. There need not be such an asset.
        public var after: String?
        /// Whether `tracks` stay empty, and `storage` is left out where it says nothing.
        public var isBrief = false

        /// All assets, with everything.
        public init(limit: Int? = nil, after: String? = nil, isBrief: Bool = false) {
            (self.limit, self.after, self.isBrief) = (limit, after, isBrief)
        }

        /// As a query, with its question mark; empty for all assets with everything.
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
    /// Whether an asset plays without its origin, after its pieces were compared with the disk.
    public struct Playable: Codable, Equatable, Sendable {
        /// The answer in a word.
        public enum Answer: String, Codable, Sendable {
            /// From its beginning to its end.
            case yes
            /// With stretches cut out.
            case part
            /// Not at all, or too little to be called so.
            case no
        }

        /// The answer.
        public var answer: Answer
        /// What it rests on, in words: what is whole, or what is missing.
        public var reason: String
        /// How long that lasts which plays, in seconds; absent where that is nothing, or not known.
        public var duration: Double?

        /// An answer.
        public init(_ answer: Answer, _ reason: String, duration: Double? = nil) {
            (self.answer, self.reason, self.duration) = (answer, reason, duration.map(API.milliseconds))
        }
    }
}

extension API {
    /// The image that is kept with an asset: `GET /api/v1/assets/<name>/artwork`. `PUT` there takes another: JPEG, PNG
    /// or WebP as it is, at most 4 MB, answered by the `Asset`.
    public struct Artwork: Equatable, Sendable {
        /// `image/jpeg`, `image/png` or `image/webp`.
        public let mediaType: String
        /// The file, as it was given.
        public let bytes: [UInt8]

        /// An image.
        public init(mediaType: String, bytes: [UInt8]) {
            self.mediaType = mediaType
            self.bytes = bytes
        }

        /// Recognises a JPEG, PNG or WebP file by its first bytes; nil for any other file, and for one over `limit`.
        public init?(file bytes: [UInt8]) {
            guard bytes.count <= Self.limit, let mediaType = Self.mediaType(of: bytes) else { return nil }
            self.init(mediaType: mediaType, bytes: bytes)
        }

        private static func mediaType(of bytes: [UInt8]) -> String? {
            if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
            let isWebP = bytes.starts(with: Array("RIFF".utf8)) && bytes.dropFirst(8).starts(with: Array("WEBP".utf8))
            return isWebP ? "image/webp" : nil
        }

        /// Maximum size in bytes.
        public static let limit = 4 << 20
        /// The accepted files, to stand behind "artwork is".
        public static let accepted = "a JPEG, PNG or WebP image of at most 4 MB"
    }
}
