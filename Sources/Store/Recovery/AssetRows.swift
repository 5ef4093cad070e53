struct AssetRows: Equatable, Sendable {
    /// Counts the transactions that changed any of the rows: of two states, the one with the higher revision is later.
    var revision: Int
    var asset: AssetRecord
    /// The asset's rows in all other tables.
    var belongings: Catalogue.Contents

    init(revision: Int, asset: AssetRecord, belongings: Catalogue.Contents) {
        self.revision = revision
        self.asset = asset
        self.belongings = belongings
    }

    /// Makes rows of contents, in which the asset may be.
    init(revision: Int, asset: AssetRecord, _ contents: Catalogue.Contents) {
        self.init(revision: revision, asset: asset, belongings: contents)
        belongings.assets = []
    }

    /// All rows.
    var contents: Catalogue.Contents {
        var contents = belongings
        contents.assets = [asset]
        return contents
    }

    /// True if a checksum, as it is stored, is that of these rows.
    func match(_ sum: String) -> Bool {
        if let sum = RowSum(sum) {
            return sum == contents.sum
        }
        return sum == contents.formerSum.description
    }
}
