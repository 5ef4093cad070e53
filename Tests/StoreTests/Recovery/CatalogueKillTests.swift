import Foundation
import GRDB
import TestSupport
import Testing

@testable import Store

/// Kills between any two steps of writing rows and records.
@Suite struct CatalogueKillTests {
    let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("store"), withIntermediateDirectories: true)
        let catalogue = try open()
        try await catalogue.save(SampleCatalogue.contents(0..<3, segments: 3))
        await catalogue.flush()
    }

    private func open(_ name: String = "store") throws -> Catalogue {
        try Catalogue(path: folder.path(name), access: .readWrite)
    }

    private func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: folder.path("store/" + name))
    }

    private func records() -> [String] {
        folder.files().filter { $0.hasPrefix("store/records/") }.map { String($0.dropFirst(14)) }
    }

    private let all = SampleCatalogue.contents(0..<3, segments: 3)

    // MARK: Removal

    @Test func keepsAnAssetWithoutARecord() async throws {
        try remove("records/film-1-k3f9.1.json")
        #expect(try open().initial.sorted == all.sorted)
        let catalogue = try open()
        #expect(catalogue.recovery == nil)
        try await waitUntil("its record") { records().contains("film-1-k3f9.1.json") }
    }

    @Test func doesNotRestoreAnAssetWithoutARecord() async throws {
        try remove("records/film-1-k3f9.1.json")
        try remove("catalogue-1.sqlite")
        #expect(try open().initial.assets.map(\.id) == ["film-0-k3f9", "film-2-k3f9", "film-0-new2"].sortedLike(all))
    }

    @Test func doesNotRestoreARemovedAsset() async throws {
        try await open().removeAsset("film-1-k3f9")
        #expect(!records().contains { $0.hasPrefix("film-1") })
        #expect(try open().initial.assets.count == 3)
        // A record that was being written during the removal.
        try folder.write(Data("{".utf8), to: "store/records/film-1-k3f9.2.json.new")
        try remove("catalogue-1.sqlite")
        let catalogue = try open()
        #expect(catalogue.initial.assets.count == 3 && catalogue.recovery?.restored == 3)
        #expect(!records().contains { $0.hasPrefix("film-1") })
    }

    @Test func keepsARevisionOfAHalfRemovedAsset() async throws {
        // The old asset's record is removed before its rows.
        try remove("records/film-0-k3f9.1.json")
        #expect(try open().initial.sorted == all.sorted)
        try remove("catalogue-1.sqlite")
        for name in records() where name.hasPrefix("film-0-k3f9") {
            try remove("records/" + name)
        }
        let assets = try open().initial.assets
        #expect(assets.map(\.id).sorted() == ["film-0-new2", "film-1-k3f9", "film-2-k3f9"])
        #expect(assets.allSatisfy { $0.revises == nil })
        #expect(assets.first { $0.id == "film-0-new2" }?.name == "film-0")
    }

    @Test func writesTheRecordOfASuccessor() async throws {
        var revision = try #require(all.assets.first { $0.id == "film-0-new2" })
        revision.revises = nil
        try await open().supersede("film-0-k3f9", by: revision)
        try remove("catalogue-1.sqlite")
        let assets = try open().initial.assets
        #expect(assets.contains(revision) && assets.count == 3)
    }

    @Test func keepsTheRevisionOfARemovedAsset() async throws {
        try await open().removeAsset("film-0-k3f9")
        let catalogue = try open()
        #expect(catalogue.recovery == nil && catalogue.initial.assets.count == 3)
    }

    // MARK: Saving

    @Test func usesRowsLaterThanTheirRecord() async throws {
        var asset = SampleCatalogue.rows(1).asset
        asset.title = "Later"
        let catalogue = try open()
        try await catalogue.save(.init(assets: [asset]))
        // A copy of this state is a kill: the record is written only a second later.
        try FileManager.default.copyItem(atPath: folder.path("store"), toPath: folder.path("copy"))
        #expect(try open("copy").initial.assets.contains(asset))
        let again = try open("copy")
        try await waitUntil("the new record alone") {
            folder.files().filter { $0.hasPrefix("copy/records/film-1") } == ["copy/records/film-1-k3f9.2.json"]
        }
        #expect(again.recovery == nil)
    }

    @Test func usesARecordLaterThanItsRows() async throws {
        try FileManager.default.copyItem(
            atPath: folder.path("store/catalogue-1.sqlite"), toPath: folder.path("former.sqlite"))
        var asset = SampleCatalogue.rows(1).asset
        asset.title = "Later"
        try await open().save(.init(assets: [asset, .sample("new")]))
        try remove("catalogue-1.sqlite")
        try FileManager.default.moveItem(
            atPath: folder.path("former.sqlite"), toPath: folder.path("store/catalogue-1.sqlite"))
        let catalogue = try open()
        #expect(catalogue.initial.assets.contains(asset) && catalogue.initial.assets.contains(.sample("new")))
        #expect(catalogue.initial.assets.count == 5 && catalogue.recovery?.restored == 2)
        #expect(catalogue.recovery?.description.contains("was older than") ?? false)
    }

    @Test func usesTheOlderRecordIfTheNewerIsCut() async throws {
        try folder.write(Data("{".utf8), to: "store/records/film-1-k3f9.2.json")
        try remove("catalogue-1.sqlite")
        let catalogue = try open()
        #expect(catalogue.initial.sorted == all.sorted)
        #expect(catalogue.recovery?.lost == [] && catalogue.recovery?.unreadable.count == 1)
    }

    @Test func keepsSoundRowsWithACutRecord() async throws {
        try folder.write(Data("{".utf8), to: "store/records/film-1-k3f9.2.json")
        let catalogue = try open()
        #expect(catalogue.initial.sorted == all.sorted)
        #expect(catalogue.recovery?.lost == [] && catalogue.recovery?.restored == 0)
        #expect(try open().recovery == nil)
    }

    // MARK: Appended changes

    /// Saves two changes of one asset, so that the second one is appended to its record. Returns the asset after each.
    private func saveTwice() async throws -> [AssetRecord] {
        let catalogue = try open()
        var assets: [AssetRecord] = []
        for title in ["First", "Second"] {
            var asset = SampleCatalogue.rows(1).asset
            asset.title = title
            assets.append(asset)
            try await catalogue.save(.init(assets: [asset]))
            await catalogue.flush()
        }
        #expect(records().filter { $0.hasPrefix("film-1") } == ["film-1-k3f9.3.json"])
        return assets
    }

    @Test func restoresAppendedChanges() async throws {
        let assets = try await saveTwice()
        try remove("catalogue-1.sqlite")
        let catalogue = try open()
        #expect(catalogue.initial.assets.contains(assets[1]))
        #expect(catalogue.initial.playlists.count == all.playlists.count && catalogue.recovery?.unreadable.count == 0)
    }

    @Test func usesAChangeThatWasAppendedBeforeAKill() async throws {
        let assets = try await saveTwice()
        // The record gets its new name after the change is in it.
        try FileManager.default.moveItem(
            atPath: folder.path("store/records/film-1-k3f9.3.json"),
            toPath: folder.path("store/records/film-1-k3f9.2.json"))
        try FileManager.default.copyItem(atPath: folder.path("store"), toPath: folder.path("copy"))
        try remove("catalogue-1.sqlite")
        #expect(try open().initial.assets.contains(assets[1]))
        // With a sound catalogue, the record is written anew.
        let again = try open("copy")
        #expect(again.recovery == nil)
        try await waitUntil("the new record alone") {
            folder.files().filter { $0.hasPrefix("copy/records/film-1") } == ["copy/records/film-1-k3f9.3.json"]
        }
    }

    @Test func usesWhatComesBeforeDamageInARecord() async throws {
        let assets = try await saveTwice()
        let name = "records/film-1-k3f9.3.json"
        let path = folder.path("store/" + name)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try folder.write(Data(text.replacingOccurrences(of: "Second", with: "Sicond").utf8), to: "store/" + name)
        // Nothing of that is read while the catalogue is sound.
        #expect(try open().initial.assets.contains(assets[1]))
        try remove("catalogue-1.sqlite")
        do {
            let catalogue = try open()
            #expect(catalogue.initial.assets.contains(assets[0]) && catalogue.initial.assets.count == 4)
            #expect(catalogue.recovery?.lost == [] && catalogue.recovery?.unreadable.count == 1)
            #expect(records().contains("film-1-k3f9.3.json.unreadable"))
            try await waitUntil("the new record") { records().contains("film-1-k3f9.2.json") }
        }
        try remove("catalogue-1.sqlite")
        #expect(try open().initial.assets.contains(assets[0]))
    }

    /// A row is damaged while the catalogue is open, and another row of the asset is written after that.
    @Test func aWriteDoesNotHideDamage() async throws {
        let former = try #require(all.playlists.first { $0.asset == "film-1-k3f9" })
        let keys = [5, 6].map { KeyRecord(asset: "film-1-k3f9", number: $0, url: "https://o/\($0).key") }
        do {
            let catalogue = try open()
            try await catalogue.save(.init(keys: [keys[0]]))
            await catalogue.flush()
            try await catalogue.queue.write { database in
                try database.execute(
                    sql: "UPDATE playlist SET url = 'https://damaged' WHERE asset = ? AND rendition = ?",
                    arguments: [former.asset, former.rendition])
            }
            try await catalogue.save(.init(keys: [keys[1]]))
            await catalogue.flush()
        }
        let catalogue = try open()
        #expect(catalogue.recovery?.restored == 1)
        #expect(catalogue.initial.playlists.contains(former))
        #expect(keys.allSatisfy(catalogue.initial.keys.contains))
    }

    // MARK: Rebuilding

    @Test func finishesAnInterruptedReplacement() async throws {
        let path = folder.path("store/catalogue-1.sqlite")
        try FileManager.default.moveItem(atPath: path, toPath: path + ".new")
        let catalogue = try open()
        #expect(catalogue.initial.sorted == all.sorted && catalogue.recovery == nil)
    }

    @Test(arguments: ["", "-journal"]) func removesAnIncompleteNewCatalogue(_ suffix: String) async throws {
        try folder.write(Data("half".utf8), to: "store/catalogue-1.sqlite.new\(suffix)")
        #expect(try open().initial.sorted == all.sorted)
        #expect(!folder.files().contains { $0.contains(".new") })
    }
}

extension [String] {
    /// Sorts ids in the order of the assets.
    fileprivate func sortedLike(_ contents: Catalogue.Contents) -> Self {
        contents.assets.sorted { ($0.created, $0.id) < ($1.created, $1.id) }.map(\.id).filter(contains)
    }
}
