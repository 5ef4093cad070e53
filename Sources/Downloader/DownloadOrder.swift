/// A user's order for one asset: begins a download, or adds to an existing one.
public struct DownloadOrder: Equatable, Sendable {
    /// The requested selections, the most important first; never empty. They form one task, which fetches shared
    /// resources once.
    public var selections: [Selection]
    /// The requested media time, in seconds from the start; nil for all of it.
    public var range: Range<Double>?
    /// The user's own remark, shown in lists.
    public var note: String?
    /// Priority among the downloads; nil for the existing or default one.
    public var priority: DownloadTask.Priority?
    /// True to record a live presentation until it ends; otherwise the order is refused.
    public var recordsLive = false
    /// True to begin even if the disk has less room than the estimated size.
    public var ignoresRoom = false
    /// True to create the download as paused; it begins when it is resumed.
    public var isPaused = false

    /// Makes an order for these selections.
    public init(_ selections: Selection..., range: Range<Double>? = nil) {
        self.selections = selections.isEmpty ? [Selection()] : selections
        self.range = range
    }
}
