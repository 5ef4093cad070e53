/// A filter for events of a log.
public struct LogQuery: Equatable, Sendable {
    /// The asset's name; nil for all assets.
    public var asset: String?
    /// Earliest time of writing, in seconds since 1970; an open event counts as written now.
    public var since: Double?
    /// Maximum number of events; the last ones are returned.
    public var limit: Int

    /// Creates a query; without arguments, for the last 1000 events.
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
