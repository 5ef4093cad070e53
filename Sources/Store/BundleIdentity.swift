import FoundationEssentials
package import Orders

/// The contents of `asset.json`, which identifies a bundle; without secrets.
package struct BundleIdentity: Codable, Sendable {
    /// The value of `format` in bundles that this Weir writes. It reads this format and older ones.
    package static let currentFormat = 1
    package static let fileName = "asset.json"
    /// The format of the bundle.
    package var format = currentFormat
    package let id: String
    package let name: String
    package let title: String?
    /// The user's description; nil without one, and for one that came with a download.
    package var note: String?
    /// The name of the image file beside `asset.json`.
    package var artwork: String?
    /// The origin's URL without its query, which may have tokens; nil if there is no origin.
    package var origin: String?
    /// The time of the first request for the asset, in seconds since 1970.
    package private(set) var created: Int64
    /// The user's storage policy; nil for the default.
    package var policy: StoragePolicy?
    /// The time of the first playback, in seconds since 1970; nil unless the policy counts from that.
    package var firstPlayed: Int64?
    /// The lifetime of each key; nil if no key has a limit.
    package var keys: [Key]?
    /// The tracks that the user attached; nil for none.
    package var attachments: [Attachment]?
    /// The stored interstitials; nil for none.
    package var interstitials: [Interstitial]?

    /// A track that the user attached: a folder of the bundle.
    package struct Attachment: Codable, Equatable, Sendable {
        /// The name of the folder.
        package let id: String
        package let kind: AttachmentKind
        /// For display.
        package var name: String
        /// An RFC 5646 tag.
        package var language: String?
        /// True for subtitles that translate only what the sound does not say.
        package var isForced: Bool?
        /// True for subtitles that players show unasked.
        package var isDefault: Bool?
        /// Width and height of a thumbnail in pixels, if all are of one size and in a regular grid.
        package var size: [Int]?

        package init(id: String, kind: AttachmentKind, name: String) {
            self.id = id
            self.kind = kind
            self.name = name
        }
    }

    /// An interstitial that is stored with the asset.
    package struct Interstitial: Codable, Equatable, Sendable {
        /// The name of its file in the folder `interstitials`: a multivariant playlist, or a list in JSON.
        package let file: String
        /// The folders of its renditions; for a list, those of all its presentations.
        package let renditions: [String]

        package init(file: String, renditions: [String]) {
            self.file = file
            self.renditions = renditions
        }
    }

    /// The lifetime of one key, as in `KeyLife`, without the key itself.
    package struct Key: Codable, Sendable {
        package let number: Int
        fileprivate(set) var came, firstPlayed, expires, dated, expiredAt, revoked: Int64?

        fileprivate static var times: [WritableKeyPath<Self, Int64?>] {
            [\.came, \.firstPlayed, \.expires, \.dated, \.expiredAt, \.revoked]
        }

        package init(_ number: Int, _ life: KeyLife) {
            self.number = number
            came = life.came
            firstPlayed = life.firstPlayed
            expires = life.expires
            dated = life.dated
            expiredAt = life.expiredAt
            revoked = life.revoked
        }

        package var life: KeyLife {
            var life = KeyLife()
            life.came = came
            life.firstPlayed = firstPlayed
            life.expires = expires
            life.dated = dated
            life.expiredAt = expiredAt
            life.revoked = revoked
            return life
        }
    }

    /// Makes the identity of a bundle whose other properties are nil.
    package init(id: String, name: String, title: String?, created: Int64) {
        self.id = id
        self.name = name
        self.title = title
        self.created = created
    }
    /// Reads the text of the file; nil if another program wrote it. Throws `newer` if a newer Weir wrote it.
    package init?(_ text: [UInt8], at path: String) throws(StoreError) {
        struct Version: Decodable { let format: Int }
        let data = Data(text)
        guard let version = try? JSONDecoder().decode(Version.self, from: data) else { return nil }
        guard version.format <= Self.currentFormat else {
            throw StoreError(
                .newer, path: path,
                detail: "it has format \(version.format), which a newer Weir has written; this one knows formats up to "
                    + "\(Self.currentFormat)")
        }
        guard let identity = try? JSONDecoder().decode(BundleIdentity.self, from: data) else { return nil }
        self = identity
        clampTimes()
    }

    /// Limits all times and lifetimes to numbers with which no arithmetic overflows: the file may be anybody's.
    private mutating func clampTimes() {
        created = created.clampedAsTime
        firstPlayed = firstPlayed?.clampedAsTime
        policy = policy.map { policy in
            var policy = policy
            policy.expires = policy.expires?.clampedAsTime
            policy.afterFirstPlay = policy.afterFirstPlay?.clampedAsTime
            policy.keys.lifetime = policy.keys.lifetime?.clampedAsTime
            policy.keys.afterFirstPlay = policy.keys.afterFirstPlay?.clampedAsTime
            return policy
        }
        keys = keys?.map { key in
            var key = key
            for path in Key.times {
                key[keyPath: path] = key[keyPath: path]?.clampedAsTime
            }
            return key
        }
    }

    package func text() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

extension Int64 {
    /// From 0 to thirty million years, in seconds.
    fileprivate var clampedAsTime: Int64 { Swift.min(Swift.max(self, 0), 1 << 50) }
}
