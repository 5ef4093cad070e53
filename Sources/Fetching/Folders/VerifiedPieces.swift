import Store

/// Remembers since when the pieces of a folder are known to be sound, and as which files. Pure; times are in seconds of a clock
/// that never goes back.
struct VerifiedPieces {
    private struct Record {
        let since: Int64
        /// The file that was read or stored; nil if it could not be read.
        var identity: FileIdentity?
    }

    /// A piece is verified again after a week: disks lose bits.
    static let life: Int64 = 7 * 86_400
    /// A piece that could not be read is sent, and verified at a later request.
    static let respite: Int64 = 60
    private var records = PieceTable<Record>()

    var count: Int { records.count }
    func contains(_ file: String, at now: Int64) -> Bool {
        guard let record = records[file] else { return false }
        return now - record.since < Self.life
    }

    func identity(of file: String) -> FileIdentity? { records[file]?.identity }

    mutating func insert(_ file: String, _ identity: FileIdentity, at now: Int64) {
        records[file] = Record(since: now, identity: identity)
    }

    mutating func excuse(_ file: String, at now: Int64) {
        records[file] = Record(since: now - Self.life + Self.respite)
    }

    /// Sets another identity of the same bytes.
    mutating func renew(_ file: String, _ identity: FileIdentity) { records[file]?.identity = identity }
    mutating func remove(_ file: String) { records[file] = nil }
    mutating func removeAll() { records = PieceTable() }
}

/// The verified blocks of a large piece.
struct VerifiedBlocks {
    let digests: [Digest]
    /// The file that the blocks are of.
    private(set) var identity: FileIdentity
    private(set) var verified: Set<Int> = []
    private let since: Int64

    init(_ digests: [Digest], of identity: FileIdentity, at now: Int64) {
        self.digests = digests
        self.identity = identity
        since = now
    }

    var isComplete: Bool { verified.count == digests.count }
    func isOutdated(at now: Int64) -> Bool { now - since >= VerifiedPieces.life }
    mutating func insert(_ block: Int) { verified.insert(block) }
    /// Sets another identity of the same bytes.
    mutating func renew(_ identity: FileIdentity) { self.identity = identity }
}
