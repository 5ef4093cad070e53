import Foundation
public import GRDB

/// One asset, as the catalogue knows it.
public struct AssetRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord, OrderedRecord {
    /// The table's name.
    public static let databaseTableName = "asset"
    /// Our own id, also the bundle's name: letters, digits and `-`. Never changes.
    public var id: String
    /// What the user calls it, unique but for what revises it; in URLs and on the command line.
    public var name: String
    /// What a list shows, if the user gave it.
    public var title: String?
    /// The URL that leads to it, with whatever secrets it has: a way to fetch, never the identity.
    public var origin: String
    /// When it was first asked for, in seconds since 1970.
    public var created: Int64
    /// The header fields that the user gave for `origin`, a line each; nil for none. Secret.
    public var fields: String?
    /// The id of the asset whose new content it is, and in whose place it is to come; nil for most.
    public var revises: String?
    /// Whether somebody else on the network gave `origin`, and the user has not given it since: it may not lead to a
    /// private address then. Nil for most.
    public var fromNetwork: Bool?

    /// Makes a record of its fields.
    public init(
        id: String, name: String, title: String?, origin: String, created: Int64, fields: String? = nil,
        revises: String? = nil, fromNetwork: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.origin = origin
        self.created = created
        self.fields = fields
        self.revises = revises
        self.fromNetwork = fromNetwork
    }

    /// See `OrderedRecord`.
    static let columns = ["id", "name", "title", "origin", "created", "fields", "revises", "fromNetwork"]

    /// See `OrderedRecord`.
    init(ordered row: Row) throws {
        (id, name, title) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2))
        (origin, created) = (try row.decode(atIndex: 3), try row.decode(atIndex: 4))
        (fields, revises) = (try row.decode(atIndex: 5), try row.decode(atIndex: 6))
        fromNetwork = try row.decode(atIndex: 7)
    }
}

/// One playlist as it was fetched.
public struct PlaylistRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord, OrderedRecord {
    /// The table's name.
    public static let databaseTableName = "playlist"
    /// The asset's id.
    public var asset: String
    /// The rendition's id, or the empty text for the playlist that the origin URL leads to.
    public var rendition: String
    /// The URL after redirects: what references in `body` are relative to.
    public var url: String
    /// The playlist's text, decoded, as the origin sent it.
    public var body: [UInt8]
    /// The variables of the multivariant playlist at that time, which `body` may import; nil where there are none.
    public var imports: [String: String]?
    /// When it was fetched, in seconds since 1970.
    public var fetched: Int64

    /// Makes a record of its fields.
    public init(
        asset: String, rendition: String, url: String, body: [UInt8], imports: [String: String]? = nil, fetched: Int64
    ) {
        self.asset = asset
        self.rendition = rendition
        self.url = url
        self.body = body
        self.imports = imports
        self.fetched = fetched
    }

    /// Bytes go in as a BLOB, not as the JSON array that Codable would make of them.
    ///
    /// - Throws: an error for what no Weir has written; a plain `row["asset"]` would end the process.
    public init(row: Row) throws {
        asset = try row.decode(forColumn: "asset")
        rendition = try row.decode(forColumn: "rendition")
        url = try row.decode(forColumn: "url")
        body = Array(try row.decode(Data.self, forColumn: "body"))
        imports = Self.imports(try row.decode(String?.self, forColumn: "imports"))
        fetched = try row.decode(forColumn: "fetched")
    }

    /// See `OrderedRecord`.
    static let columns = ["asset", "rendition", "url", "body", "imports", "fetched"]

    /// See `OrderedRecord`.
    init(ordered row: Row) throws {
        (asset, rendition, url) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1), try row.decode(atIndex: 2))
        body = try row.withUnsafeData(atIndex: 3) { Array($0 ?? Data()) }
        (imports, fetched) = (Self.imports(try row.decode(atIndex: 4)), try row.decode(atIndex: 5))
    }

    private static func imports(_ text: String?) -> [String: String]? {
        text.flatMap { try? JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
    }

    /// See `init(row:)`.
    public func encode(to container: inout PersistenceContainer) throws {
        container["asset"] = asset
        container["rendition"] = rendition
        container["url"] = url
        container["body"] = Data(body)
        container["imports"] = try imports.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        container["fetched"] = fetched
    }
}

