import GRDB

/// The rows of assets that a transaction changes, and the changes of the checksums that follow from these rows alone.
struct RowChanges {
    /// The change of each asset's checksum, by the asset's id.
    private var differences: [String: RowSum] = [:]

    /// Writes rows, replacing those with the same keys. Throws for a row of an asset that is not in the catalogue.
    mutating func save(_ contents: Catalogue.Contents, _ database: Database) throws {
        for table in Catalogue.Contents.tables {
            try table.replace(contents, database, &differences)
        }
    }

    /// Deletes the playlists of renditions.
    mutating func deletePlaylists(of renditions: [String], of asset: String, _ database: Database) throws {
        for rendition in renditions {
            let condition = "WHERE asset = ? AND rendition = ?"
            let key: StatementArguments = [asset, rendition]
            for row in try PlaylistRecord.all(database, condition, arguments: key) {
                differences[asset, default: RowSum()].toggle(row.digest)
            }
            try database.execute(sql: "DELETE FROM playlist \(condition)", arguments: key)
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
        }
    }

    /// Writes the new checksums, and counts one more revision of each changed asset. Returns their new revisions.
    func finish(_ database: Database) throws -> [String: Int] {
        var revisions: [String: Int] = [:]
        for (id, difference) in differences {
            let former = try ChecksumRecord.all(of: id, database).first
            var sum = RowSum()
            if let known = former.flatMap({ RowSum($0.sum) }) {
                sum = known
                sum.apply(difference)
            } else {
                // A new asset, or one with the checksum of an earlier Weir.
                guard let rows = try Catalogue.rows(of: id, database) else { continue }
                sum = rows.contents.sum
            }
            let revision = (former?.revision ?? 0) + 1
            try ChecksumRecord(id, revision, sum).upsert(database)
            revisions[id] = revision
        }
        return revisions
    }
}
