import GRDB
import Orders

/// One asset in the catalogue.
public struct AssetRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "asset"
    var asset: String { id }
    /// Weir's own id, and the bundle's folder name: letters, digits and `-`. Never changes.
    public var id: String
    /// The user's name for it, used in URLs and commands. Unique, except that a revision shares its asset's name.
    public var name: String
    /// The title in lists; nil if the user gave none.
    public var title: String?
    /// The URL from which it is fetched, with any secrets in it. Never its identity.
    public var origin: String
    /// Time of the first request for it, in seconds since 1970.
    public var created: Int64
    /// The header fields that the user gave for `origin`, one per line; nil for none. Secret.
    public var fields: String?
    /// The id of the asset that this one replaces once it is complete; nil for most assets.
    public var revises: String?
    /// True if another computer, not the user, set `origin` last: it may not lead to a private address. Usually nil.
    public var fromNetwork: Bool?
    /// The settings for the way to `origin`, in JSON; nil for none. Secret.
    public var route: String?
    /// The user's description; nil without one, and for one that came with a download.
    public var note: String?
    /// For a recording: the id of the channel's asset; empty if an earlier Weir made it, for which both were one asset. Nil
    /// for any other asset. A recording has its channel's `origin`.
    public var recordingOf: String?

    /// Makes a record of its fields.
    public init(
        id: String, name: String, title: String?, origin: String, created: Int64, fields: String? = nil,
        revises: String? = nil, fromNetwork: Bool? = nil, route: String? = nil, recordingOf: String? = nil
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.origin = origin
        self.created = created
        self.fields = fields
        self.revises = revises
        self.fromNetwork = fromNetwork
        self.route = route
        self.recordingOf = recordingOf
    }

    static let columns: [RowColumn<Self>] = [
        .init("id", \.id), .init("name", \.name), .init("title", \.title), .init("origin", \.origin),
        .init("created", \.created), .init("fields", \.fields), .init("revises", \.revises),
        .init("fromNetwork", \.fromNetwork), .init("route", \.route),
        .init("note", \.note), .init("recordingOf", \.recordingOf),
    ]

    static let blank = AssetRecord(id: "", name: "", title: nil, origin: "", created: 0)

    static func exists(_ id: String, _ database: Database) throws -> Bool {
        try !all(database, "WHERE id = ?", arguments: [id]).isEmpty
    }
}

/// One playlist as it was fetched.
public struct PlaylistRecord: Equatable, Sendable, AssetTableRow {
    static let table = "playlist"
    /// The asset's id.
    public var asset: String
    /// The rendition's id; empty for the playlist at the origin URL.
    public var rendition: String
    /// The URL after redirects: the base of the references in `body`.
    public var url: String
    /// The playlist's text as the origin sent it, without content coding.
    public var body: [UInt8]
    /// The variables of the multivariant playlist at that time, which `body` may import; nil if there are none.
    public var imports: [String: String]?
    /// Time of the fetch, in seconds since 1970.
    public var fetched: Int64
    /// True if the playlist ended while it was live: another broadcast may begin at its URL. Usually nil.
    public var wasLive: Bool?

    /// Makes a record of its fields.
    public init(
        asset: String, rendition: String, url: String, body: [UInt8], imports: [String: String]? = nil, fetched: Int64,
        wasLive: Bool? = nil
    ) {
        self.asset = asset
        self.rendition = rendition
        self.url = url
        self.body = body
        self.imports = imports
        self.fetched = fetched
        self.wasLive = wasLive
    }

    static let keyCount = 2
    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("rendition", \.rendition), .init("url", \.url), .init("body", \.body),
        .init("imports", \.imports), .init("fetched", \.fetched), .init("wasLive", \.wasLive),
    ]

    static let blank = PlaylistRecord(asset: "", rendition: "", url: "", body: [], fetched: 0)
}

