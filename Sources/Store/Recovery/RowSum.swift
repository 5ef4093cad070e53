/// The checksum of rows: the exclusive or of their digests, in any order. A write computes it from the rows that it changes alone,
/// so that the work of one write does not grow with the rows of its asset.
struct RowSum: Equatable, Sendable, CustomStringConvertible {
    /// Those of earlier Weirs have none; see `Catalogue.Contents.formerSum`.
    private static let prefix = "rows:"
    private(set) var digest = Digest.ofNothing

    init() {}

    /// Parses a stored checksum. Returns nil for one of an earlier Weir, and for a damaged one.
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let digest = Digest(hexadecimal: text.utf8.dropFirst(Self.prefix.utf8.count))
        else { return nil }
        self.digest = digest
    }

    /// Adds a row, or removes one that was added.
    mutating func toggle(_ row: Digest) { digest = digest ^ row }

    /// Adds and removes the rows of a difference.
    mutating func apply(_ difference: RowSum) { toggle(difference.digest) }

    /// The stored form.
    var description: String { Self.prefix + digest.description }
}

/// The checksum of an asset's rows, written in the same transaction as the rows.
struct ChecksumRecord: CatalogueRow {
    static let table = "checksum"
    var asset: String
    var revision: Int
    /// A `RowSum`; that of an earlier Weir until the asset's first change.
    var sum: String

    init(_ rows: AssetRows) {
        self.init(asset: rows.asset.id, revision: rows.revision, sum: rows.contents.sum)
    }

    init(asset: String, revision: Int, sum: RowSum) {
        self.init(asset: asset, revision: revision, sum: sum.description)
    }

    private init(asset: String, revision: Int, sum: String) {
        self.asset = asset
        self.revision = revision
        self.sum = sum
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("revision", \.revision), .init("sum", \.sum),
    ]

    static let blank = ChecksumRecord(asset: "", revision: 0, sum: "")
}

extension Catalogue.Contents {
    /// The checksum of all rows.
    var sum: RowSum {
        var sum = RowSum()
        for table in Self.tables {
            table.sum(self, &sum)
        }
        return sum
    }

    /// The checksum that earlier Weirs have written: one digest of all rows, table by table. It stands for an asset's rows in the
    /// catalogue until they are changed, and in a record until it is written again.
    var formerSum: Digest {
        var digest = RowDigest()
        for table in Self.tables {
            table.addInOrder(self, &digest)
        }
        return digest.digest()
    }
}
