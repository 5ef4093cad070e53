import Glibc

/// Where an export puts its files: a folder, or an archive; keys are for their owner alone, as in the store. Used on one
/// thread.
protocol ExportSink {
    /// Adds a text, in a folder or at the top.
    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError)
    /// Adds a piece of the store.
    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError)
    /// Nothing more comes.
    mutating func finish() throws(StoreError)
}

extension ExportSink {
    /// Whether what a folder has is for its owner alone.
    func isPrivate(_ folder: String?) -> Bool { folder == "keys" }
}

/// An open piece on its way out of the store.
struct ExportPiece {
    /// Where it lies.
    let home: Directory
    /// What it is called.
    let name: String
    /// The file, borrowed.
    let descriptor: Int32
    /// Its length in bytes.
    let size: Int64
}

/// Puts files into a folder as they are.
struct FolderSink: ExportSink {
    private let root: Directory
    private let sharesFiles: Bool
    private var folders: [String: Directory] = [:]

    /// - Parameter sharesFiles: whether the store's own files get a second name there (link(2)) where that can be; else
    ///   they are copied.
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
