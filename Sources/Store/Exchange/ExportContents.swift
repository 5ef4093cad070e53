import Glibc

/// The contents of an export: texts, and the pieces at one moment.
public struct ExportContents: Sendable {
    /// A text made for the export.
    public struct Text: Sendable {
        /// The file name.
        public let name: String
        /// The contents.
        public let bytes: [UInt8]

        /// Makes a text.
        public init(_ name: String, _ bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
    }

    /// A folder of pieces.
    public struct Folder: Sendable {
        /// The folder's name.
        public let name: String
        /// The stored pieces.
        public let pieces: PieceDirectory
        /// The pieces' names and lengths in bytes, in the order of writing.
        public let files: [(name: String, size: Int64)]
        /// The folder's other files.
        public let texts: [Text]

        /// Makes a folder.
        public init(_ name: String, _ pieces: PieceDirectory, files: [(name: String, size: Int64)], texts: [Text]) {
            (self.name, self.pieces, self.files, self.texts) = (name, pieces, files, texts)
        }
    }

    /// The folders.
    public var folders: [Folder]
    /// The files at the top: written last, so that a reader who sees them finds the rest.
    public var texts: [Text]

    /// Makes contents.
    public init(folders: [Folder], texts: [Text]) { (self.folders, self.texts) = (folders, texts) }

    /// The sum of the pieces' lengths.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.files.reduce(0) { $0 + $1.size } } }

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

    /// Writes a folder at `path`.
    ///
    /// - Parameter sharesFiles: true to use hard links to the store's pieces (link(2)) on the same disk instead of copies.
    public func writeFolder(at path: String, sharesFiles: Bool) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .folder)
        try target.fill { () throws(StoreError) in
            var sink = FolderSink(into: try target.directory(), sharesFiles: sharesFiles)
            try write(to: &sink)
        }
    }

    /// Writes an archive at `path`, with everything in the folder `root`.
    ///
    /// - Parameter time: the files' modification time, in seconds since 1970.
    public func writeArchive(at path: String, root: String, time: Int64) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .file)
        try target.fill { () throws(StoreError) in
            var sink = try TarSink(into: target.descriptor, path: path, root: root, time: time)
            try write(to: &sink)
        }
    }

    /// Fills a folder of the store, with hard links to the pieces.
    public func fill(_ folder: Directory) throws(StoreError) {
        var sink = FolderSink(into: folder, sharesFiles: true)
        try write(to: &sink)
    }
}
