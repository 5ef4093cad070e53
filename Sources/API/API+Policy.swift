extension API {
    /// How long what is stored of an asset is kept: `PUT /api/v1/assets/<name>/policy`, which takes the place of the one
    /// before; a key that is left out stands for its default.
    public struct Policy: Codable, Equatable, Sendable {
        /// The order of eviction when the disk is full.
        public enum Priority: String, Codable, Sendable, CaseIterable {
            /// Evicted after all others.
            case important
            /// The usual priority.
            case `default`
        }

        /// Inclusion in backups.
        public enum Backup: String, Codable, Sendable, CaseIterable {
            /// As the rest of the store.
            case include
            /// Its folder has a CACHEDIR.TAG.
            case exclude
        }

        /// From when on it is not played any more, in seconds since 1970; absent for never.
        public var expires: Int?
        /// For how many seconds it is played from the first time on; absent for ever.
        public var afterFirstPlay: Int?
        /// Priority of eviction.
        public var priority: Priority
        /// Inclusion in backups.
        public var backup: Backup
        /// For how many seconds its keys are used from when each came, while the media stays; absent for ever.
        public var keysExpire: Int?
        /// For how many seconds its keys are used from the first play on; absent for ever.
        public var keysAfterFirstPlay: Int?

        /// The policy of whoever says nothing, or another.
        public init(
            expires: Int? = nil, afterFirstPlay: Int? = nil, priority: Priority = .default, backup: Backup = .include,
            keysExpire: Int? = nil, keysAfterFirstPlay: Int? = nil
        ) {
            self.expires = expires
            self.afterFirstPlay = afterFirstPlay
            self.priority = priority
            self.backup = backup
            self.keysExpire = keysExpire
            self.keysAfterFirstPlay = keysAfterFirstPlay
        }

        /// Reads a policy; what is left out has its default.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            self.init(
                expires: try values.decodeIfPresent(Int.self, forKey: .expires),
                afterFirstPlay: try values.decodeIfPresent(Int.self, forKey: .afterFirstPlay),
                priority: try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .default,
                backup: try values.decodeIfPresent(Backup.self, forKey: .backup) ?? .include,
                keysExpire: try values.decodeIfPresent(Int.self, forKey: .keysExpire),
                keysAfterFirstPlay: try values.decodeIfPresent(Int.self, forKey: .keysAfterFirstPlay))
        }

        /// The error in the policy, as a sentence; nil if it is valid.
        public var contradiction: String? {
            if let expires, !(0...Self.latest).contains(expires) {
                return "expires is no time between the years 1970 and 9999, in seconds since 1970"
            }
            let spans = [
                ("afterFirstPlay", afterFirstPlay), ("keysExpire", keysExpire),
                ("keysAfterFirstPlay", keysAfterFirstPlay),
            ]
            for (key, span) in spans where span.map({ !(1...Self.longest).contains($0) }) ?? false {
                return "\(key) is no number of seconds from 1 to \(Self.longest), a hundred years"
            }
            return nil
        }

        /// The last second of the year 9999, behind which dates have no agreed form.
        private static let latest = 253_402_300_799
        /// A hundred years, in seconds.
        private static let longest = 100 * 31_557_600
    }

    /// The lifetime of an asset's storage.
    public struct Storage: Codable, Equatable, Sendable {
        /// That all of it went.
        public struct Purge: Codable, Equatable, Sendable {
            /// Cause of a purge. More cases may be added.
            public enum Cause: String, Codable, Sendable {
                /// The asset had expired.
                case expired
                /// The disk was full.
                case space
            }

            /// Time of the purge, in seconds since 1970.
            public var date: Int
            /// The bytes that it took.
            public var bytes: Int
            /// Cause of the purge.
            public var cause: Cause

            /// A purge.
            public init(date: Int, bytes: Int, cause: Cause) {
                self.date = date
                self.bytes = bytes
                self.cause = cause
            }
        }

        /// The user's policy.
        public var policy: Policy
        /// Time of expiry, by date or by window, in seconds since 1970; absent for never, and for a window that has not
        /// begun.
        public var expiration: Int?
        /// True if the asset has expired: it does not play, and its space may be reused.
        public var isExpired: Bool
        /// Time of the first play, in seconds since 1970; counted from the start of the window if there is one.
        public var firstPlayed: Int?
        /// Time of the last play, in seconds since 1970.
        public var lastPlayed: Int?
        /// That all of it went to make room; absent where that is not so, or something of it was asked for since.
        public var purge: Purge?

        /// A life.
        public init(policy: Policy = Policy(), expiration: Int? = nil, isExpired: Bool = false) {
            self.policy = policy
            self.expiration = expiration
            self.isExpired = isExpired
        }
    }

    /// `PATCH /api/v1/assets/<name>`: what is left out stays as it is.
    public struct AssetChange: Codable, Equatable, Sendable {
        /// The new name.
        public var name: String?
        /// The title for lists; an empty one takes it away.
        public var title: String?

        /// A change.
        public init(name: String? = nil, title: String? = nil) {
            self.name = name
            self.title = title
        }
    }
}
