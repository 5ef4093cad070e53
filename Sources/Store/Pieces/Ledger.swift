import Glibc

/// The contents of a folder's `SHA256SUMS`: the length and the SHA-256 of each piece.
///
/// ```
/// # 20480
/// e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  12.m4s
/// ```
/// This is the format of sha256sum(1), whose `--check` verifies the folder without Weir. The length in bytes is in a comment
/// before the line. A piece of more than 32 MB has one more comment before that, `# blocks 4194304 …`, with the SHA-256 of each
/// block of that size, so that its beginning can be sent before its end is verified. Lines are only appended, and the last one
/// of a name counts. Pure.
public struct Ledger: Equatable, Sendable {
    /// The entry of one piece.
    public struct Entry: Equatable, Sendable {
        /// The length in bytes.
        public let size: Int64
        /// The SHA-256.
        public let digest: Digest
        /// The SHA-256 of each block of `blockSize` bytes, the last one shorter; empty for a small piece, and where unknown.
        public let blocks: [Digest]
        /// Makes an entry of its fields.
        public init(size: Int64, digest: Digest, blocks: [Digest] = []) {
            self.size = size
            self.digest = digest
            self.blocks = blocks
        }

        /// The size of a block, in bytes.
        public static let blockSize: Int64 = 4 << 20
        /// Pieces that are longer, in bytes, have blocks.
        public static let blockLimit: Int64 = 32 << 20

        /// Compares sizes and digests: the blocks follow from the bytes.
        public static func == (left: Entry, right: Entry) -> Bool {
            left.size == right.size && left.digest == right.digest
        }
    }

    /// The file's name.
    public static let fileName = "SHA256SUMS"
    /// The last entry of each file name.
    public private(set) var entries: [String: Entry] = [:]
    /// The number of entries read, including outdated ones.
    public private(set) var lineCount = 0

    /// Parses the bytes of a file. Ignores invalid lines: a crash may have cut the last one.
    public init(_ bytes: [UInt8]) {
        var size: Int64?
        var blocks: [Digest] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.starts(with: Self.blocksHead) {
                size = nil
                blocks = Self.blocks(line.dropFirst(Self.blocksHead.count))
            } else if line.first == UInt8(ascii: "#") {
                size = Self.size(line)
            } else {
                if let size {
                    add(line, size: size, blocks)
                }
                size = nil
                blocks = []
            }
        }
    }

    private static let blocksHead = Array("# blocks \(Entry.blockSize) ".utf8)

    /// Parses digests; returns none if one is invalid.
    private static func blocks(_ words: ArraySlice<UInt8>) -> [Digest] {
        var digests: [Digest] = []
        for word in words.split(separator: UInt8(ascii: " ")) {
            guard let digest = Digest(hexadecimal: word) else { return [] }
            digests.append(digest)
        }
        return digests
    }

    private static func size(_ comment: ArraySlice<UInt8>) -> Int64? {
        let digits = comment.dropFirst(2)
        guard comment.starts(with: Array("# ".utf8)), (1...18).contains(digits.count) else { return nil }
        var size: Int64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            size = size * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return size
    }

    private mutating func add(_ line: ArraySlice<UInt8>, size: Int64, _ blocks: [Digest]) {
        let rest = line.dropFirst(64)
        guard rest.starts(with: Array("  ".utf8)), let digest = Digest(hexadecimal: line.prefix(64)) else { return }
        let name = String(decoding: rest.dropFirst(2), as: UTF8.self)
        guard Directory.isName(name) else { return }
        var usable = blocks
        // Digests of another number of blocks than the piece has are of no use.
        if Int64(blocks.count) != (size + Entry.blockSize - 1) / Entry.blockSize {
            usable = []
        }
        entries[name] = Entry(size: size, digest: digest, blocks: usable)
        lineCount += 1
    }

    /// Formats the lines of one piece.
    public static func lines(of name: String, _ entry: Entry) -> [UInt8] {
        var lines: [UInt8] = []
        if !entry.blocks.isEmpty {
            lines += blocksHead
            lines += entry.blocks.map(\.hexadecimal).joined(separator: Array(" ".utf8))
            lines += Array("\n".utf8)
        }
        lines += Array("# \(entry.size)\n".utf8)
        lines += entry.digest.hexadecimal
        lines += Array("  \(name)\n".utf8)
        return lines
    }
}

/// A cached copy of a folder's ledger, which is read again only when the file has changed.
struct LedgerReader: Sendable {
    // Its folder may own it.
    private unowned let folder: PieceDirectory
    private(set) var ledger = Ledger([])
    private var stamp: FileIdentity?

    init(_ folder: PieceDirectory) throws(StoreError) {
        self.folder = folder
        try refresh()
    }

    var lineCount: Int { ledger.lineCount }
    func entry(of file: String) -> Ledger.Entry? { ledger.entries[file] }

    mutating func latestEntry(of file: String) throws(StoreError) -> Ledger.Entry? {
        try refresh()
        return ledger.entries[file]
    }

    private mutating func refresh() throws(StoreError) {
        let now = folder.directory.identity(of: Ledger.fileName)
        guard now != stamp else { return }
        // Set before reading: lines appended meanwhile are read the next time.
        stamp = now
        ledger = try folder.ledger() ?? Ledger([])
    }
}
