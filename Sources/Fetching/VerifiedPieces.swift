import Store

/// Remembers since when the pieces of a folder are known to be sound. Pure; times are in seconds of a clock that never goes back.
struct VerifiedPieces {
    /// A piece is verified again after a week: disks lose bits.
    static let life: Int64 = 7 * 86_400
    /// A piece that could not be read is sent, and verified at a later request.
    static let respite: Int64 = 60
    private var since: [String: Int64] = [:]

    func contains(_ file: String, at now: Int64) -> Bool { since[file].map { now - $0 < Self.life } ?? false }
    var count: Int { since.count }
    mutating func insert(_ file: String, at now: Int64) { since[file] = now }
    mutating func excuse(_ file: String, at now: Int64) { since[file] = now - Self.life + Self.respite }
    mutating func remove(_ file: String) { since[file] = nil }
    mutating func removeAll() { since = [:] }
}

/// The verified blocks of a large piece.
struct VerifiedBlocks {
    let digests: [Digest]
    private(set) var verified: Set<Int> = []
    private let since: Int64

    init(_ digests: [Digest], at now: Int64) { (self.digests, since) = (digests, now) }

    var isComplete: Bool { verified.count == digests.count }
    func isOutdated(at now: Int64) -> Bool { now - since >= VerifiedPieces.life }
    mutating func insert(_ block: Int) { verified.insert(block) }
}
