import Foundation

/// Stored form of a task: JSON, version 1. Keys and values never change; new keys may be added.
extension DownloadTask: Codable {
    /// The version that is written, and the highest version that is read.
    static let version = 1

    /// The stored task has a version that is unknown here.
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

    /// The text for the catalogue.
    var stored: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding cannot fail: the values are strings, Booleans and finite numbers.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Reads the text that `stored` wrote.
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
