/// Which events of a log are wanted.
public struct LogQuery: Equatable, Sendable {
    /// The name of their asset; nil for all.
    public var asset: String?
    /// Only those that were written then or later, in seconds since 1970; what is open counts as written now.
    public var since: Double?
    /// At most so many, the last ones.
    public var limit: Int

    /// A query.
    public init(asset: String? = nil, since: Double? = nil, limit: Int = 1000) {
        self.asset = asset
        self.since = since
        self.limit = limit
    }

    /// True if an event belongs to the answer.
    public func matches(_ event: some LogEvent) -> Bool {
        if let asset, event.assetName != asset { return false }
        guard let since, let written = event.written else { return true }
        return written >= since
    }
}