/// The number of one key of an asset: `keys/<number>.key` holds the key itself.
public struct KeyRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "key"
    /// The asset's id.
    public var asset: String
    /// Counts from 0 in the order in which keys were found. Never changes.
    public var number: Int
    /// The key's absolute URL.
    public var url: String
    // See `KeyLife`; times in seconds since 1970.
    var came, firstPlayed, expires, dated, expiredAt, revoked: Int64?
    /// 64 hexadecimal digits.
    var digest: String?

    /// Makes a record of its fields.
    public init(asset: String, number: Int, url: String, _ life: KeyLife = KeyLife()) {
        self.asset = asset
        self.number = number
        self.url = url
        came = life.came
        firstPlayed = life.firstPlayed
        expires = life.expires
        dated = life.dated
        expiredAt = life.expiredAt
        revoked = life.revoked
        digest = life.digest?.description
    }

    static let keyCount = 2
    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("number", \.number), .init("url", \.url), .init("came", \.came),
        .init("firstPlayed", \.firstPlayed), .init("expires", \.expires), .init("dated", \.dated),
        .init("expiredAt", \.expiredAt), .init("revoked", \.revoked), .init("digest", \.digest),
    ]

    static let blank = KeyRecord(asset: "", number: 0, url: "")

    /// The times of the key's life.
    public var life: KeyLife {
        var life = KeyLife()
        life.came = came
        life.firstPlayed = firstPlayed
        life.expires = expires
        life.dated = dated
        life.expiredAt = expiredAt
        life.revoked = revoked
        life.digest = digest.flatMap { Digest(hexadecimal: $0.utf8) }
        return life
    }
}

/// One download: its task and its state. An asset has at most one.
public struct DownloadRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "download"
    /// The asset's id.
    public var asset: String
    /// The ids of the chosen renditions, separated by blanks, the video first.
    public var renditions: String
    /// The state's persistent name, as in `JobState`.
    public var state: String
    /// The task, as JSON with a version of its own; nil for none.
    public var task: String?
    /// The account of its latest run, as JSON; nil before the first.
    public var account: String?
    /// The thing it waits for, as in `Need`.
    public var need: String?
    /// The code of the error that ended it, if one did.
    public var errorCode: String?
    /// That error in a sentence.
    public var errorMessage: String?
    /// Time of the request for it, in seconds since 1970.
    public var created: Int64

    /// Makes a record of its fields.
    public init(
        asset: String, renditions: String, state: String, task: String? = nil, account: String? = nil,
        need: String? = nil, errorCode: String? = nil, errorMessage: String? = nil, created: Int64
    ) {
        self.asset = asset
        self.renditions = renditions
        self.state = state
        self.task = task
        self.account = account
        self.need = need
        self.errorCode = errorCode
        self.errorMessage = errorMessage
        self.created = created
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("renditions", \.renditions), .init("state", \.state), .init("task", \.task),
        .init("need", \.need), .init("errorCode", \.errorCode), .init("errorMessage", \.errorMessage),
        .init("created", \.created), .init("account", \.account),
    ]

    static let blank = DownloadRecord(asset: "", renditions: "", state: "", created: 0)
}

/// One rendition whose live playlist is or was recorded: its text is the file `recording.m3u8` in the rendition's folder.
public struct RecordingRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "recording"
    /// The asset's id.
    public var asset: String
    /// The rendition's id; `media` if the origin URL leads to a media playlist.
    public var rendition: String
    /// Makes a record of its fields.
    public init(asset: String, rendition: String) {
        self.asset = asset
        self.rendition = rendition
    }
    static let keyCount = 2
    static let columns: [RowColumn<Self>] = [.init("asset", \.asset), .init("rendition", \.rendition)]
    static let blank = RecordingRecord(asset: "", rendition: "")
}

