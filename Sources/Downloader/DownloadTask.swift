import Library
import Retention

/// The content that a download must store, as it is kept across restarts.
///
/// Pure. An asset has one task; a further order for the asset adds to it.
public struct DownloadTask: Equatable, Sendable {
    /// Determines which of several downloads begins first. The raw values are stored and never change.
    public enum Priority: String, Codable, Sendable {
        /// In the order of requests.
        case normal = "default"
        /// Before normal downloads.
        case important
    }

    /// One selection and the renditions that it chose.
    public struct Item: Equatable, Sendable {
        /// The order's selection.
        public var selection: Selection
        /// The requested media time, in seconds; nil for all of it.
        public var range: Range<Double>?
        /// Ids of the chosen renditions, the variant's own first.
        public var renditions: [String]

        /// Makes an item.
        public init(_ selection: Selection, range: Range<Double>? = nil, renditions: [String]) {
            self.selection = selection
            self.range = range
            self.renditions = renditions
        }
    }

    /// The items, the latest first; no two are equal in renditions and range.
    public private(set) var items: [Item] = []
    /// The user's own remark.
    public var note: String?
    /// Priority among the downloads.
    public var priority = Priority.normal
    /// True to record a live presentation until it ends.
    public var recordsLive = false

    /// Makes an empty task.
    public init() {}

    /// Ids of all renditions, without duplicates: the variant of the latest item first.
    public var renditions: [String] {
        var ids: [String] = []
        for id in items.flatMap(\.renditions) where !ids.contains(id) { ids.append(id) }
        return ids
    }

    /// Adds an item in front of the others. It replaces an item with the same renditions and range.
    mutating func add(_ item: Item) {
        items.removeAll { $0.renditions == item.renditions && $0.range == item.range }
        items.insert(item, at: 0)
    }

    /// Returns a copy with other items, the latest first.
    func with(_ items: [Item]) -> DownloadTask {
        var task = self
        task.items = []
        for item in items.reversed() { task.add(item) }
        return task
    }

    /// True if the task already includes everything in the item.
    func covers(_ item: Item) -> Bool {
        item.renditions.allSatisfy { id in
            guard let wanted = span(of: id) else { return false }
            return wanted.contains(item.range)
        }
    }

    /// Returns the requested time of a rendition; nil if the rendition is not requested.
    func span(of rendition: String) -> WantedTime? {
        let wanting = items.filter { $0.renditions.contains(rendition) }
        guard !wanting.isEmpty else { return nil }
        let ranges = wanting.compactMap(\.range)
        return ranges.count < wanting.count ? .whole : .parts(ranges)
    }
}
