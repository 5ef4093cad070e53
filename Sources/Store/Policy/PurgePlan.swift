/// What is given up to make room, and in which order: what has expired, then what merely flowed, then what somebody asked
/// for, as far as that is allowed, the default before the important. Of equals what was not used the longest goes first,
/// and never what a session plays.
///
/// Pure. It takes no more than is wanted, and counts whole assets.
public struct PurgePlan: Equatable, Sendable {
    /// How far it may go. The raw values are those of the configuration.
    public enum Limit: String, CaseIterable, Sendable {
        /// What has expired, and what merely flowed.
        case expired
        /// Downloads of default priority as well.
        case `default`
        /// Downloads that are important as well.
        case important
    }

    /// One asset, as far as a plan depends on it.
    public struct Candidate: Equatable, Sendable {
        /// Its id.
        public var id: String
        /// Its policy, and when it was played.
        public var life: StorageLife
        /// When it was first asked for, in seconds since 1970: what nobody has played yet counts as used then.
        public var created: Int64
        /// The bytes that somebody wants to be kept.
        public var kept: Int64
        /// The bytes that merely flowed.
        public var cached: Int64
        /// Whether a session plays it.
        public var isPlaying = false
        /// Whether a download of it goes on: room that is made by it would be filled by it.
        public var isDownloading = false
        /// Whether it could not be had again, as what was recorded.
        public var isIrreplaceable = false

        /// A candidate with so much of it stored.
        public init(id: String, life: StorageLife = StorageLife(), created: Int64, kept: Int64, cached: Int64 = 0) {
            self.id = id
            self.life = life
            self.created = created
            self.kept = kept
            self.cached = cached
        }

        /// When it was last of use, in seconds since 1970.
        var lastUse: Int64 { max(life.lastPlayed ?? 0, created) }

        /// Whether it goes last of all.
        var isImportant: Bool { life.policy.priority == .important || isIrreplaceable }
    }

    /// One thing to do.
    public enum Step: Equatable, Sendable {
        /// All of an asset goes, so many bytes.
        case asset(id: String, bytes: Int64, StorageLife.Cause)
        /// So many bytes of what merely flowed go, the longest unused first.
        case playCache(bytes: Int64)
    }

    /// What to do, in this order.
    public private(set) var steps: [Step] = []
    /// The bytes that are free after it.
    public private(set) var freed: Int64 = 0

    /// The bytes that were to be free.
    public let wanted: Int64

    /// A plan.
    ///
    /// - Parameters:
    ///   - wanted: the bytes that are to be free after it.
    ///   - now: in seconds since 1970.
    ///   - hasCache: whether anything that merely flowed can go; false where that was tried to no avail.
    public init(
        toFree wanted: Int64, of candidates: [Candidate], limit: Limit, at now: Int64, hasCache: Bool = true
    ) {
        self.wanted = wanted
        let idle = candidates.filter { !$0.isPlaying }
        let expired = idle.filter { $0.life.isExpired(at: now) }
        let others = idle.filter { !$0.life.isExpired(at: now) }
        for asset in Self.ordered(expired) { take(asset, asset.kept + asset.cached, .expired) }
        if hasCache { takeCached(others.reduce(0) { $0 + $1.cached }) }
        let resting = others.filter { !$0.isDownloading }
        if limit != .expired {
            for asset in Self.ordered(resting.filter { !$0.isImportant }) { take(asset, asset.kept, .space) }
        }
        if limit == .important {
            for asset in Self.ordered(resting.filter(\.isImportant)) { take(asset, asset.kept, .spaceThoughImportant) }
        }
    }

    private mutating func take(_ asset: Candidate, _ bytes: Int64, _ cause: StorageLife.Cause) {
        guard freed < wanted, bytes > 0 else { return }
        steps.append(.asset(id: asset.id, bytes: bytes, cause))
        freed += bytes
    }

    private mutating func takeCached(_ cached: Int64) {
        let bytes = min(cached, wanted - freed)
        guard bytes > 0 else { return }
        steps.append(.playCache(bytes: bytes))
        freed += bytes
    }

    /// The default before the important, and of these the longest unused first; the id decides where nothing else does.
    private static func ordered(_ assets: [Candidate]) -> [Candidate] {
        assets.sorted { first, second in
            if first.isImportant != second.isImportant { return second.isImportant }
            return (first.lastUse, first.id) < (second.lastUse, second.id)
        }
    }
}
