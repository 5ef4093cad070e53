import GRDB

/// The rows of assets in the database.
extension Catalogue {
    /// Writes rows over the former ones of the same keys.
    static func upsert(_ contents: Contents, _ database: Database) throws {
        for record in contents.assets { try record.upsert(database) }
        for record in contents.playlists { try record.upsert(database) }
        for record in contents.keys { try record.upsert(database) }
        for record in contents.downloads { try record.upsert(database) }
        for record in contents.recordings { try record.insert(database, onConflict: .ignore) }
        for record in contents.storage { try record.upsert(database) }
        for record in contents.places { try record.upsert(database) }
    }

    /// All rows of an asset, without the revision: nil for one that is not there.
    private static func unnumbered(_ id: String, _ database: Database) throws -> AssetRows? {
        guard let asset = try AssetRecord.fetchOne(database, key: id) else { return nil }
        let own = Column("asset") == id
        return AssetRows(
            revision: 0, asset: asset,
            belongings: Contents(
                playlists: try PlaylistRecord.filter(own).fetchAll(database),
                keys: try KeyRecord.filter(own).order(Column("number")).fetchAll(database),
                downloads: try DownloadRecord.filter(own).fetchAll(database),
                recordings: try RecordingRecord.filter(own).fetchAll(database),
                storage: try StorageRecord.filter(own).fetchAll(database),
                places: try PlaceRecord.filter(own).fetchAll(database)))
    }

    /// All rows of an asset: nil for one that is not there.
    static func rows(of id: String, _ database: Database) throws -> AssetRows? {
        guard var rows = try unnumbered(id, database) else { return nil }
        rows.revision = try revision(of: id, database)
        return rows
    }

    private static func revision(of id: String, _ database: Database) throws -> Int {
        try ChecksumRecord.fetchOne(database, key: id)?.revision ?? 0
    }

    /// Notes what the rows of an asset are now, in the transaction that changed them; nothing for one that is not there.
    ///
    /// - Returns: the revision that they have now.
    static func sum(_ id: String, _ database: Database) throws -> Int {
        guard var rows = try rows(of: id, database) else { return 0 }
        rows.revision += 1
        try ChecksumRecord(rows).upsert(database)
        return rows.revision
    }

    /// Lets the database say this and nothing else.
    ///
    /// - Parameter assets: those that revise others behind those.
    static func rewrite(_ assets: [AssetRows], _ database: Database) throws {
        try AssetRecord.deleteAll(database)
        for rows in assets {
            try rows.asset.insert(database)
            try upsert(rows.belongings, database)
            try ChecksumRecord(rows).insert(database)
        }
    }

    /// Each table with its columns, their kinds and keys, what it refers to, and its indices: without that no statement of
    /// ours would do what it should.
    static func shape(_ database: Database) throws -> Set<String> {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT 'column', t.name, c.name, c.type, c."notnull", c.pk
                    FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'
                UNION ALL SELECT 'reference', t.name, f."from", f."table", f."to", f.on_delete
                    FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table'
                UNION ALL SELECT 'index', t.name, i.name, i."unique", i.partial, c.name
                    FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
                    WHERE t.type = 'table'
                """)
        return Set(rows.map { $0.databaseValues.map(\.description).joined(separator: " ") })
    }
}
