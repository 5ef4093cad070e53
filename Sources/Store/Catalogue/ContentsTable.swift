import GRDB

/// One of the tables with the rows of assets, and the property of its rows in `Catalogue.Contents`.
struct ContentsTable: Sendable {
    typealias Contents = Catalogue.Contents

    /// Reads the rows of one asset, or all rows for nil.
    let read: @Sendable (_ asset: String?, Database, _ into: inout Contents) throws -> Void
    /// Writes rows, replacing those with the same keys, and adds what that changes in the checksums of their assets.
    let replace: @Sendable (Contents, Database, _ differences: inout [String: RowSum]) throws -> Void
    /// Appends the rows of some contents to others.
    let append: @Sendable (Contents, _ to: inout Contents) -> Void
    /// Appends each row to the contents of its asset.
    let distribute: @Sendable (Contents, _ to: inout [String: Contents]) -> Void
    /// Removes each row that has the key of a later one.
    let keepLatest: @Sendable (inout Contents) -> Void
    /// Adds the rows to a checksum.
    let sum: @Sendable (Contents, inout RowSum) -> Void
    /// Adds the rows, in the order of their keys, to the checksum of an earlier Weir.
    let addInOrder: @Sendable (Contents, inout RowDigest) -> Void

    /// - Parameters:
    ///   - order: the SQL that sorts the rows.
    ///   - precedes: compares the keys of two rows; nil for a table with one row for each asset.
    init<Row: AssetTableRow>(
        _ rows: any WritableKeyPath<Contents, [Row]> & Sendable, order: String = "",
        precedes: (@Sendable (Row, Row) -> Bool)? = nil
    ) {
        read = { asset, database, contents in
            let read =
                if let asset {
                    try Row.all(of: asset, database, order: order)
                } else {
                    try Row.all(database, order)
                }
            contents[keyPath: rows] += read
        }
        replace = { contents, database, differences in
            for row in contents[keyPath: rows] {
                let former = try row.replace(database)
                if let former {
                    differences[row.asset, default: RowSum()].toggle(former.digest)
                }
                differences[row.asset, default: RowSum()].toggle(row.digest)
            }
        }
        append = { contents, others in others[keyPath: rows] += contents[keyPath: rows] }
        distribute = { contents, groups in
            for row in contents[keyPath: rows] {
                groups[row.asset, default: Contents()][keyPath: rows].append(row)
            }
        }
        keepLatest = { contents in
            var keys: Set<[DatabaseValue]> = []
            let latest = contents[keyPath: rows].reversed().filter { keys.insert($0.key).inserted }
            contents[keyPath: rows] = latest.reversed()
        }
        sum = { contents, sum in
            for row in contents[keyPath: rows] {
                sum.toggle(row.digest)
            }
        }
        addInOrder = { contents, digest in
            var sorted = contents[keyPath: rows]
            if let precedes {
                sorted.sort(by: precedes)
            }
            for row in sorted {
                row.add(to: &digest)
            }
        }
    }
}

extension Catalogue.Contents {
    /// All tables with the rows of assets, in the order in which they are written: the others refer to that of assets.
    static let tables = [
        ContentsTable(\.assets, order: "ORDER BY created, id"),
        ContentsTable(\.playlists) { $0.rendition < $1.rendition },
        ContentsTable(\.keys, order: "ORDER BY number") { $0.number < $1.number },
        ContentsTable(\.downloads, order: "ORDER BY created, rowid"),
        ContentsTable(\.recordings) { $0.rendition < $1.rendition },
        ContentsTable(\.storage),
        ContentsTable(\.volumes),
    ]

    /// True if there is no row of another asset than this one.
    func isOnly(of asset: String) -> Bool { byAsset().keys.allSatisfy { $0 == asset } }

    /// Groups the rows by asset id. An asset itself may be missing.
    func byAsset() -> [String: Catalogue.Contents] {
        var groups: [String: Catalogue.Contents] = [:]
        groups.reserveCapacity(assets.count)
        for table in Self.tables {
            table.distribute(self, &groups)
        }
        return groups
    }

    /// Appends other rows.
    mutating func append(_ contents: Catalogue.Contents) {
        for table in Self.tables {
            table.append(contents, &self)
        }
    }

    /// Removes each row that has the key of a later one.
    mutating func keepLatest() {
        for table in Self.tables {
            table.keepLatest(&self)
        }
    }

    init(of assets: [AssetRows]) {
        self.init()
        for rows in assets {
            append(rows.contents)
        }
    }
}
