/// What a person asks for, of one asset: the beginning of a download, or more for one that there is.
public struct DownloadOrder: Equatable, Sendable {
    /// What is wanted, the most important first; never empty. All of them are one task, which fetches what they share
    /// once.
    public var selections: [Selection]
    /// The media time that is wanted, in seconds from the start; nil for all of it.
    public var range: Range<Double>?
    /// A line of the user's own, for a list.
    public var note: String?
    /// Before whom it comes.
    public var priority: DownloadTask.Priority?
    /// Whether a live presentation is recorded until it ends, rather than refused.
    public var recordsLive = false
    /// Whether it begins although the disk has no room for what it is expected to take.
    public var ignoresRoom = false
    /// Whether it is to wait: it is listed as paused, and begins when it is resumed.
    public var isPaused = false

    /// An order for the whole length of what these selections choose.
    public init(_ selections: Selection..., range: Range<Double>? = nil) {
        self.selections = selections.isEmpty ? [Selection()] : selections
        self.range = range
    }
}
