import EventLoop
import FoundationEssentials
import HTTPMessage
import Store

/// `asset.json`: what a bundle is, without secrets.
struct BundleIdentity: Codable {
    /// The number that stands in `format` of what this Weir writes. It reads that and what is older.
    static let currentFormat = 1
    /// The file's name.
    static let fileName = "asset.json"

    /// The format of the bundle.
    var format = currentFormat
    /// The asset's id.
    let id: String
    /// What it is called.
    let name: String
    /// For display.
    let title: String?
    /// The image's file in this folder.
    let artwork: String?
    /// Without its query, where tokens are; nil where there is none.
    let origin: String?
    /// When it was first asked for, in seconds since 1970.
    let created: Int64
    /// What the user wants, where that is anything.
    let policy: StoragePolicy?
    /// When it was played first, where a window counts from that.
    let firstPlayed: Int64?
    /// What becomes of its keys, where they are not used for ever.
    let keys: [Key]?

    /// What becomes of one key, as `KeyLife` has it: not the key.
    struct Key: Codable {
        let number: Int
        let came, firstPlayed, expires, dated, lapsed, invalidated: Int64?

        init(_ number: Int, _ life: KeyLife) {
            self.number = number
            (came, firstPlayed, expires) = (life.came, life.firstPlayed, life.expires)
            (dated, lapsed, invalidated) = (life.dated, life.lapsed, life.invalidated)
        }

        var life: KeyLife {
            var life = KeyLife()
            (life.came, life.firstPlayed, life.expires) = (came, firstPlayed, expires)
            (life.dated, life.lapsed, life.invalidated) = (dated, lapsed, invalidated)
            return life
        }
    }

    /// Of an asset as it is.
    @LoopActor init(of asset: Asset) {
        (id, name, title, created) = (asset.id, asset.name, asset.title, asset.created)
        artwork = asset.artworkKind?.fileName
        origin = asset.origin.isPlaceholder ? nil : asset.origin.redacted
        let life = asset.life
        policy = life.policy == StoragePolicy() ? nil : life.policy
        firstPlayed = life.policy.afterFirstPlay != nil ? life.firstPlayed : nil
        let ring = asset.keys
        keys = ring.isLimited ? ring.allNumbers.map { Key($0, ring.life(of: $0)) } : nil
    }

    /// Reads the text of the file; nil where it is another program's.
    ///
    /// - Throws: `badImport` when a newer Weir has written it.
    init?(_ text: [UInt8], at path: String) throws(LibraryError) {
        struct Version: Decodable { let format: Int }
        let data = Data(text)
        guard let version = try? JSONDecoder().decode(Version.self, from: data) else { return nil }
        guard version.format <= Self.currentFormat else {
            throw LibraryError(
                .badImport,
                "\(path) is of format \(version.format), which a newer Weir has written: this one knows up to "
                    + "\(Self.currentFormat)")
        }
        guard let identity = try? JSONDecoder().decode(BundleIdentity.self, from: data) else { return nil }
        self = identity
    }

    /// The text of the file.
    func text() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
