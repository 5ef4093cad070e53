import Glibc

/// The target of an export: a folder or an archive. Keys are readable only by their owner, as in the store. Used on one
/// thread.
protocol ExportSink {
    /// Adds a text, in a folder or at the top.
    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError)
    /// Adds a piece of the store.
    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError)
    /// Ends the export.
    mutating func finish() throws(StoreError)
}

extension ExportSink {
    /// True if a folder's files are readable only by their owner.
    func isPrivate(_ folder: String?) -> Bool { folder == "keys" }
}

/// An open piece of the store.
struct ExportPiece {
    /// The piece's folder.
    let home: Directory
    let name: String
    /// The open file, owned by the caller.
    let descriptor: Int32
    /// The length in bytes.
    let size: Int64
}

/// Writes an export into a folder.
struct FolderSink: ExportSink {
    private let root: Directory
    private let sharesFiles: Bool
    private var folders: [String: Directory] = [:]

    /// - Parameter sharesFiles: true to use hard links (link(2)) where possible, otherwise copies.
    init(into root: Directory, sharesFiles: Bool) { (self.root, self.sharesFiles) = (root, sharesFiles) }

    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError) {
        try directory(folder).write(bytes, as: name, mode: isPrivate(folder) ? 0o600 : 0o666)
    }

    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError) {
        let target = try directory(folder)
        if sharesFiles, linkat(piece.home.descriptor, piece.name, target.descriptor, piece.name, 0) == 0 { return }
        let file = try target.open(
            piece.name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: isPrivate(folder) ? 0o600 : 0o666)
        defer { close(file) }
        try FileCopy.copy(piece.descriptor, count: piece.size, to: file, path: target.path + "/" + piece.name)
    }

    func finish() {}

    private mutating func directory(_ name: String?) throws(StoreError) -> Directory {
        guard let name else { return root }
        if let known = folders[name] { return known }
        guard mkdirat(root.descriptor, try root.leaf(name), isPrivate(name) ? 0o700 : 0o777) == 0 else {
            throw StoreError(path: root.path + "/" + name)
        }
        let folder = try root.subdirectory(name)
        folders[name] = folder
        return folder
    }
}
