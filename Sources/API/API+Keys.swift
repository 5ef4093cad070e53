extension API {
    /// The keys of an asset, never the keys themselves: `GET /api/v1/assets/<name>/keys`.
    public struct KeyList: Codable, Equatable, Sendable {
        /// The asset's name.
        public var asset: String
        /// For how many seconds its keys are used from when they came; absent for ever.
        public var keysExpire: Int?
        /// For how many seconds from the first play on; absent for ever.
        public var keysAfterFirstPlay: Int?
        /// By number.
        public var keys: [Key]

        /// A list.
        public init(asset: String, keys: [Key] = []) {
            self.asset = asset
            self.keys = keys
        }
    }

    /// The state of a key.
    public struct Key: Codable, Equatable, Sendable {
        /// The states of a key. More cases may be added.
        public enum State: String, Codable, Sendable {
            /// Stored and usable.
            case valid
            /// Expired.
            case expired
            /// Revoked; its file was deleted.
            case invalidated
            /// Not fetched yet, or its file is missing.
            case missing
        }

        /// The part of a rendition that a key decrypts.
        public struct Use: Codable, Equatable, Sendable {
            /// The rendition's id in the store.
            public var rendition: String
            /// Start of the first segment in seconds.
            public var start: Double
            /// End of the last segment in seconds.
            public var end: Double
            /// Number of segments.
            public var segments: Int

            /// A use.
            public init(rendition: String, start: Double, end: Double, segments: Int) {
                self.rendition = rendition
                (self.start, self.end) = (API.milliseconds(start), API.milliseconds(end))
                self.segments = segments
            }
        }

        /// Stays for ever; names the file `keys/<number>.key`.
        public var number: Int
        /// State of the key.
        public var state: State
        /// Time of the fetch or renewal, in seconds since 1970; absent if it is not known.
        public var came: Int?
        /// When the asset was first played with it; only where there is a window for that.
        public var firstPlayed: Int?
        /// Time of expiry by date, lifetime or window; absent for never.
        public var expiration: Int?
        /// The date that was given to it by itself; absent where none was.
        public var expires: Int?
        /// Time of the revocation; absent if it was not revoked.
        public var invalidated: Int?
        /// For how many seconds it is good by its date and lifetime; 0 when that is over, absent for ever.
        public var remaining: Int?
        /// Remaining seconds of the playback window: all of it before the first play; absent if there is no window.
        public var playbackRemaining: Int?
        /// The parts that it decrypts, as far as the playlists are known.
        public var uses: [Use]

        /// A key of which nothing is known.
        public init(number: Int, state: State = .missing, uses: [Use] = []) {
            self.number = number
            self.state = state
            self.uses = uses
        }
    }

    /// Number of an asset's keys, and of the unusable ones.
    public struct KeySummary: Codable, Equatable, Sendable {
        /// All.
        public var count: Int
        /// Those whose time is over.
        public var expired: Int
        /// Those that were taken back.
        public var invalidated: Int

        /// A summary.
        public init(count: Int, expired: Int = 0, invalidated: Int = 0) {
            (self.count, self.expired, self.invalidated) = (count, expired, invalidated)
        }
    }

    /// An order for keys: `POST /api/v1/assets/<name>/keys`, answered with the resulting `KeyList`; and `POST
    /// /api/v1/keys` for all assets, which takes `invalidate` only and is answered with the lists of the affected
    /// assets.
    public struct KeyOrder: Codable, Equatable, Sendable {
        /// The action.
        public enum Action: String, Codable, Sendable {
            /// Ask the origin for them anew.
            case renew
            /// Take them back, and delete their files.
            case invalidate
            /// Give them a date, or take it away.
            case date
        }

        /// The action.
        public var action: Action
        /// To which; absent for all.
        public var keys: [Int]?
        /// For `date`: in seconds since 1970; absent for never.
        public var expires: Int?

        /// An order.
        public init(_ action: Action, keys: [Int]? = nil, expires: Int? = nil) {
            (self.action, self.keys, self.expires) = (action, keys, expires)
        }

        /// The error in the order, as a sentence; nil if it is valid.
        public var contradiction: String? {
            if keys?.isEmpty ?? false { return "keys is empty: leave it out for all of them" }
            guard let expires else { return nil }
            if action != .date { return "only \"date\" takes expires" }
            return Policy(expires: expires).contradiction
        }
    }

    /// The answer to `POST /api/v1/keys`.
    public struct KeyLists: Codable, Equatable, Sendable {
        /// By the assets' names.
        public var assets: [KeyList]

        /// Lists.
        public init(assets: [KeyList]) { self.assets = assets }
    }
}
