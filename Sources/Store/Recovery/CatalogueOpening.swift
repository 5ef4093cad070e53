import GRDB

/// Opens a catalogue, compares it with the records, and repairs it.
struct CatalogueOpening {
    let queue: DatabaseQueue
    let contents: Catalogue.Contents
    /// Nil if nothing was to be repaired.
    let recovery: CatalogueRecovery?
    let revisions: [String: Int]
    let records: RecordFolder
    /// The revisions of each asset's records, the latest first.
    let present: [String: [Int]]
    /// The assets whose records are missing or older than their rows.
    let unrecorded: [String]

    /// Opens the file for writing. A damaged one is set aside, and a new one made of its sound rows and the records.
    init(_ path: String, _ records: RecordFolder) throws {
        self.records = records
        let file = CatalogueFile(path: path)
        file.finishReplacement()
        try records.clear()
        var (opened, reading) = try Self.open(file)
        var present = try records.index()
        let repair = Repair(of: reading, from: records, &present)
        if let repair {
            repair.setAsideUnreadable(in: records)
            var aside: String?
            if reading.damage != nil {
                aside = try Self.makeNew(file, with: repair.assets, replacing: &opened)
            }
            let queue = try opened ?? Catalogue.open(path)
            contents = try queue.write { database in
                if reading.damage == nil {
                    try Catalogue.rewrite(repair.assets, database)
                }
                return try Catalogue.contents(database)
            }
            self.queue = queue
            recovery = repair.recovery(reading, aside)
            revisions = Dictionary(repair.assets.map { ($0.asset.id, $0.revision) }) { $1 }
        } else {
            queue = try opened ?? Catalogue.open(path)
            contents = reading.contents
            recovery = nil
            revisions = reading.revisions
        }
        unrecorded = contents.assets.map(\.id).filter { [revisions] id in
            guard let revision = revisions[id], revision > 0 else { return false }
            guard let recorded = present[id]?.first else { return true }
            return recorded < revision
        }
        self.present = present
    }

    /// Reads the file at `path` without changing anything: its sound rows, and the records.
    static func read(
        _ path: String, _ records: RecordFolder?
    ) -> (contents: Catalogue.Contents, recovery: CatalogueRecovery?) {
        let reading: CatalogueReading
        if let damage = CatalogueFile(path: path).damage() {
            reading = CatalogueReading(damage: damage)
        } else {
            reading = Catalogue.read(path, { try CatalogueReading($0) }) ?? CatalogueReading()
        }
        var present = (try? records?.index()) ?? [:]
        guard let records, let repair = Repair(of: reading, from: records, &present) else {
            return (reading.contents, nil)
        }
        return (Catalogue.Contents(of: repair.assets), repair.recovery(reading, nil))
    }

    /// Opens the file as it is. Returns no queue for an unusable file.
    private static func open(_ file: CatalogueFile) throws -> (DatabaseQueue?, CatalogueReading) {
        if let damage = file.damage() {
            return (nil, CatalogueReading(damage: damage))
        }
        do {
            let queue = try Catalogue.open(file.path)
            do {
                let check = IntegrityCheck(of: file.path)
                let reading = try queue.read { database in
                    try Catalogue.checkShape(database, path: file.path)
                    return try CatalogueReading(database, check)
                }
                return (queue, reading)
            } catch {
                try? queue.retire()
                throw error
            }
        } catch {
            let error = StoreError(error, catalogue: file.path)
            guard error.code == .catalogue else { throw error }
            // Its sound rows are still of use.
            let reading = Catalogue.read(file.path, { try CatalogueReading($0) }) ?? CatalogueReading()
            return (nil, reading.damaged(error))
        }
    }

    /// Makes a new file of rows beside the damaged one, and then replaces the damaged one. Returns the damaged file's new path.
    private static func makeNew(
        _ file: CatalogueFile, with assets: [AssetRows], replacing damaged: inout DatabaseQueue?
    ) throws -> String {
        let new = try Catalogue.openAlone(file.newPath)
        do {
            try new.write { try Catalogue.rewrite(assets, $0) }
            try new.retire()
            try damaged?.retire()
            damaged = nil
            return try file.replace()
        } catch {
            file.removeNew()
            throw error
        }
    }
}

private struct Repair {
    let assets: [AssetRows]
    private let restoration: Restoration
    private var unreadable: [(id: String, revision: Int, error: StoreError)] = []

    /// Reads the records that are later than the catalogue. Returns nil if the catalogue is sound and no record is
    /// later. `present` loses the records that cannot be read.
    init?(of reading: CatalogueReading, from records: RecordFolder, _ present: inout [String: [Int]]) {
        let outdated = reading.outdated(by: present)
        guard reading.damage != nil || !outdated.isEmpty else { return nil }
        var restoration = Restoration(reading)
        for id in outdated.sorted() {
            while let revision = present[id]?.first, revision > reading.revisions[id] ?? 0 {
                do throws(StoreError) {
                    let rows = try records.read(id, revision)
                    if rows.revision > reading.revisions[id] ?? 0 {
                        restoration.insert(rows)
                    }
                    if rows.revision < revision {
                        // The rows before the damage are used. The file is reported, and no change is appended to it.
                        unreadable.append((id, revision, records.damagedEnd(of: id, revision)))
                        present[id]?.removeFirst()
                    }
                    break
                } catch {
                    unreadable.append((id, revision, error))
                    present[id]?.removeFirst()
                    restoration.markUnreadable(id)
                }
            }
        }
        assets = restoration.finished()
        self.restoration = restoration
    }

    func setAsideUnreadable(in records: RecordFolder) {
        for record in unreadable {
            records.setAside(record.id, record.revision)
        }
    }

    func recovery(_ reading: CatalogueReading, _ aside: String?) -> CatalogueRecovery {
        CatalogueRecovery(
            finding: Self.finding(of: reading), count: assets.count, restored: restoration.restored.count,
            lost: restoration.lost.sorted(), unreadable: unreadable.map(\.error), setAside: aside)
    }

    private static func finding(of reading: CatalogueReading) -> String {
        if let damage = reading.damage {
            return "was damaged (\(damage))"
        }
        guard !reading.contents.assets.isEmpty else { return "was gone or empty" }
        return "was older than the records of its assets"
    }
}

/// The repair of a catalogue that was damaged, missing, or older than the records of its assets.
public struct CatalogueRecovery: Equatable, Sendable, CustomStringConvertible {
    /// The problem, as the rest of a sentence that begins with "the catalogue".
    public let finding: String
    /// The number of assets after the repair.
    public let count: Int
    /// The number of assets restored from their records.
    public let restored: Int
    /// The ids of lost assets, sorted.
    public let lost: [String]
    /// The unreadable records: path and reason.
    public let unreadable: [StoreError]
    /// The damaged file's new path; nil if no file was set aside.
    public let setAside: String?

    /// A sentence for a log.
    public var description: String {
        var text = "the catalogue \(finding): "
        if count == 1 {
            text += "1 asset is there again"
        } else {
            text += "\(count) assets are there again"
        }
        text += ", \(restored) of them from \(RecordFolder.name)"
        if !lost.isEmpty {
            text += ", and \(lost.count) could not be restored (\(lost.joined(separator: ", ")))"
        }
        if let setAside {
            text += "; the damaged file is now \(setAside)"
        }
        for error in unreadable {
            text += "; set aside because it could not be read: \(error)"
        }
        return text
    }

    /// Compares the descriptions.
    public static func == (one: Self, other: Self) -> Bool { one.description == other.description }
}
