/// Puts a catalogue together again from the rows of a damaged one and from the records of assets. Pure.
///
/// Of rows and record the later counts, and of rows that are not what was written the record. Where there is no record
/// they stay as they are, unless another asset has their name or URL: then it was their id that was changed.
struct Restoration {
    private var known: [String: AssetRows] = [:]
    private var doubtful: [String: AssetRows] = [:]
    /// Assets that were there, and for which there are no rows any more, by id.
    private(set) var lost: Set<String>
    /// Assets that came from their records, by id.
    private(set) var restored: Set<String> = []

    /// Begins with what a catalogue says.
    init(_ reading: CatalogueReading) {
        lost = reading.lost
        for rows in reading.assets {
            // Without any sums there is nothing against them.
            let isSound = rows.revision > 0 || reading.isWithoutSums
            if isSound { known[rows.asset.id] = rows } else { doubtful[rows.asset.id] = rows }
        }
    }

    /// Takes the rows of a record, which are later than what is known of the asset.
    mutating func take(_ rows: AssetRows) {
        let id = rows.asset.id
        doubtful[id] = nil
        lost.remove(id)
        restored.insert(id)
        known[id] = rows
    }

    /// Takes note that the record of an asset cannot be read.
    mutating func miss(_ id: String) {
        if known[id] == nil { lost.insert(id) }
    }

    /// All rows: first the assets that have names and URLs of their own, then those that revise them.
    mutating func finished() -> [AssetRows] {
        let all = Self.sorted(known) + Self.sorted(doubtful)
        var taken = Taken()
        var assets = all.filter { $0.asset.revises == nil }.compactMap { entered($0, &taken) }
        let revisable = Set(assets.map(\.asset.id))
        var revisions: [AssetRows] = []
        for rows in all {
            guard let revised = rows.asset.revises else { continue }
            if revisable.contains(revised), taken.revised.insert(revised).inserted {
                revisions.append(rows)
            } else if let rows = entered(rows, &taken) {
                assets.append(rows)
            }
        }
        lost.subtract(doubtful.keys)
        return (assets + revisions).map { rows in
            var rows = rows
            rows.revision = max(1, rows.revision)
            return rows
        }
    }

    /// The rows with a name and URL of their own; nil for doubtful ones that have those of others.
    private func entered(_ rows: AssetRows, _ taken: inout Taken) -> AssetRows? {
        doubtful[rows.asset.id] != nil && taken.has(rows.asset) ? nil : taken.enter(rows)
    }

    private static func sorted(_ rows: [String: AssetRows]) -> [AssetRows] {
        rows.values.sorted { ($0.asset.created, $0.asset.id) < ($1.asset.created, $1.asset.id) }
    }
}

/// What may stand in a catalogue once.
private struct Taken {
    var names: Set<String> = []
    var origins: Set<String> = []
    var revised: Set<String> = []

    func has(_ asset: AssetRecord) -> Bool { names.contains(asset.name) || origins.contains(asset.origin) }

    /// Gives an asset a name and a URL that nothing has before it: rather those than the asset itself.
    mutating func enter(_ rows: AssetRows) -> AssetRows {
        var asset = rows.asset
        asset.revises = nil
        asset.name = Self.numbered(asset.name, "-", in: &names)
        // A fragment goes to no origin.
        asset.origin = Self.numbered(asset.origin, "#", in: &origins)
        guard asset != rows.asset else { return rows }
        return AssetRows(revision: rows.revision + 1, asset: asset, belongings: rows.belongings)
    }

    private static func numbered(_ text: String, _ separator: String, in taken: inout Set<String>) -> String {
        var candidate = text
        var number = 2
        while !taken.insert(candidate).inserted {
            candidate = "\(text)\(separator)\(number)"
            number += 1
        }
        return candidate
    }
}
