import GRDB
import Glibc
import Synchronization

/// The rows of a catalogue's file, and which of them are as they were written. SQLite's own check finds a damaged
/// structure. It does not find a changed value inside a row: the table `checksum` is for that.
struct CatalogueReading: Sendable {
    private(set) var contents = Catalogue.Contents()
    /// The revisions of the assets whose rows match their checksum.
    private(set) var revisions: [String: Int] = [:]
    /// Assets whose rows are missing or do not match their checksum.
    private(set) var lost: Set<String> = []
    /// The file's damage, in words; nil for a sound file.
    private(set) var damage: String?
    init(damage: String? = nil) { self.damage = damage }

    /// Reads all rows. `check` is SQLite's check on another thread; without one, it runs here. Throws SQLite's error.
    init(_ database: Database, _ check: IntegrityCheck? = nil) throws {
        self.init(
            try Catalogue.contents(database), sums: try ChecksumRecord.all(database),
            damage: try check?.result() ?? Self.integrity(of: database))
    }

    /// Compares rows with their checksums.
    init(_ contents: Catalogue.Contents, sums: [ChecksumRecord], damage: String? = nil) {
        self.contents = contents
        self.damage = damage
        compare(Dictionary(sums.map { ($0.asset, $0) }) { $1 })
    }

    /// Runs SQLite's check, which reads the whole file. Returns nil for a sound file.
    static func integrity(of database: Database) throws -> String? {
        guard let text = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)") else {
            return "cannot be checked"
        }
        guard text != "ok" else { return nil }
        return text
    }

    func damaged(_ error: StoreError) -> CatalogueReading {
        guard damage == nil else { return self }
        var reading = self
        reading.damage = error.detail ?? "\(error)"
        return reading
    }

    private mutating func compare(_ sums: [String: ChecksumRecord]) {
        var missing = sums
        let groups = contents.byAsset()
        let assets = assets(groups)
        let sound = Self.areSound(assets, sums)
        for (rows, isSound) in zip(assets, sound) {
            let id = rows.asset.id
            if let written = missing.removeValue(forKey: id), isSound {
                revisions[id] = written.revision
            } else {
                lost.insert(id)
            }
        }
        lost.formUnion(missing.keys)
        if !lost.isEmpty {
            damage = damage ?? "\(lost.count) assets are not as they were written"
        } else if groups.count > assets.count {
            damage = damage ?? "there are rows that belong to no asset"
        }
    }

    /// Says of each asset if its rows match their checksum: computed on all processors.
    private static func areSound(_ assets: [AssetRows], _ sums: [String: ChecksumRecord]) -> [Bool] {
        let most = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        // Fewer are not worth a thread.
        let share = max(256, (assets.count + most - 1) / most)
        return [Bool](unsafeUninitializedCapacity: assets.count) { buffer, count in
            // Each share writes elements of its own.
            nonisolated(unsafe) let elements = buffer
            let write: @Sendable (Int) -> Void = { start in
                for index in start..<min(assets.count, start + share) {
                    let rows = assets[index]
                    var isSound = false
                    if let record = sums[rows.asset.id] {
                        isSound = rows.match(record.sum)
                    }
                    elements.initializeElement(at: index, to: isSound)
                }
            }
            var threads: [StoreThread] = []
            for start in stride(from: share, to: assets.count, by: share) {
                if let thread = try? StoreThread("sums", { write(start) }) {
                    threads.append(thread)
                } else {
                    write(start)
                }
            }
            write(0)
            for thread in threads {
                thread.join()
            }
            count = assets.count
        }
    }

    /// The rows of each asset, oldest asset first. The revision is 0 if the rows do not match their checksum.
    var assets: [AssetRows] { assets(contents.byAsset()) }

    private func assets(_ groups: [String: Catalogue.Contents]) -> [AssetRows] {
        contents.assets.map { asset in
            let contents = groups[asset.id] ?? Catalogue.Contents()
            return AssetRows(revision: revisions[asset.id] ?? 0, asset: asset, contents)
        }
    }

    /// The assets whose record is to be used: it is later than the rows, or the rows are missing or changed.
    func outdated(by records: [String: [Int]]) -> [String] {
        records.keys.filter { id in
            guard let recorded = records[id]?.first else { return false }
            return recorded > revisions[id] ?? 0
        }
    }
}

/// SQLite's check of a file on a thread of its own, while the rows are read. Both read the whole file.
final class IntegrityCheck {
    private final class Outcome: Sendable {
        /// Nil if the check could not run; otherwise the result of `CatalogueReading.integrity`.
        let text = Mutex<String??>(nil)
    }

    private let outcome = Outcome()
    private var thread: StoreThread?

    /// Starts the check. Nothing may write to the file meanwhile.
    init(of path: String) {
        thread = try? StoreThread("verdict") { [outcome] in
            var configuration = Configuration()
            configuration.readonly = true
            guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return }
            defer { try? queue.retire() }
            let text = try? queue.read(CatalogueReading.integrity)
            outcome.text.withLock { $0 = text }
        }
    }

    deinit { thread?.join() }

    /// Waits for the end of the check. Returns nil if it could not run.
    func result() -> String?? {
        thread?.join()
        thread = nil
        return outcome.text.withLock { $0 }
    }
}