/// The number of one key of an asset: `keys/<number>.key` holds what the URL gave.
public struct KeyRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    /// The table's name.
    public static let databaseTableName = "key"
    /// The asset's id.
    public var asset: String
    /// From 0 on, in the order in which the keys were met. Never changes.
    public var number: Int
    /// The key's absolute URL.
    public var url: String
    /// See `KeyLife`, as all that follow; in seconds since 1970.
    public var came: Int64?
    /// See `KeyLife`.
    public var firstPlayed: Int64?
    /// See `KeyLife`.
    public var expires: Int64?
    /// See `KeyLife`.
    public var dated: Int64?
    /// See `KeyLife`.
    public var lapsed: Int64?
    /// See `KeyLife`.
    public var invalidated: Int64?
    /// See `KeyLife`: 64 hexadecimal digits.
    public var digest: String?

    /// Makes a record of its fields.
    public init(asset: String, number: Int, url: String, _ life: KeyLife = KeyLife()) {
        self.asset = asset
        self.number = number
        self.url = url
        (came, firstPlayed, expires, dated) = (life.came, life.firstPlayed, life.expires, life.dated)
        (lapsed, invalidated, digest) = (life.lapsed, life.invalidated, life.digest?.description)
    }

    /// What it says of the key's time.
    public var life: KeyLife {
        var life = KeyLife()
        (life.came, life.firstPlayed, life.expires, life.dated) = (came, firstPlayed, expires, dated)
        (life.lapsed, life.invalidated) = (lapsed, invalidated)
        life.digest = digest.flatMap { Digest(hexadecimal: $0.utf8) }
        return life
    }
}

/// One download: what was asked for, and how far it is.
public struct DownloadRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord, OrderedRecord {
    /// The table's name.
    public static let databaseTableName = "download"
    /// The asset's id: one download an asset.
    public var asset: String
    /// The ids of the renditions to be kept, separated by blanks, the video first.
    public var renditions: String
    /// The state's persistent name, as `Download.State` spells it.
    public var state: String
    /// What is wanted, as JSON with a version of its own; nil from a Weir that kept none.
    public var task: String?
    /// What it waits for, as `Download.Need` spells it.
    public var need: String?
    /// The code of the error that ended it, if one did.
    public var errorCode: String?
    /// The error in a sentence.
    public var errorMessage: String?
    /// When it was asked for, in seconds since 1970.
    public var created: Int64

    /// Makes a record of its fields.
    public init(
        asset: String, renditions: String, state: String, task: String? = nil, need: String? = nil,
        errorCode: String? = nil, errorMessage: String? = nil, created: Int64
    ) {
        self.asset = asset
        self.renditions = renditions
        self.state = state
        self.task = task
        self.need = need
        self.errorCode = errorCode
        self.errorMessage = errorMessage
        self.created = created
    }

    /// See `OrderedRecord`.
    static let columns = ["asset", "renditions", "state", "task", "need", "errorCode", "errorMessage", "created"]

    /// See `OrderedRecord`.
    init(ordered row: Row) throws {
        (asset, renditions) = (try row.decode(atIndex: 0), try row.decode(atIndex: 1))
        (state, task, need) = (try row.decode(atIndex: 2), try row.decode(atIndex: 3), try row.decode(atIndex: 4))
        (errorCode, errorMessage) = (try row.decode(atIndex: 5), try row.decode(atIndex: 6))
        created = try row.decode(atIndex: 7)
    }
}

/// One rendition whose live playlist is recorded, or was: its text is the file `recording.m3u8` in the rendition's
/// folder.
public struct RecordingRecord: Codable, Equatable, Sendable, FetchableRecord, PersistableRecord {
    /// The table's name.
    public static let databaseTableName = "recording"
    /// The asset's id.
    public var asset: String
    /// The rendition's id; `media` where the origin URL leads to a media playlist.
    public var rendition: String

    /// Makes a record of its fields.
    public init(asset: String, rendition: String) {
        self.asset = asset
        self.rendition = rendition
    }
}
