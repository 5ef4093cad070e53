import GRDB

/// The rows of one asset that a transaction has changed.
struct AssetChange: Equatable, Sendable {
    /// The asset's id.
    let asset: String
    /// The revision of the asset's rows after the transaction.
    var revision = 0
    /// The renditions whose playlists were deleted, before any row was written.
    var without: [String] = []
    /// The rows that were written, in their order.
    var contents = Catalogue.Contents()

    /// The checksum of the change itself.
    var sum: RowSum {
        var sum = contents.sum
        for rendition in without {
            var digest = RowDigest()
            digest.begin("without")
            digest.add("rendition", rendition)
            sum.toggle(digest.digest())
        }
        return sum
    }
}

/// The rows of assets that a transaction changes, and the changes of the checksums that follow from these rows alone.
struct RowChanges {
    private var changes: [String: AssetChange] = [:]
    /// The change of each asset's checksum.
    private var differences: [String: RowSum] = [:]

    /// Writes rows, replacing those with the same keys. Throws for a row of an asset that is not in the catalogue.
    mutating func save(_ contents: Catalogue.Contents, _ database: Database) throws {
        for table in Catalogue.Contents.tables {
            try table.replace(contents, database, &differences)
        }
        for (id, rows) in contents.byAsset() {
            changes[id, default: AssetChange(asset: id)].contents.append(rows)
        }
    }

    /// Deletes the playlists of renditions. Call it before rows are written.
    mutating func deletePlaylists(of renditions: [String], of asset: String, _ database: Database) throws {
        for rendition in renditions {
            let condition = "WHERE asset = ? AND rendition = ?"
            let key: StatementArguments = [asset, rendition]
            for row in try PlaylistRecord.all(database, condition, arguments: key) {
                differences[asset, default: RowSum()].toggle(row.digest)
            }
            try database.execute(sql: "DELETE FROM playlist \(condition)", arguments: key)
            changes[asset, default: AssetChange(asset: asset)].without.append(rendition)
        }
    }

    /// Records that the asset that others revise was deleted: their `revises` has become NULL.
    /// - Parameter revisions: their rows before.
    mutating func loseRevised(_ revisions: [AssetRecord]) {
        for former in revisions {
            var asset = former
            asset.revises = nil
            differences[asset.id, default: RowSum()].toggle(former.digest)
            differences[asset.id, default: RowSum()].toggle(asset.digest)
            changes[asset.id, default: AssetChange(asset: asset.id)].contents.assets.append(asset)
        }
    }

    /// Writes the new checksums, and counts one more revision of each changed asset. Returns the changes.
    func finish(_ database: Database) throws -> [AssetChange] {
        var finished: [AssetChange] = []
        for (id, change) in changes {
            let former = try ChecksumRecord.all(of: id, database).first
            var sum = RowSum()
            if let known = former.flatMap({ RowSum($0.sum) }) {
                sum = known
                sum.apply(differences[id] ?? RowSum())
            } else {
                // A new asset, or one with the checksum of an earlier Weir.
                guard let rows = try Catalogue.rows(of: id, database) else { continue }
                sum = rows.contents.sum
            }
            var change = change
            change.revision = (former?.revision ?? 0) + 1
            try ChecksumRecord(asset: id, revision: change.revision, sum: sum).upsert(database)
            finished.append(change)
        }
        return finished
    }
}
