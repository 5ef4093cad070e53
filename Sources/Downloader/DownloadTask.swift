import Library
import Retention

/// What a download is to fetch, as it is kept from one process to the next.
///
/// Pure. One asset has one task; an order for an asset that has one adds to it.
public struct DownloadTask: Equatable, Sendable {
    /// Which of several downloads begins first. The raw values are kept and never change.
    public enum Priority: String, Codable, Sendable {
        /// In the order in which they were asked for.
        case normal = "default"
        /// Before those.
        case important
    }

    /// One selection, and what it chose.
    public struct Item: Equatable, Sendable {
        /// What was asked for.
        public var selection: Selection
        /// The media time that is wanted, in seconds; nil for all of it.
        public var range: Range<Double>?
        /// The ids of the renditions that were chosen, the variant's own first.
        public var renditions: [String]

        /// An item.
        public init(_ selection: Selection, range: Range<Double>? = nil, renditions: [String]) {
            self.selection = selection
            self.range = range
            self.renditions = renditions
        }
    }

    /// What was asked for, the latest first; no two choose the same.
    public private(set) var items: [Item] = []
    /// A line of the user's own.
    public var note: String?
    /// Before whom it comes.
    public var priority = Priority.normal
    /// Whether a live presentation is recorded until it ends.
    public var recordsLive = false

    /// A task that wants nothing.
    public init() {}

    /// The renditions' ids, each once: the variant of the latest item first.
    public var renditions: [String] {
        var ids: [String] = []
        for id in items.flatMap(\.renditions) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// Adds an item, in front of those before; one that chooses the same renditions and the same time takes its place.
    mutating func add(_ item: Item) {
        items.removeAll { $0.renditions == item.renditions && $0.range == item.range }
        items.insert(item, at: 0)
    }

    /// The same task with other items, the latest first.
    func with(_ items: [Item]) -> DownloadTask {
        var task = self
        task.items = []
        for item in items.reversed() { task.add(item) }
        return task
    }

    /// Whether everything that an item wants is wanted already.
    func covers(_ item: Item) -> Bool {
        item.renditions.allSatisfy { id in
            guard let wanted = span(of: id) else { return false }
            return wanted.contains(item.range)
        }
    }

    /// The time that is wanted of a rendition; nil where it is not wanted at all.
    func span(of rendition: String) -> WantedTime? {
        let wanting = items.filter { $0.renditions.contains(rendition) }
        guard !wanting.isEmpty else { return nil }
        let ranges = wanting.compactMap(\.range)
        return ranges.count < wanting.count ? .whole : .parts(ranges)
    }
}
