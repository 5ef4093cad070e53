import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

@testable import Store

/// Rebuilding of catalogues with every kind of damage.
@Suite struct BrokenCatalogueTests {
    let folder: TemporaryFolder

    // In memory: each new catalogue is synced several times.
    init() throws { folder = try TemporaryFolder(inMemory: true) }

    private static let file = "catalogue-1.sqlite"

    private func open(_ name: String, _ access: Catalogue.Access = .readWrite) throws -> Catalogue {
        try Catalogue(path: folder.path(name), access: access)
    }

    /// Makes a store with records of all assets: `closed`, and `live`, with half of the rows only in SQLite's log.
    private func prepare() async throws -> Catalogue.Contents {
        try FileManager.default.createDirectory(atPath: folder.path("store"), withIntermediateDirectories: true)
        do {
            let catalogue = try open("store")
            try await catalogue.save(SampleCatalogue.contents(0..<6))
            await catalogue.flush()
        }
        do {
            let catalogue = try open("store")
            try await catalogue.save(SampleCatalogue.contents(6..<12))
            var renamed = SampleCatalogue.rows(1).asset
            renamed.name = "renamed"
            try await catalogue.save(.init(assets: [renamed]))
            await catalogue.flush()
            try copy("store", to: "live")
            #expect(folder.files().contains("live/\(Self.file)-wal"))
        }
        try copy("store", to: "closed")
        let contents = try open("closed", .readOnly).initial.sorted
        #expect(contents.assets.count == 13)
        return contents
    }

    private func copy(_ name: String, to copy: String) throws {
        try? FileManager.default.removeItem(atPath: folder.path(copy))
        try FileManager.default.copyItem(atPath: folder.path(name), toPath: folder.path(copy))
    }

    /// Expects all rows after a restart and after another one, and a usable catalogue.
    ///
    /// - Parameter lost: the number of assets reported as lost.
    private func check(
        _ name: String, _ expected: Catalogue.Contents, _ comment: String, lost: Int = 0
    ) async throws {
        do {
            let catalogue = try open(name)
            #expect(catalogue.initial.sorted == expected, "\(comment): \(String(describing: catalogue.recovery))")
            if let recovery = catalogue.recovery {
                #expect(recovery.lost.count == lost, "\(comment): \(recovery)")
            }
            var film = SampleCatalogue.rows(2).asset
            film.title = "New"
            try await catalogue.save(.init(assets: [film]))
        }
        let again = try open(name, .readOnly)
        #expect(again.recovery == nil, "\(comment)")
        #expect(again.initial.assets.contains { $0.title == "New" }, "\(comment)")
        #expect(again.initial.playlists.count == expected.playlists.count, "\(comment)")
    }

    @Test func rebuildsDamagedCatalogues() async throws {
        let expected = try await prepare()
        var random = SeededDice(state: 6)
        for number in 0..<(OncePerRun.isThorough ? 300 : 96) {
            let damage = Damage.allCases[number % Damage.allCases.count]
            try copy(number / Damage.allCases.count % 2 == 0 ? "live" : "closed", to: "copy")
            let path = folder.path("copy/" + Self.file)
            try damage.apply(to: path, &random)
            try await check("copy", expected, "case \(number), \(damage)")
            // Links are not followed.
            #expect(access(path + ".outside", F_OK) != 0)
        }
    }

