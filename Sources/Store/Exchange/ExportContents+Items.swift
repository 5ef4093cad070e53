import Glibc

extension ExportContents {
    /// One file of an export with its checksum: a publication sends only the files that the target lacks.
    public struct Item: Sendable {
        /// The source of the bytes.
        public enum Source: Sendable {
            /// A text made for the export.
            case text([UInt8])
            /// A file in the store.
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

        /// Makes the item of a text.
        public init(_ path: String, _ bytes: [UInt8]) {
            (self.path, size, source) = (path, Int64(bytes.count), .text(bytes))
            digest = bytes.withUnsafeBytes { Digest(of: $0) }
        }

        init(_ path: String, _ entry: Ledger.Entry, _ source: Source) {
            (self.path, size, digest, self.source) = (path, entry.size, entry.digest, source)
        }

        /// The file name without its folder.
        public var name: String { path.split(separator: "/").last.map(String.init) ?? path }
        /// The folder; nil at the top.
        public var folder: String? { path.contains("/") ? String(path.prefix { $0 != "/" }) : nil }

        /// Opens a piece; the caller owns the descriptor. Nil for a text.
        ///
        /// - Throws: `missing` if the piece is deleted or has another length now.
        public func open() throws(StoreError) -> Int32? {
            guard case .piece(let pieces, let name) = source else { return nil }
            return try ExportContents.open(name, size, in: pieces)
        }

        /// Makes a hard link to a piece in a folder on the store's disk (link(2)).
        public func link(into folder: Directory) throws(StoreError) {
            guard case .piece(let pieces, let name) = source else { return }
            guard linkat(pieces.directory.descriptor, name, folder.descriptor, try folder.leaf(self.name), 0) == 0
            else {
                throw StoreError(path: pieces.directory.path + "/" + name)
            }
        }
    }

    /// Lists all files in the order of writing, each folder with its ledger. Reads the pieces that have no line in a ledger.
    ///
    /// - Throws: `missing` for a piece that is deleted or has another length now.
    public func items() throws(StoreError) -> [Item] {
        var items: [Item] = []
        for folder in folders {
            let ledger = try folder.pieces.ledger()
            var lines: [UInt8] = []
            for (name, size) in folder.files {
                let file = try Self.open(name, size, in: folder.pieces)
                defer { close(file) }
                let entry = try Self.entry(of: name, size, file, ledger)
                items.append(Item("\(folder.name)/\(name)", entry, .piece(folder.pieces, name)))
                lines += Ledger.lines(of: name, entry)
            }
            if !lines.isEmpty { items.append(Item("\(folder.name)/\(Ledger.fileName)", lines)) }
            for text in folder.texts { items.append(Item("\(folder.name)/\(text.name)", text.bytes)) }
        }
        return items + texts.map { Item($0.name, $0.bytes) }
    }

    static func open(_ name: String, _ size: Int64, in pieces: PieceDirectory) throws(StoreError) -> Int32 {
        let home = pieces.directory
        guard let file = home.open(name, length: size) else {
            throw StoreError(.missing, path: home.path + "/" + name, detail: "the piece is gone")
        }
        return file
    }

    /// Returns the ledger's entry of a piece, or computes it.
    static func entry(
        of name: String, _ size: Int64, _ file: Int32, _ ledger: Ledger?
    ) throws(StoreError) -> Ledger.Entry {
        if let known = ledger?.entries[name], known.size == size { return known }
        return Ledger.Entry(size: size, digest: try Digest(of: file, path: name))
    }
}
