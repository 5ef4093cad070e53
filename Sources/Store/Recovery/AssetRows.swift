/// All rows of one asset in the catalogue, and how often they were changed.
struct AssetRows: Equatable, Sendable {
    /// Higher by one with each transaction that changed one of them: of two states the higher is the later one.
    var revision: Int
    /// Its own row.
    var asset: AssetRecord
    /// What belongs to it; no assets.
    var belongings: Catalogue.Contents

    /// What the rows say, whatever their order: not the revision.
    var sum: Digest {
        var sum = RowSum()
        asset.add(to: &sum)
        for row in belongings.playlists.sorted(by: { $0.rendition < $1.rendition }) { row.add(to: &sum) }
        for row in belongings.keys.sorted(by: { $0.number < $1.number }) { row.add(to: &sum) }
        for row in belongings.downloads { row.add(to: &sum) }
        for row in belongings.recordings.sorted(by: { $0.rendition < $1.rendition }) { row.add(to: &sum) }
        for row in belongings.storage { row.add(to: &sum) }
        for row in belongings.places { row.add(to: &sum) }
        return sum.digest()
    }

    /// Whether all that belongs to the asset names it.
    var isOfOneAsset: Bool {
        belongings.assets.isEmpty && belongings.owners.allSatisfy { $0 == asset.id }
    }
}

extension Catalogue.Contents {
    /// The ids of the assets that rows belong to, each as often as there are rows.
    var owners: [String] {
        playlists.map(\.asset) + keys.map(\.asset) + downloads.map(\.asset) + recordings.map(\.asset)
            + storage.map(\.asset) + places.map(\.asset)
    }

    /// What belongs to each asset, by its id, whether that is there or not.
    func belongings() -> [String: Catalogue.Contents] {
        var groups: [String: Catalogue.Contents] = [:]
        groups.reserveCapacity(assets.count)
        for row in playlists { groups[row.asset, default: .init()].playlists.append(row) }
        for row in keys { groups[row.asset, default: .init()].keys.append(row) }
        for row in downloads { groups[row.asset, default: .init()].downloads.append(row) }
        for row in recordings { groups[row.asset, default: .init()].recordings.append(row) }
        for row in storage { groups[row.asset, default: .init()].storage.append(row) }
        for row in places { groups[row.asset, default: .init()].places.append(row) }
        return groups
    }

    /// The rows of some assets in one.
    init(of assets: [AssetRows]) {
        self.init()
        for rows in assets {
            self.assets.append(rows.asset)
            playlists += rows.belongings.playlists
            keys += rows.belongings.keys
            downloads += rows.belongings.downloads
            recordings += rows.belongings.recordings
            storage += rows.belongings.storage
            places += rows.belongings.places
        }
    }
}
