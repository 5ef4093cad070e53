/// Rebuilds a catalogue from the rows of a damaged one and from the records of assets. Pure. Of an asset's rows and
/// record the later one counts; if the rows do not match their checksum, the record counts. Changed rows without a
/// record are kept as they are, unless another asset has their name or URL: then their id was damaged.
struct Restoration {
    private var sound: [String: AssetRows] = [:]
    private var changed: [String: AssetRows] = [:]
    private(set) var lost: Set<String>
    private(set) var restored: Set<String> = []

    init(_ reading: CatalogueReading) {
        lost = reading.lost
        for rows in reading.assets {
            if rows.revision > 0 {
                sound[rows.asset.id] = rows
            } else {
                changed[rows.asset.id] = rows
            }
        }
    }

    mutating func insert(_ rows: AssetRows) {
        let id = rows.asset.id
        changed[id] = nil
        lost.remove(id)
        restored.insert(id)
        sound[id] = rows
    }

    mutating func markUnreadable(_ id: String) {
        if sound[id] == nil {
            lost.insert(id)
        }
    }

    /// Returns all rows: first the assets with names and URLs of their own, then their revisions.
    mutating func finished() -> [AssetRows] {
        let all = Self.sorted(sound) + Self.sorted(changed)
        var used = UniqueFields()
        var assets = all.filter { $0.asset.revises == nil }.compactMap { withUniqueFields($0, &used) }
        let revisable = Set(assets.map(\.asset.id))
        var revisions: [AssetRows] = []
        for rows in all {
            guard let revised = rows.asset.revises else { continue }
            if revisable.contains(revised), used.revised.insert(revised).inserted {
                revisions.append(rows)
            } else if let rows = withUniqueFields(rows, &used) {
                assets.append(rows)
            }
        }
        lost.subtract(changed.keys)
        return (assets + revisions).map { rows in
            var rows = rows
            rows.revision = max(1, rows.revision)
            return rows
        }
    }

    /// Returns the rows with a name and a URL of their own; nil for changed rows with those of another asset.
    private func withUniqueFields(_ rows: AssetRows, _ used: inout UniqueFields) -> AssetRows? {
        if changed[rows.asset.id] != nil, used.contain(rows.asset) {
            return nil
        }
        return used.insert(rows)
    }

    private static func sorted(_ rows: [String: AssetRows]) -> [AssetRows] {
        rows.values.sorted { ($0.asset.created, $0.asset.id) < ($1.asset.created, $1.asset.id) }
    }
}

private struct UniqueFields {
    var names: Set<String> = []
    var origins: Set<String> = []
    var revised: Set<String> = []
    func contain(_ asset: AssetRecord) -> Bool {
        names.contains(asset.name) || asset.recordingOf == nil && origins.contains(asset.origin)
    }

    /// Numbers the asset's name and URL if they are in use: an asset with a changed name is better than a lost asset.
    mutating func insert(_ rows: AssetRows) -> AssetRows {
        var asset = rows.asset
        asset.revises = nil
        asset.name = Self.numbered(asset.name, "-", in: &names)
        // A recording shares the URL of its channel.
        if asset.recordingOf == nil {
            // A fragment is not sent to the origin.
            asset.origin = Self.numbered(asset.origin, "#", in: &origins)
        }
        guard asset != rows.asset else { return rows }
        return AssetRows(revision: rows.revision + 1, asset: asset, belongings: rows.belongings)
    }

    private static func numbered(_ text: String, _ separator: String, in used: inout Set<String>) -> String {
        var candidate = text
        var number = 2
        while !used.insert(candidate).inserted {
            candidate = "\(text)\(separator)\(number)"
            number += 1
        }
        return candidate
    }
}
