import GRDB

struct AssetRows: Equatable, Sendable {
    /// Counts the transactions that changed any of the rows: of two states, the one with the higher revision is later.
    var revision: Int
    var asset: AssetRecord
    /// The asset's rows in all other tables.
    var belongings: Catalogue.Contents

    /// The checksum of the rows, whatever their order. It does not include the revision.
    var sum: Digest {
        var sum = RowSum()
        asset.add(to: &sum)
        for row in belongings.playlists.sorted(by: { $0.rendition < $1.rendition }) {
            row.add(to: &sum)
        }
        for row in belongings.keys.sorted(by: { $0.number < $1.number }) {
            row.add(to: &sum)
        }
        for row in belongings.downloads {
            row.add(to: &sum)
        }
        for row in belongings.recordings.sorted(by: { $0.rendition < $1.rendition }) {
            row.add(to: &sum)
        }
        for row in belongings.storage {
            row.add(to: &sum)
        }
        for row in belongings.volumes {
            row.add(to: &sum)
        }
        return sum.digest()
    }

    /// True if every row belongs to the asset.
    var isOfOneAsset: Bool { belongings.assets.isEmpty && belongings.owners.allSatisfy { $0 == asset.id } }
}

/// The checksum of an asset's rows, written in the same transaction as the rows.
struct ChecksumRecord: CatalogueRow {
    static let table = "checksum"
    var asset: String
    var revision: Int
    /// See `AssetRows.sum`; 64 hexadecimal digits.
    var sum: String
    init(_ rows: AssetRows) { self.init(rows.asset.id, rows.revision, rows.sum.description) }

    private init(_ asset: String, _ revision: Int, _ sum: String) {
        self.asset = asset
        self.revision = revision
        self.sum = sum
    }

    static let columns: [RowColumn<Self>] = [
        .init("asset", \.asset), .init("revision", \.revision), .init("sum", \.sum),
    ]

    static let blank = ChecksumRecord("", 0, "")
    /// The checksum; nil if `sum` is damaged.
    var digest: Digest? { Digest(hexadecimal: sum.utf8) }
}

extension Catalogue.Contents {
    /// The asset id of each row outside the table of assets.
    var owners: [String] {
        playlists.map(\.asset) + keys.map(\.asset) + downloads.map(\.asset) + recordings.map(\.asset)
            + storage.map(\.asset) + volumes.map(\.asset)
    }

    /// Groups the rows outside the table of assets by asset id. The asset itself may be missing.
    func belongings() -> [String: Catalogue.Contents] {
        var groups: [String: Catalogue.Contents] = [:]
        groups.reserveCapacity(assets.count)
        for row in playlists {
            groups[row.asset, default: .init()].playlists.append(row)
        }
        for row in keys {
            groups[row.asset, default: .init()].keys.append(row)
        }
        for row in downloads {
            groups[row.asset, default: .init()].downloads.append(row)
        }
        for row in recordings {
            groups[row.asset, default: .init()].recordings.append(row)
        }
        for row in storage {
            groups[row.asset, default: .init()].storage.append(row)
        }
        for row in volumes {
            groups[row.asset, default: .init()].volumes.append(row)
        }
        return groups
    }

    init(of assets: [AssetRows]) {
        self.init()
        for rows in assets {
            self.assets.append(rows.asset)
            playlists += rows.belongings.playlists
            keys += rows.belongings.keys
            downloads += rows.belongings.downloads
            recordings += rows.belongings.recordings
            storage += rows.belongings.storage
            volumes += rows.belongings.volumes
        }
    }
}
