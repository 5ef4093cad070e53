public import Orders

/// Chooses what to purge to free space: first expired assets, then cached segments, then downloads as far as allowed, default
/// priority before important. Of equals the least recently used goes first. Assets in playback are never purged.
///
/// Pure. It purges whole assets, and no more of them than needed.
public struct PurgePlan: Equatable, Sendable {
    /// The assets that may be purged. The raw values are those of the configuration.
    public enum Limit: String, CaseIterable, Sendable {
        /// Expired assets and cached segments.
        case expired
        /// Also downloads of default priority.
        case `default`
        /// Also important downloads.
        case important
    }

    /// An asset that may be purged.
    public struct Candidate: Equatable, Sendable {
        /// The asset's id.
        public var id: String
        /// The policy and the times of playback.
        public var life: StorageLife
        /// Time of the first request, in seconds since 1970. An unplayed asset counts as used then.
        public var created: Int64
        /// The downloaded bytes.
        public var kept: Int64
        /// The bytes cached by playback.
        public var cached: Int64
        /// True while a session plays it.
        public var isPlaying = false
        /// True while it is being downloaded: the download would fill the freed space again.
        public var isDownloading = false
        /// True if it cannot be fetched again, such as a recording.
        public var isIrreplaceable = false

        /// Makes a candidate.
        public init(id: String, life: StorageLife = StorageLife(), created: Int64, kept: Int64, cached: Int64 = 0) {
            self.id = id
            self.life = life
            self.created = created
            self.kept = kept
            self.cached = cached
        }

        /// Time of the last use, in seconds since 1970.
        var lastUse: Int64 { max(life.lastPlayed ?? 0, created) }
        /// True if it is purged after all others.
        var isImportant: Bool { life.policy.priority == .important || isIrreplaceable }
    }

    /// A step of the plan.
    public enum Step: Equatable, Sendable {
        case asset(id: String, bytes: Int64, Purge.Cause)
        /// Evict so many bytes of cached segments, the least recently used first.
        case playCache(bytes: Int64)
    }

    /// The steps, in order.
    public private(set) var steps: [Step] = []
    /// The bytes that the steps free.
    public private(set) var freed: Int64 = 0
    /// The bytes to free.
    public let wanted: Int64

    /// Makes a plan. `now` is in seconds since 1970. `hasCache` is false if evicting cached segments was already tried in vain.
    public init(toFree wanted: Int64, of candidates: [Candidate], limit: Limit, at now: Int64, hasCache: Bool = true) {
        self.wanted = wanted
        let idle = candidates.filter { !$0.isPlaying }
        let expired = idle.filter { $0.life.isExpired(at: now) }
        let others = idle.filter { !$0.life.isExpired(at: now) }
        for asset in Self.ordered(expired) {
            purge(asset, bytes: asset.kept + asset.cached, because: .expired)
        }
        if hasCache {
            evictCached(others.reduce(0) { $0 + $1.cached })
        }
        let resting = others.filter { !$0.isDownloading }
        if limit != .expired {
            for asset in Self.ordered(resting.filter { !$0.isImportant }) {
                purge(asset, bytes: asset.kept, because: .space)
            }
        }
        if limit == .important {
            for asset in Self.ordered(resting.filter(\.isImportant)) {
                purge(asset, bytes: asset.kept, because: .spaceThoughImportant)
            }
        }
    }

    private mutating func purge(_ asset: Candidate, bytes: Int64, because cause: Purge.Cause) {
        guard freed < wanted, bytes > 0 else { return }
        steps.append(.asset(id: asset.id, bytes: bytes, cause))
        freed += bytes
    }

    private mutating func evictCached(_ cached: Int64) {
        let bytes = min(cached, wanted - freed)
        guard bytes > 0 else { return }
        steps.append(.playCache(bytes: bytes))
        freed += bytes
    }

    /// Sorts by priority, default first, then by last use, then by id.
    private static func ordered(_ assets: [Candidate]) -> [Candidate] {
        assets.sorted { first, second in
            if first.isImportant != second.isImportant {
                return second.isImportant
            }
            return (first.lastUse, first.id) < (second.lastUse, second.id)
        }
    }
}
