import Glibc

/// The contents of a folder's `SHA256SUMS`: the length and the SHA-256 of each piece.
///
/// ```
/// # 20480
/// e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  12.m4s
/// ```
/// This is the format of sha256sum(1), whose `--check` verifies the folder without Weir. The length in bytes is in a comment
/// before the line. Lines are only appended, and the last one of a name counts. Pure.
public struct Ledger: Equatable, Sendable {
    /// The entry of one piece.
    public struct Entry: Equatable, Sendable {
        /// The length in bytes.
        public let size: Int64
        /// The SHA-256.
        public let digest: Digest
        /// Makes an entry of its fields.
        public init(size: Int64, digest: Digest) { (self.size, self.digest) = (size, digest) }
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
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "#") {
                size = Self.size(line)
            } else {
                if let size { add(line, size: size) }
                size = nil
            }
        }
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

    private mutating func add(_ line: ArraySlice<UInt8>, size: Int64) {
        let rest = line.dropFirst(64)
        guard rest.starts(with: Array("  ".utf8)), let digest = Digest(hexadecimal: line.prefix(64)) else { return }
        let name = String(decoding: rest.dropFirst(2), as: UTF8.self)
        guard Directory.isName(name) else { return }
        entries[name] = Entry(size: size, digest: digest)
        lineCount += 1
    }

    /// Formats the lines of one piece.
    public static func lines(of name: String, _ entry: Entry) -> [UInt8] {
        Array("# \(entry.size)\n".utf8) + entry.digest.hexadecimal + Array("  \(name)\n".utf8)
    }
}

/// A cached copy of a folder's ledger, which is read again only when the file has changed.
struct LedgerReader {
    private let folder: PieceDirectory
    private var ledger = Ledger([])
    private var stamp: FileStamp?

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
        let now = folder.directory.status(of: Ledger.fileName).map(FileStamp.init)
        guard now != stamp else { return }
        // Set before reading: lines appended meanwhile are read the next time.
        stamp = now
        ledger = try folder.ledger() ?? Ledger([])
    }
}
