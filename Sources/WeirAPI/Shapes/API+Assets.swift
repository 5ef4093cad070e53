internal import HTTPMessage
package import Orders
package import SafeText

extension API {
    /// An asset in the library: `GET /api/v1/assets/<name>`.
    package struct Asset: Codable, Equatable, Sendable {
        /// The name for users and for player URLs: `/<name>.m3u8`.
        package var name: String
        package var id: String
        /// The absolute path of the bundle, which stays through renames. Known before anything is stored, so it may not exist yet;
        /// absent for what has no bundle.
        package var path: String?
        package var title: String?
        /// The description that came with the asset's download; absent without one.
        package var note: String?
        /// The path of the asset's image on the daemon; absent without an image.
        package var artwork: String?
        package var url: String
        /// True if the asset was imported and has no origin, so that `url` is a placeholder; absent otherwise.
        package var isImported: Bool?
        /// True for an entry of the streams file of which nothing is stored; `id` is then its name. Absent otherwise.
        package var isKnownOnly: Bool?
        /// The URL of a picture, and the group, of such an entry; absent otherwise.
        package var logo: String?
        package var group: String?
        /// The name of the channel list that names it, for a channel of which nothing is stored; absent otherwise.
        package var list: String?
        /// True if the certificates of the asset's servers are not verified (`--insecure`); absent otherwise.
        package var isInsecure: Bool?
        package var isLive = false
        /// The time at which it was made, in seconds since 1970; absent for what has no bundle.
        package var created: Int?
        /// The media's length in seconds; absent for live streams and before a media playlist was read.
        package var duration: Double?
        /// Where its last player left it, in seconds of media time; absent if it begins anew, or if that is not known.
        package var position: Double?
        /// As in `Presentation`; only in a response for this one asset.
        package var isFragmented: Bool?
        /// True if its end was watched once; absent otherwise.
        package var isWatched: Bool?
        package var bytes = 0
        /// The part of `bytes` that was cached by playback, and may be evicted; absent if it is not known.
        package var cachedBytes: Int?
        /// Extent to which it plays without the network: `yes` if a download's selection, or one variant with defaults, is stored.
        package var local = Playability.Answer.no
        /// Playability without the origin, checked against the disk; only in a response for this one asset.
        package var playable: Playability?
        /// Stored part of each rendition, downloaded or cached; only in a response for this one asset.
        package var parts: [Download.Part]?
        /// True if the origin has a new revision, as far as is known; absent otherwise.
        package var hasChanged: Bool?
        /// True while the new revision is fetched. `state`, `need` and `download` describe it; `bytes` includes it.
        package var isRevised: Bool?
        /// The word for its state, the most telling one: what its download does, or else `stored`.
        package var state = AssetState.notStored
        /// The word for what is stored of it: `saved`, `partly-saved`, `cached`, `purged` or `not-stored`.
        package var stored = AssetState.notStored
        /// For a recording: the name of its channel, whose URL it has; absent if that was removed, and for any other asset.
        package var recordingOf: String?
        /// The names of its recordings, the oldest first; only in a response for this one asset, if there are any.
        package var recordings: [String]?
        /// The missing condition of that download; absent unless it is `waiting`.
        package var need: Need?
        /// The part of what was selected that its download could not get; absent if it lacks nothing.
        package var shortfall: Shortfall?
        /// The first of that download's `reasons`, if it is the user's own or a rule; absent otherwise.
        package var reason: String?
        package var download: String?
        /// The volume to which the asset was moved; absent for assets in the store's own folder.
        package var volume: Volume?
        /// Policy and play times; absent if they are not known, and in a brief list if there is no policy and no play.
        package var storage: Storage?
        /// Number of keys, and of unusable keys; absent if the asset has none.
        package var keys: KeySummary?
        /// The reason why the asset can only be removed; absent for nearly all assets.
        package var unreadable: String?
        /// The media time that the download selects, in seconds; absent for all of it, and without a download.
        package var ranges: [Download.TimeRange]?
        /// The best stored quality as a short label: `720p`, `audio`; absent if nothing is stored.
        package var quality: String?
        /// The tracks, and the stored extent of each; empty in a brief list.
        package var tracks = Tracks()
        /// A download's selection with reasons; only if it was requested.
        package var explanation: Explanation?
        package init(name: String, id: String, title: String? = nil, url: String, duration: Double? = nil) {
            self.name = name
            self.id = id
            self.title = title
            self.url = url
            self.duration = duration.map(API.milliseconds)
        }
    }

