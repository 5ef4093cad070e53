import Foundation
import Orders
import TestSupport
import Testing

@testable import Store

/// Rows and files as a later build must read them: `fixtures/golden/rows` and `fixtures/golden/records`.
@Suite struct GoldenRecordTests {
    private static let rows = SampleCatalogue.rows(1, segments: 2)

    /// A row of each table, with as many values as it can have.
    private static var samples: [any CatalogueRow] {
        get throws {
            let all = rows.belongings
            var playlist = try #require(all.playlists.first { $0.imports != nil })
            // The order of several is another one each time.
            playlist.imports = ["t": "a"]
            return [
                rows.asset, playlist, try #require(all.keys.first),
                try #require(all.downloads.first), try #require(all.recordings.first), try #require(all.storage.first),
                try #require(all.volumes.first), ChecksumRecord(rows), SampleCatalogue.summary,
                AwaitedRemoval(asset: "film-1-k3f9", mark: "0123", path: "/mnt/disk"),
            ]
        }
    }

    private func text<Row: CatalogueRow>(_ row: Row) throws -> String {
        let lines = Row.columns.map { "\($0.name): \($0.value(row))\n" }
        return "key: \(Row.columns.prefix(Row.keyCount).map(\.name).joined(separator: ", "))\n" + lines.joined()
    }

    @Test func theRowsOfAllTables() throws {
        var texts: [String: String] = [:]
        for row in try Self.samples {
            texts[type(of: row).table + ".txt"] = try text(row)
        }
        #expect(try GoldenFiles("rows").differences(from: texts) == [])

        let schema = try String(
            contentsOfFile: Repository.path("Sources/Store/Catalogue/Catalogue+Schema.swift"), encoding: .utf8)
        let own = schema.matches(of: /CREATE TABLE (\w+)/).map { String($0.1) }.sorted()
        #expect(own == texts.keys.map { String($0.dropLast(4)) }.sorted())
    }

    @Test func theFilesOfABundleAndOfARecord() throws {
        var identity = BundleIdentity(id: "film-1-k3f9", name: "film-1", title: "Film", created: 1001)
        identity.note = "A note"
        identity.artwork = "artwork.png"
        identity.origin = "https://cdn.example/1/master.m3u8"
        identity.policy = StoragePolicy(
            expires: 9000, afterFirstPlay: 3600, priority: .important, backup: .exclude,
            keys: KeyTerms(lifetime: 30, afterFirstPlay: 48))
        identity.firstPlayed = 5000
        identity.keys = [BundleIdentity.Key(0, SampleCatalogue.key)]
        var track = BundleIdentity.Attachment(id: "attached-subtitles-de", kind: .subtitles, name: "Deutsch")
        track.language = "de"
        track.isForced = false
        track.isDefault = true
        track.size = [160, 90]
        identity.attachments = [track]
        identity.interstitials = [BundleIdentity.Interstitial(file: "0.m3u8", renditions: ["ad-video"])]
        var change = AssetChange(asset: Self.rows.asset.id, revision: 2, without: ["audio-en"])
        change.contents.keys = Self.rows.belongings.keys
        let texts = [
            "asset.json": String(decoding: try identity.text(), as: UTF8.self),
            "record.json": String(decoding: try RecordFile.encode(Self.rows), as: UTF8.self),
            "record-change.json": String(decoding: try RecordFile.encode(change), as: UTF8.self),
        ]
        #expect(try GoldenFiles("records").differences(from: texts) == [])
    }
}
