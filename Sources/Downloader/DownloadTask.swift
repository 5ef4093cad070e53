import Foundation
import Library
import Retention
import Store

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

    /// Adds an item in front. It replaces an item with the same renditions and range.
    mutating func add(_ item: Item) {
        items.removeAll { $0.renditions == item.renditions && $0.range == item.range }
        items.insert(item, at: 0)
    }

    func with(_ items: [Item]) -> DownloadTask {
        var task = self
        task.items = []
        for item in items.reversed() { task.add(item) }
        return task
    }

    func covers(_ item: Item) -> Bool {
        item.renditions.allSatisfy { id in
            guard let wanted = span(of: id) else { return false }
            return wanted.contains(item.range)
        }
    }

    func span(of rendition: String) -> WantedTime? {
        let wanting = items.filter { $0.renditions.contains(rendition) }
        guard !wanting.isEmpty else { return nil }
        let ranges = wanting.compactMap(\.range)
        return ranges.count < wanting.count ? .whole : .parts(ranges)
    }
}

/// Stored form of a task: JSON, version 1. Keys and values never change; new keys may be added.
extension DownloadTask: Codable {
    static let version = 1

    struct UnknownVersion: Error, CustomStringConvertible {
        let version: Int
        var description: String { "it was written by a newer Weir (its task has version \(version))" }
    }

    private enum CodingKeys: String, CodingKey {
        case version, items, note, priority, recordsLive
    }

    /// Decodes a task.
    ///
    /// - Throws: `UnknownVersion` if a newer Weir wrote it.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version <= Self.version else { throw UnknownVersion(version: version) }
        self.init()
        for item in try values.decode([Item].self, forKey: .items).reversed() { add(item) }
        note = try values.decodeIfPresent(String.self, forKey: .note)
        priority = try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .normal
        recordsLive = try values.decodeIfPresent(Bool.self, forKey: .recordsLive) ?? false
    }

    /// Encodes a task.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(items, forKey: .items)
        try values.encodeIfPresent(note, forKey: .note)
        if priority != .normal { try values.encode(priority, forKey: .priority) }
        if recordsLive { try values.encode(recordsLive, forKey: .recordsLive) }
    }

    var stored: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding cannot fail: the values are strings, Booleans and finite numbers.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    init(stored text: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) }
}

extension DownloadTask.Item: Codable {
    private enum CodingKeys: String, CodingKey {
        case selection, start, end, renditions
    }

    /// Decodes an item.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        selection = try values.decode(Selection.self, forKey: .selection)
        renditions = try values.decode([String].self, forKey: .renditions)
        let start = try values.decodeIfPresent(Double.self, forKey: .start)
        let end = try values.decodeIfPresent(Double.self, forKey: .end)
        if let start, let end, start < end { range = start..<end }
    }

    /// Encodes an item.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(selection, forKey: .selection)
        try values.encode(renditions, forKey: .renditions)
        try values.encodeIfPresent(range?.lowerBound, forKey: .start)
        try values.encodeIfPresent(range?.upperBound, forKey: .end)
    }
}

/// Reads the tasks of download records. Most records of a large store have equal text, which is parsed once.
struct TaskReader {
    private var known: [String: DownloadTask] = [:]

    /// A record without a task requests its renditions completely.
    mutating func task(of record: DownloadRecord) throws -> DownloadTask {
        guard let text = record.task else {
            var task = DownloadTask()
            task.add(.init(Selection(), renditions: record.renditions.split(separator: " ").map(String.init)))
            return task
        }
        if let task = known[text] { return task }
        let task = try DownloadTask(stored: text)
        known[text] = task
        return task
    }
}

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
