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
        public init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
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
        /// The files that were verified, by name. A piece that is another one when it is opened is not exported.
        package var verified = PieceTable<FileIdentity>()

        /// Makes a folder.
        public init(_ name: String, _ pieces: PieceDirectory, files: [(name: String, size: Int64)], texts: [Text]) {
            self.name = name
            self.pieces = pieces
            self.files = files
            self.texts = texts
        }

        /// Makes a folder of texts, which are beside no pieces.
        public init(_ name: String, beside folder: Directory, texts: [Text]) {
            self.init(name, PieceDirectory(folder), files: [], texts: texts)
        }
    }

    /// One file of an export with its checksum: a publication sends only the files that the target lacks.
    public struct Item: Sendable {
        /// The source of the bytes.
        public enum Source: Sendable {
            case text([UInt8])
            case piece(PieceDirectory, String)
        }

        /// The path relative to the top, with at most one `/`; of letters, digits, `-`, `_` and `.`.
        public let path: String
        /// The length in bytes.
        public let size: Int64
        /// The SHA-256 of the bytes.
        public let digest: Digest
        /// The source of the bytes.
        public let source: Source
        /// The file that was verified; nil for a text.
        private var verified: FileIdentity?

        /// Makes the item of a text.
        public init(_ path: String, _ bytes: [UInt8]) {
            self.path = path
            size = Int64(bytes.count)
            source = .text(bytes)
            digest = bytes.withUnsafeBytes { Digest(of: $0) }
        }

        init(_ path: String, _ entry: Ledger.Entry, from source: Source, verified: FileIdentity?) {
            self.path = path
            self.verified = verified
            size = entry.size
            digest = entry.digest
            self.source = source
        }

        /// The file name without its folder.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? path }
        /// The folder; nil at the top.
        public var folder: String? {
            guard let slash = path.firstIndex(of: "/") else { return nil }
            return String(path[..<slash])
        }

        /// Opens a piece for the caller to close; nil for a text. Throws `missing` if it is deleted, has another length, or
        /// was changed by another program since it was verified.
        public func open() throws(StoreError) -> Int32? {
            guard case .piece(let pieces, let name) = source else { return nil }
            return try ExportContents.open(name, size: size, in: pieces, verified: verified)
        }

        /// Lays a piece into a folder of the store's own, for a program that only reads it: as a hard link, or as a copy if the
        /// piece is on another disk. Call `removeLink(from:)` afterwards.
        public func link(into folder: Directory) throws(StoreError) {
            guard case .piece(let pieces, let name) = source, !pieces.link(name, into: folder) else { return }
            guard let file = try open() else { return }
            defer { close(file) }
            let copy = try folder.open(name, flags: O_WRONLY | O_CREAT | O_EXCL)
            defer { close(copy) }
            try FileCopy.copyWhole(file, count: size, to: copy, path: folder.path + "/" + name)
        }

        /// Removes what `link(into:)` has made.
        public func removeLink(from folder: Directory) {
            if case .piece(let pieces, let name) = source {
                pieces.unlink(name, from: folder)
            }
        }
    }

    /// The folders.
    public var folders: [Folder]
    /// The files at the top: written last, so that a reader who sees them finds the rest.
    public var texts: [Text]
    /// Makes contents.
    public init(folders: [Folder], texts: [Text]) {
        self.folders = folders
        self.texts = texts
    }

    /// The sum of the pieces' lengths.
    public var bytes: Int64 { folders.reduce(0) { $0 + $1.files.reduce(0) { $0 + $1.size } } }

    /// Calls `body` for each file in the order of writing, a piece being open, each folder with its ledger. Throws as `open`.
    private func forEach(_ body: (Item, Int32?) throws(StoreError) -> Void) throws(StoreError) {
        for folder in folders {
            let ledger = try folder.pieces.ledger()
            var lines: [UInt8] = []
            for (name, size) in folder.files {
                let verified = folder.verified[name]
                let file = try Self.open(name, size: size, in: folder.pieces, verified: verified)
                defer { close(file) }
                let entry = try Self.entry(of: name, size: size, reading: file, ledger)
                let path = "\(folder.name)/\(name)"
                let item = Item(path, entry, from: .piece(folder.pieces, name), verified: verified)
                try body(item, file)
                lines += Ledger.lines(of: name, entry)
            }
            if !lines.isEmpty {
                try body(Item("\(folder.name)/\(Ledger.fileName)", lines), nil)
            }
            for text in folder.texts {
                try body(Item("\(folder.name)/\(text.name)", text.bytes), nil)
            }
        }
        for text in texts {
            try body(Item(text.name, text.bytes), nil)
        }
    }

    /// Lists all files in the order of writing; reads pieces without a ledger line. Throws `missing` as `Item.open()`.
    public func items() throws(StoreError) -> [Item] {
        var items: [Item] = []
        try forEach { item, _ in items.append(item) }
        return items
    }

    private static func open(
        _ name: String, size: Int64, in pieces: PieceDirectory, verified: FileIdentity?
    ) throws(StoreError) -> Int32 {
        let home = pieces.directory
        guard let file = home.open(name, length: size) else {
            throw StoreError(.missing, path: home.path + "/" + name, detail: "the piece is gone")
        }
        if let verified, let identity = FileIdentity(of: file), identity != verified,
            !pieces.ownChanges.explain(verified, identity)
        {
            close(file)
            throw StoreError(
                .missing, path: home.path + "/" + name, detail: "another program has changed the piece")
        }
        return file
    }

    /// Returns the ledger's entry of a piece, or computes it.
    private static func entry(
        of name: String, size: Int64, reading file: Int32, _ ledger: Ledger?
    ) throws(StoreError) -> Ledger.Entry {
        if let known = ledger?.entries[name], known.size == size {
            return known
        }
        return try Ledger.Entry(reading: file, length: size, path: name)
    }

    private func write(to sink: inout some ExportSink) throws(StoreError) {
        try forEach { item, file throws(StoreError) in
            switch item.source {
            case .text(let bytes): try sink.add(bytes, as: item.name, in: item.folder)
            case .piece(let pieces, let name):
                guard let file, let folder = item.folder else { return }
                let piece = ExportPiece(home: pieces, name: name, descriptor: file, size: item.size)
                try sink.add(piece, in: folder)
            }
        }
        try sink.finish()
    }

    /// Writes a folder at `path`. On a file system that can, its files share the blocks of the store's until one is written to.
    public func writeFolder(at path: String) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .folder)
        try target.fill { () throws(StoreError) in
            var sink = FolderSink(into: try target.directory())
            try write(to: &sink)
        }
    }

    /// Writes an archive of the folder `root` at `path`. `time`: the files' modification, in seconds since 1970.
    public func writeArchive(at path: String, root: String, time: Int64) throws(StoreError) {
        let target = try ExportTarget(path: path, kind: .file)
        try target.fill { () throws(StoreError) in
            var sink = try TarSink(into: target.descriptor, path: path, root: root, time: time)
            try write(to: &sink)
        }
    }

    /// Fills a folder of the store's own with hard links to the pieces, calls `body`, and removes the links.
    public func withLinks(in folder: Directory, _ body: () throws(StoreError) -> Void) throws(StoreError) {
        defer { removeLinks(from: folder) }
        var sink = FolderSink(into: folder, isLinking: true)
        try write(to: &sink)
        try body()
    }

    private func removeLinks(from root: Directory) {
        for folder in folders {
            guard let linked = try? root.subdirectory(folder.name) else { continue }
            for (name, _) in folder.files {
                folder.pieces.unlink(name, from: linked)
            }
        }
    }
}