/// The policy of one asset and the times when it was played. An asset that has neither has no row.
public struct StorageRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "storage"
    /// The asset's id.
    public var asset: String
    // See `StoragePolicy` and `KeyTerms`; dates in seconds since 1970, the other times in seconds.
    var expires, afterFirstPlay: Int64?
    /// The persistent name of `Priority`.
    var priority: String
    var isExcluded: Bool
    var keysExpire, keysAfterFirstPlay: Int64?
    // See `StorageLife`; dates in seconds since 1970.
    var firstPlayed, lastPlayed, purged, purgedBytes: Int64?
    /// The persistent name of `Purge.Cause`.
    var purgeCause: String?

    /// Makes the record of an asset's storage.
    public init(asset: String, _ life: StorageLife) {
        self.asset = asset
        expires = life.policy.expires
        afterFirstPlay = life.policy.afterFirstPlay
        priority = life.policy.priority.rawValue
        isExcluded = life.policy.backup == .exclude
        keysExpire = life.policy.keys.lifetime
        keysAfterFirstPlay = life.policy.keys.afterFirstPlay
        firstPlayed = life.firstPlayed
        lastPlayed = life.lastPlayed
        purged = life.purge?.date
        purgedBytes = life.purge?.bytes
        purgeCause = life.purge?.cause.rawValue
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("expires", \.expires), .init("afterFirstPlay", \.afterFirstPlay),
        .init("priority", \.priority), .init("isExcluded", \.isExcluded), .init("keysExpire", \.keysExpire),
        .init("keysAfterFirstPlay", \.keysAfterFirstPlay), .init("firstPlayed", \.firstPlayed),
        .init("lastPlayed", \.lastPlayed), .init("purged", \.purged), .init("purgedBytes", \.purgedBytes),
        .init("purgeCause", \.purgeCause),
    ]

    static let blank = StorageRecord(asset: "", StorageLife())

    /// The asset's storage. Words that only a newer Weir knows read as the default.
    public var life: StorageLife {
        var life = StorageLife()
        let backup: StoragePolicy.Backup = isExcluded ? .exclude : .include
        life.policy = StoragePolicy(
            expires: expires, afterFirstPlay: afterFirstPlay,
            priority: Priority(rawValue: priority) ?? .default, backup: backup,
            keys: KeyTerms(lifetime: keysExpire, afterFirstPlay: keysAfterFirstPlay))
        life.firstPlayed = firstPlayed
        life.lastPlayed = lastPlayed
        if let purged, let purgedBytes {
            let cause = purgeCause.flatMap(Purge.Cause.init) ?? .space
            life.purge = Purge(date: purged, bytes: purgedBytes, cause: cause)
        }
        return life
    }
}

/// The volume of an asset's bundle. Only assets that were moved have a row.
///
/// A move is written before it begins, and again in one step when the bundle is complete on its new volume. So whenever the
/// process ends, exactly one volume is in use, and the other one, which may hold a copy, is known.
public struct VolumeRecord: Codable, Equatable, Sendable, AssetTableRow {
    static let table = "volume"
    /// The asset's id.
    public var asset: String
    /// The volume in use; nil for the store's own folder.
    var path, mark: String?
    /// True if parts of the bundle may be on another volume, from which or to which it was being moved.
    var hasOther: Bool
    /// The other volume; nil for the store's own folder.
    var otherPath, otherMark: String?

    /// Makes the record of a bundle.
    public init(asset: String, in volume: Volume, other: Volume? = nil) {
        self.asset = asset
        if !volume.isHome {
            path = volume.path
            mark = volume.mark
        }
        hasOther = other != nil
        if let other, !other.isHome {
            otherPath = other.path
            otherMark = other.mark
        }
    }

    private init() {
        asset = ""
        hasOther = false
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("path", \.path), .init("mark", \.mark), .init("hasOther", \.hasOther),
        .init("otherPath", \.otherPath), .init("otherMark", \.otherMark),
    ]

    static let blank = VolumeRecord()
}
