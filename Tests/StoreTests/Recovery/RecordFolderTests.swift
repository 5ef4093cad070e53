import Foundation
import TestSupport
import Testing

@testable import Store

@Suite struct RecordFolderTests {
    let folder: TemporaryFolder
    let records: RecordFolder

    init() throws {
        folder = try TemporaryFolder()
        records = RecordFolder(try Directory.open(path: folder.path("records")))
    }

    private func write(_ number: Int, revision: Int = 1) throws {
        var rows = SampleCatalogue.rows(number, segments: 2)
        rows.revision = revision
        try records.prepare(rows)
        try records.publish(rows.asset.id, revision)
    }

    @Test func indexesRecordsByAssetAndRevision() throws {
        try write(1)
        try write(1, revision: 10)
        try write(1, revision: 9)
        try write(2, revision: 3)
        #expect(try records.index() == ["film-1-k3f9": [10, 9, 1], "film-2-k3f9": [3]])
        #expect(try records.read("film-1-k3f9", 9).asset == SampleCatalogue.rows(1).asset)
        try records.remove("film-1-k3f9", 10)
        try records.sync()
        #expect(try records.index()["film-1-k3f9"] == [9, 1])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path("records/film-2-k3f9.3.json"))
        #expect(mode[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: [
        "film.json", "film.0.json", "film.-1.json", "film.01.json", "film.+1.json", "film.1.json.new", "film.1.txt",
        ".1.json", "a b.1.json", "é.1.json", "film.99999999999999999999.json", "film.1.json.unreadable", ".json",
    ])
    func ignoresFilesWithOtherNames(_ name: String) throws {
        try folder.write(Data("{}".utf8), to: "records/" + name)
        #expect(try records.index().isEmpty)
    }

    @Test func doesNotFollowLinks() throws {
        let outside = try folder.write(Data(try RecordFile.encode(SampleCatalogue.rows(1))), to: "outside.json")
        let manager = FileManager.default
        for name in ["film-1-k3f9.1.json", "film-1-k3f9.2.json.new"] {
            try manager.createSymbolicLink(atPath: folder.path("records/" + name), withDestinationPath: outside)
        }
        #expect(try records.index().isEmpty)
        #expect(throws: StoreError.self) { try records.read("film-1-k3f9", 1) }
        let before = try Data(contentsOf: URL(fileURLWithPath: outside))
        try write(1)
        try write(1, revision: 2)
        try records.clear()
        #expect(try records.index() == ["film-1-k3f9": [2, 1]])
        #expect(try Data(contentsOf: URL(fileURLWithPath: outside)) == before)
    }

    @Test func refusesTheRecordOfAnotherAsset() throws {
        try write(1)
        try FileManager.default.moveItem(
            atPath: folder.path("records/film-1-k3f9.1.json"), toPath: folder.path("records/other.1.json"))
        #expect(throws: StoreError.self) { try records.read("other", 1) }
        #expect(throws: StoreError.self) { try records.read("../catalogue", 1) }
        records.setAside("other", 1)
        #expect(folder.files() == ["records/other.1.json.unreadable"])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting takes root"))
    func leavesNothingOnAFullDisk() async throws {
        let disk = try await SmallDisk.folder(size: 16_384)
        let error = #expect(throws: StoreError.self) {
            try RecordFolder(disk).prepare(SampleCatalogue.rows(1, segments: 1000))
        }
        #expect(error?.code == .diskFull)
        #expect(try disk.names().isEmpty)
    }
}