    /// Changes one column after the other with another SQLite, so that the file stays sound.
    @Test func restoresAChangedValueInAnyColumn() async throws {
        let expected = try await prepare()
        let script = """
            import shutil, sqlite3, sys
            source, folder = sys.argv[1:]
            names = sqlite3.connect(source)
            for (table,) in names.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
                # Summaries are computed again, removals are in the state folder as well: they have no checksum.
                if table.startswith(("sqlite_", "grdb_")) or table in ("summary", "removal"): continue
                for column in [row[1] for row in names.execute(f"PRAGMA table_info({table})")]:
                    target = f"{folder}/{table}.{column}"
                    shutil.copy(source, target)
                    changed = sqlite3.connect(target)
                    count = changed.execute(f\"\"\"UPDATE {table} SET {column} = CASE typeof({column})
                        WHEN 'integer' THEN {column} + 1000 WHEN 'blob' THEN CAST({column} || x'41' AS BLOB)
                        ELSE coalesce({column}, '') || 'x' END
                        WHERE rowid = (SELECT max(rowid) FROM {table})\"\"\").rowcount
                    assert count == 1, target
                    changed.commit()
                    changed.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    changed.close()
                    print(f"{table}.{column}")
            """
        try FileManager.default.createDirectory(atPath: folder.path("changed"), withIntermediateDirectories: true)
        let result = try await ProcessRunner.run(
            "python3", ["-c", script, folder.path("closed/" + Self.file), folder.path("changed")])
        #expect(result.exit == .code(0), "\(result.errors)")
        let columns = result.output.split(separator: "\n")
        #expect(columns.count >= 29)
        for column in columns {
            try copy("closed", to: "copy")
            try copy("changed/\(column)", to: "copy/" + Self.file)
            // A checksum without rows may be that of a lost asset.
            try await check("copy", expected, "\(column)", lost: column == "checksum.asset" ? 1 : 0)
        }
    }

    @Test func setsAsideADatabaseOfAnotherProgram() async throws {
        let expected = try await prepare()
        let path = folder.path("closed/" + Self.file)
        unlink(path)
        let result = try await ProcessRunner.run(
            "python3",
            [
                "-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript('CREATE TABLE colour (name)')",
                path,
            ])
        #expect(result.exit == .code(0), "\(result.errors)")
        try await check("closed", expected, "another program's")
        #expect(folder.files().contains("closed/\(Self.file).broken"))
    }

    @Test(arguments: Damage.allCases)
    fileprivate func readsRecordsInAReadOnlyStoreWithoutChangingAnything(_ damage: Damage) async throws {
        let expected = try await prepare()
        var random = SeededDice(state: 1)
        try damage.apply(to: folder.path("closed/" + Self.file), &random)
        let files = folder.files()
        let catalogue = try open("closed", .readOnly)
        #expect(catalogue.initial.sorted == expected, "\(String(describing: catalogue.recovery))")
        #expect(
            folder.files().filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }
                == files.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") })
    }

    @Test func reportsTheRepair() async throws {
        _ = try await prepare()
        for name in ["film-3-k3f9", "film-4-k3f9"] {
            try folder.write(Data("{".utf8), to: "closed/records/\(name).1.json")
        }
        try folder.write(Data(repeating: 7, count: 5000), to: "closed/" + Self.file)
        let recovery = try #require(try open("closed").recovery)
        #expect(recovery.count == 11 && recovery.restored == 11)
        #expect(recovery.lost == ["film-3-k3f9", "film-4-k3f9"])
        #expect(recovery.unreadable.count == 2)
        #expect(recovery.setAside == folder.path("closed/\(Self.file).broken"))
        let text = recovery.description
        #expect(text.hasPrefix("the catalogue was damaged (is no database): 11 assets are there again"), "\(text)")
        #expect(text.contains("2 could not be restored (film-3-k3f9, film-4-k3f9)"), "\(text)")
        #expect(text.contains("closed/\(Self.file).broken"), "\(text)")
        #expect(folder.files().contains("closed/records/film-3-k3f9.1.json.unreadable"))
    }

    /// Replaces the checksums of a closed catalogue by those that an earlier Weir has written.
    private func writeFormerSums(_ name: String) async throws {
        let queue = try Catalogue.open(folder.path("\(name)/\(Self.file)"))
        try await queue.write { database in
            for asset in try AssetRecord.all(database) {
                guard let rows = try Catalogue.rows(of: asset.id, database) else { continue }
                var sum = ChecksumRecord(rows)
                sum.sum = rows.contents.formerSum.description
                try sum.upsert(database)
            }
        }
        try queue.close()
    }

    @Test func readsTheChecksumsOfAnEarlierWeir() async throws {
        let expected = try await prepare()
        try await writeFormerSums("closed")
        try copy("closed", to: "copy")
        #expect(try open("copy", .readOnly).recovery == nil)
        // The first change of an asset replaces its checksum.
        try await check("copy", expected, "sound")

        let path = folder.path("closed/" + Self.file)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data("Bearer 11".utf8)))
        bytes.replaceSubrange(place, with: Data("Bearer 12".utf8))
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try open("closed", .readOnly).recovery?.restored == 1)
        try await check("closed", expected, "damaged")
    }

    @Test func keepsReadableRowsWithoutRecords() async throws {
        let expected = try await prepare()
        try FileManager.default.removeItem(atPath: folder.path("closed/records"))
        #expect(try open("closed").initial.sorted == expected)
        let path = folder.path("closed/" + Self.file)
        try FileManager.default.removeItem(atPath: folder.path("closed/records"))
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(bytes.range(of: Data("Bearer 11".utf8)))
        bytes.replaceSubrange(place, with: Data("Bearer 12".utf8))
        try bytes.write(to: URL(fileURLWithPath: path))
        let catalogue = try open("closed")
        #expect(catalogue.initial.assets.count == 13 && catalogue.recovery != nil)
        #expect(catalogue.initial.playlists.count == expected.playlists.count)
    }
}

