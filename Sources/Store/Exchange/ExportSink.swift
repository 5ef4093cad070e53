import Glibc

/// The target of an export: a folder or an archive. Keys are readable only by their owner, as in the store. Used on one thread.
protocol ExportSink {
    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError)
    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError)
    mutating func finish() throws(StoreError)
}

extension ExportSink {
    func isPrivate(_ folder: String?) -> Bool { folder == "keys" }

    /// The mode of new files in a folder of the target, before the umask.
    func fileMode(in folder: String?) -> UInt32 { isPrivate(folder) ? 0o600 : 0o666 }

    /// The mode of a new folder of the target, before the umask.
    func mode(ofFolder name: String) -> UInt32 { isPrivate(name) ? 0o700 : 0o777 }
}

struct ExportPiece {
    let home: PieceDirectory
    let name: String
    /// The open file, owned by the caller.
    let descriptor: Int32
    let size: Int64
}

struct FolderSink: ExportSink {
    private let root: Directory
    /// True to link the pieces, in a folder of the store's own. A link in a user's folder would let a tag editor change the piece.
    private let isLinking: Bool
    private var folders: [String: Directory] = [:]

    init(into root: Directory, isLinking: Bool = false) {
        self.root = root
        self.isLinking = isLinking
    }

    mutating func add(_ bytes: [UInt8], as name: String, in folder: String?) throws(StoreError) {
        try directory(folder).write(bytes, as: name, mode: fileMode(in: folder))
    }

    mutating func add(_ piece: ExportPiece, in folder: String) throws(StoreError) {
        let target = try directory(folder)
        if isLinking, piece.home.link(piece.name, into: target) {
            return
        }
        let file = try target.open(piece.name, flags: O_WRONLY | O_CREAT | O_EXCL, mode: fileMode(in: folder))
        defer { close(file) }
        try FileCopy.copyWhole(piece.descriptor, count: piece.size, to: file, path: target.path + "/" + piece.name)
    }

    func finish() {}

    private mutating func directory(_ name: String?) throws(StoreError) -> Directory {
        guard let name else { return root }
        if let known = folders[name] {
            return known
        }
        guard mkdirat(root.descriptor, try root.leaf(name), mode(ofFolder: name)) == 0 else {
            throw StoreError(path: root.path + "/" + name)
        }
        let folder = try root.subdirectory(name)
        folders[name] = folder
        return folder
    }
}