    /// The body of `POST /api/v1/assets/<name>/cache`.
    package struct CacheRequest: Codable, Equatable, Sendable {
        /// Media time from the start, in seconds.
        package var seconds: Seconds
        /// In JSON its keys are beside the others.
        package var selection = Selection()

        private enum Key: String, CodingKey {
            case seconds
        }

        package init(seconds: Seconds) { self.seconds = seconds }

        package init(from decoder: any Decoder) throws {
            selection = try Selection(from: decoder)
            seconds = try decoder.container(keyedBy: Key.self).decode(Seconds.self, forKey: .seconds)
        }

        package func encode(to encoder: any Encoder) throws {
            try selection.encode(to: encoder)
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(seconds, forKey: .seconds)
        }
    }

    /// The response of `GET /api/v1/assets`.
    package struct AssetList: Codable, Equatable, Sendable {
        package var assets: [Asset]
        /// The name after which the next page begins; absent on the last page.
        package var next: String?
        /// The size of the play cache, which all assets share; absent if it is not known.
        package var playCache: PlayCache?
        package init(assets: [Asset], next: String? = nil, playCache: PlayCache? = nil) {
            self.assets = assets
            self.next = next
            self.playCache = playCache
        }
    }

    /// The pieces cached by playback.
    package struct PlayCache: Codable, Equatable, Sendable {
        package var bytes: Int
        /// The limit in bytes above which the least recently used pieces are evicted; absent if there is no limit.
        package var limit: Int?
        package init(bytes: Int, limit: Int?) {
            self.bytes = bytes
            self.limit = limit
        }
    }