/// Kinds of damage to a catalogue's files.
private enum Damage: CaseIterable {
    case gone, cut, flipped, flippedMuch, zeroedPage, swappedPages, garbageHeader, oneHeaderByte, appended
    case logGone, logFlipped, logCut, empty, folder, link, firstPages

    private static let page = 4096

    func apply(to path: String, _ random: inout SeededDice) throws {
        let log = path + "-wal"
        switch self {
        case .gone: for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
        case .cut: try change(path) { $0.removeLast(Int.random(in: 1...$0.count, using: &random)) }
        case .flipped: try change(path) { flip(&$0, 1, &random) }
        case .flippedMuch: try change(path) { flip(&$0, Int.random(in: 2...50, using: &random), &random) }
        case .zeroedPage: try change(path) { fill(&$0, page: pages($0, &random), with: 0) }
        case .firstPages: try change(path) { flip(&$0, 4, &random, below: 40 * Self.page) }
        case .swappedPages:
            try change(path) { bytes in
                for place in 0..<Self.page where bytes.count > 3 * Self.page {
                    bytes.swapAt(Self.page + place, bytes.count - Self.page + place)
                }
            }
        case .garbageHeader:
            try change(path) { for place in 0..<100 { $0[place] = .random(in: 0...255, using: &random) } }
        case .oneHeaderByte:
            let place = Int.random(in: 0..<100, using: &random)
            try change(path) { $0[place] = .random(in: 0...255, using: &random) }
        case .appended:
            try change(path) { $0 += [UInt8](repeating: 0xA5, count: Int.random(in: 1...9999, using: &random)) }
        case .logGone: unlink(log)
        case .logFlipped: try change(log) { flip(&$0, 20, &random) }
        case .logCut: try change(log) { $0.removeLast($0.count / 2) }
        case .empty: try change(path) { $0 = [] }
        case .folder:
            unlink(path)
            mkdir(path, 0o700)
            symlink("x", path + "/in-the-way")
        case .link:
            unlink(path)
            symlink(path + ".outside", path)
        }
    }

    private func pages(_ bytes: [UInt8], _ random: inout SeededDice) -> Int {
        Int.random(in: 0..<max(1, bytes.count / Self.page), using: &random)
    }

    private func fill(_ bytes: inout [UInt8], page: Int, with byte: UInt8) {
        for place in page * Self.page..<(page + 1) * Self.page {
            bytes[place] = byte
        }
    }

    private func flip(_ bytes: inout [UInt8], _ count: Int, _ random: inout SeededDice, below limit: Int = .max) {
        for _ in 0..<count where !bytes.isEmpty {
            bytes[Int.random(in: 0..<min(limit, bytes.count), using: &random)] ^=
                1 << UInt8.random(in: 0..<8, using: &random)
        }
    }

    /// Does nothing if the file is missing.
    private func change(_ path: String, _ body: (inout [UInt8]) -> Void) throws {
        guard let data = FileManager.default.contents(atPath: path) else { return }
        var bytes = [UInt8](data)
        body(&bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
