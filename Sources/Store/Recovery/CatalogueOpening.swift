import GRDB

/// A catalogue that has just been opened, and what the records had to say on it.
struct CatalogueOpening {
    /// The database.
    let queue: DatabaseQueue
    /// All that is in it.
    let contents: Catalogue.Contents
    /// What was to be mended; nil for nothing.
    let recovery: CatalogueRecovery?
    /// How often each asset's rows were changed.
    let revisions: [String: Int]
    /// The records of its assets.
    let records: RecordFolder
    /// The revisions of the records that there are.
    let present: [String: [Int]]
    /// The assets whose records are older than their rows, or are not there.
    let unrecorded: [String]

    /// Opens the file at `path` for writing; one that is damaged is put aside, and a new one made of what is sound in it and
    /// of records.
    init(_ path: String, _ records: RecordFolder) throws {
        self.records = records
        let file = CatalogueFile(path: path)
        file.settle()
        try records.clear()
        var (opened, reading) = try Self.open(file)
        var present = try records.index()
        let mending = Mending(reading, records, &present)
        if let mending {
            mending.putAside(in: records)
            let aside = reading.damage == nil ? nil : try Self.makeNew(file, mending.assets, &opened)
            let queue = try opened ?? Catalogue.open(path)
            contents = try queue.write { database in
                if aside == nil { try Catalogue.rewrite(mending.assets, database) }
                return try Catalogue.contents(database)
            }
            (self.queue, recovery) = (queue, mending.recovery(reading, aside))
            revisions = Dictionary(mending.assets.map { ($0.asset.id, $0.revision) }) { $1 }
            unrecorded = mending.assets.filter { present[$0.asset.id]?.first ?? 0 < $0.revision }.map(\.asset.id)
        } else {
            let queue = try opened ?? Catalogue.open(path)
            if reading.isWithoutSums { try queue.write { try Self.addSums(reading, $0) } }
            (self.queue, contents, recovery) = (queue, reading.contents, nil)
            revisions =
                reading.isWithoutSums
                ? Dictionary(reading.contents.assets.map { ($0.id, 1) }) { $1 } : reading.revisions
            unrecorded = reading.contents.assets.lazy.map(\.id)
                .filter { present[$0]?.first ?? 0 < max(1, reading.revisions[$0] ?? 0) }
        }
        self.present = present
    }

    /// Reads all of the file at `path`, and changes nothing: what is in it, as far as it is sound, and in records.
    static func read(
        _ path: String, _ records: RecordFolder?
    ) -> (contents: Catalogue.Contents, recovery: CatalogueRecovery?) {
        let damage = CatalogueFile(path: path).damage()
        let reading = damage == nil ? Catalogue.read(path, { try CatalogueReading($0) }) : nil
        var present = (try? records?.index()) ?? [:]
        guard let records, let mending = Mending(reading ?? CatalogueReading(damage: damage), records, &present) else {
            return (reading?.contents ?? Catalogue.Contents(), nil)
        }
        return (
            Catalogue.Contents(of: mending.assets), mending.recovery(reading ?? CatalogueReading(damage: damage), nil)
        )
    }

    // MARK: The steps

    /// Opens the file as it is; no queue for one that cannot be used.
    private static func open(_ file: CatalogueFile) throws -> (DatabaseQueue?, CatalogueReading) {
        if let damage = file.damage() { return (nil, CatalogueReading(damage: damage)) }
        do {
            let queue = try Catalogue.open(file.path)
            let verdict = CatalogueVerdict(on: file.path)
            let shape = try Catalogue.inMemory().read(Catalogue.shape)
            let reading = try queue.read { database in
                guard try Catalogue.shape(database).isSuperset(of: shape) else {
                    throw StoreError(.catalogue, path: file.path, detail: "its tables are not those of a catalogue")
                }
                return try CatalogueReading(database, verdict)
            }
            return (queue, reading)
        } catch {
            let error = StoreError(error, catalogue: file.path)
            guard error.code == .catalogue else { throw error }
            return (nil, (Catalogue.read(file.path, { try CatalogueReading($0) }) ?? CatalogueReading()).damaged(error))
        }
    }

    /// Makes a new file of these rows beside the damaged one, and then lets it take its place.
    private static func makeNew(
        _ file: CatalogueFile, _ assets: [AssetRows], _ damaged: inout DatabaseQueue?
    ) throws -> String {
        let new = try Catalogue.openAlone(file.newPath)
        do {
            try new.write { try Catalogue.rewrite(assets, $0) }
            try new.close()
            try damaged?.close()
            damaged = nil
            return try file.replace()
        } catch {
            file.removeNew()
            throw error
        }
    }

    private static func addSums(_ reading: CatalogueReading, _ database: Database) throws {
        for var rows in reading.assets {
            rows.revision = 1
            try ChecksumRecord(rows).insert(database)
        }
    }
}

/// What a catalogue lacks, and has of records now.
private struct Mending {
    /// All rows, as they are to be.
    let assets: [AssetRows]
    private let restoration: Restoration
    private var unreadable: [(id: String, revision: Int, error: StoreError)] = []

    /// Reads the records that say more than the catalogue; nil where the catalogue is sound, and none does.
    ///
    /// - Parameter present: loses the records that could not be read.
    init?(_ reading: CatalogueReading, _ records: RecordFolder, _ present: inout [String: [Int]]) {
        let outdated = reading.outdated(by: present)
        guard reading.damage != nil || !outdated.isEmpty else { return nil }
        var restoration = Restoration(reading)
        for id in outdated.sorted() {
            while let revision = present[id]?.first, revision > reading.revisions[id] ?? 0 {
                do throws(StoreError) {
                    restoration.take(try records.read(id, revision))
                    break
                } catch {
                    unreadable.append((id, revision, error))
                    present[id]?.removeFirst()
                    restoration.miss(id)
                }
            }
        }
        assets = restoration.finished()
        self.restoration = restoration
    }

    /// Puts aside the records that could not be read.
    func putAside(in records: RecordFolder) {
        for record in unreadable { records.putAside(record.id, record.revision) }
    }

    /// What is to be told.
    func recovery(_ reading: CatalogueReading, _ aside: String?) -> CatalogueRecovery {
        let finding =
            reading.damage.map { "was damaged (\($0))" }
            ?? (reading.contents.assets.isEmpty ? "was gone or empty" : "was older than the records of its assets")
        return CatalogueRecovery(
            finding: finding, count: assets.count, restored: restoration.restored.count,
            lost: restoration.lost.sorted(), unreadable: unreadable.map(\.error), setAside: aside)
    }
}