    /// Response of `DELETE /api/v1/assets/<name>`.
    package struct Removal: Codable, Equatable, Sendable {
        package var name: String
        package var bytes: Int
        /// The folder on an absent volume, which is deleted when the volume is back; nil for none.
        package var remainingFolder: String?
        /// The part of `bytes` that is free only once the players that read it have read on, or end; absent otherwise.
        package var heldBytes: Int?
        /// The channel list that hides the channel from now on; absent for what is no channel of a list.
        package var list: String?
        package init(name: String, bytes: Int) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// The presentation at an origin URL, of which nothing is stored: `GET /api/v1/presentation?url=<URL>`.
    package struct Presentation: Codable, Equatable, Sendable {
        package var url: String
        /// The name of the asset that already has this URL; absent otherwise.
        package var name: String?
        package var title: String?
        /// The media's length in seconds; absent for live streams.
        package var duration: Double?
        /// Where its last player left it, in seconds of media time; absent if it begins anew, or if that is not known.
        package var position: Double?
        /// True if the media is fragmented MP4, in which players by libavformat lose their place when they begin later than at the
        /// start; absent otherwise.
        package var isFragmented: Bool?
        package var isLive: Bool
        /// True if the media needs a content decryption module, so that it is neither stored nor played; absent otherwise.
        package var isProtected: Bool?
        package var tracks: Tracks
        /// The selection with reasons, for `POST /api/v1/selection`; absent for a single media playlist.
        package var explanation: Explanation?
        package init(url: String, duration: Double? = nil, isLive: Bool = false, tracks: Tracks) {
            self.url = url
            self.duration = duration.map(API.milliseconds)
            self.isLive = isLive
            self.tracks = tracks
        }
    }

    /// The body of `PUT /api/v1/assets/<name>/position`.
    package struct Position: Codable, Equatable, Sendable {
        /// Media time from the start, in seconds.
        package var position: Seconds
        package init(position: Seconds) { self.position = position }
    }

    /// The query of `GET /api/v1/assets`: `limit=500&after=<name>&brief=1`, all optional.
    package struct AssetQuery: Equatable, Sendable {
        /// Maximum number of assets, 1 or more; nil for all.
        package var limit: Int?
        /// The name after which the page begins; nil for the first page. An asset of that name need not exist.
        package var after: String?
        /// True to leave `tracks` empty, and `storage` out if it has no information.
        package var isBrief = false
        package init(limit: Int? = nil, after: String? = nil, isBrief: Bool = false) {
            self.limit = limit
            self.after = after
            self.isBrief = isBrief
        }

        /// The keys of the query; all are optional.
        package static let keys = ["limit", "after", "brief"]

        /// The query string with its question mark; empty for all assets with all details.
        package var text: String {
            var pairs: [String] = []
            if let limit {
                pairs.append("limit=\(limit)")
            }
            if let after {
                pairs.append("after=\(PercentEncoding.encode(after))")
            }
            if isBrief {
                pairs.append("brief=1")
            }
            guard !pairs.isEmpty else { return "" }
            return "?" + pairs.joined(separator: "&")
        }
    }

    /// The image of an asset: `GET` or `PUT /api/v1/assets/<name>/artwork`, with the unchanged file as the body.
    package struct Artwork: Equatable, Sendable {
        /// `image/jpeg`, `image/png` or `image/webp`.
        package let mediaType: String
        package let bytes: [UInt8]

        package init(mediaType: String, bytes: [UInt8]) {
            self.mediaType = mediaType
            self.bytes = bytes
        }

        /// Recognises a JPEG, PNG or WebP file by its first bytes; nil for any other file, and for one over `limit`.
        package init?(file bytes: [UInt8]) {
            guard let artwork = HTTPMessage.Artwork(bytes) else { return nil }
            self.init(mediaType: artwork.kind.mediaType, bytes: bytes)
        }

        package static let limit = HTTPMessage.Artwork.limit
        /// The accepted files, to follow "artwork is" in a message.
        package static let accepted = HTTPMessage.Artwork.accepted
    }

    /// Policy, expiry and play times of an asset.
    package struct Storage: Codable, Equatable, Sendable {
        package var policy: StoragePolicy
        /// Time of expiry in seconds since 1970; absent for never, and before the window of the first play has begun.
        package var expiration: Int?
        /// True if the asset has expired: it does not play, and its space may be reused.
        package var isExpired: Bool
        /// Time of the first play, in seconds since 1970; counted from the start of the window if there is one.
        package var firstPlayed: Int?
        /// Time of the last play, in seconds since 1970.
        package var lastPlayed: Int?
        /// The last purge; absent if there was none, or if content was requested again since.
        package var purge: Purge?
        package init(policy: StoragePolicy = StoragePolicy(), expiration: Int? = nil, isExpired: Bool = false) {
            self.policy = policy
            self.expiration = expiration
            self.isExpired = isExpired
        }
    }

    /// The body of `PATCH /api/v1/assets/<name>`. Absent keys do not change.
    package struct AssetChange: Codable, Equatable, Sendable {
        package var name: String?
        /// An empty text removes the title.
        package var title: String?
        /// The description of the asset's download; an empty text removes it.
        package var note: String?
        /// The URL of a new image: JPEG, PNG or WebP, at most 4 MB. An empty text removes the image.
        package var artwork: String?
        /// The new header fields, in place of all that the asset has; an empty list removes them.
        package var headers: [Header]?
        package init(name: String? = nil, title: String? = nil) {
            self.name = name
            self.title = title
        }
    }
}
