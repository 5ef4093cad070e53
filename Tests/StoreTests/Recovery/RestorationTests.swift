import Testing

@testable import Store

@Suite struct RestorationTests {
    private func rows(_ id: String, _ name: String, _ origin: String, created: Int64 = 1, revises: String? = nil)
        -> AssetRows
    {
        AssetRows(
            revision: 1,
            asset: AssetRecord(
                id: id, name: name, title: nil, origin: origin, created: created, revises: revises),
            belongings: Catalogue.Contents())
    }

    private func finished(_ all: [AssetRows]) -> [AssetRecord] {
        var restoration = Restoration(CatalogueReading())
        for rows in all {
            restoration.insert(rows)
        }
        return restoration.finished().map(\.asset)
    }

    @Test func returnsAssetsOldestFirst() {
        let assets = finished([rows("b", "b", "u/b", created: 2), rows("a", "a", "u/a", created: 1)])
        #expect(assets.map(\.id) == ["a", "b"])
    }

    @Test func numbersDuplicateNamesAndURLs() {
        let assets = finished([
            rows("c", "film", "u/a", created: 3), rows("a", "film", "u/a", created: 1),
            rows("b", "film", "u/b", created: 2),
        ])
        #expect(assets.map(\.id) == ["a", "b", "c"])
        #expect(assets.map(\.name) == ["film", "film-2", "film-3"])
        #expect(assets.map(\.origin) == ["u/a", "u/b", "u/a#2"])
    }

    @Test func returnsARevisionAfterItsAsset() {
        let assets = finished([rows("new", "film", "u/a", revises: "old"), rows("old", "film", "u/a")])
        #expect(assets.map(\.id) == ["old", "new"])
        #expect(assets.map(\.revises) == [nil, "old"])
        #expect(assets.map(\.name) == ["film", "film"])
    }

    @Test func makesARevisionOfALostAssetAnAsset() {
        #expect(finished([rows("new", "film", "u/a", revises: "old")]).map(\.revises) == [nil])
        // A cycle: neither can come first.
        let assets = finished([rows("a", "a", "u/a", revises: "b"), rows("b", "b", "u/b", revises: "a")])
        #expect(assets.map(\.revises) == [nil, nil])
    }

    @Test func keepsOneRevisionPerAsset() {
        let assets = finished([
            rows("old", "film", "u/a"), rows("x", "film", "u/a", created: 2, revises: "old"),
            rows("y", "film", "u/a", created: 3, revises: "old"),
        ])
        #expect(assets.map(\.id) == ["old", "y", "x"])
        #expect(assets.map(\.name) == ["film", "film-2", "film"])
    }

    // MARK: Changed rows

    private func mended(_ found: [AssetRows], sums: [AssetRows], records: [AssetRows] = []) -> Restoration {
        let reading = CatalogueReading(Catalogue.Contents(of: found), sums: sums.map(ChecksumRecord.init))
        var restoration = Restoration(reading)
        for rows in records {
            restoration.insert(rows)
        }
        return restoration
    }

    @Test func keepsChangedRowsWithoutARecord() {
        let written = rows("a", "a", "u/a")
        var found = written
        found.asset.title = "changed"
        var restoration = mended([found], sums: [written])
        #expect(restoration.lost == ["a"])
        #expect(restoration.finished() == [found])
        #expect(restoration.lost.isEmpty)
    }

    @Test func dropsRowsWithAChangedID() {
        let written = rows("a", "film", "u/a")
        var restoration = mended([rows("b", "film", "u/a")], sums: [written], records: [written])
        #expect(restoration.finished() == [written])
        #expect(restoration.lost.isEmpty)
    }

    @Test func keepsTheRevisionOfChangedRows() {
        let old = rows("old", "film", "u/a")
        let new = rows("new", "film", "u/a", revises: "old")
        var found = old
        found.asset.title = "changed"
        var restoration = mended([found, new], sums: [old, new])
        #expect(restoration.finished().map(\.asset) == [found.asset, new.asset])
        // And a changed revision keeps its asset.
        var changed = new
        changed.asset.title = "changed"
        restoration = mended([old, changed], sums: [old, new])
        #expect(restoration.finished().map(\.asset) == [old.asset, changed.asset])
    }

    @Test func reportsAnAssetWithOnlyAChecksumAsLost() {
        var restoration = mended([], sums: [rows("a", "a", "u/a")])
        #expect(restoration.finished().isEmpty && restoration.lost == ["a"])
    }
}
