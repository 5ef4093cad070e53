extension API {
    /// Rules for how long an asset's stored content is kept. `PUT /api/v1/assets/<name>/policy` replaces the whole
    /// policy; a key that is left out has its default.
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
            /// Included, as the rest of the store is.
            case include
            /// Excluded by a CACHEDIR.TAG in the asset's folder.
            case exclude
        }

        /// Time from which the asset does not play, in seconds since 1970; absent for never.
        public var expires: Int?
        /// Seconds from the first play for which the asset plays; absent for no limit.
        public var afterFirstPlay: Int?
        /// Priority of eviction.
        public var priority: Priority
        /// Inclusion in backups.
        public var backup: Backup
        /// Lifetime of each key in seconds from its fetch, while the media stays; absent for no limit.
        public var keysExpire: Int?
        /// Lifetime of the keys in seconds from the first play; absent for no limit.
        public var keysAfterFirstPlay: Int?

        /// Creates a policy, by default without limits.
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

        /// Reads a policy. Absent keys have their defaults.
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

        /// The last second of the year 9999; later dates have no common text form.
        private static let latest = 253_402_300_799
        /// One hundred years in seconds.
        private static let longest = 100 * 31_557_600
    }

    /// Policy, expiry and play times of an asset.
    public struct Storage: Codable, Equatable, Sendable {
        /// A purge: the deletion of all stored content.
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
            /// Deleted bytes.
            public var bytes: Int
            /// Cause of the purge.
            public var cause: Cause

            /// Creates a purge.
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
        /// The last purge; absent if there was none, or if content was requested again since.
        public var purge: Purge?

        /// Creates the storage state of an asset.
        public init(policy: Policy = Policy(), expiration: Int? = nil, isExpired: Bool = false) {
            self.policy = policy
            self.expiration = expiration
            self.isExpired = isExpired
        }
    }

    /// The body of `PATCH /api/v1/assets/<name>`. Absent keys do not change.
    public struct AssetChange: Codable, Equatable, Sendable {
        /// The new name.
        public var name: String?
        /// The title for lists; empty to remove it.
        public var title: String?

        /// Creates a change.
        public init(name: String? = nil, title: String? = nil) {
            self.name = name
            self.title = title
        }
    }
}
