import Glibc

/// What an export writes: texts, and pieces as they are known at one moment.
public struct ExportContents: Sendable {
    /// A text that is made for the export.
    public struct Text: Sendable {
        /// The file's name.
        public let name: String
        /// All of it.
        public let bytes: [UInt8]

        /// A text.
        public init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    }

    /// A folder of pieces.
    public struct Folder: Sendable {
        /// What it is called.
        public let name: String
        /// Where the pieces lie.
        public let pieces: PieceDirectory
        /// The pieces' names and lengths in bytes, in the order in which they are written.
        public let files: [(name: String, size: Int64)]
        /// What stands beside them.
        public let texts: [Text]

        /// A folder.
        public init(_ name: String, _ pieces: PieceDirectory, files: [(name: String, size: Int64)], texts: [Text]) {
            (self.name, self.pieces, self.files, self.texts) = (name, pieces, files, texts)
        }
    }

    /// The folders.
    public var folders: [Folder]
    /// What stands at the top: written last, so that who sees it finds the rest.
    public var texts: [Text]

    /// Contents.
    public init(folders: [Folder], texts: [Text]) { (self.folders, self.texts) = (folders, texts) }

    /// The sum of the pieces' lengths.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.files.reduce(0) { $0 + $1.size } } }

    /// Writes all of it; each folder gets its ledger.
    ///
    /// - Throws: `missing` for a piece that is gone, or has another length now.
    func write(to sink: inout some ExportSink) throws(StoreError) {
        for folder in folders { try write(folder, to: &sink) }
        for text in texts { try sink.add(text.bytes, as: text.name, in: nil) }
        try sink.finish()
    }

    private func write(_ folder: Folder, to sink: inout some ExportSink) throws(StoreError) {
        let ledger = try folder.pieces.ledger()
        var lines: [UInt8] = []
        for (name, size) in folder.files {
            let file = try Self.open(name, size, in: folder.pieces)
            defer { close(file) }
            let piece = ExportPiece(home: folder.pieces.directory, name: name, descriptor: file, size: size)
            try sink.add(piece, in: folder.name)
            lines += Ledger.lines(of: name, try Self.entry(of: name, size, file, ledger))
        }
        if !lines.isEmpty { try sink.add(lines, as: Ledger.fileName, in: folder.name) }
        for text in folder.texts { try sink.add(text.bytes, as: text.name, in: folder.name) }
    }

    // MARK: Whole exports

    /// Becomes a folder at `path`.
    ///
    /// - Parameter sharesFiles: whether pieces are shared with the store where one disk has both (link(2)), rather than
    ///   copied.
    public func writeFolder(at path: String, sharesFiles: Bool) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .folder)
        try target.filled { () throws(StoreError) in
            var sink = FolderSink(into: try target.directory(), sharesFiles: sharesFiles)
            try write(to: &sink)
        }
    }

    /// Becomes an archive at `path`, in which everything is in the folder `root`.
    ///
    /// - Parameter time: when the files in it were made, in seconds since 1970.
    public func writeArchive(at path: String, root: String, time: Int64) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .file)
        try target.filled { () throws(StoreError) in
            var sink = try TarSink(into: target.descriptor, path: path, root: root, time: time)
            try write(to: &sink)
        }
    }

    /// Fills a folder of the store's own with it, sharing the files.
    public func fill(_ folder: Directory) throws(StoreError) {
        var sink = FolderSink(into: folder, sharesFiles: true)
        try write(to: &sink)
    }
}

extension ExportTarget {
    /// Fills it by `body` and gives it its name; whatever goes wrong, nothing is left.
    public func filled(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do {
            try body()
            try finish()
        } catch {
            discard()
            throw error
        }
    }
}
