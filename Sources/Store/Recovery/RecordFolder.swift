import Glibc

/// The folder `records`: one file per asset, named after its id and its rows' revision, so that record and catalogue are
/// compared without opening the file. Changes are appended, and the file is renamed after them. A file that has grown is replaced
/// by a new one; the old one is removed only after the new one is on the disk.
struct RecordFolder: Sendable {
    static let name = "records"
    private static let suffix = ".json"
    /// Of a file that is being written.
    private static let newSuffix = ".new"
    /// Of an unreadable file, which is kept for a person to look at.
    private static let asideSuffix = ".unreadable"
    /// Longer files are not read: 256 renditions with the longest playlists take less.
    private static let mostBytes: Int64 = 1 << 30
    private let folder: Directory
    init(_ folder: Directory) { self.folder = folder }

    /// Lists the revisions of each asset's records by its id, the latest first. Ignores links and files with other names.
    func index() throws(StoreError) -> [String: [Int]] {
        var index: [String: [Int]] = [:]
        for entry in try folder.entries() where !entry.isDirectory {
            guard let (id, revision) = Self.parts(of: entry.name) else { continue }
            index[id, default: []].append(revision)
        }
        return index.mapValues { $0.sorted(by: >) }
    }

    private static func parts(of name: String) -> (id: String, revision: Int)? {
        guard name.hasSuffix(suffix) else { return nil }
        let stem = name.dropLast(suffix.count)
        guard let dot = stem.lastIndex(of: "."), let revision = Int(stem[stem.index(after: dot)...]) else { return nil }
        let id = String(stem[..<dot])
        guard revision > 0, Self.file(id, revision) == name else { return nil }
        return (id, revision)
    }

    private static func file(_ id: String, _ revision: Int) -> String { "\(id).\(revision)\(suffix)" }

    /// Reads a record. Its revision is higher than that of its name if the process ended while a change was appended, and lower if
    /// its end is damaged. Throws `StoreError` with the file's path and the reason why it is not a record of this asset.
    func read(_ id: String, _ revision: Int) throws(StoreError) -> AssetRows {
        let name = Self.file(id, revision)
        let path = folder.path + "/" + name
        guard folder.size(of: name) ?? 0 <= Self.mostBytes, let bytes = try folder.read(name) else {
            throw StoreError(.missing, path: path)
        }
        let rows: AssetRows
        do {
            rows = try RecordFile.decode(bytes)
        } catch {
            throw StoreError(.catalogue, path: path, detail: "\(error)")
        }
        guard rows.asset.id == id else {
            throw StoreError(.catalogue, path: path, detail: "it is the record of something else")
        }
        return rows
    }

    /// The error for a record whose last lines cannot be read.
    func damagedEnd(of id: String, _ revision: Int) -> StoreError {
        StoreError(
            .catalogue, path: folder.path + "/" + Self.file(id, revision),
            detail: "its last changes are damaged; those before are used")
    }

    /// Renames an unreadable record.
    func setAside(_ id: String, _ revision: Int) {
        let name = Self.file(id, revision)
        try? folder.move(name, to: folder, as: name + Self.asideSuffix)
    }

    /// Removes everything with the name of an unfinished file: an earlier process left it.
    func clear() throws(StoreError) {
        for name in try folder.names() where name.hasSuffix(Self.newSuffix) && Directory.isName(name) {
            try folder.removeTree(name)
        }
    }

    /// Writes and syncs a record under a temporary name. Returns its length.
    @discardableResult func prepare(_ rows: AssetRows) throws(StoreError) -> Int {
        let name = Self.file(rows.asset.id, rows.revision) + Self.newSuffix
        let bytes: [UInt8]
        do {
            bytes = try RecordFile.encode(rows)
        } catch {
            throw StoreError(.io, path: folder.path + "/" + name, detail: "\(error)")
        }
        try folder.remove(name)
        try folder.writeSynced(bytes, as: name)
        return bytes.count
    }

    /// Appends lines to a record of this length, and syncs them: all of them, or none on an error.
    func append(_ lines: [UInt8], to id: String, _ revision: Int, length: Int) throws(StoreError) {
        let name = Self.file(id, revision)
        let file = try folder.open(name, flags: O_WRONLY)
        defer { close(file) }
        let isWritten = lseek(file, off_t(length), SEEK_SET) == off_t(length) && Directory.write(lines, to: file)
        guard isWritten, fdatasync(file) == 0 else {
            let error = StoreError(path: folder.path + "/" + name)
            // Lines after a part of one would not be read.
            ftruncate(file, off_t(length))
            throw error
        }
    }

    /// Names a record after its new revision.
    func advance(_ id: String, from revision: Int, to next: Int) throws(StoreError) {
        try folder.move(Self.file(id, revision), to: folder, as: Self.file(id, next))
    }

    /// Renames the file that `prepare` wrote to its final name.
    func publish(_ id: String, _ revision: Int) throws(StoreError) {
        let name = Self.file(id, revision)
        try folder.move(name + Self.newSuffix, to: folder, as: name)
    }

    func discard(_ id: String, _ revision: Int) { try? folder.remove(Self.file(id, revision) + Self.newSuffix) }
    func remove(_ id: String, _ revision: Int) throws(StoreError) { try folder.remove(Self.file(id, revision)) }

    /// Syncs the folder: new and removed names survive a power cut.
    func sync() throws(StoreError) {
        guard fsync(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
    }
}
