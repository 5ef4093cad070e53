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

    /// What is known of one key.
    public struct Key: Codable, Equatable, Sendable {
        /// Whether it may be used. More may come.
        public enum State: String, Codable, Sendable {
            /// It is stored, and may be used.
            case valid
            /// Its time is over.
            case expired
            /// It was taken back, and its file deleted.
            case invalidated
            /// It has not come, or its file is gone.
            case missing
        }

        /// What it decrypts of a rendition.
        public struct Use: Codable, Equatable, Sendable {
            /// What the store calls the rendition.
            public var rendition: String
            /// When its first segment begins, in seconds.
            public var start: Double
            /// When its last one ends.
            public var end: Double
            /// How many segments.
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
        /// Whether it may be used.
        public var state: State
        /// When it came from the origin, or was renewed, in seconds since 1970; absent where that is not known.
        public var came: Int?
        /// When the asset was first played with it; only where there is a window for that.
        public var firstPlayed: Int?
        /// When it expires, by its date, its lifetime or its window; absent for never.
        public var expiration: Int?
        /// The date that was given to it by itself; absent where none was.
        public var expires: Int?
        /// When it was taken back; absent where it was not.
        public var invalidated: Int?
        /// For how many seconds it is good by its date and lifetime; 0 when that is over, absent for ever.
        public var remaining: Int?
        /// What is left of its window, in seconds: all of it before the first play; absent where there is none.
        public var playbackRemaining: Int?
        /// What it is for, as far as the playlists are known.
        public var uses: [Use]

        /// A key of which nothing is known.
        public init(number: Int, state: State = .missing, uses: [Use] = []) {
            self.number = number
            self.state = state
            self.uses = uses
        }
    }

    /// How many keys an asset has, and how many of them may not be used.
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

    /// What is to become of keys: `POST /api/v1/assets/<name>/keys`, which answers with the `KeyList` as it is then, and
    /// `POST /api/v1/keys` for all assets, which takes `invalidate` alone and answers with the lists of those that it is
    /// about.
    public struct KeyOrder: Codable, Equatable, Sendable {
        /// What to do.
        public enum Action: String, Codable, Sendable {
            /// Ask the origin for them anew.
            case renew
            /// Take them back, and delete their files.
            case invalidate
            /// Give them a date, or take it away.
            case date
        }

        /// What to do.
        public var action: Action
        /// To which; absent for all.
        public var keys: [Int]?
        /// For `date`: in seconds since 1970; absent for never.
        public var expires: Int?

        /// An order.
        public init(_ action: Action, keys: [Int]? = nil, expires: Int? = nil) {
            (self.action, self.keys, self.expires) = (action, keys, expires)
        }

        /// What is wrong with it, in a sentence; nil where nothing is.
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
