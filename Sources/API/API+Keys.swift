extension API {
    /// The state of an asset's keys, without key material: `GET /api/v1/assets/<name>/keys`.
    public struct KeyList: Codable, Equatable, Sendable {
        /// The asset's name.
        public var asset: String
        /// Lifetime of the keys in seconds from their fetch; absent for no limit.
        public var keysExpire: Int?
        /// Lifetime of the keys in seconds from the first play; absent for no limit.
        public var keysAfterFirstPlay: Int?
        /// The keys, sorted by number.
        public var keys: [Key]

        /// Creates a list.
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

            /// Creates a use.
            public init(rendition: String, start: Double, end: Double, segments: Int) {
                self.rendition = rendition
                (self.start, self.end) = (API.milliseconds(start), API.milliseconds(end))
                self.segments = segments
            }
        }

        /// The permanent number of the key; names the file `keys/<number>.key`.
        public var number: Int
        /// State of the key.
        public var state: State
        /// Time of the fetch or renewal, in seconds since 1970; absent if it is not known.
        public var came: Int?
        /// Time of the asset's first play with the key, in seconds since 1970; only if there is a playback window.
        public var firstPlayed: Int?
        /// Time of expiry by date, lifetime or window, in seconds since 1970; absent for never.
        public var expiration: Int?
        /// Expiry date of this key alone, in seconds since 1970; absent if it has none.
        public var expires: Int?
        /// Time of the revocation, in seconds since 1970; absent if the key was not revoked.
        public var invalidated: Int?
        /// Remaining seconds of the date and the lifetime; 0 after expiry, absent for no limit.
        public var remaining: Int?
        /// Remaining seconds of the playback window: its full length before the first play; absent without a window.
        public var playbackRemaining: Int?
        /// The parts that the key decrypts, as far as the playlists are known.
        public var uses: [Use]

        /// Creates a key with only its number known.
        public init(number: Int, state: State = .missing, uses: [Use] = []) {
            self.number = number
            self.state = state
            self.uses = uses
        }
    }

    /// Number of an asset's keys, and of the unusable ones.
    public struct KeySummary: Codable, Equatable, Sendable {
        /// Number of keys.
        public var count: Int
        /// Number of expired keys.
        public var expired: Int
        /// Number of revoked keys.
        public var invalidated: Int

        /// Creates a summary.
        public init(count: Int, expired: Int = 0, invalidated: Int = 0) {
            (self.count, self.expired, self.invalidated) = (count, expired, invalidated)
        }
    }

    /// An order for keys. `POST /api/v1/assets/<name>/keys` returns the resulting `KeyList`. `POST /api/v1/keys`
    /// applies to all assets, takes only `invalidate`, and returns the lists of the affected assets.
    public struct KeyOrder: Codable, Equatable, Sendable {
        /// The action.
        public enum Action: String, Codable, Sendable {
            /// Fetches the keys again from the origin.
            case renew
            /// Revokes the keys and deletes their files.
            case invalidate
            /// Sets or removes an expiry date.
            case date
        }

        /// The action.
        public var action: Action
        /// Numbers of the keys; absent for all.
        public var keys: [Int]?
        /// For `date`: the expiry in seconds since 1970; absent for never.
        public var expires: Int?

        /// Creates an order.
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

    /// The response of `POST /api/v1/keys`.
    public struct KeyLists: Codable, Equatable, Sendable {
        /// The lists, sorted by the assets' names.
        public var assets: [KeyList]

        /// Creates the lists.
        public init(assets: [KeyList]) { self.assets = assets }
    }
}
