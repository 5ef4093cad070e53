import Glibc

/// The folder `records` of a store: one file an asset, named after its id and the revision of its rows.
///
/// A revision in the name tells, without a file being opened, which of catalogue and record is the later one; and the
/// former file goes only when the new one is on the disk.
struct RecordFolder: Sendable {
    /// The folder's name.
    static let name = "records"

    private static let suffix = ".json"
    /// Of a file on its way in.
    private static let newSuffix = ".new"
    /// Of a file that could not be read, and is kept for whoever can.
    private static let asideSuffix = ".unreadable"
    /// No record is so long: 256 renditions of the longest playlists would not come to it.
    private static let mostBytes: Int64 = 1 << 30

    private let folder: Directory

    /// The records that lie in a folder.
    init(_ folder: Directory) { self.folder = folder }

    /// The revisions of each asset's records, by its id, the latest first. Links, and files of other names, are none.
    func index() throws(StoreError) -> [String: [Int]] {
        var index: [String: [Int]] = [:]
        for entry in try folder.entries() where !entry.isDirectory {
            guard let (id, revision) = Self.parts(of: entry.name) else { continue }
            index[id, default: []].append(revision)
        }
        return index.mapValues { $0.count > 1 ? $0.sorted(by: >) : $0 }
    }

    private static func parts(of name: String) -> (id: String, revision: Int)? {
        guard name.hasSuffix(suffix) else { return nil }
        let stem = name.dropLast(suffix.count)
        guard let dot = stem.lastIndex(of: "."), let revision = Int(stem[stem.index(after: dot)...]) else { return nil }
        let id = String(stem[..<dot])
        return revision > 0 && Self.file(id, revision) == name ? (id, revision) : nil
    }

    private static func file(_ id: String, _ revision: Int) -> String { "\(id).\(revision)\(suffix)" }

    /// Reads a record.
    ///
    /// - Throws: `StoreError`, with the file's path and why it is no record of this asset.
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
        guard rows.asset.id == id, rows.revision == revision else {
            throw StoreError(.catalogue, path: path, detail: "it is the record of something else")
        }
        return rows
    }

    /// Puts a record aside that cannot be read.
    func putAside(_ id: String, _ revision: Int) {
        let name = Self.file(id, revision)
        try? folder.move(name, to: folder, as: name + Self.asideSuffix)
    }

    /// Removes what an earlier process left half written, whatever lies there by such a name.
    func clear() throws(StoreError) {
        for name in try folder.names() where name.hasSuffix(Self.newSuffix) && Directory.isName(name) {
            try folder.removeTree(name)
        }
    }

    // MARK: Writing

    /// Writes a record to the disk, beside its place.
    func prepare(_ rows: AssetRows) throws(StoreError) {
        let name = Self.file(rows.asset.id, rows.revision) + Self.newSuffix
        let bytes: [UInt8]
        do {
            bytes = try RecordFile.encode(rows)
        } catch {
            throw StoreError(.io, path: folder.path + "/" + name, detail: "\(error)")
        }
        try folder.remove(name)
        let file = try folder.open(name, flags: O_WRONLY | O_CREAT | O_EXCL)
        let isSynced = Directory.write(bytes, to: file) && fsync(file) == 0
        let reason = errno
        guard close(file) == 0, isSynced else {
            try? folder.remove(name)
            throw StoreError(path: folder.path + "/" + name, errno: isSynced ? errno : reason)
        }
    }

    /// Puts in its place what `prepare` wrote.
    func publish(_ id: String, _ revision: Int) throws(StoreError) {
        let name = Self.file(id, revision)
        try folder.move(name + Self.newSuffix, to: folder, as: name)
    }

    /// Removes what `prepare` wrote.
    func discard(_ id: String, _ revision: Int) { try? folder.remove(Self.file(id, revision) + Self.newSuffix) }

    /// Removes a record.
    func remove(_ id: String, _ revision: Int) throws(StoreError) { try folder.remove(Self.file(id, revision)) }

    /// Waits until the disk has what came into the folder, and what went from it.
    func sync() throws(StoreError) {
        guard fsync(folder.descriptor) == 0 else { throw StoreError(path: folder.path) }
    }
}
